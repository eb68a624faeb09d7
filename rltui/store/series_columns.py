"""Aggregates a range of a series into columns, from its buckets and its exact points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Floats, Ints
from rltui.store.bucket_table import BucketTable, Values
from rltui.store.points import HIGHEST, Points, sensible

Axis = Literal["step", "wall"]
EXACT = 2.0**53  # below it floats hold every step
_TOP = 2.0**63


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A range of a series in `width` columns; column i covers [edges[i], edges[i+1]), the last its end too.

    low, high, mean and last are those of finite values, NaN where a column has none; count is the number of
    finite values, nonfinite of the others. Where a bucket of old points is wider than a column, the columns
    that it covers repeat its low, high, mean and last with count 0, since the positions of its points are
    unknown; they are counted once, in the column of its newest point.
    """

    edges: Floats  # (width + 1,)
    low: Floats  # (width,)
    high: Floats
    mean: Floats
    last: Floats
    count: Ints
    nonfinite: Ints


@dataclass(slots=True, eq=False)
class _Parts:
    """Points, or buckets at their newest point, in order of `position`, the position on the axis.

    Without a finite value, low, high and last are inf, -inf and NaN. count: None stands for single points.
    nonfinite: None stands for none.
    """

    position: Ints | Floats
    low: Values
    high: Values
    total: Floats
    last: Values
    count: NDArray[np.integer] | None = None
    nonfinite: NDArray[np.integer] | None = None


def columns_of_series(
    points: Points,
    buckets: BucketTable,
    row: int,
    low: float,
    high: float,
    width: int,
    axis: Axis,
    finite: bool,
    with_buckets: bool = True,
) -> Columns:
    """Aggregate [low, high] of an axis into `width` columns. points: the exact ones, sorted by step.

    finite: whether all points are known to be finite, those in buckets too. with_buckets: whether any bucket
    may reach into the range. Raises ValueError if width < 1, low > high or an end is not finite.
    """
    low, high = float(low), float(high)
    if width < 1 or not (-np.inf < low <= high < np.inf):
        raise ValueError(f"no window: {low}..{high} in {width} columns")
    edges, whole = _edges(low, high, width)
    parts = _of_points(points, axis, finite)
    wide = None
    if with_buckets and buckets.used_of(row):
        old = _of_buckets(buckets, row, low, axis, finite)
        if old is not None:
            if axis == "wall" or (1 << min(int(buckets.shift[row]), 62)) > (high - low) / width:
                wide = _wide(*old, edges)
            parts = _merged(old[0], parts)
    return _cut(parts, edges, whole, width, wide)


def columns_of_points(points: Points, low: float, high: float, width: int, axis: Axis = "step") -> Columns:
    """Aggregate [low, high] of an axis into `width` columns. points: sorted by step."""
    edges, whole = _edges(low, high, width)
    return _cut(_of_points(points, axis, False), edges, whole, width, None)


@lru_cache(maxsize=64)
def _edges(low: float, high: float, width: int) -> tuple[Floats, Ints]:
    """Edges of columns, and the first step at or above each; the last is one above the highest step.

    Cached and read-only, since all rows of a pane need the same edges.
    """
    edges: Floats = low + (high - low) / width * np.arange(width + 1, dtype=np.float64)
    edges[-1] = high
    if low > -EXACT and high < EXACT:
        whole = np.ceil(edges).astype(np.int64)
        whole[-1] = int(np.floor(high)) + 1
    else:  # steps are compared as integers: floats are not exact above 2^53
        up = np.ceil(edges)
        whole = np.where(up >= _TOP, HIGHEST, np.clip(up, -_TOP, _TOP - 1024).astype(np.int64))
        down = float(np.floor(high))
        whole[-1] = HIGHEST if down >= _TOP else int(max(down, -_TOP)) + 1
    edges.flags.writeable = whole.flags.writeable = False
    return edges, whole


