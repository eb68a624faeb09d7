"""A step that is logged twice: a resume that repeats the last step before it goes on.

Several points of one step are usual in some logs, and a coincidence in others (two episodes that end at
once). It is a restart only when everything speaks for it: never before did a tag of this log have two points
at one step, the tags that had one at this step have another, then they go on evenly for `EVEN` steps, and
the pause before was one that a step takes, where times are known.
"""

from __future__ import annotations

import math
from typing import Literal

EVEN = 3  # steps forward at one distance
WHOLE = 0.75  # of the tags that had a point at the step
FEWEST = 2  # tags of a row
PAUSE = 0.4  # of the usual time between two steps

Decision = Literal["wait", "restart", "no"]


class RepeatedStep:
    """A step that may have been repeated. number: of the first point again; newest: step by row since.

    step: the one repeated. total: tags that had a point at it. pause: seconds since the points before, NaN
    unknown. wall: of the first point.
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
        """A point. high: the step that its tag had reached before the repetition."""
        last = self.newest.get(row, high)
        self.newest[row] = max(step, last)
        if row in self._forward:
            self._stride = self._stride or step - last
            if step <= last or step - last != self._stride:
                return "no"
            self._forward[row] += 1
            return "wait" if self._forward[row] < EVEN else self._decide(wall)
        if step == self._step == high and not self._stride:
            self._forward[row] = 0
            return "wait"
        return "no" if step < last or self._rest > self._total else "wait"

    @property
    def _rest(self) -> int:
        """Tags that had points since, but none at this step."""
        return len(self.newest) - len(self._forward)

    def _decide(self, wall: float) -> Decision:
        usual = (wall - self._wall) / EVEN
        paused = math.isnan(self._pause) or math.isnan(usual) or self._pause >= PAUSE * usual
        repeating = len(self._forward)
        return "restart" if paused and repeating >= max(FEWEST, WHOLE * self._total, self._rest) else "no"
