"""Two series divided point by point where their steps agree: truncated share per batch, KL per token, ..."""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import Floats, Ints

# Points of one side that wait for a partner. Most ratios of a run never get one, so this is what its
# judge grows by over hours; of a log that is read whole before its partner the newest so many are judged.
WAITING = 1 << 14

_OVER = " / "

_MERGED = 64  # small pieces that become one

_NO_STEPS: Ints = np.empty(0, np.int64)
_NO_VALUES: Floats = np.empty(0)


def ratio_tag(above: str, below: str) -> str:
    """What a ratio is called, by the tags of its two series."""
    return f"{above}{_OVER}{below}"


def numerator(tag: str) -> str:
    """The tag of a series, and of a ratio that of its numerator."""
    return tag.split(_OVER)[0]


class _Side:
    """Points that wait, in pieces, because most are taken up at once."""

    def __init__(self) -> None:
        self.pieces: list[tuple[Ints, Floats]] = []
        self.count = 0
        self._single = 0  # pieces since the last ones became one

    def add(self, steps: Ints, values: Floats) -> None:
        # Copies: a view would keep the points of all tags of its batch for as long as it waits.
        self.pieces.append((steps.copy(), values.copy()))
        self.count += len(steps)
        self._single += 1
        if self._single == _MERGED:
            last = self.pieces[-_MERGED:]
            joined = tuple(np.concatenate(column) for column in zip(*last, strict=True))
            self.pieces[-_MERGED:] = [(joined[0], joined[1])]
            self._single = 0
        while self.count > WAITING and len(self.pieces) > 1:
            self.count -= len(self.pieces.pop(0)[0])

    def all(self) -> tuple[Ints, Floats]:
        if len(self.pieces) > 1:
            joined = tuple(np.concatenate(column) for column in zip(*self.pieces, strict=True))
            self.pieces = [(joined[0], joined[1])]
            self._single = 0
        return self.pieces[0] if self.pieces else (_NO_STEPS, _NO_VALUES)

    def keep(self, steps: Ints, values: Floats) -> None:
        self.pieces = [(steps, values)] if len(steps) else []
        self.count = len(steps)
        self._single = 0


class Ratio:
    """Joins numerator and denominator by step; gives the ratios in order of step."""

    def __init__(self) -> None:
        self._sides = (_Side(), _Side())

    def feed(self, side: int, steps: Ints, values: Floats) -> tuple[Ints, Floats]:
        """New points of one side (0 above, 1 below the line); the ratios that became known."""
        own, other = self._sides[side], self._sides[1 - side]
        if len(steps) == 1 == other.count and not own.count and other.all()[0][0] == steps[0]:
            waited = other.all()[1]  # a live run: the only point that waits is the partner
            other.keep(_NO_STEPS, _NO_VALUES)
            return _quotients(steps, *((waited, values) if side else (values, waited)))
        own.add(steps, values)
        if not other.count:
            return _NO_STEPS, _NO_VALUES
        (top_steps, top), (bottom_steps, bottom) = (each.all() for each in self._sides)
        if len(steps) == 1 and not (self._sides[1 - side].all()[0] == steps[0]).any():
            return _NO_STEPS, _NO_VALUES
        common, above, below = np.intersect1d(top_steps, bottom_steps, return_indices=True)
        if not len(common):
            return _NO_STEPS, _NO_VALUES
        top_values, bottom_values = top[above], bottom[below]
        for each in self._sides:
            waiting, held = each.all()
            later = waiting > common[-1]
            each.keep(waiting[later], held[later])
        return _quotients(common, top_values, bottom_values)

    def rewind(self, side: int, step: int) -> None:
        """Forget what waits on one side at or above a step."""
        steps, values = self._sides[side].all()
        self._sides[side].keep(steps[steps < step], values[steps < step])


def _quotients(steps: Ints, above: Floats, below: Floats) -> tuple[Ints, Floats]:
    """Steps and ratios where both are finite and the lower one is not zero."""
    usable = np.isfinite(above) & np.isfinite(below) & (below != 0)
    return steps[usable], above[usable] / below[usable]
