"""The points older than the exact windows, in buckets of 2^k steps that begin at multiples of 2^k.

One table for all series of a run, [series, slot]. When a series exceeds its slots, its buckets are merged in
pairs (k + 1), so memory is bounded for runs of any length. Bucket edges never move, so charts repaint only
their end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Bools, Floats, Ints
from rltui.store.points import LOWEST, Points, sensible
from rltui.store.tag_rows import PointBlock, Rows

Values = NDArray[np.floating]
Steps = NDArray[np.signedinteger]
_FIELDS = ("low", "high", "last", "total", "count", "nonfinite", "end", "began", "ended")
_NO_NUMBERS = np.empty(0, np.int64)
_EXTREMES: tuple[tuple[str, np.ufunc], ...] = (("low", np.minimum), ("high", np.maximum))
_ENDS: tuple[tuple[str, np.ufunc], ...] = (("end", np.maximum), ("began", np.fmin), ("ended", np.fmax))


class BucketTable:
    """Per series and slot, of finite values: low, high, last, total, count; `nonfinite` counts the others.

    end: step of the newest point. began, ended: wall times of the oldest and newest, as float32 seconds since
    `epoch` (resolution 0.06 s after ten days; NaN unknown). A slot with count + nonfinite == 0 is empty.
    """

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.epoch = np.nan
        self._width = min(slots, 16)
        # Most short runs never have a bucket: empty tables are shared.
        single, counts = np.empty((0, self._width), np.float32), np.empty((0, self._width), np.uint32)
        self.low: Values = single
        self.high: Values = single
        self.last: Values = single
        self.total: Floats = np.empty((0, self._width))
        self.count: NDArray[np.uint32] = counts
        self.nonfinite: NDArray[np.uint32] = counts
        self.end: Steps = np.empty((0, self._width), np.int32)  # int64 once a step needs it
        self.began: NDArray[np.float32] = single
        self.ended: NDArray[np.float32] = single
        self.shift = _NO_NUMBERS  # k
        self.origin = _NO_NUMBERS  # id (step >> k) of slot 0
        self.used = _NO_NUMBERS  # slots in use

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(getattr(self, name).nbytes for name in (*_FIELDS, "shift", "origin", "used"))

    def reserve(self, rows: int, width: int | None = None) -> None:
        """Make room for `rows` series and `width` slots each."""
        old_rows, old_width = self.low.shape
        width = min(max(width or 0, old_width), self.slots)
        if width > old_width:
            width = min(max(width, 2 * old_width), self.slots)
        if rows <= old_rows and width == old_width:
            return
        rows = max(rows, old_rows) if rows <= old_rows else max(rows, old_rows * 3 // 2)
        for name in _FIELDS:
            old = getattr(self, name)
            new = np.zeros((rows, width), old.dtype)
            new[:old_rows, :old_width] = old
            setattr(self, name, new)
        for name in ("shift", "origin", "used"):
            grown = np.zeros(rows, np.int64)
            grown[:old_rows] = getattr(self, name)
            setattr(self, name, grown)
        self._width = width

    def widen(self) -> None:
        """Store values as float64 from now on."""
        for name in ("low", "high", "last"):
            setattr(self, name, getattr(self, name).astype(np.float64))

    def widen_steps(self) -> None:
        """Store steps as int64 from now on."""
        self.end = self.end.astype(np.int64)

    def resize(self, slots: int) -> None:
        """Use at most `slots` per series from now on; merges buckets that no longer fit."""
        self.slots = slots
        if self._width <= slots:
            return
        for row in range(len(self.used)):
            while self.used[row] > slots:
                self._fold(np.array([row]), 1)
        for name in _FIELDS:
            setattr(self, name, getattr(self, name)[:, :slots].copy())
        self._width = slots

    def append_block(self, block: PointBlock) -> None:
        """Add points whose steps go forward in each row."""
        rows, starts, points = block.rows, block.starts, block.points
        self.reserve(int(rows[-1]) + 1)
        stops = starts + block.sizes
        low, high = int(starts[0]), int(stops[-1])
        points = points.take(slice(low, high))
        step, starts, stops = points.step, starts - low, stops - low
        self._fit(rows, step[starts], step[stops - 1])
        shift = self.shift[rows]
        by = int(shift[0]) if (shift == shift[0]).all() else np.repeat(shift, np.diff([*starts, high - low]))
        slot = step >> by
        change = np.empty(len(slot), np.bool_)
        np.not_equal(slot[1:], slot[:-1], out=change[1:])
        change[starts] = True
        gaps = stops[:-1][stops[:-1] < starts[1:]]  # points between two rows are left out
        change[gaps] = True
        begin = np.flatnonzero(change)
        owner = np.repeat(np.arange(len(rows)), np.diff([*np.searchsorted(begin, starts), len(begin)]))
        buckets = _buckets_of(points, begin)
        if len(gaps):
            real = begin < stops[owner]
            owner, begin, buckets = owner[real], begin[real], {key: of[real] for key, of in buckets.items()}
        each = rows[owner]
        self._merge(each * self._width + slot[begin] - self.origin[each], buckets)

    def _merge(self, at: Rows, new: dict[str, NDArray[Any]]) -> None:
        """Merge into the buckets at distinct indices of the flattened table."""
        flat = {name: getattr(self, name).ravel() for name in _FIELDS}
        count = flat["count"][at]
        vacant = (count == 0) & (flat["nonfinite"][at] == 0)
        new["began"], new["ended"] = self._offset(new["began"]), self._offset(new["ended"])
        if not vacant.all():
            old = {name: column[at] for name, column in flat.items()}
            empty, finite = count == 0, new["count"] > 0
            for name, better in _EXTREMES:
                both = np.where(finite, better(new[name], old[name]), old[name])
                new[name] = np.where(empty, new[name], both)
            newer = finite & ((new["end"] >= old["end"]) | empty)
            new["last"] = np.where(newer, new["last"], old["last"])
            for name, better in _ENDS:
                new[name] = np.where(vacant, new[name], better(old[name], new[name]))
        for name in ("total", "count", "nonfinite"):
            new[name] = flat[name][at] + new[name]
        for name, column in flat.items():
            column[at] = new[name]

    def _offset(self, wall: Floats) -> Floats:
        known = sensible(wall)
        if np.isnan(self.epoch) and known.any():
            self.epoch = float(wall[known.argmax()])
        return np.where(known, wall - self.epoch, np.nan)

    def _fit(self, rows: Rows, low: Ints, high: Ints) -> None:
        """Extend the slots of each row to cover its steps low..high."""
        used = self.used[rows]
        new = rows[used == 0]
        if len(new):
            self.shift[new] = 0
            self.origin[new] = low[used == 0]
        shift, origin = self.shift[rows], self.origin[rows]
        bottom = np.minimum(low >> shift, origin)
        top = np.maximum(high >> shift, origin + np.maximum(used, 1) - 1)
        span = top.view(np.uint64) - bottom.view(np.uint64)  # exact, even from -2^63 to 2^63
        fits = (span < self.slots) & (bottom >= origin)
        if not fits.all():
            self._refit_groups(rows, np.flatnonzero(~fits), low, high)
        self.used[rows[fits]] = (span[fits] + np.uint64(1)).astype(np.int64)
        need = int(self.used[rows].max())
        if need > self._width:
            self.reserve(0, need)

    def _refit_groups(self, rows: Rows, indices: Rows, low: Ints, high: Ints) -> None:
        """Merge or move the buckets of some rows; those that are logged together share one operation."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for index in indices.tolist():
            row = rows[index]
            key = (self.shift[row], self.origin[row], self.used[row], low[index], high[index])
            groups.setdefault(tuple(map(int, key)), []).append(int(row))
        for (shift, origin, used, bottom, top), group in groups.items():
            self._refit(np.array(group, np.intp), shift, origin, used, bottom >> shift, top >> shift)

    def _refit(self, rows: Rows, shift: int, origin: int, used: int, bottom: int, top: int) -> None:
        """Make the slots of these rows cover bucket ids bottom..top, merging buckets as needed."""
        if used:
            bottom, top = min(bottom, origin), max(top, origin + used - 1)
        folds = 0
        while (top >> folds) - (bottom >> folds) >= self.slots:
            folds += 1
        bottom, top = bottom >> folds, top >> folds
        if used and folds:
            self._fold(rows, folds)
        self.shift[rows] = shift + folds
        self.reserve(0, top - bottom + 1)
        by = (origin >> folds) - bottom
        if used and by > 0:
            size = int(self.used[rows[0]])
            for name in _FIELDS:
                table = getattr(self, name)
                moved = table[rows, :size]
                table[rows, :size] = 0
                table[rows, by : by + size] = moved
        self.origin[rows] = bottom
        self.used[rows] = top - bottom + 1

    def _fold(self, rows: Rows, times: int) -> None:
        """Merge groups of 2^times adjacent buckets, in rows with equal origin and number of slots."""
        used, origin = int(self.used[rows[0]]), int(self.origin[rows[0]])
        slot = np.arange(used, dtype=np.int64) + (origin & ((1 << times) - 1))
        slot >>= min(times, 62)
        heads = np.flatnonzero(np.concatenate([[True], slot[1:] != slot[:-1]]))
        width = len(heads)
        count, nonfinite = self.count[rows, :used], self.nonfinite[rows, :used]
        lowest = self.end.dtype.type(np.iinfo(self.end.dtype).min)
        holes, vacant = count == 0, (count == 0) & (nonfinite == 0)
        position = np.maximum.reduceat(np.where(holes, -1, np.arange(used)), heads, axis=1)
        last = np.take_along_axis(self.last[rows, :used], np.maximum(position, 0), axis=1)
        news = {
            "low": np.minimum.reduceat(np.where(holes, np.inf, self.low[rows, :used]), heads, axis=1),
            "high": np.maximum.reduceat(np.where(holes, -np.inf, self.high[rows, :used]), heads, axis=1),
            "last": np.where(position >= 0, last, np.nan),
            "total": np.add.reduceat(self.total[rows, :used], heads, axis=1),
            "count": np.add.reduceat(count, heads, axis=1),
            "nonfinite": np.add.reduceat(nonfinite, heads, axis=1),
            "end": np.maximum.reduceat(np.where(vacant, lowest, self.end[rows, :used]), heads, axis=1),
            "began": np.fmin.reduceat(np.where(vacant, np.nan, self.began[rows, :used]), heads, axis=1),
            "ended": np.fmax.reduceat(np.where(vacant, np.nan, self.ended[rows, :used]), heads, axis=1),
        }
        for name, new in news.items():
            table = getattr(self, name)
            table[rows, width:used] = 0
            table[rows, :width] = new
        self.shift[rows] += times
        self.origin[rows] = origin >> times
        self.used[rows] = width

    def clear(self, row: int) -> None:
        """Remove the points of a series."""
        if row < len(self.used):
            for name in _FIELDS:
                getattr(self, name)[row] = 0
            self.used[row] = 0

    def used_of(self, row: int) -> int:
        """Slots that a series uses; 0 for a row that the table does not have yet."""
        return int(self.used[row]) if row < len(self.used) else 0

    def newest(self, row: int) -> int:
        """Highest step in a bucket; LOWEST without one."""
        used = self.used_of(row)
        full = self._full(row, used)
        return int(self.end[row, :used][full].max()) if full.any() else LOWEST

    def _full(self, row: int, used: int) -> Bools:
        """Which of the first `used` buckets of a row hold points."""
        if not used:
            return np.empty(0, np.bool_)
        return (self.count[row, :used] > 0) | (self.nonfinite[row, :used] > 0)

    def last_of(self, row: int) -> tuple[float, float]:
        """Value and wall time of the newest bucket's last point; NaN unknown."""
        used = self.used_of(row)
        if not used:
            return np.nan, np.nan
        return float(self.last[row, used - 1]), float(self.ended[row, used - 1]) + self.epoch

    def ends_of(self, row: int) -> tuple[Ints, Floats]:
        """(n,) steps and wall times of the newest points of a row's buckets, oldest first; NaN unknown."""
        used = self.used_of(row)
        full = self._full(row, used)
        wall = self.ended[row, :used][full].astype(np.float64) if used else np.empty(0)
        step = self.end[row, :used][full].astype(np.int64) if used else np.empty(0, np.int64)
        return step, wall + self.epoch

    def extent(self, row: int) -> tuple[float, float]:
        """Lowest and highest finite value of a series; NaN without one."""
        used = self.used_of(row)
        full = self.count[row, :used] > 0 if used else np.zeros(0, np.bool_)
        if not full.any():
            return np.nan, np.nan
        return float(self.low[row, :used][full].min()), float(self.high[row, :used][full].max())

    def cut(self, row: int, low: int, high: int) -> tuple[int, int, bool]:
        """Remove buckets within [low, high). Returns points removed, non-finite ones, whether one straddles.

        A bucket that may hold points on both sides of an edge is kept.
        """
        used = self.used_of(row)
        if not used:
            return 0, 0, False
        shift = int(self.shift[row])
        full = self._full(row, used)
        start = (np.arange(used, dtype=np.int64) + self.origin[row]) << shift
        end = self.end[row, :used]
        touched = full & (end >= low) & (start < high)
        # The step of the oldest point is known in buckets of one step only.
        inside = touched & (start >= low if shift else (start >= low) | (end == low)) & (end < high)
        straddles = bool((touched & ~inside).any())
        nonfinite = int(self.nonfinite[row, :used][inside].sum())
        dropped = int(self.count[row, :used][inside].sum()) + nonfinite
        for name in _FIELDS:
            getattr(self, name)[row, :used][inside] = 0
        left = np.flatnonzero(full & ~inside)
        self.used[row] = int(left[-1]) + 1 if len(left) else 0
        return dropped, nonfinite, straddles


