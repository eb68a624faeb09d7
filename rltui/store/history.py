"""Bounded history: everything older than the exact windows, in buckets of 2^k steps anchored at multiples.

One table for all series of a run, [series, slot]. When a series outgrows its slots its buckets are folded in
pairs (k + 1), so memory is flat however long the run; no bucket moves, and charts repaint only their end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rltui.store.model import F64, I64, LOWEST, sensible

Rows = NDArray[np.intp]
Values = NDArray[np.floating]
Steps = NDArray[np.signedinteger]
_FIELDS = ("low", "high", "last", "total", "count", "odd", "end", "began", "ended")


class History:
    """Per series and slot, of finite values: low, high, last, total, count; odd counts the non-finite ones.

    end: step of the newest point. began, ended: wall times of the oldest and newest, as float32 seconds since
    `epoch` (0.06 s after ten days; NaN unknown). A slot with count + odd == 0 is empty.
    """

    def __init__(self, slots: int, dtype: type[np.floating] = np.float32) -> None:
        self.slots = slots
        self.epoch = np.nan
        self._wide = min(slots, 16)
        self.low: Values = np.empty((0, self._wide), dtype)
        self.high: Values = np.empty((0, self._wide), dtype)
        self.last: Values = np.empty((0, self._wide), dtype)
        self.total: F64 = np.empty((0, self._wide))
        self.count: NDArray[np.uint32] = np.empty((0, self._wide), np.uint32)
        self.odd: NDArray[np.uint32] = np.empty((0, self._wide), np.uint32)
        self.end: Steps = np.empty((0, self._wide), np.int32)  # int64 once a step needs it
        self.began: NDArray[np.float32] = np.empty((0, self._wide), np.float32)
        self.ended: NDArray[np.float32] = np.empty((0, self._wide), np.float32)
        self.shift = np.zeros(0, np.int64)  # k
        self.origin = np.zeros(0, np.int64)  # id (step >> k) of slot 0
        self.used = np.zeros(0, np.int64)  # slots in use

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(getattr(self, name).nbytes for name in (*_FIELDS, "shift", "origin", "used"))

    def reserve(self, rows: int, wide: int | None = None) -> None:
        """Make room for `rows` series and `wide` slots each."""
        old_rows, old_wide = self.low.shape
        wide = min(max(wide or 0, old_wide), self.slots)
        if wide > old_wide:
            wide = min(max(wide, 2 * old_wide), self.slots)
        if rows <= old_rows and wide == old_wide:
            return
        rows = max(rows, old_rows) if rows <= old_rows else max(rows, old_rows * 3 // 2)
        for name in _FIELDS:
            old = getattr(self, name)
            new = np.zeros((rows, wide), old.dtype)
            new[:old_rows, :old_wide] = old
            setattr(self, name, new)
        for name in ("shift", "origin", "used"):
            grown = np.zeros(rows, np.int64)
            grown[:old_rows] = getattr(self, name)
            setattr(self, name, grown)
        self._wide = wide

    def widen(self) -> None:
        """Keep values as float64 from now on."""
        for name in ("low", "high", "last"):
            setattr(self, name, getattr(self, name).astype(np.float64))

    def lengthen(self) -> None:
        """Keep steps as int64 from now on."""
        self.end = self.end.astype(np.int64)

    def resize(self, slots: int) -> None:
        """Hold at most `slots` per series from now on; folds what no longer fits."""
        self.slots = slots
        if self._wide <= slots:
            return
        for row in range(len(self.used)):
            while self.used[row] > slots:
                self._fold(np.array([row]), 1)
        for name in _FIELDS:
            setattr(self, name, getattr(self, name)[:, :slots].copy())
        self._wide = slots

    def pour(self, rows: Rows, heads: Rows, sizes: Rows, step: I64, wall: F64, value: Values) -> None:
        """Take in `sizes[i]` points from `heads[i]` on for row `rows[i]`; steps go forward in each row.

        rows and heads ascend; what lies between the stretches is left out.
        """
        self.reserve(int(rows[-1]) + 1)
        stops = heads + sizes
        low, high = int(heads[0]), int(stops[-1])
        step, wall, value = step[low:high], wall[low:high], value[low:high]
        heads, stops = heads - low, stops - low
        self._fit(rows, step[heads], step[stops - 1])
        shift = self.shift[rows]
        by = int(shift[0]) if (shift == shift[0]).all() else np.repeat(shift, np.diff([*heads, high - low]))
        slot = step >> by
        change = np.empty(len(slot), np.bool_)
        np.not_equal(slot[1:], slot[:-1], out=change[1:])
        change[heads] = True
        gaps = stops[:-1][stops[:-1] < heads[1:]]
        change[gaps] = True
        begin = np.flatnonzero(change)
        owner = np.repeat(np.arange(len(rows)), np.diff([*np.searchsorted(begin, heads), len(begin)]))
        real = begin < stops[owner] if len(gaps) else None
        self._pour(rows, owner, begin, real, slot, step, wall, value)

    def _pour(
        self,
        rows: Rows,
        owner: Rows,
        begin: Rows,
        real: NDArray[np.bool_] | None,
        slot: I64,
        step: I64,
        wall: F64,
        value: Values,
    ) -> None:
        """Stretches of points that begin at `begin`, one bucket each, save those that are not `real`."""
        tails = np.append(begin[1:], len(value)) - 1
        sizes = tails - begin + 1
        finite = np.isfinite(value)
        odd: I64 | None = None
        if finite.all():
            low, high = np.minimum.reduceat(value, begin), np.maximum.reduceat(value, begin)
            total, count, tail = np.add.reduceat(value, begin, dtype=np.float64), sizes, value[tails]
        else:
            holes = np.where(finite, value, np.nan)
            low, high = np.fmin.reduceat(holes, begin), np.fmax.reduceat(holes, begin)
            total = np.add.reduceat(np.where(finite, value, 0.0), begin, dtype=np.float64)
            count = np.add.reduceat(finite.astype(np.int64), begin)
            odd = sizes - count
            place = np.maximum.reduceat(np.where(finite, np.arange(len(value)), -1), begin)
            tail = np.where(place >= 0, value[place], np.nan)
        if real is not None:
            owner, begin, tails = owner[real], begin[real], tails[real]
            low, high, total, count, tail = low[real], high[real], total[real], count[real], tail[real]
            odd = odd[real] if odd is not None else None
        each = rows[owner]
        at = each * self._wide + slot[begin] - self.origin[each]
        self._mix(at, low, high, total, count, odd, tail, step[tails], wall[begin], wall[tails])

    def _mix(
        self,
        at: Rows,
        low: Values,
        high: Values,
        total: F64,
        count: I64,
        odd: I64 | None,
        tail: Values,
        end: I64,
        began: F64,
        ended: F64,
    ) -> None:
        """Add to the buckets at some places of the flattened table. The places are distinct."""
        old_count, old_odd = self.count.ravel()[at], self.odd.ravel()[at]
        began, ended = self._offset(began), self._offset(ended)
        vacant = (old_count == 0) & (old_odd == 0)
        if odd is not None:
            self.odd.ravel()[at] = old_odd + odd
        self.count.ravel()[at] = old_count + count
        self.total.ravel()[at] += total
        if not vacant.all():
            old_end = self.end.ravel()[at]
            empty, spoken = old_count == 0, count > 0
            old_low, old_high = self.low.ravel()[at], self.high.ravel()[at]
            low = np.where(empty, low, np.where(spoken, np.minimum(low, old_low), old_low))
            high = np.where(empty, high, np.where(spoken, np.maximum(high, old_high), old_high))
            tail = np.where(spoken & ((end >= old_end) | empty), tail, self.last.ravel()[at])
            end = np.where(vacant, end, np.maximum(end, old_end))
            began = np.where(vacant, began, np.fmin(self.began.ravel()[at], began))
            ended = np.where(vacant, ended, np.fmax(self.ended.ravel()[at], ended))
        self.low.ravel()[at], self.high.ravel()[at], self.last.ravel()[at] = low, high, tail
        self.end.ravel()[at], self.began.ravel()[at], self.ended.ravel()[at] = end, began, ended

    def _offset(self, wall: F64) -> F64:
        known = sensible(wall)
        if np.isnan(self.epoch) and known.any():
            self.epoch = float(wall[known.argmax()])
        return np.where(known, wall - self.epoch, np.nan)

    def _fit(self, rows: Rows, low: I64, high: I64) -> None:
        """Make the slots of each row cover its steps low..high as well."""
        used = self.used[rows]
        new = rows[used == 0]
        if len(new):
            self.shift[new] = 0
            self.origin[new] = low[used == 0]
        shift, origin = self.shift[rows], self.origin[rows]
        bottom = np.minimum(low >> shift, origin)
        top = np.maximum(high >> shift, origin + np.maximum(used, 1) - 1)
        span = top.view(np.uint64) - bottom.view(np.uint64)  # exact, even from -2^63 to 2^63
        hard = np.flatnonzero((span >= self.slots) | (bottom < origin))
        if len(hard):
            self._refit_alike(rows, hard, low, high)
        easy = np.ones(len(rows), np.bool_)
        easy[hard] = False
        self.used[rows[easy]] = (span[easy] + np.uint64(1)).astype(np.int64)
        need = int(self.used[rows].max())
        if need > self._wide:
            self.reserve(0, need)

    def _refit_alike(self, rows: Rows, hard: Rows, low: I64, high: I64) -> None:
        """Fold or move; series that are logged together are alike and go in one stroke."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for index in hard.tolist():
            row = rows[index]
            key = (self.shift[row], self.origin[row], self.used[row], low[index], high[index])
            groups.setdefault(tuple(map(int, key)), []).append(int(row))
        for (shift, origin, used, bottom, top), alike in groups.items():
            self._refit(np.array(alike, np.intp), shift, origin, used, bottom >> shift, top >> shift)

    def _refit(self, rows: Rows, shift: int, origin: int, used: int, bottom: int, top: int) -> None:
        """Make slots of these rows cover ids bottom..top, folding as often as needed."""
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
        """Merge groups of 2^times neighbours into one, in rows with equal origin and use."""
        used, origin = int(self.used[rows[0]]), int(self.origin[rows[0]])
        slot = np.arange(used, dtype=np.int64) + (origin & ((1 << times) - 1))
        slot >>= min(times, 62)
        heads = np.flatnonzero(np.concatenate([[True], slot[1:] != slot[:-1]]))
        wide = len(heads)
        count, odd = self.count[rows, :used], self.odd[rows, :used]
        lowest = self.end.dtype.type(np.iinfo(self.end.dtype).min)
        holes, vacant = count == 0, (count == 0) & (odd == 0)
        place = np.maximum.reduceat(np.where(holes, -1, np.arange(used)), heads, axis=1)
        last = np.take_along_axis(self.last[rows, :used], np.maximum(place, 0), axis=1)
        news = {
            "low": np.minimum.reduceat(np.where(holes, np.inf, self.low[rows, :used]), heads, axis=1),
            "high": np.maximum.reduceat(np.where(holes, -np.inf, self.high[rows, :used]), heads, axis=1),
            "last": np.where(place >= 0, last, np.nan),
            "total": np.add.reduceat(self.total[rows, :used], heads, axis=1),
            "count": np.add.reduceat(count, heads, axis=1),
            "odd": np.add.reduceat(odd, heads, axis=1),
            "end": np.maximum.reduceat(np.where(vacant, lowest, self.end[rows, :used]), heads, axis=1),
            "began": np.fmin.reduceat(np.where(vacant, np.nan, self.began[rows, :used]), heads, axis=1),
            "ended": np.fmax.reduceat(np.where(vacant, np.nan, self.ended[rows, :used]), heads, axis=1),
        }
        for name, new in news.items():
            table = getattr(self, name)
            table[rows, wide:used] = 0
            table[rows, :wide] = new
        self.shift[rows] += times
        self.origin[rows] = origin >> times
        self.used[rows] = wide

    def clear(self, row: int) -> None:
        """Forget a series."""
        if row < len(self.used):
            for name in _FIELDS:
                getattr(self, name)[row] = 0
            self.used[row] = 0

    def sizes(self, row: int) -> tuple[int, int]:
        """(points, of which non-finite) of a series."""
        if row >= len(self.used):
            return 0, 0
        used = int(self.used[row])
        odd = int(self.odd[row, :used].sum())
        return int(self.count[row, :used].sum()) + odd, odd

    def newest(self, row: int) -> int:
        """Highest step that went into a bucket; LOWEST when none did."""
        if row >= len(self.used) or not self.used[row]:
            return LOWEST
        used = int(self.used[row])
        full = (self.count[row, :used] > 0) | (self.odd[row, :used] > 0)
        return int(self.end[row, :used][full].max()) if full.any() else LOWEST

    def cut(self, row: int, low: int, high: int) -> tuple[int, int, bool]:
        """Drop buckets within [low, high): (points dropped, non-finite ones, does one straddle an edge).

        A bucket that holds points on both sides of an edge stays whole.
        """
        if row >= len(self.used) or not self.used[row]:
            return 0, 0, False
        used, shift = int(self.used[row]), int(self.shift[row])
        full = (self.count[row, :used] > 0) | (self.odd[row, :used] > 0)
        start = (np.arange(used, dtype=np.int64) + self.origin[row]) << shift
        end = self.end[row, :used]
        touched = full & (end >= low) & (start < high)
        inside = touched & ((start >= low) | (end == low)) & (end < high)
        if (
            shift
        ):  # the oldest point of a bucket is unknown: one that starts below the edge may hold earlier ones
            inside = touched & (start >= low) & (end < high)
        straddles = bool((touched & ~inside).any())
        odd = int(self.odd[row, :used][inside].sum())
        dropped = int(self.count[row, :used][inside].sum()) + odd
        for name in _FIELDS:
            getattr(self, name)[row, :used][inside] = 0
        left = np.flatnonzero(full & ~inside)
        self.used[row] = int(left[-1]) + 1 if len(left) else 0
        return dropped, odd, straddles
