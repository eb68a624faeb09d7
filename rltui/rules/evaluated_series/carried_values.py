"""Series that repeat each measurement until the next one, as evaluations in a table of episodes."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from rltui.common.arrays import Floats, Ints

# Measurements in a row that are all repeated, and points that each of them has at least. A rate over few
# episodes repeats a value by chance, but not each of its values, and it has few different ones.
RUNS, LEAST, DIFFERENT = 8, 4, 6


class CarriedValues:
    """Finds out from the first points whether values are repeated; then only measurements are judged.

    Errors and windows count points: three evaluations that are repeated in a hundred rows each are three
    measurements, not three hundred. A value that stays is measured again each time that it has been repeated
    as often as any of the first ones was. The result does not depend on how points are divided into
    deliveries.
    """

    __slots__ = ("_first", "_last", "_points", "_repeated", "_run", "decided")

    def __init__(self) -> None:
        self.decided = False  # also if values are not repeated
        self._repeated = 0  # points of a measurement; 0 before that is known
        self._last = math.nan
        self._run = 0  # points so far of the newest value
        self._points = 0
        self._first: list[tuple[int, int, float]] = []  # position, step and value of each measurement so far

    @property
    def found(self) -> bool:
        """Whether values are repeated."""
        return self._repeated > 0

    def measured(self, steps: Ints, values: Floats) -> tuple[Ints, Floats]:
        """The measurements among (n,) points; if repetition is found now, also those among all before."""
        if not len(values):
            return steps, values
        first = np.flatnonzero(np.diff(values, prepend=self._last) != 0)
        index = np.arange(len(values))
        begun = np.full(len(values), -self._run)  # position of the first point of the same value
        begun[first] = first
        begun = np.maximum.accumulate(begun)
        self._last, self._run = values.item(-1), len(values) - begun.item(-1)
        if not self.found:
            before = self._points
            self._points += len(values)
            if not self._decide(first + before, steps[first], values[first]):
                return steps, values
            known, early_steps, early = zip(*self._first, strict=True)
            chosen = ((index - begun) % self._repeated == 0) & (index > known[-1] - before)
            return np.array((*early_steps, *steps[chosen])), np.array((*early, *values[chosen]))
        chosen = (index - begun) % self._repeated == 0
        return steps[chosen], values[chosen]

    def _decide(self, positions: Ints, steps: Ints, values: Floats) -> bool:
        """Note the first points of new values, and whether values are known to be repeated by now."""
        for each in zip(positions.tolist(), steps.tolist(), values.tolist(), strict=True):
            self._first.append(each)
            if len(self._first) > 2 and each[0] - self._first[-2][0] < LEAST:
                self.decided = True
                return False
            if len(self._first) == RUNS + 2:  # the first value may have been there for one point
                self.decided = True
                if len({value for _, _, value in self._first}) >= DIFFERENT:
                    self._repeated = max(
                        later[0] - earlier[0] for earlier, later in pairwise(self._first[1:])
                    )
                return self.found
        return False

    def restart(self) -> None:
        """The next point is a measurement: earlier ones were superseded."""
        self._last, self._run = math.nan, 0
