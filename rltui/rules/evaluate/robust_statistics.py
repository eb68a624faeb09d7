"""Medians, quantiles and Mann and Kendall's trend: the robust statistics that judging is made of.

Of rows where many moments are asked at once, of plain numbers where one is: for a single row Python is
faster than numpy. None imports numpy's masked arrays, as its own median and quantile do: 10 ms and 2 MB.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rltui.store.model import F64, I64

NORMAL = 1.4826  # from median absolute deviation to standard deviation, for normal noise
TREND_PARTS = 12  # medians that a trend is read from
TREND_LENGTHS = (0, 24, 48, 96)  # ticks of a trend: two to a part at least
_REACHED = (24, 120, 320)  # ticks of the run from which on it is the next longer one
TREND_FROM = np.array(_REACHED) - 1  # positions of the ticks at which it is
_LENGTHS = np.array(TREND_LENGTHS)


def median(values: NDArray[Any]) -> float:
    """Median of (n,) values; NaN when there are none or one is NaN. As numpy's."""
    if not len(values):
        return math.nan
    row = np.sort(values)
    if row[-1] != row[-1]:
        return math.nan
    return (float(row[(len(row) - 1) // 2]) + float(row[len(row) // 2])) / 2


def quantile(values: NDArray[Any], share: float) -> float:
    """The value below which a share of (n,) values lies, between two neighbours in a straight line.

    NaN when there are none or one is NaN. As numpy's, which imports masked arrays.
    """
    if not len(values):
        return math.nan
    row = np.sort(values)
    if row[-1] != row[-1]:
        return math.nan
    place = share * (len(row) - 1)
    below = int(place)
    low, high = float(row[below]), float(row[min(below + 1, len(row) - 1)])
    part = place - below
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)


def median_of(part: list[float]) -> float:
    """The median of numbers; NaN of none."""
    if not part:
        return float("nan")
    part = sorted(part)
    return (part[(len(part) - 1) // 2] + part[len(part) // 2]) / 2


def middle(table: F64, have: I64) -> F64:
    """Median of the first `have[k]` values of each sorted row, NaN for none; `have` rises from row to row."""
    size, none = table.shape[1], int(have.searchsorted(1))
    if none == len(have):
        return np.full(len(have), np.nan)
    flat, begin = table.ravel(), np.arange(0, table.size, size)
    found: F64 = (flat[begin + np.maximum(have - 1, 0) // 2] + flat[begin + have // 2]) / 2
    found[:none] = np.nan
    return found


def sorted_middle(table: F64, have: I64) -> F64:
    """The same of unsorted rows whose values stand behind empty ones; sorts them in place, NaN to the end."""
    table.sort(axis=1)
    size = table.shape[1]
    if have[0] >= size:
        found: F64 = (table[:, (size - 1) // 2] + table[:, size // 2]) / 2
        return found
    return middle(table, have)


def medians(rows: F64) -> F64:
    """Median of each row of (m, n), n > 0; NaN where it holds one. Does not import masked arrays."""
    if len(rows) == 1:
        row: list[float] = rows[0].tolist()
        return np.array([math.nan if any(value != value for value in row) else median_of(row)])
    table = np.sort(rows, axis=1)
    size = table.shape[1]
    found: F64 = (table[:, (size - 1) // 2] + table[:, size // 2]) / 2
    return np.where(np.isnan(table[:, -1]), np.nan, found)


def trend_length(ticks: I64) -> I64:
    """Ticks that a trend is read from when so many are there: about the last fifth; 0 where too few."""
    return _LENGTHS[np.searchsorted(_REACHED, ticks, side="right")]


def trend_length_one(ticks: int) -> int:
    """The same of a plain number."""
    return TREND_LENGTHS[bisect_right(_REACHED, ticks)]


def concordance(parts: F64) -> F64:
    """(m,) Mann and Kendall's z of each row of (m, n): how far above chance later values are higher.

    S counts pairs; its standard deviation for n values without ties is sqrt(n (n - 1) (2 n + 5) / 18).
    """
    early, late, deviation = _pairs(parts.shape[1])
    found: F64 = np.sign(parts[:, late] - parts[:, early]).sum(axis=1) / deviation
    return found


@cache
def _pairs(count: int) -> tuple[I64, I64, float]:
    """Every two of so many parts, the earlier ones and the later ones; the deviation of S."""
    early, late = np.triu_indices(count, 1)
    return early, late, math.sqrt(count * (count - 1) * (2 * count + 5) / 18)


def part_medians(rows: F64) -> F64:
    """(m, TREND_PARTS) medians of the parts of (m, n) rows, n a multiple of TREND_PARTS."""
    parts = np.sort(rows.reshape(len(rows), TREND_PARTS, -1), axis=2)
    width = parts.shape[2]
    found: F64 = (parts[:, :, (width - 1) // 2] + parts[:, :, width // 2]) / 2
    return found


def rise(parts: F64) -> F64:
    """(m,) change of part medians from the first quarter to the last."""
    last, first = parts[:, -3] + parts[:, -2] + parts[:, -1], parts[:, 0] + parts[:, 1] + parts[:, 2]
    found: F64 = last / 3 - first / 3
    return found


def concordance_one(parts: list[float]) -> float:
    """Z of a single row, in plain numbers."""
    s = 0
    for place, early in enumerate(parts):
        for late in parts[place + 1 :]:
            s += (late > early) - (late < early)
    return s / _pairs(len(parts))[2]


def middle_of(part: F64) -> float:
    """The median of (n,) numbers, n > 0, none of them NaN, in place: sorts them."""
    part.sort()
    size = len(part)
    return (float(part[(size - 1) // 2]) + float(part[size // 2])) / 2
