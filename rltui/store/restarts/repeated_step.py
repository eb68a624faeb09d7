"""Detects a resume that logs the last step again before it continues.

Several points at one step are usual in some logs, and a coincidence in others (two episodes that end at the
same time). It is a restart only if no tag of this log had two points at one step before, the tags that had a
point at this step have another one, they then continue evenly for `EVEN_STEPS` steps, and the pause before it
was at least as long as a step usually takes, where times are known.
"""

from __future__ import annotations

import math
from typing import Literal

EVEN_STEPS = 3  # steps forward at equal distances
REPEATING_SHARE = 0.75  # of the tags that had a point at the step
MIN_REPEATING = 2  # tags
MIN_PAUSE = 0.4  # of the usual time between two steps

Decision = Literal["wait", "restart", "no"]


class RepeatedStep:
    """A step that may have been repeated. newest: by row, the newest step since.

    number: index in the log of the first repeated point. total: tags that had a point at the step. pause:
    seconds since the points before, NaN unknown. wall: of the first repeated point.
    """

    def __init__(self, number: int, step: int, total: int, pause: float, wall: float) -> None:
        self.number = number
        self.newest: dict[int, int] = {}
        self._step = step
        self._total = total
        self._pause = pause
        self._wall = wall
        self._stride = 0
        self._forward: dict[int, int] = {}  # by row that repeats the step: even steps since

    def add(self, row: int, step: int, high: int, wall: float) -> Decision:
        """Add a point. high: the step that its tag had reached before the repetition."""
        last = self.newest.get(row, high)
        self.newest[row] = max(step, last)
        if row in self._forward:
            self._stride = self._stride or step - last
            if step <= last or step - last != self._stride:
                return "no"
            self._forward[row] += 1
            return "wait" if self._forward[row] < EVEN_STEPS else self._decide(wall)
        if step == self._step == high and not self._stride:
            self._forward[row] = 0
            return "wait"
        return "no" if step < last or self._not_repeating > self._total else "wait"

    @property
    def _not_repeating(self) -> int:
        """Tags that had points since, but none at this step."""
        return len(self.newest) - len(self._forward)

    def _decide(self, wall: float) -> Decision:
        usual = (wall - self._wall) / EVEN_STEPS
        paused = math.isnan(self._pause) or math.isnan(usual) or self._pause >= MIN_PAUSE * usual
        needed = max(MIN_REPEATING, REPEATING_SHARE * self._total, self._not_repeating)
        return "restart" if paused and len(self._forward) >= needed else "no"
