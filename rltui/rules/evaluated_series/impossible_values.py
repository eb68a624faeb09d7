"""Counts values outside the bounds of a metric."""

from __future__ import annotations

import math

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.rules.evaluated_series.rewindable_counter import RewindableCounter


class ImpossibleValues(RewindableCounter):
    """Values outside the bounds; the note of each is the farthest so far."""

    __slots__ = ()

    @property
    def worst(self) -> float:
        """The value that is farthest from zero."""
        return self.note[0]


def hard_limits(bounds: tuple[float, float]) -> tuple[float, float]:
    """The bounds with a margin for rounding."""
    low, high = bounds
    slack = 1e-4 * max(abs(low) if np.isfinite(low) else 0.0, abs(high) if np.isfinite(high) else 0.0, 1.0)
    return low - slack, high + slack


def impossible_values(
    limits: tuple[float, float], steps: Ints, values: Floats, before: ImpossibleValues | None
) -> ImpossibleValues | None:
    """Count finite values outside hard limits."""
    low, high = limits
    if len(values) == 1:
        if not math.isfinite(value := values.item(0)) or low <= value <= high:
            return before
    elif not len(values) or (values.min() >= low and values.max() <= high):
        return before
    outside = (values < low) | (values > high)
    outside &= np.isfinite(values)
    if not outside.any():
        return before
    found = before if before is not None else ImpossibleValues()
    odd = np.concatenate(([found.worst if found.count else 0.0], values[outside]))
    size = np.abs(odd)
    record = np.where(size >= np.maximum.accumulate(size), np.arange(len(odd)), 0)
    found.add(steps[outside], odd[np.maximum.accumulate(record)][1:])
    return found