def _of_points(points: Points, axis: Axis, all_finite: bool) -> _Parts:
    value = points.value
    position: Ints | Floats = points.step
    if axis == "wall":
        position = points.wall_time
        known = sensible(position)
        if not known.all():
            position, value = position[known], value[known]
        if (position[1:] < position[:-1]).any():
            order = np.argsort(position, kind="stable")
            position, value = position[order], value[order]
    if all_finite:
        return _Parts(position, value, value, value, value)
    finite = np.isfinite(value)
    if finite.all():
        return _Parts(position, value, value, value, value)
    count = finite.astype(np.int64)
    return _Parts(
        position,
        np.where(finite, value, np.inf),
        np.where(finite, value, -np.inf),
        np.where(finite, value, 0.0),
        np.where(finite, value, np.nan),
        count,
        1 - count,
    )


def _of_buckets(
    buckets: BucketTable, row: int, low: float, axis: Axis, finite: bool
) -> tuple[_Parts, Ints | Floats] | None:
    """The buckets that reach above `low`, and where each begins; None without one."""
    used = int(buckets.used[row])
    count, nonfinite = buckets.count[row, :used], buckets.nonfinite[row, :used]
    position: Ints | Floats
    begin: Ints | Floats
    full: slice | NDArray[np.intp]
    if axis == "step":
        origin, shift = int(buckets.origin[row]), int(buckets.shift[row])
        if (count if finite else count + nonfinite).all():  # no gaps: views instead of copies
            skip = min(max((int(max(low, -_TOP)) >> shift) - origin, 0), used)
            full = slice(skip, used)
            begin = np.arange(origin + skip, origin + used) << shift
        else:
            full = np.flatnonzero((count + nonfinite > 0) & (buckets.end[row, :used] >= low))
            begin = (full + origin) << shift
        position = buckets.end[row, full].astype(np.int64)
    else:
        full = np.flatnonzero((count + nonfinite > 0) & np.isfinite(buckets.ended[row, :used]))
        position = buckets.ended[row, full].astype(np.float64) + buckets.epoch
        begin = buckets.began[row, full].astype(np.float64) + buckets.epoch
        order = np.argsort(position, kind="stable")
        full, position, begin = full[order], position[order], begin[order]
    if not len(position):
        return None
    lows, highs, last = buckets.low[row, full], buckets.high[row, full], buckets.last[row, full]
    total, counts = buckets.total[row, full], count[full]
    if finite:
        return _Parts(position, lows, highs, total, last, counts), begin
    if not counts.all():
        none = counts == 0
        lows, highs, last = lows.copy(), highs.copy(), last.copy()
        lows[none], highs[none], last[none] = np.inf, -np.inf, np.nan
    return _Parts(position, lows, highs, total, last, counts, nonfinite[full]), begin


def _merged(old: _Parts, new: _Parts) -> _Parts:
    """Buckets and points, sorted by place."""
    size = len(new.position)
    if not size:
        return old
    count = np.ones(size, np.int64) if new.count is None else new.count
    nonfinite = None
    if old.nonfinite is not None:
        nonfinite = np.concatenate(
            [old.nonfinite, np.zeros(size, np.int64) if new.nonfinite is None else new.nonfinite]
        )
    merged = _Parts(
        np.concatenate([old.position, new.position]), np.concatenate([old.low, new.low]),
        np.concatenate([old.high, new.high]), np.concatenate([old.total, new.total]),
        np.concatenate([old.last, new.last]), np.concatenate([old.count, count]), nonfinite,
    )  # fmt: skip
    if old.position[-1] > new.position[0]:  # a late point was added after its neighbours had left the window
        order = np.argsort(merged.position, kind="stable")
        for name in ("position", "low", "high", "total", "last", "count", "nonfinite"):
            array = getattr(merged, name)
            setattr(merged, name, None if array is None else array[order])
    return merged


