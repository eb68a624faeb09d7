"""Quantiles of histograms in event files: HistogramProto of TensorFlow 1 and torch, tensors of TensorFlow 2.

Field numbers are those of TensorFlow's summary.proto. A tensor has a row per bucket: left edge, right edge,
count (tensorboard/plugins/histogram/summary_v2.py).
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from rltui.logs.formats import protobuf
from rltui.logs.records.histogram_quantiles import Quantiles, quantiles_of

_LIMITS, _COUNTS = 6, 7

_double = struct.Struct("<d").unpack_from


def parse(data: bytes, at: int, stop: int) -> Quantiles | None:
    """The quantiles of the HistogramProto in ``data[at:stop]``; None if it is empty or damaged."""
    least, most = -np.inf, np.inf
    columns: dict[int, list[bytes]] = {_LIMITS: [], _COUNTS: []}
    try:
        for number, kind, first, end in protobuf.fields(data, at, stop):
            if kind == protobuf.FIXED64 and number in (1, 2):
                (value,) = _double(data, first)
                least, most = (value, most) if number == 1 else (least, value)
            elif kind in (protobuf.BYTES, protobuf.FIXED64) and number in columns:
                columns[number].append(data[first:end])
    except protobuf.MalformedError:
        return None
    limits, counts = (_doubles(b"".join(parts)) for parts in columns.values())
    if not len(limits) or len(limits) != len(counts):
        return None
    # The outermost edges may be the largest floats; the first bucket that is not empty starts at the minimum.
    left, right = np.concatenate([[least], limits[:-1]]), np.minimum(limits, most)
    filled = np.flatnonzero(counts)
    left = np.maximum(left, least)
    if len(filled) and np.isfinite(least):
        left[filled[0]] = least
    return quantiles_of(left, right, counts)


def parse_tensor(data: bytes, at: int, stop: int) -> Quantiles | None:
    """The same for the rows of a tensor of float64."""
    rows = _doubles(data[at:stop])
    if not len(rows) or len(rows) % 3:
        return None
    return quantiles_of(*rows.reshape(-1, 3).T)


def _doubles(data: bytes) -> NDArray[np.float64]:
    return np.frombuffer(data[: len(data) // 8 * 8], "<f8")
