"""Quantiles of a histogram."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rltui.common.named_tuple import NamedTuple
from rltui.logs.batch import QUANTILES

_SHARES = np.array(QUANTILES)


class Quantiles(NamedTuple):
    """at: one value per entry of QUANTILES. total: number of counted values."""

    at: tuple[float, ...]
    total: float


def quantiles_of(
    left: NDArray[np.float64], right: NDArray[np.float64], counts: NDArray[np.float64]
) -> Quantiles | None:
    """Quantiles of buckets, each (n,): ascending edges, and the number of values between them.

    Values are assumed to be distributed evenly within a bucket, as in TensorBoard's distributions. None if
    all counts are zero, a count is negative, or an edge or a count is not finite.
    """
    filled = np.flatnonzero(counts)
    if not len(filled):
        return None
    left, right, counts = left[filled], right[filled], counts[filled]
    if not (np.isfinite(left) & np.isfinite(right) & np.isfinite(counts) & (counts > 0)).all():
        return None
    cumulative = np.cumsum(counts)
    wanted = _SHARES * cumulative[-1]
    at = np.minimum(np.searchsorted(cumulative, wanted, side="right"), len(cumulative) - 1)
    share = np.clip((wanted - (cumulative[at] - counts[at])) / counts[at], 0.0, 1.0)
    low, high = left[at], right[at]
    values = np.where(share < 1.0, low + share * (high - low), high)
    return Quantiles(tuple(np.maximum.accumulate(values).tolist()), float(cumulative[-1]))
