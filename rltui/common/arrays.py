"""The types of most arrays; distinct values, median and quantiles of one.

`numpy.unique`, `numpy.median` and `numpy.quantile` give the same, but import masked arrays: 22 ms and 2 MB of
every start. The last two take 20 us for fifty values, of which sorting is one. `statistics` would import
fractions and decimals, 8 ms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
S = TypeVar("S", bound=np.generic)


def distinct(values: NDArray[S]) -> NDArray[S]:
    """(n,) values sorted, each once."""
    return distinct_sorted(np.sort(values))


def distinct_sorted(ordered: NDArray[S]) -> NDArray[S]:
    """(n,) values that are sorted already, each once."""
    return ordered[_new(ordered)]


def distinct_counts(values: NDArray[S]) -> tuple[NDArray[S], NDArray[np.intp]]:
    """(n,) values sorted, each once, and how often each occurs."""
    ordered = np.sort(values)
    first = np.flatnonzero(_new(ordered))
    return ordered[first], np.diff(np.append(first, len(ordered)))


def distinct_places(values: NDArray[S]) -> tuple[NDArray[S], NDArray[np.intp]]:
    """(n,) values sorted, each once, and where each occurs first."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    new = _new(ordered)
    return ordered[new], order[new]


def _new(ordered: NDArray[S]) -> Bools:
    """Where a sorted array has another value than before."""
    new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return new


def median(values: Floats | Ints | Sequence[float]) -> float:
    """Median of (n,) values; NaN when there are none or one is NaN. As numpy's."""
    if not len(values):
        return math.nan
    row = np.sort(values)
    if row[-1] != row[-1]:
        return math.nan
    return (float(row[(len(row) - 1) // 2]) + float(row[len(row) // 2])) / 2


def quantile(values: Floats | Sequence[float], share: float) -> float:
    """The value below which a share of (n,) values lies, between two neighbours in a straight line.

    NaN when there are none or one is NaN. As numpy's.
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
