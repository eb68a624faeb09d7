"""A window of a series cut in columns, joined from its buckets and its exact points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rltui.store.buckets import Buckets
from rltui.store.points import F64, I64, Axis, Columns, Points

_I64_TOP = float(2**63)


def columns(
    points: Points, buckets: Buckets, row: int, low: float, high: float, width: int, axis: Axis
) -> Columns:
    """Cut [low, high] of an axis in `width` columns. `points` are sorted by step; buckets hold what is older.

    Raises ValueError when width < 1 or the window is empty or not finite.
    """
    if width < 1 or not (np.isfinite(low) and np.isfinite(high)) or high < low:
        raise ValueError(f"no window: {low}..{high} in {width} columns")
    edges = np.linspace(low, high, width + 1)
    cut = _Cut(edges, width)
    if row < len(buckets.used) and buckets.used[row]:
        cut.take_buckets(buckets, row, axis)
    if len(points):
        cut.take_points(points, axis)
    return cut.result()


class _Cut:
    def __init__(self, edges: F64, width: int) -> None:
        self.edges = edges
        self.width = width
        self.low = np.full(width, np.inf)
        self.high = np.full(width, -np.inf)
        self.total = np.zeros(width)
        self.last = np.full(width, np.nan)
        self.count = np.zeros(width, np.int64)
        self.nonfinite = np.zeros(width, np.int64)
        self.spread: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None
        self.spread_of: tuple[F64, F64, F64, F64] | None = None

    def _bounds(self, place: I64 | F64) -> NDArray[np.intp]:
        """Where each column begins within sorted places; the last bound takes places at the upper edge in."""
        edges: I64 | F64 = self.edges
        if place.dtype == np.int64:  # compare integers with integers: floats lose steps above 2^53
            up = np.ceil(self.edges)
            edges = np.where(
                up >= _I64_TOP, np.iinfo(np.int64).max, np.clip(up, -_I64_TOP, 2.0**63 - 1024)
            ).astype(np.int64)
        bounds = np.searchsorted(place, edges)
        top = np.floor(self.edges[-1]) if place.dtype == np.int64 else self.edges[-1]
        if place.dtype == np.int64:
            last = np.iinfo(np.int64).max if top >= _I64_TOP else int(max(top, -_I64_TOP))
            bounds[-1] = np.searchsorted(place, last, side="right")
        else:
            bounds[-1] = np.searchsorted(place, top, side="right")
        return bounds

    def take_points(self, points: Points, axis: Axis) -> None:
        """Exact points."""
        value, place = points.value, points.step
        if axis == "wall":
            value, place = _by_wall(points)  # type: ignore[assignment]
            if not len(value):
                return
        bounds = self._bounds(place)
        begin, end = int(bounds[0]), int(bounds[-1])
        if begin == end:
            return
        full = np.flatnonzero(bounds[1:] > bounds[:-1])
        heads = bounds[full] - begin
        value = value[begin:end]
        tails = np.append(heads[1:], end - begin)
        total = np.add.reduceat(value, heads)
        if np.isfinite(total).all():
            self._pour(
                full, np.minimum.reduceat(value, heads), np.maximum.reduceat(value, heads), total,
                value[tails - 1], tails - heads, None,
            )  # fmt: skip
            return
        finite = np.isfinite(value)
        holes = np.where(finite, value, np.nan)
        counts = np.add.reduceat(finite.astype(np.int64), heads)
        place_of = np.maximum.reduceat(np.where(finite, np.arange(len(value)), -1), heads)
        with np.errstate(over="ignore"):
            total = np.add.reduceat(np.where(finite, value, 0.0), heads)
        self._pour(
            full,
            np.where(counts > 0, np.fmin.reduceat(holes, heads), np.inf),
            np.where(counts > 0, np.fmax.reduceat(holes, heads), -np.inf),
            total,
            np.where(counts > 0, value[place_of], np.nan),
            counts,
            tails - heads - counts,
        )

    def _pour(
        self,
        full: NDArray[np.intp],
        low: F64,
        high: F64,
        total: F64,
        last: F64,
        count: NDArray[np.intp],
        odd: NDArray[np.intp] | None,
    ) -> None:
        self.low[full] = np.minimum(self.low[full], low)
        self.high[full] = np.maximum(self.high[full], high)
        self.total[full] += total
        self.count[full] += count
        if odd is None:
            self.last[full] = last
        else:
            self.last[full] = np.where(count > 0, last, self.last[full])
            self.nonfinite[full] += odd

    def take_buckets(self, buckets: Buckets, row: int, axis: Axis) -> None:
        """Buckets: each counts in the column of its newest point, and colours all that it covers."""
        used = int(buckets.used[row])
        full = np.flatnonzero(buckets.count[row, :used] + buckets.odd[row, :used])
        place: I64 | F64
        begin: F64 | I64
        if axis == "step":
            place = buckets.end[row, full]
            begin = (full + buckets.origin[row]) << buckets.shift[row]
        else:
            ended = buckets.ended[row, full].astype(np.float64) + buckets.epoch
            begin = buckets.began[row, full].astype(np.float64) + buckets.epoch
            known = np.isfinite(ended)
            full, ended, begin = full[known], ended[known], begin[known]
            order = np.argsort(ended, kind="stable")
            full, place, begin = full[order], ended[order], begin[order]
        if not len(full):
            return
        count = buckets.count[row, full].astype(np.int64)
        odd = buckets.odd[row, full].astype(np.int64)
        low, high = buckets.low[row, full].astype(np.float64), buckets.high[row, full].astype(np.float64)
        total, last = buckets.total[row, full], buckets.last[row, full].astype(np.float64)
        bounds = self._bounds(place)
        inside = slice(int(bounds[0]), int(bounds[-1]))
        self._note_spread(begin, place, low, high, total, last, count)
        if inside.start == inside.stop:
            return
        columns_full = np.flatnonzero(bounds[1:] > bounds[:-1])
        heads = bounds[columns_full] - inside.start
        holes = count[inside] == 0
        low_in, high_in = np.where(holes, np.inf, low[inside]), np.where(holes, -np.inf, high[inside])
        place_of = np.maximum.reduceat(np.where(holes, -1, np.arange(len(holes))), heads)
        counts = np.add.reduceat(count[inside], heads)
        self._pour(
            columns_full, np.minimum.reduceat(low_in, heads), np.maximum.reduceat(high_in, heads),
            np.add.reduceat(total[inside], heads), np.where(place_of >= 0, last[inside][place_of], np.nan),
            counts, np.add.reduceat(odd[inside], heads),
        )  # fmt: skip

    def _note_spread(
        self, begin: F64 | I64, end: F64 | I64, low: F64, high: F64, total: F64, last: F64, count: I64
    ) -> None:
        """Columns that lie within a bucket wider than they are."""
        wide = (self.edges[-1] - self.edges[0]) / self.width
        long = np.flatnonzero((end - begin > wide) & (count > 0))
        if not len(long):
            return
        first = np.searchsorted(self.edges, begin[long].astype(np.float64), side="right") - 1
        last_column = np.searchsorted(self.edges, end[long].astype(np.float64), side="right") - 1
        first, last_column = np.maximum(first, 0), np.minimum(last_column, self.width - 1)
        sizes = np.maximum(last_column - first + 1, 0)
        if not sizes.any():
            return
        heads = np.cumsum(sizes) - sizes
        column = np.arange(int(sizes.sum())) + np.repeat(first - heads, sizes)
        bucket = np.repeat(long, sizes)
        self.spread = (column, bucket)
        self.spread_of = (low, high, total / np.maximum(count, 1), last)

    def result(self) -> Columns:
        """Close the books."""
        empty = self.count == 0
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = self.total / self.count
        low, high, last = self.low, self.high, self.last
        if empty.any():
            low, high = np.where(empty, np.nan, low), np.where(empty, np.nan, high)
            mean = np.where(empty, np.nan, mean)
            if self.spread is not None and self.spread_of is not None:
                column, bucket = self.spread
                bare = empty[column]
                column, bucket = column[bare], bucket[bare]
                for array, of in zip((low, high, mean, last), self.spread_of, strict=True):
                    array[column] = of[bucket]
        return Columns(self.edges, low, high, mean, last, self.count, self.nonfinite)


def _by_wall(points: Points) -> tuple[F64, F64]:
    """Values and wall times in order of wall time; points of unknown time are left out."""
    wall, value = points.wall_time, points.value
    known = (wall > 0) & (wall < 1e11)
    if not known.all():
        wall, value = wall[known], value[known]
    if (wall[1:] < wall[:-1]).any():
        order = np.argsort(wall, kind="stable")
        wall, value = wall[order], value[order]
    return value, wall
