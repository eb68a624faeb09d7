"""Ranges that hold still: a chart's y range grows with slack and shrinks only when it is far too large.

A range that follows every extreme redraws the whole chart at each point, and redrawing is what a screen
costs over SSH.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

SLACK = 0.15  # share of the span added where the data outgrew the range
SHRINK = 0.4  # the data must leave this share of the range unused before it shrinks
FLAT = 1e-4  # share of the values; what moves by less is drawn flat: it is rounding, not a course


def value_range(low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[float, float]:
    """The finite extremes of columns; (0, 0) when there are none."""
    low, high = low[np.isfinite(low)], high[np.isfinite(high)]
    if not len(low) or not len(high):
        return (0.0, 0.0)
    return (float(low.min()), float(high.max()))


def stable_range(shown: tuple[float, float] | None, data: tuple[float, float]) -> tuple[float, float]:
    """The range to show for `data` when `shown` was shown before: unchanged as long as it serves."""
    low, high = data
    if shown is not None and shown[0] <= low and high <= shown[1]:
        unused = (shown[1] / 2 - shown[0] / 2) - (high / 2 - low / 2)
        if unused <= SHRINK * (shown[1] / 2 - shown[0] / 2):
            return shown
    slack = (high / 2 - low / 2) * 2 * SLACK
    if not math.isfinite(slack) or slack == 0:
        return (low, high)
    bottom = low if shown is not None and low >= shown[0] else low - slack
    top = high if shown is not None and high <= shown[1] else high + slack
    if low >= 0 > bottom:  # a length or a fraction never needs a negative axis
        bottom = 0.0
    return (bottom, top)


def widened(low: float, high: float) -> tuple[float, float]:
    """The range to draw in, at least `FLAT` of its values wide, so that rounding noise looks like none."""
    least = FLAT * max(abs(low), abs(high))
    if low == high or not math.isfinite(least) or high / 2 - low / 2 >= least / 2:
        return (low, high)
    middle = low / 2 + high / 2
    return (middle - least / 2, middle + least / 2)


def range_with_spread(
    curve: tuple[float, float], spread: tuple[float, float], share: float
) -> tuple[float, float]:
    """The range that shows a spread round a curve, in which the curve keeps `share` (0 to 1) of the height.

    What of the spread lies farther out is cut off, at both sides in proportion.
    """
    low, high = min(curve[0], spread[0]), max(curve[1], spread[1])
    span = curve[1] / 2 - curve[0] / 2  # halves: differences of huge floats would overflow
    beyond = (high / 2 - low / 2) - span
    if span <= 0 or beyond <= 0 or share * (span + beyond) <= span:
        return (low, high)
    room = span / share - span
    part = room / beyond
    return (curve[0] - (curve[0] - low) * part, curve[1] + (high - curve[1]) * part)
