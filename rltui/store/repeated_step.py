"""One row told again: a resume that repeats the last step before it goes on.

Several points of one step are usual in some logs, and a coincidence in others (two episodes that end at
once). It is a restart only when everything speaks for it: never before did a tag of this log speak twice of
a step, the tags that spoke of it do so again, then they go on evenly for `EVEN` steps, and the pause before
was one that a step takes, where times are known.
"""

from __future__ import annotations

import math
from typing import Literal

EVEN = 3  # steps forward at one distance
WHOLE = 0.75  # of the tags that spoke of the step
FEWEST = 2  # tags of a row
PAUSE = 0.4  # of the usual time between two steps

Verdict = Literal["wait", "restart", "no"]


class RepeatedStep:
    """A row that may have been told again. number: of its first point; newest: step by tag (row) since.

    step: of which it tells. total: tags that had spoken of it. pause: seconds since the points before, NaN
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
        self._forward: dict[int, int] = {}  # by row that tells again: even steps since

    def hear(self, row: int, step: int, high: int, wall: float) -> Verdict:
        """A point. high: the step that its tag had reached before the row was told again."""
        last = self.newest.get(row, high)
        self.newest[row] = max(step, last)
        if row in self._forward:
            self._stride = self._stride or step - last
            if step <= last or step - last != self._stride:
                return "no"
            self._forward[row] += 1
            return "wait" if self._forward[row] < EVEN else self._judge(wall)
        if step == self._step == high and not self._stride:
            self._forward[row] = 0
            return "wait"
        return "no" if step < last or self._rest > self._total else "wait"

    @property
    def _rest(self) -> int:
        """Tags that spoke since, but not of this step."""
        return len(self.newest) - len(self._forward)

    def _judge(self, wall: float) -> Verdict:
        usual = (wall - self._wall) / EVEN
        paused = math.isnan(self._pause) or math.isnan(usual) or self._pause >= PAUSE * usual
        told = len(self._forward)
        return "restart" if paused and told >= max(FEWEST, WHOLE * self._total, self._rest) else "no"
