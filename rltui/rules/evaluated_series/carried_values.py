"""Series that repeat each measurement until the next one, as evaluations in a table of episodes."""

from __future__ import annotations

import math

import numpy as np

from rltui.common.arrays import Floats, Ints

# Measurements in a row that are all repeated, and points that each of them has at least. A rate over few
# episodes repeats a value by chance, but not each of its values, and it has few different ones.
RUNS, LEAST, DIFFERENT = 8, 4, 6


class CarriedValues:
    """Finds out from the first points whether values are repeated; then only the first of each is judged.

    Errors and windows count points: three evaluations that are repeated in a hundred rows each are three
    measurements, not three hundred. The result does not depend on how points are divided into deliveries.
    """

    __slots__ = ("_first", "_last", "_points", "decided", "found")

    def __init__(self) -> None:
        self.found = False  # whether values are repeated
        self.decided = False
        self._last = math.nan
        self._points = 0
        self._first: list[tuple[int, int, float]] = []  # position, step and value of each measurement so far

    def measured(self, steps: Ints, values: Floats) -> tuple[Ints, Floats]:
        """The first points of repeated values, of (n,) points; if that is found now, of all so far, too."""
        if not len(values):
            return steps, values
        first = np.flatnonzero(np.diff(values, prepend=self._last) != 0)
        self._last = values.item(-1)
        if self.found:
            return steps[first], values[first]
        for index in first.tolist():
            self._first.append((self._points + index, steps.item(index), values.item(index)))
            if len(self._first) > 2 and self._first[-1][0] - self._first[-2][0] < LEAST:
                self.decided = True
                break
            if len(self._first) == RUNS + 2:  # the first value may have been there for one point
                self.decided = True
                self.found = len({value for _, _, value in self._first}) >= DIFFERENT
                break
        self._points += len(values)
        if not self.found:
            return steps, values
        later = first[first > self._first[-1][0] - (self._points - len(values))]
        _, early_steps, early = zip(*self._first, strict=True)
        return np.array((*early_steps, *steps[later])), np.array((*early, *values[later]))

    def rewind(self) -> None:
        """After a restart the next point is a measurement; all are if values are not known to be repeated."""
        self._last = math.nan
        self.decided |= bool(self._first)