def _bounds(position: Ints | Floats, edges: Floats, whole: Ints) -> NDArray[np.intp]:
    """The index of the first position in each column; the last bound includes those at the upper edge."""
    if position.dtype == np.int64:
        bounds = np.searchsorted(position, whole)
        if whole[-1] == HIGHEST:
            bounds[-1] = len(position)
        return bounds
    bounds = np.searchsorted(position, edges)
    bounds[-1] = np.searchsorted(position, edges[-1], side="right")
    return bounds


def _cut(parts: _Parts, edges: Floats, whole: Ints, width: int, wide: _Wide | None) -> Columns:
    bounds = _bounds(parts.position, edges, whole)
    begin, end = int(bounds[0]), int(bounds[-1])
    sizes = bounds[1:] - bounds[:-1]
    some = (sizes > 0).nonzero()[0]
    out = np.full((4, width), np.nan)
    low, high, mean, last = out
    count = np.zeros(width, np.int64)
    nonfinite = np.zeros(width, np.int64)
    if len(some):
        inside = slice(begin, end)
        first, after = int(some[0]), int(some[-1]) + 1
        full: slice | NDArray[np.intp] = slice(first, after) if after - first == len(some) else some
        heads = bounds[:-1][full] - begin
        lows = np.minimum.reduceat(parts.low[inside], heads)
        highs = np.maximum.reduceat(parts.high[inside], heads)
        totals = np.add.reduceat(parts.total[inside], heads)
        tails = bounds[1:][full] - 1
        lasts = parts.last[tails]
        if parts.count is None:
            counts = sizes[full]
        else:
            counts = np.add.reduceat(parts.count[inside], heads)
            if parts.nonfinite is not None:
                nonfinite[full] = np.add.reduceat(parts.nonfinite[inside], heads)
            if parts.nonfinite is not None and (not counts.all() or np.isnan(lasts).any()):
                known = np.where(parts.count[inside] > 0, np.arange(end - begin), -1)
                position = np.maximum.reduceat(known, heads)
                lasts = np.where(position >= 0, parts.last[inside][position], np.nan)
                finite = counts > 0
                full, lows, highs = some[finite], lows[finite], highs[finite]
                totals, lasts, counts = totals[finite], lasts[finite], counts[finite]
        low[full], high[full], last[full] = lows, highs, lasts
        mean[full] = totals / counts
        count[full] = counts
    if wide is not None:
        empty = count[wide.column] == 0
        column, bucket = wide.column[empty], wide.bucket[empty]
        for array, values in zip((low, high, mean, last), wide.values, strict=True):
            array[column] = values[bucket]
    return Columns(edges, low, high, mean, last, count, nonfinite)


@dataclass(slots=True, eq=False)
class _Wide:
    """Columns covered by a bucket that is wider than a column, and the values of the buckets."""

    column: NDArray[np.intp]
    bucket: NDArray[np.intp]
    values: tuple[Values, Values, Floats, Values]  # low, high, mean, last


def _wide(parts: _Parts, begin: Ints | Floats, edges: Floats) -> _Wide | None:
    assert parts.count is not None
    width = len(edges) - 1
    column_width = (edges[-1] - edges[0]) / width
    long = np.flatnonzero((parts.position - begin > column_width) & (parts.count > 0))
    if not len(long):
        return None
    first = np.searchsorted(edges, begin[long].astype(np.float64), side="right") - 1
    last = np.searchsorted(edges, parts.position[long].astype(np.float64), side="right") - 1
    first, last = np.maximum(first, 0), np.minimum(last, width - 1)
    sizes = np.maximum(last - first + 1, 0)
    if not sizes.any():
        return None
    heads = np.cumsum(sizes) - sizes
    column = np.arange(int(sizes.sum())) + np.repeat(first - heads, sizes)
    mean = parts.total / np.maximum(parts.count, 1)
    return _Wide(column, np.repeat(long, sizes), (parts.low, parts.high, mean, parts.last))
