"""Ranges of value axes, and where values lie in them.

A range grows with slack and shrinks only when it is far too large: one that followed every extreme would
redraw the whole chart at each point, which is what costs bandwidth over SSH.
"""

from __future__ import annotations

import math

import numpy as np

from rltui.common.arrays import Floats

SLACK = 0.15  # share of the span added where the data outgrew the range
SHRINK = 0.4  # the data must leave this share of the range unused before it shrinks
OUTLIERS = 0.04  # share of the columns that may be outliers at each end
FLATTENED = 4.0  # times the height of the rest: then that has a quarter of the chart
MIN_COLUMNS = 24  # of which one or more may be outliers
ZERO = 1e-12  # what is nearer to zero is rounding: float64 sums round numbers near one to 1e-16 each
FLAT = 1e-4  # share of the values; smaller changes are rounding and drawn flat


def share_of(value: float, low: float, high: float) -> float:
    """The position of a value from `low` (0) to `high` (1), clamped; 0.5 in an empty range, NaN of NaN."""
    half = high / 2 - low / 2  # halves: the difference of two huge floats would overflow
    return min(max((value / 2 - low / 2) / half, 0.0), 1.0) if half > 0 else 0.5


def shares_of(values: Floats, low: float, high: float) -> Floats:
    """The same for an array, of its shape; NaN of NaN."""
    half = high / 2 - low / 2
    if not half > 0:
        return np.full(values.shape, 0.5)
    with np.errstate(invalid="ignore", over="ignore"):
        shares = values * 0.5
        shares -= low / 2
        shares /= half
        return np.minimum(np.maximum(shares, 0.0, out=shares), 1.0, out=shares)


def value_range(low: Floats, high: Floats) -> tuple[float, float]:
    """The finite extremes of columns; (0, 0) when there are none."""
    low, high = low[np.isfinite(low)], high[np.isfinite(high)]
    if not len(low) or not len(high):
        return (0.0, 0.0)
    return (float(low.min()), float(high.max()))


def robust_range(
    low: Floats, high: Floats, *, second: int = 1, held: bool = False
) -> tuple[tuple[float, float], bool]:
    """The range of columns without outliers that would flatten the rest; and whether any are cut off.

    low, high: (n,) extremes. Outliers are at most a share of `OUTLIERS` of the columns, and cut off where
    they make the range `FLATTENED` times as tall as that of the rest. The newest columns are never cut off,
    nor is the start of a run, unless it lasted for one column only, as the time of the first step does.

    second: the column of the points after the first ones.
    held: outliers were cut off before; a lower threshold then keeps the range from alternating.
    """
    whole = value_range(low, high)
    known = np.isfinite(low) & np.isfinite(high)
    bottoms, tops = low[known], high[known]
    count = len(bottoms)
    if count < MIN_COLUMNS or not math.isfinite(whole[1] - whole[0]):
        return whole, False
    few = int(OUTLIERS * count)
    least = float(np.partition(bottoms, few)[few])
    most = float(np.partition(tops, count - 1 - few)[count - 1 - few])
    span = most - least
    if span <= 0 or whole[1] - whole[0] < FLATTENED * span * (0.75 if held else 1.0):
        return whole, False
    robust = (max(whole[0], least - span / 4), min(whole[1], most + span / 4))
    with np.errstate(invalid="ignore"):
        out = (low < robust[0]) | (high > robust[1])
    if out[np.flatnonzero(known)[-max(count // 20, 1) :]].any() or out[second : second + 1].any():
        return whole, False
    return robust, True


def decades(low: Floats, high: Floats) -> float:
    """How many powers of ten columns span, (n,) extremes; 0 where some are negative or zero up to rounding.

    A share of `OUTLIERS` of the lowest columns is ignored: on a linear scale they hide nothing.
    """
    known = np.isfinite(low) & np.isfinite(high)
    bottoms, tops = low[known], high[known]
    if len(bottoms) < 4 or bottoms.min() < 0:
        return 0.0
    few = int(OUTLIERS * len(bottoms))
    least, most = float(np.partition(bottoms, few)[few]), float(tops.max())
    return math.log10(most) - math.log10(least) if least > ZERO else 0.0


def stable_range(shown: tuple[float, float] | None, data: tuple[float, float]) -> tuple[float, float]:
    """The range to show for `data` when `shown` was shown before: unchanged while it is suitable."""
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
    """The range to draw in, at least `FLAT` of its values wide, so that rounding noise is drawn flat."""
    least = FLAT * max(abs(low), abs(high))
    if low == high or not math.isfinite(least) or high / 2 - low / 2 >= least / 2:
        return (low, high)
    middle = low / 2 + high / 2
    return (middle - least / 2, middle + least / 2)


def range_with_spread(
    curve: tuple[float, float], spread: tuple[float, float], share: float
) -> tuple[float, float]:
    """The range that shows a spread around a curve, in which the curve keeps `share` (0 to 1) of the height.

    The spread is cut off beyond it, in proportion at both sides.
    """
    low, high = min(curve[0], spread[0]), max(curve[1], spread[1])
    span = curve[1] / 2 - curve[0] / 2  # halves: differences of huge floats would overflow
    beyond = (high / 2 - low / 2) - span
    if span <= 0 or beyond <= 0 or share * (span + beyond) <= span:
        return (low, high)
    room = span / share - span
    part = room / beyond
    return (curve[0] - (curve[0] - low) * part, curve[1] + (high - curve[1]) * part)
