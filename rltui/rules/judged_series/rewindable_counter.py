"""Points of one kind, counted so that a restart can take back those that come again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

KEPT = 256  # points that are remembered singly


class RewindableCounter:
    """How many points there were since when, and what was noted of the newest one.

    Every `stride`-th point is remembered, at most KEPT of them: then every second one goes and the stride
    doubles. So a count goes back exactly while points are few, and to a hundredth of it later. It
    depends only on the order of the points, never on the pieces in which they came.
    """

    __slots__ = ("_first", "_stride", "_trail", "count", "last_step", "note", "since_step")

    def __init__(self) -> None:
        self.since_step = 0
        self.last_step = 0
        self.count = 0
        self.note: tuple[float, ...] = ()
        self._first: tuple[float, ...] = ()
        self._stride = 1
        self._trail: list[tuple[int, int, tuple[float, ...]]] = []  # number, step and note of a point

    def add(self, steps: NDArray[Any], *notes: NDArray[Any]) -> None:
        """Count points: (n,) steps and (n,) for each thing noted of them; n > 0."""
        before, size = self.count, len(steps)
        if not before:
            self.since_step = int(steps[0])
            self._first = tuple(column[0].item() for column in notes)
        total, stride = before + size, self._stride
        while total // stride >= KEPT:
            stride *= 2
        if stride != self._stride:
            self._stride = stride
            self._trail = [one for one in self._trail if not one[0] % stride]
        at = np.arange((before // stride + 1) * stride, total + 1, stride) - before - 1
        noted = zip(*(column[at].tolist() for column in notes), strict=True) if notes else ((),) * len(at)
        self._trail += zip((at + before + 1).tolist(), steps[at].tolist(), noted, strict=True)
        self.count = before + size
        self.last_step = int(steps[-1])
        self.note = tuple(column[-1].item() for column in notes)

    def rewind(self, step: int) -> bool:
        """Take back the points at or above a step; False when none is left."""
        if self.since_step >= step:
            return False
        if self.last_step >= step:
            while self._trail and self._trail[-1][1] >= step:
                self._trail.pop()
            newest = self._trail[-1] if self._trail else (1, self.since_step, self._first)
            self.count, self.last_step, self.note = newest
        return True
