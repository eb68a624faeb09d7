"""Robust statistics: errors of rates, and the Mann-Kendall test for trends."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from rltui.common.arrays import Floats, Ints, distinct, median, median_of_sorted

NORMAL = 1.4826  # from median absolute deviation to standard deviation, for normal noise
BENDS = math.sqrt(6.0)  # standard deviation of a second difference of noise of one
MEDIAN_OF_THREE = 0.67  # its deviation relative to that of one value, for normal noise
TREND_PARTS = 12  # parts of a trend, whose medians are compared
TREND_LENGTHS = (0, 24, 48, 96)  # ticks of a trend: at least two per part
_REACHED = (24, 120, 320)  # ticks of the run from which on the next length is used
TREND_FROM = np.array(_REACHED) - 1  # the positions of these ticks
_LENGTHS = np.array(TREND_LENGTHS)


def one_of_them(rates: Floats) -> float:
    """The contribution of one episode or response to (n,) rates over a few of them; 0 if they are all equal.

    If some rates are zero, the least one above zero; else the least difference of two, which may be smaller.
    """
    known = distinct(rates)
    if len(known) < 2:
        return 0.0
    return float(known[1]) if known[0] == 0 else float(np.diff(known).min())


def rate_error(rates: Floats) -> float:
    """The largest standard error of a median of three of (n,) rates over few responses; 0 outside 0 to 1.

    The least difference of two rates is 1 / n for n responses. A rate p has the error sqrt(p (1 - p) / n),
    largest at a half, and a median of three `MEDIAN_OF_THREE` times that.
    """
    known = distinct(rates)
    if len(known) < 2 or known[0] < 0 or known[-1] > 1:
        return 0.0
    return MEDIAN_OF_THREE * math.sqrt(0.25 * float(np.diff(known).min()))


def noise_beside_trend(values: Floats) -> float:
    """Robust deviation of (n,) values from second differences, which a steady trend leaves zero.

    Or from differences of every other value, if they are smaller: two sets that alternate are no noise. 0 for
    fewer than eight values, whose turns cannot be told from noise.
    """
    if len(values) < 8:
        return 0.0
    bends = median(np.abs(np.diff(values, 2))) / BENDS
    return NORMAL * float(min(bends, median(np.abs(values[2:] - values[:-2])) / math.sqrt(2.0)))


def trend_length(ticks: Ints) -> Ints:
    """Ticks of a trend for a run of so many ticks: about the last fifth; 0 with too few."""
    return _LENGTHS[np.searchsorted(_REACHED, ticks, side="right")]


def concordance(parts: Floats) -> Floats:
    """(m,) Mann-Kendall z of each row of (m, n).

    S is the number of pairs in ascending order minus those in descending order; its standard deviation for n
    values without ties and trend is sqrt(n (n - 1) (2 n + 5) / 18).
    """
    early, late, deviation = _pairs(parts.shape[1])
    found: Floats = np.add.reduce(np.sign(parts[:, late] - parts[:, early]), axis=1) / deviation
    return found


@cache
def _pairs(count: int) -> tuple[Ints, Ints, float]:
    """All pairs of so many parts, as earlier and later ones; the deviation of S."""
    early, late = np.triu_indices(count, 1)
    return early, late, math.sqrt(count * (count - 1) * (2 * count + 5) / 18)


def part_medians(rows: Floats) -> Floats:
    """(m, TREND_PARTS) medians of the parts of (m, n) rows, n a multiple of TREND_PARTS."""
    width = rows.shape[1] // TREND_PARTS
    return median_of_sorted(np.sort(rows.reshape(-1, width), axis=1)).reshape(-1, TREND_PARTS)


def rise(parts: Floats) -> Floats:
    """(m,) change of part medians from the first quarter to the last."""
    last, first = parts[:, -3] + parts[:, -2] + parts[:, -1], parts[:, 0] + parts[:, 1] + parts[:, 2]
    found: Floats = last / 3 - first / 3
    return found