def _buckets_of(points: Points, begin: Rows) -> dict[str, NDArray[Any]]:
    """The buckets of consecutive points, (n,) by field; bucket i begins with the point at begin[i]."""
    value = points.value
    tails = np.append(begin[1:], len(value)) - 1
    sizes = tails - begin + 1
    found: dict[str, NDArray[Any]] = {
        "end": points.step[tails], "began": points.wall_time[begin], "ended": points.wall_time[tails],
    }  # fmt: skip
    finite = np.isfinite(value)
    if finite.all():
        return found | {
            "low": np.minimum.reduceat(value, begin), "high": np.maximum.reduceat(value, begin),
            "last": value[tails], "total": np.add.reduceat(value, begin, dtype=np.float64),
            "count": sizes, "nonfinite": np.zeros(len(begin), np.int64),
        }  # fmt: skip
    holes = np.where(finite, value, np.nan)
    count = np.add.reduceat(finite.astype(np.int64), begin)
    position = np.maximum.reduceat(np.where(finite, np.arange(len(value)), -1), begin)
    return found | {
        "low": np.fmin.reduceat(holes, begin), "high": np.fmax.reduceat(holes, begin),
        "last": np.where(position >= 0, value[position], np.nan),
        "total": np.add.reduceat(np.where(finite, value, 0.0), begin, dtype=np.float64),
        "count": count, "nonfinite": sizes - count,
    }  # fmt: skip
