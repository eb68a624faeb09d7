"""Two series divided point by point where their steps agree: truncated share per batch, KL per token, ..."""

from __future__ import annotations

import numpy as np

from rltui.rules.track import Floats, Ints

WAITING = 4096  # points that wait for a partner; far more than writers lag behind one another


class Pairing:
    """Joins numerator and denominator by step; gives the quotients in order of step."""

    def __init__(self) -> None:
        self._steps: list[Ints] = [np.empty(0, np.int64), np.empty(0, np.int64)]
        self._values: list[Floats] = [np.empty(0), np.empty(0)]

    def feed(self, side: int, steps: Ints, values: Floats) -> tuple[Ints, Floats]:
        """New points of one side (0 above, 1 below the line); the quotients that became known."""
        self._steps[side] = np.concatenate((self._steps[side], steps))
        self._values[side] = np.concatenate((self._values[side], values))
        if not (len(self._steps[0]) and len(self._steps[1])):
            self._forget()
            return self._steps[0][:0], self._values[0][:0]
        if len(steps) == 1:  # the common case of a live run, without sorting what waits
            partner = np.flatnonzero(self._steps[1 - side] == steps[0])
            if not len(partner):
                self._forget()
                return self._steps[0][:0], self._values[0][:0]
        common, above, below = np.intersect1d(self._steps[0], self._steps[1], return_indices=True)
        top, bottom = self._values[0][above], self._values[1][below]
        for k in (0, 1):
            waits = self._steps[k] > common[-1] if len(common) else np.ones(len(self._steps[k]), np.bool_)
            self._steps[k], self._values[k] = self._steps[k][waits], self._values[k][waits]
        self._forget()
        usable = np.isfinite(top) & np.isfinite(bottom) & (bottom != 0)
        return common[usable], top[usable] / bottom[usable]

    def rewind(self, step: int) -> None:
        """Forget what waits at or above a step."""
        for k in (0, 1):
            below = self._steps[k] < step
            self._steps[k], self._values[k] = self._steps[k][below], self._values[k][below]

    def _forget(self) -> None:
        for k in (0, 1):
            if len(self._steps[k]) > WAITING:
                self._steps[k], self._values[k] = self._steps[k][-WAITING:], self._values[k][-WAITING:]
