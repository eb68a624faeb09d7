"""The numbers of one run: exact windows of all its series in shared tables, older points in buckets.

Tables are [series, slot], so that a tick of sixty scalars is a handful of scatters instead of sixty appends.
A window holds its points sorted by step (points of one step by arrival). When it is full, its oldest points
go to the buckets, an eighth of it at once. The rules speak of single points, so the same points in other
batches leave the same windows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rltui.store.history import History
from rltui.store.model import F64, HIGHEST, I64, LOWEST, NO_POINTS, Points

Rows = NDArray[np.intp]
Values = NDArray[np.floating]
Steps = NDArray[np.signedinteger]
_SLICED = 24  # points per series above which slices are copied faster than scattered points
_NO_ROWS: I64 = np.empty(0, np.int64)
# Numbers for each row, and what they are of a row without points; see `SeriesTable`.
_LINES = {"length": 0, "count": 0, "odd": 0, "first": HIGHEST, "bucketed": LOWEST}
_BLANK = np.array([[blank] for blank in _LINES.values()])


def slack(window: int) -> int:
    """Points beyond its window that a series holds before that many go to the buckets in one stroke."""
    return max(window // 8, min(window // 4, 64))


class SeriesTable:
    """Windows and buckets of all series of a run; a series is a row.

    window: points that a series holds exactly at least, once it has them. slots: buckets per series.
    """

    def __init__(self, window: int, slots: int) -> None:
        self.window = window
        self.limit = window + slack(window)
        self.rows = 0
        self.wide = 16  # slots allocated per window
        self.step: Steps = np.empty((0, self.wide), np.int32)  # int64 once a step needs it
        self.wall: F64 = np.empty((0, self.wide))
        self.value: Values = np.empty((0, self.wide), np.float32)
        self.single = _NO_ROWS.astype(np.bool_)  # every value was a float32 on disk
        self.length: I64 = _NO_ROWS
        self.count: I64 = _NO_ROWS  # points shown, in window and buckets
        self.odd: I64 = _NO_ROWS  # of which non-finite
        self.first: I64 = _NO_ROWS  # lowest step; HIGHEST without one
        self.bucketed: I64 = _NO_ROWS  # highest step that left the window; LOWEST: none
        self.buckets = History(slots)

    @property
    def nbytes(self) -> int:
        """Bytes held in tables."""
        own = (self.step, self.wall, self.value, self.length, self.count, self.odd, self.first, self.bucketed)
        return sum(array.nbytes for array in own) + self.buckets.nbytes

    def add_rows(self, rows: int, points: int = 0) -> None:
        """Make room for `rows` series in all, which are about to get so many points each."""
        self.rows = max(self.rows, rows)
        old = len(self.length)
        if rows > old:
            wide = self.wide if old else min(max(self.wide, points + 1), self.limit)
            self._allocate(max(rows, old * 3 // 2), wide)

    def _allocate(self, rows: int, wide: int) -> None:
        old_rows, old_wide = self.step.shape
        for name in ("step", "wall", "value"):
            table = getattr(self, name)
            grown = np.empty((rows, wide), table.dtype)
            keep = min(wide, old_wide)
            grown[:old_rows, :keep] = table[:, :keep]
            setattr(self, name, grown)
        self.wide = wide
        if rows > old_rows:
            lines = np.empty((len(_LINES), rows), np.int64)
            lines[:, old_rows:] = _BLANK
            for line, name in zip(lines, _LINES, strict=True):
                line[:old_rows] = getattr(self, name)
                setattr(self, name, line)
            single = np.ones(rows, np.bool_)
            single[:old_rows] = self.single
            self.single = single

    def resize(self, window: int, slots: int) -> None:
        """Hold so much per series from now on. What a smaller window lets go is in the buckets."""
        self.window, self.limit = window, window + slack(window)
        if self.buckets.slots != slots:
            self.buckets.resize(slots)
        surplus = np.flatnonzero(self.length[: self.rows] > self.limit)
        if len(surplus):
            self._evict(surplus, self.length[surplus] - window)
        if self.wide > self.limit:
            self._allocate(len(self.length), self.limit)

    def widen(self) -> None:
        """Keep values as float64 from now on."""
        with np.errstate(invalid="ignore"):  # slots that nothing was written to hold anything
            self.value = self.value.astype(np.float64)
        self.buckets.widen()

    def _reach(self, low: int, high: int) -> None:
        """Keep steps as int64 from now on if int32 does not hold these."""
        if self.step.dtype == np.int32 and not (low >= -(2**31) and high < 2**31):
            self.step = self.step.astype(np.int64)
            self.buckets.lengthen()

    def fits(self, value: F64) -> bool:
        """Whether float32 holds these values exactly."""
        with np.errstate(over="ignore"):
            narrow = value.astype(np.float32)
        return bool(((narrow == value) | (value != value)).all())

    def tick(self, rows: Rows, step: I64, wall: F64, value: F64, span: slice | None = None) -> None:
        """One new point for each of some rows, none below the newest step of its row. `rows` are distinct.

        span: the same rows, where they are neighbours in order, because that is faster.
        """
        where: Rows | slice = rows if span is None else span
        length = self.length[where]
        longest = int(np.maximum.reduce(length))  # half the time of `max`: this runs for every step of a run
        if longest >= self.wide:
            if self.wide < self.limit:
                self._allocate(len(self.length), min(2 * self.wide, self.limit))
            full = rows[length >= self.limit]
            if len(full):
                self._evict(full, np.full(len(full), self.limit - self.window, np.intp))
            length = self.length[where]
            longest = int(np.maximum.reduce(length))
        shortest, highest = int(np.minimum.reduce(length)), int(np.maximum.reduce(step))
        if not shortest or highest >= 2**31:  # none is below an older point of its row
            self._reach(int(step.min()), highest)
        if not shortest:
            young = rows[length == 0]
            self.first[young] = np.minimum(self.first[young], step[length == 0])
        if shortest == longest:
            self.step[where, longest] = step
            self.wall[where, longest] = wall
            self.value[where, longest] = value
        else:
            at = rows * self.wide + length
            self.step.ravel()[at] = step
            self.wall.ravel()[at] = wall
            self.value.ravel()[at] = value
        self.length[where] += 1
        self.count[where] += 1
        finite = np.isfinite(value)
        if not np.logical_and.reduce(finite):
            np.add.at(self.odd, rows[~finite], 1)

    def add(self, rows: Rows, step: I64, wall: F64, value: F64) -> None:
        """Take points in, sorted by row (and by arrival within a row)."""
        size = len(rows)
        if not size:
            return
        change = np.empty(size, np.bool_)
        change[0] = True
        np.not_equal(rows[1:], rows[:-1], out=change[1:])
        heads = np.flatnonzero(change)
        sizes = np.diff(np.append(heads, size))
        each = rows[heads]
        newest = self.newest(each)
        back = np.empty(size, np.bool_)
        back[0] = False
        np.less(step[1:], step[:-1], out=back[1:])
        back[heads] = step[heads] < newest
        if not back.any():
            self.extend(each, heads, sizes, step, wall, value)
            return
        self._note(each, heads, sizes, step, value)
        muddled = np.logical_or.reduceat(back, heads)
        for index in np.flatnonzero(muddled).tolist():
            inside = slice(int(heads[index]), int(heads[index] + sizes[index]))
            self._insert(int(each[index]), step[inside], wall[inside], value[inside])
        clear = ~muddled
        if clear.any():
            self._append(each[clear], heads[clear], sizes[clear], step, wall, value)

    def newest(self, each: Rows) -> I64:
        """Step of the newest point in the window of each of some rows; LOWEST where it is empty."""
        length = self.length[each]
        if length.all():
            return self.step[each, length - 1].astype(np.int64)
        newest = np.full(len(each), LOWEST, np.int64)
        old = length > 0
        newest[old] = self.step[each[old], length[old] - 1]
        return newest

    def extend(self, each: Rows, heads: Rows, sizes: Rows, step: I64, wall: F64, value: F64) -> None:
        """Take in `sizes[i]` points from `heads[i]` on for row `each[i]`, which go forward in every row.

        What lies between two rows, if anything, repeats the last point of the one before.
        """
        self._note(each, heads, sizes, step, value)
        self._append(each, heads, sizes, step, wall, value)

    def _note(self, each: Rows, heads: Rows, sizes: Rows, step: I64, value: F64) -> None:
        """Count points that come in, sorted by row."""
        self.count[each] += sizes
        lowest = np.minimum.reduceat(step, heads)
        self._reach(int(lowest.min()), int(step.max()))
        self.first[each] = np.minimum(self.first[each], lowest)
        finite = np.isfinite(value)
        if not finite.all():
            odd = np.flatnonzero(~finite)
            owner = np.searchsorted(heads, odd, side="right") - 1
            real = odd < (heads + sizes)[owner]
            np.add.at(self.odd, each[owner[real]], 1)

    def _append(self, each: Rows, heads: Rows, sizes: Rows, step: I64, wall: F64, value: F64) -> None:
        """Points that go forward in every row: those that will not stay go straight to the buckets."""
        length = self.length[each]
        over = length + sizes - self.limit
        if int(over.max()) > 0:
            quarter = self.limit - self.window
            leaving = np.where(over > 0, -(-over // quarter) * quarter, 0)
            from_window = np.minimum(leaving, length)
            going = np.flatnonzero(from_window)
            if len(going):
                self._evict(each[going], from_window[going])
            straight = leaving - from_window
            some = np.flatnonzero(straight)
            if len(some):
                rows, begin, count = each[some], heads[some], straight[some]
                self.buckets.pour(rows, begin, count, step, wall, value)
                self.bucketed[rows] = np.maximum(self.bucketed[rows], step[begin + count - 1])
                heads, sizes = heads + straight, sizes - straight
            length = self.length[each]
        full = length + sizes
        longest = int(full.max())
        if longest > self.wide:
            self._allocate(len(self.length), min(max(2 * self.wide, longest), self.limit))
        total = int(sizes.sum())
        even = _even(each, length, heads, sizes, len(step)) if total else None
        if even is not None:
            of, slots, apart = even
            part = slice(int(heads[0]), int(heads[0]) + apart * len(each))
            for table, column in ((self.step, step), (self.wall, wall), (self.value, value)):
                table[of, slots] = column[part].reshape(-1, apart)[:, : slots.stop - slots.start]
        elif total > _SLICED * len(each):
            ends = zip(each.tolist(), length.tolist(), heads.tolist(), sizes.tolist(), strict=True)
            for row, at, head, size in ends:
                self.step[row, at : at + size] = step[head : head + size]
                self.wall[row, at : at + size] = wall[head : head + size]
                self.value[row, at : at + size] = value[head : head + size]
        elif total:
            begin = np.cumsum(sizes) - sizes
            place = np.arange(total)
            source = place + np.repeat(heads - begin, sizes)
            target = place + np.repeat(each * self.wide + length - begin, sizes)
            self.step.ravel()[target] = step[source]
            self.wall.ravel()[target] = wall[source]
            self.value.ravel()[target] = value[source]
        self.length[each] = full

    def _evict(self, rows: Rows, leaving: Rows) -> None:
        """The oldest points of some windows go to the buckets."""
        order = np.argsort(rows)
        rows, leaving = rows[order], leaving[order]
        most = int(leaving.max())
        old = self.step[rows, :most].astype(np.int64)
        heads = np.arange(len(rows)) * most
        self.buckets.pour(
            rows, heads, leaving, old.ravel(), self.wall[rows, :most].ravel(), self.value[rows, :most].ravel()
        )
        self.bucketed[rows] = np.maximum(self.bucketed[rows], old[np.arange(len(rows)), leaving - 1])
        left = self.length[rows] - leaving
        self.length[rows] = left
        longest = int(left.max())
        if not longest:
            return
        if int(leaving.min()) == most and most + longest <= self.wide:
            for table in (self.step, self.wall, self.value):
                table[rows, :longest] = table[rows, most : most + longest]
            return
        for row, count, size in zip(rows.tolist(), leaving.tolist(), left.tolist(), strict=True):
            for table in (self.step, self.wall, self.value):
                table[row, :size] = table[row, count : count + size]

    def _insert(self, row: int, step: I64, wall: F64, value: F64) -> None:
        """Points in any order, one window's worth after the other."""
        done = 0
        while done < len(step):
            length = int(self.length[row])
            if length >= self.limit:
                self._evict(np.array([row]), np.array([self.limit - self.window]))
                length = int(self.length[row])
            take = slice(done, min(done + self.limit - length, len(step)))
            size = length + take.stop - take.start
            if size > self.wide:
                self._allocate(len(self.length), min(max(2 * self.wide, size), self.limit))
            steps = np.concatenate([self.step[row, :length], step[take]])
            order = np.argsort(steps, kind="stable")
            self.step[row, :size] = steps[order]
            self.wall[row, :size] = np.concatenate([self.wall[row, :length], wall[take]])[order]
            self.value[row, :size] = np.concatenate([self.value[row, :length], value[take]])[order]
            self.length[row] = size
            done = take.stop

    def points(self, row: int) -> Points:
        """The window of a series as it is, in step order. Wall times are a view: copy what you keep."""
        if row >= len(self.length):
            return NO_POINTS
        length = self.length[row]
        return Points(
            self.step[row, :length].astype(np.int64),
            self.wall[row, :length],
            self.value[row, :length].astype(np.float64),
        )

    def between(self, row: int, low: float, high: float) -> Points:
        """The points of a window at steps in [low, high], both below 2^53, in step order."""
        if row >= len(self.length):
            return NO_POINTS
        steps = self.step[row, : self.length[row]]
        begin = 0 if not len(steps) or steps[0] >= low else int(steps.searchsorted(low))
        end = (
            len(steps) if begin == len(steps) or steps[-1] <= high else int(steps.searchsorted(high, "right"))
        )
        part = slice(begin, end)
        return Points(
            steps[part].astype(np.int64), self.wall[row, part], self.value[row, part].astype(np.float64)
        )

    def cut(self, row: int, low: int, high: int) -> tuple[Points, int, bool]:
        """Take out the points at steps [low, high): those of the window, how many in all, is that exact."""
        length = int(self.length[row])
        steps = self.step[row, :length]
        begin, end = int(np.searchsorted(steps, low)), int(np.searchsorted(steps, high))
        window = self.points(row)
        gone = Points(
            window.step[begin:end].copy(), window.wall_time[begin:end].copy(), window.value[begin:end].copy()
        )
        for table in (self.step, self.wall, self.value):
            table[row, begin : begin + length - end] = table[row, end:length]
        self.length[row] = length - (end - begin)
        dropped, odd, straddles = (0, 0, False)
        if self.bucketed[row] >= low:
            dropped, odd, straddles = self.buckets.cut(row, low, high)
            self.bucketed[row] = self.buckets.newest(row)
        self.count[row] -= len(gone) + dropped
        odd += int((~np.isfinite(gone.value)).sum())
        self.odd[row] -= odd
        if low <= self.first[row]:
            left = self.step[row, 0] if self.length[row] else HIGHEST
            self.first[row] = left if self.bucketed[row] == LOWEST else min(self.first[row], left)
        return gone, len(gone) + dropped, not straddles

    def clear(self, row: int) -> int:
        """Forget a series; how many points that were."""
        gone = int(self.count[row])
        self.buckets.clear(row)
        self.length[row] = self.count[row] = self.odd[row] = 0
        self.first[row] = HIGHEST
        self.bucketed[row] = LOWEST
        return gone


def _even(each: Rows, length: Rows, heads: Rows, sizes: Rows, points: int) -> tuple[slice, slice, int] | None:
    """Rows, slots and the distance of heads, where neighbouring rows get as many points at the same place."""
    rows, at, size = len(each), int(length[0]), int(sizes[0])
    apart = int(heads[1] - heads[0]) if rows > 1 else size
    first, head = int(each[0]), int(heads[0])
    if int(each[-1]) - first != rows - 1 or apart < size or head + apart * rows > points:
        return None
    if (length != at).any() or (sizes != size).any() or (np.diff(heads) != apart).any():
        return None
    return slice(first, first + rows), slice(at, at + size), apart
