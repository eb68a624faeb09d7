"""Quantiles of what a histogram counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rltui.common.named_tuple import NamedTuple
from rltui.logs.batch import QUANTILES

_SHARES = np.array(QUANTILES)


class Quantiles(NamedTuple):
    """at: one value per entry of QUANTILES. total: values that the histogram counts."""

    at: tuple[float, ...]
    total: float


def quantiles_of(
    left: NDArray[np.float64], right: NDArray[np.float64], counts: NDArray[np.float64]
) -> Quantiles | None:
    """Quantiles of buckets, each (n,): edges ascending, and how many values lie between them.

    Within a bucket values are taken to lie evenly, as TensorBoard does for its distributions. None where
    nothing is counted, or an edge or a count is no number.
    """
    filled = np.flatnonzero(counts)
    if not len(filled):
        return None
    left, right, counts = left[filled], right[filled], counts[filled]
    if not (np.isfinite(left) & np.isfinite(right) & np.isfinite(counts) & (counts > 0)).all():
        return None
    upto = np.cumsum(counts)
    wanted = _SHARES * upto[-1]
    at = np.minimum(np.searchsorted(upto, wanted, side="right"), len(upto) - 1)
    share = np.clip((wanted - (upto[at] - counts[at])) / counts[at], 0.0, 1.0)
    low, high = left[at], right[at]
    values = np.where(share < 1.0, low + share * (high - low), high)
    return Quantiles(tuple(np.maximum.accumulate(values).tolist()), float(upto[-1]))
