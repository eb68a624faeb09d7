"""Bounded history: everything older than the exact windows, in buckets of 2^k steps anchored at multiples.

One table for all series of a run, [series, slot]. When a series outgrows its slots its buckets are folded in
pairs (k + 1), so memory is flat however long the run; no bucket moves, and charts repaint only their end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rltui.store.points import F64, I64

Rows = NDArray[np.intp]
Values = NDArray[np.floating]
LOWEST = int(np.iinfo(np.int64).min)
_FIELDS = ("low", "high", "last", "total", "count", "odd", "end", "began", "ended")


class Buckets:
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
        self.end: I64 = np.empty((0, self._wide), np.int64)
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

    def add(self, rows: Rows, step: I64, wall: F64, value: F64) -> None:
        """Take points in. They are sorted by row, and within a row by step."""
        if not len(rows):
            return
        change = np.empty(len(rows), np.bool_)
        change[0] = True
        np.not_equal(rows[1:], rows[:-1], out=change[1:])
        heads = np.flatnonzero(change)
        each = rows[heads]
        tails = np.append(heads[1:], len(rows)) - 1
        self.reserve(int(each[-1]) + 1)
        self._fit(each, step[heads], step[tails])
        sizes = tails - heads + 1
        shift, origin = self.shift[each], self.origin[each]
        slot = (step >> np.repeat(shift, sizes)) - np.repeat(origin, sizes)
        flat = rows * self._wide + slot
        np.not_equal(flat[1:], flat[:-1], out=change[1:])
        heads = np.flatnonzero(change)
        tails = np.append(heads[1:], len(rows)) - 1
        self._pour(flat[heads], heads, tails, step, wall, value)

    def _pour(self, at: Rows, heads: Rows, tails: Rows, step: I64, wall: F64, value: F64) -> None:
        finite = np.isfinite(value)
        old_count, old_odd = self.count.ravel()[at], self.odd.ravel()[at]
        sizes = (tails - heads + 1).astype(np.uint32)
        tail = value[tails]
        if finite.all():
            low, high = np.minimum.reduceat(value, heads), np.maximum.reduceat(value, heads)
            total, count = np.add.reduceat(value, heads), sizes
        else:
            holes = np.where(finite, value, np.nan)
            low, high = np.fmin.reduceat(holes, heads), np.fmax.reduceat(holes, heads)
            total = np.add.reduceat(np.where(finite, value, 0.0), heads)
            count = np.add.reduceat(finite.astype(np.uint32), heads)
            self.odd.ravel()[at] = old_odd + (sizes - count)
            place = np.maximum.reduceat(np.where(finite, np.arange(len(value)), -1), heads)
            tail = np.where(place >= 0, value[place], np.nan)
        empty = old_count == 0
        new_end, end = step[tails], self.end.ravel()[at]
        vacant = empty & (old_odd == 0)
        fresh = ((new_end >= end) | empty) & (count > 0)
        spoken = count > 0
        where = at[spoken & empty]
        self.low.ravel()[where], self.high.ravel()[where] = low[spoken & empty], high[spoken & empty]
        both = spoken & ~empty
        where = at[both]
        flat_low, flat_high = self.low.ravel(), self.high.ravel()
        flat_low[where] = np.minimum(flat_low[where], low[both])
        flat_high[where] = np.maximum(flat_high[where], high[both])
        self.last.ravel()[at[fresh]] = tail[fresh]
        self.total.ravel()[at] += total
        self.count.ravel()[at] = old_count + count
        self.end.ravel()[at] = np.where(vacant, new_end, np.maximum(new_end, end))
        began, ended = self._offset(wall[heads]), self._offset(wall[tails])
        flat_began, flat_ended = self.began.ravel(), self.ended.ravel()
        flat_began[at] = np.where(vacant, began, np.fmin(flat_began[at], began))
        flat_ended[at] = np.where(vacant, ended, np.fmax(flat_ended[at], ended))

    def _offset(self, wall: F64) -> F64:
        known = (wall > 0) & (wall < 1e11)
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
            "end": np.maximum.reduceat(np.where(vacant, LOWEST, self.end[rows, :used]), heads, axis=1),
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
