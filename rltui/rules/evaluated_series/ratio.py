"""Ratios of two series at common steps, such as the KL per token."""

from __future__ import annotations

import math

import numpy as np

from rltui.common.arrays import Floats, Ints

# Most points of one side that wait for the other, which bounds the memory: the other side of most ratios
# never comes. If a log is read completely before the one with the other side, only the newest are divided.
WAITING = 1 << 14

_NO_STEPS: Ints = np.empty(0, np.int64)
_NO_VALUES: Floats = np.empty(0)


class Waiting:
    """The newest `WAITING` points that wait; the arrays have room for some more."""

    def __init__(self) -> None:
        self.count = 0  # points in the two arrays
        self._steps, self._values = _NO_STEPS, _NO_VALUES

    def add(self, steps: Ints, values: Floats) -> None:
        """Add points in order of arrival."""
        begin, end = self.count, self.count + len(steps)
        if end > len(self._steps):
            held, waiting = self.all()
            self.keep(np.concatenate((held, steps))[-WAITING:], np.concatenate((waiting, values))[-WAITING:])
        else:
            self._steps[begin:end], self._values[begin:end] = steps, values
            self.count = end

    def only(self, step: int) -> float | None:
        """The value of the only point, if it is at this step."""
        return self._values.item(0) if self._steps.item(0) == step else None

    def all(self) -> tuple[Ints, Floats]:
        """Steps and values of all."""
        newest = slice(max(self.count - WAITING, 0), self.count)
        return self._steps[newest], self._values[newest]

    def keep(self, steps: Ints, values: Floats) -> None:
        """Replace all by these."""
        count = self.count = len(steps)
        room = count + count // 8 + 8 if count else 0
        self._steps, self._values = np.empty(room, np.int64), np.empty(room)
        self._steps[:count], self._values[:count] = steps, values

    def rewind(self, step: int) -> None:
        """Remove points at or above a step."""
        steps, values = self.all()
        self.keep(steps[steps < step], values[steps < step])


class Ratio:
    """Joins numerator and denominator by step; returns the ratios in order of step."""

    def __init__(self) -> None:
        self._sides = (Waiting(), Waiting())

    def feed(self, side: int, steps: Ints, values: Floats) -> tuple[Ints, Floats]:
        """Add points of one side (0 numerator, 1 denominator). Returns the new ratios."""
        own, other = self._sides[side], self._sides[1 - side]
        if not other.count:
            own.add(steps, values)
            return _NO_STEPS, _NO_VALUES
        if (
            len(steps) == 1 == other.count
            and not own.count
            and (partner := other.only(steps.item(0))) is not None
        ):
            other.count = 0  # a live run: the only point that waits is the partner
            value = values.item(0)
            found = _quotient(*((partner, value) if side else (value, partner)))
            return (_NO_STEPS, _NO_VALUES) if found is None else (steps, np.array((found,)))
        own.add(steps, values)
        (top_steps, top), (bottom_steps, bottom) = (each.all() for each in self._sides)
        if len(steps) == 1 and not (other.all()[0] == steps[0]).any():
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
        """Remove waiting points of one side at or above a step."""
        self._sides[side].rewind(step)


def _quotient(above: float, below: float) -> float | None:
    """As `_quotients`, of two numbers in a tenth of the time."""
    found = above / below if below and math.isfinite(below) else math.nan
    return found if math.isfinite(found) else None


def _quotients(steps: Ints, above: Floats, below: Floats) -> tuple[Ints, Floats]:
    """Steps and ratios where both are finite and the denominator is not zero."""
    found = above / below
    usable = np.isfinite(found) & np.isfinite(below)
    return (steps, found) if usable.all() else (steps[usable], found[usable])
