"""Counts points of one kind, so that a restart can subtract those that it supersedes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

KEPT = 256  # points that are stored


class RewindableCounter:
    """The number of points, the first and last step, and a note on the newest point.

    Every `stride`-th point is stored, at most KEPT of them: then every second one is removed and the stride
    doubles. So rewinding is exact while points are few, and exact to a hundredth of the count later. The
    result depends only on the order of the points, not on how they are divided into deliveries.
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
        """Count points: (n,) steps, and (n,) for each number of the note; n > 0."""
        before, size = self.count, len(steps)
        if not before:
            self.since_step = int(steps[0])
            self._first = tuple(column[0].item() for column in notes)
        total, stride = before + size, self._stride
        while total // stride >= KEPT:
            stride *= 2
        if stride != self._stride:
            self._stride = stride
            self._trail = [point for point in self._trail if not point[0] % stride]
        at = np.arange((before // stride + 1) * stride, total + 1, stride) - before - 1
        noted = zip(*(column[at].tolist() for column in notes), strict=True) if notes else ((),) * len(at)
        self._trail += zip((at + before + 1).tolist(), steps[at].tolist(), noted, strict=True)
        self.count = before + size
        self.last_step = int(steps[-1])
        self.note = tuple(column[-1].item() for column in notes)

    def rewind(self, step: int) -> bool:
        """Subtract the points at or above a step; False if none is left."""
        if self.since_step >= step:
            return False
        if self.last_step >= step:
            while self._trail and self._trail[-1][1] >= step:
                self._trail.pop()
            newest = self._trail[-1] if self._trail else (1, self.since_step, self._first)
            self.count, self.last_step, self.note = newest
        return True
