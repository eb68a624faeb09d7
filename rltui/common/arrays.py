"""Array types; distinct and common values, contiguous parts, median and quantiles of an array.

`numpy.unique`, `numpy.intersect1d`, `numpy.median` and `numpy.quantile` return the same, but they import
masked arrays, which costs 22 ms and 2 MB at each start. The last two also take 20 us for 50 values; sorting
these takes 1 us. `statistics` would import fractions and decimals (8 ms).
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
    """The sorted distinct values of an (n,) array."""
    return distinct_sorted(np.sort(values))


def distinct_sorted(ordered: NDArray[S]) -> NDArray[S]:
    """The distinct values of a sorted (n,) array."""
    return ordered[_differs_from_previous(ordered)]


def distinct_counts(values: NDArray[S]) -> tuple[NDArray[S], NDArray[np.intp]]:
    """The sorted distinct values of an (n,) array, and their counts."""
    ordered = np.sort(values)
    first = np.flatnonzero(_differs_from_previous(ordered))
    return ordered[first], np.diff(np.append(first, len(ordered)))


def distinct_with_first_index(values: NDArray[S]) -> tuple[NDArray[S], NDArray[np.intp]]:
    """The sorted distinct values of an (n,) array, and the index of the first occurrence of each."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = _differs_from_previous(ordered)
    return ordered[first], order[first]


def in_both(one: NDArray[S], other: NDArray[S]) -> NDArray[S]:
    """The sorted distinct values that two arrays have in common."""
    return np.intersect1d(distinct(one), distinct(other), assume_unique=True)


def contiguous_parts(mask: Bools) -> list[NDArray[np.intp]]:
    """The indices at which an (n,) array is true, split where false values lie between them."""
    places = np.flatnonzero(mask)
    return np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []


def _differs_from_previous(ordered: NDArray[S]) -> Bools:
    differs = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=differs[1:])
    return differs


def median(values: Floats | Ints | Sequence[float]) -> float:
    """Median of (n,) values, as in numpy; NaN if there are none or any is NaN.

    Of eight numbers in a list in 1.0 us; as an array they would take 3.2.
    """
    ordered: Floats | Ints | list[float]
    if isinstance(values, list):
        ordered = [] if any(map(math.isnan, values)) else sorted(values)
    else:
        ordered = np.sort(values)
    if not len(ordered) or ordered[-1] != ordered[-1]:
        return math.nan
    upper = float(ordered[len(ordered) // 2])
    return upper if len(ordered) % 2 else (float(ordered[len(ordered) // 2 - 1]) + upper) / 2


def medians(rows: Floats) -> Floats:
    """(m,) median of each row of (m, n), n > 0; NaN if it contains NaN."""
    ranked = np.sort(rows, axis=1)
    return np.where(np.isnan(ranked[:, -1]), np.nan, median_of_sorted(ranked))


def median_of_sorted(ranked: Floats, counts: Ints | None = None) -> Floats:
    """(m,) median of each sorted row of (m, n), n > 0, without NaN.

    counts: (m,) number of values in each row, after which it is NaN; the median of none is NaN.
    """
    size = ranked.shape[1]
    if counts is not None:
        flat, begin = ranked.ravel(), np.arange(0, ranked.size, size)
        found: Floats = (flat[begin + np.maximum(counts - 1, 0) // 2] + flat[begin + counts // 2]) / 2
        return found
    return ranked[:, size // 2] if size % 2 else (ranked[:, size // 2 - 1] + ranked[:, size // 2]) / 2


def quantile(values: Floats | Sequence[float], share: float) -> float:
    """Quantile of (n,) values with linear interpolation, as in numpy; NaN if there are none or any is NaN."""
    return quantiles(values, (share,))[0]


def quantiles(values: Floats | Sequence[float], shares: Sequence[float]) -> list[float]:
    """The same for several shares."""
    ordered = np.sort(values)
    last = len(ordered) - 1
    if last < 0 or ordered[last] != ordered[last]:
        return [math.nan] * len(shares)
    found = []
    for share in shares:
        below = int(share * last)
        low, high = float(ordered[below]), float(ordered[min(below + 1, last)])
        part = share * last - below
        found.append(low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part))
    return found
