"""Bounded history: everything older than the exact windows, in buckets of 2^k steps anchored at multiples of 2^k.

One table for all series of a run, [series, slot]. When a series outgrows its slots its buckets are folded in
pairs (k + 1), so memory is flat however long the run, and a bucket never moves: charts repaint only their end.
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
                self._fold(row, 1)
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
        for index in hard.tolist():
            self._refit(int(rows[index]), int(low[index]), int(high[index]))
        easy = np.ones(len(rows), np.bool_)
        easy[hard] = False
        self.used[rows[easy]] = (span[easy] + np.uint64(1)).astype(np.int64)
        need = int(self.used[rows].max())
        if need > self._wide:
            self.reserve(0, need)

    def _refit(self, row: int, low: int, high: int) -> None:
        shift, origin, used = int(self.shift[row]), int(self.origin[row]), int(self.used[row])
        bottom, top = low >> shift, high >> shift
        if used:
            bottom, top = min(bottom, origin), max(top, origin + used - 1)
        folds = 0
        while (top >> folds) - (bottom >> folds) >= self.slots:
            folds += 1
        if used:
            self._fold(row, folds)
        else:
            self.shift[row] = shift + folds
        bottom, top = bottom >> folds, top >> folds
        if bottom + self.slots <= top:
            raise AssertionError("a fold too few")
        self.reserve(0, top - bottom + 1)
        if not used:
            self.origin[row] = bottom
        elif bottom < self.origin[row]:
            by = int(self.origin[row]) - bottom
            size = int(self.used[row])
            for name in _FIELDS:
                line = getattr(self, name)[row]
                line[by : by + size] = line[:size].copy()
                line[: min(by, by + size)] = 0
            self.origin[row] = bottom
        self.used[row] = top - bottom + 1

    def _fold(self, row: int, times: int) -> None:
        """Merge groups of 2^times neighbours into one."""
        if not times:
            return
        used, origin = int(self.used[row]), int(self.origin[row])
        times_left = min(times, 62)
        ids = (np.arange(used, dtype=np.int64) + origin) >> times_left
        slot = ids - ids[0]
        full = np.flatnonzero((self.count[row, :used] > 0) | (self.odd[row, :used] > 0))
        lines = {name: getattr(self, name)[row, :used][full].copy() for name in _FIELDS}
        for name in _FIELDS:
            getattr(self, name)[row, :used] = 0
        self.shift[row] += times
        self.origin[row] = int(ids[0]) if times_left == times else origin >> times
        self.used[row] = int(slot[-1]) + 1
        if not len(full):
            return
        target = slot[full]
        heads = np.flatnonzero(np.concatenate([[True], target[1:] != target[:-1]]))
        tails = np.append(heads[1:], len(full)) - 1
        at = target[heads]
        holes = lines["count"] == 0
        low = np.where(holes, np.inf, lines["low"])
        high = np.where(holes, -np.inf, lines["high"])
        place = np.maximum.reduceat(np.where(holes, -1, np.arange(len(full))), heads)
        self.low[row, at] = np.minimum.reduceat(low, heads)
        self.high[row, at] = np.maximum.reduceat(high, heads)
        self.last[row, at] = np.where(place >= 0, lines["last"][place], np.nan)
        self.total[row, at] = np.add.reduceat(lines["total"], heads)
        self.count[row, at] = np.add.reduceat(lines["count"], heads)
        self.odd[row, at] = np.add.reduceat(lines["odd"], heads)
        self.end[row, at] = lines["end"][tails]
        self.began[row, at] = np.fmin.reduceat(lines["began"], heads)
        self.ended[row, at] = np.fmax.reduceat(lines["ended"], heads)

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
        """Drop buckets within steps [low, high): (points dropped, non-finite ones, whether a bucket straddles an edge).

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
