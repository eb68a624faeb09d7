"""The points of one run: exact windows of all its series in shared tables, older points in buckets.

Tables are [series, slot], so that a step of sixty scalars takes a few scatter operations instead of sixty
appends. A window holds its points sorted by step (points of one step by arrival). When it is full, an eighth
of it, the oldest points, moves to the buckets. All sizes are in points, so the windows do not depend on how
points are divided into batches.
"""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.store.bucket_table import BucketTable, Steps, Values
from rltui.store.points import HIGHEST, LOWEST, Points, join
from rltui.store.tag_rows import PointBlock, Rows

# Limits that depend on the number of series: more than so many series, largest window, most slots. A dozen
# series keep a thousand exact points each, the sixty of a usual trainer half of that, and thousands (a norm
# of each layer) enough for charts.
SIZES = ((24, 512, 384), (2000, 256, 128))
_NO_ROWS: Ints = np.empty(0, np.int64)
_NO_SINGLE = np.empty(0, np.bool_)
# Columns with one number per row, and its value for a row without points; see `SeriesTable`.
_COUNTS = {"length": 0, "count": 0, "nonfinite": 0, "first": HIGHEST, "bucketed": LOWEST}
_WITHOUT_POINTS = np.array([[value] for value in _COUNTS.values()])


def slack(window: int) -> int:
    """Points beyond its window that a series holds before that many move to the buckets at once."""
    return max(window // 8, min(window // 4, 64))


class SeriesTable:
    """Windows and buckets of all series of a run; a series is a row.

    window: the newest points of a series that are always exact. slots: buckets per series.
    """

    def __init__(self, window: int, slots: int) -> None:
        self._requested = (window, slots)
        self.window = window
        self.limit = window + slack(window)
        self.rows = 0
        self.width = 16  # slots allocated per window
        self.step: Steps = np.empty((0, self.width), np.int32)  # int64 once a step needs it
        self.wall: Floats = np.empty((0, self.width))
        self.value: Values = np.empty((0, self.width), np.float32)
        self.single = _NO_SINGLE  # whether every value was a float32 on disk
        self.length: Ints = _NO_ROWS
        self.count: Ints = _NO_ROWS  # points shown, in window and buckets
        self.nonfinite: Ints = _NO_ROWS  # those of them that are not finite
        self.first: Ints = _NO_ROWS  # lowest step; HIGHEST without one
        self.bucketed: Ints = _NO_ROWS  # highest step that left the window; LOWEST: none
        self.buckets = BucketTable(slots)

    @property
    def nbytes(self) -> int:
        """Bytes held in tables."""
        counts = (self.length, self.count, self.nonfinite, self.first, self.bucketed)
        own = (self.step, self.wall, self.value, *counts)
        return sum(array.nbytes for array in own) + self.buckets.nbytes

    # ---- sizes

    def add_rows(self, rows: int, points: int = 0) -> None:
        """Make room for `rows` series in total, which are about to get `points` points each."""
        if rows <= self.rows:
            return
        before, self.rows = self.rows, rows
        if any(rows > above >= before for above, _, _ in SIZES):
            self.resize(*self._requested)
        allocated = len(self.length)
        if rows > allocated:
            width = self.width if allocated else min(max(self.width, points + 1), self.limit)
            self._allocate(max(rows, allocated * 3 // 2), width)

    def resize(self, window: int, slots: int) -> None:
        """Hold at most so many exact points and buckets per series from now on; see also `SIZES`.

        Points that no longer fit into a smaller window move to the buckets.
        """
        self._requested = (window, slots)
        for above, most_points, most_slots in SIZES:
            if self.rows > above:
                window, slots = min(window, most_points), min(slots, most_slots)
        if (self.window, self.buckets.slots) == (window, slots):
            return
        self.window, self.limit = window, window + slack(window)
        if self.buckets.slots != slots:
            self.buckets.resize(slots)
        surplus = np.flatnonzero(self.length[: self.rows] > self.limit)
        if len(surplus):
            self._rollover(surplus, self.length[surplus] - window)
        if self.width > self.limit:
            self._allocate(len(self.length), self.limit)

    def _allocate(self, rows: int, width: int) -> None:
        old_rows, old_width = self.step.shape
        keep = min(width, old_width)
        for name in ("step", "wall", "value"):
            table = getattr(self, name)
            grown = np.empty((rows, width), table.dtype)
            if old_rows:
                grown[:old_rows, :keep] = table[:, :keep]
            setattr(self, name, grown)
        self.width = width
        if rows > old_rows:
            columns = np.empty((len(_COUNTS), rows), np.int64)
            columns[:, old_rows:] = _WITHOUT_POINTS
            for column, name in zip(columns, _COUNTS, strict=True):
                if old_rows:
                    column[:old_rows] = getattr(self, name)
                setattr(self, name, column)
            single = np.ones(rows, np.bool_)
            single[:old_rows] = self.single
            self.single = single

    def _make_room(self, points: int) -> None:
        """Allocate at least `points` slots per window, at least doubling, up to `limit`."""
        if points > self.width:
            self._allocate(len(self.length), min(max(2 * self.width, points), self.limit))

    def note_doubles(self, rows: Rows, value: Floats) -> None:
        """Record that values were not float32 on disk; store float64 from now on if they need it."""
        self.single[rows] = False
        if self.value.dtype != np.float32:
            return
        with np.errstate(over="ignore", invalid="ignore"):  # unused slots are not initialised
            narrow = value.astype(np.float32)
            if not ((narrow == value) | (value != value)).all():
                self.value = self.value.astype(np.float64)
                self.buckets.widen()

    def _note_steps(self, low: int, high: int) -> None:
        """Store steps as int64 from now on if these exceed int32."""
        if self.step.dtype == np.int32 and not (low >= -(2**31) and high < 2**31):
            self.step = self.step.astype(np.int64)
            self.buckets.widen_steps()

    # ---- adding points

    def append_block(self, block: PointBlock) -> None:
        """Add points that go forward in every row, none of them below the newest step of its row."""
        self._count(block)
        self._append(block)

    def insert_block(self, block: PointBlock) -> None:
        """Add points in any order of steps."""
        rows, starts, step = block.rows, block.starts, block.points.step
        back = np.empty(len(step), np.bool_)
        np.less(step[1:], step[:-1], out=back[1:])
        back[starts] = step[starts] < self.newest(rows)
        if not back.any():
            self.append_block(block)
            return
        self._count(block)
        unordered = np.logical_or.reduceat(back, starts)
        for row, points in PointBlock(
            rows[unordered], starts[unordered], block.sizes[unordered], block.points
        ):
            self._insert(row, points)
        if not unordered.all():
            rest = ~unordered
            self._append(PointBlock(rows[rest], starts[rest], block.sizes[rest], block.points))

    def newest(self, rows: Rows) -> Ints:
        """Step of the newest point in the window of each of some rows; LOWEST where it is empty."""
        length = self.length[rows]
        if length.all():
            return self.step[rows, length - 1].astype(np.int64)
        newest = np.full(len(rows), LOWEST, np.int64)
        used = length > 0
        newest[used] = self.step[rows[used], length[used] - 1]
        return newest

    def _count(self, block: PointBlock) -> None:
        step, value, starts = block.points.step, block.points.value, block.starts
        self.count[block.rows] += block.sizes
        lowest = np.minimum.reduceat(step, starts)
        self._note_steps(int(lowest.min()), int(step.max()))
        self.first[block.rows] = np.minimum(self.first[block.rows], lowest)
        finite = np.isfinite(value)
        if not finite.all():
            positions = np.flatnonzero(~finite)
            owner = np.searchsorted(starts, positions, side="right") - 1
            np.add.at(self.nonfinite, block.rows[owner], 1)

    def _append(self, block: PointBlock) -> None:
        """Add points that go forward in every row; those that the windows cannot hold go to the buckets."""
        rows, starts, sizes, points = block.rows, block.starts, block.sizes, block.points
        length = self.length[rows]
        excess = length + sizes - self.limit
        if int(excess.max()) > 0:
            portion = self.limit - self.window
            leaving = np.where(excess > 0, -(-excess // portion) * portion, 0)
            from_window = np.minimum(leaving, length)
            shifted = np.flatnonzero(from_window)
            if len(shifted):
                self._rollover(rows[shifted], from_window[shifted])
            from_block = leaving - from_window
            bypassing = np.flatnonzero(from_block)
            if len(bypassing):
                passed_rows, first, count = rows[bypassing], starts[bypassing], from_block[bypassing]
                self.buckets.append_block(PointBlock(passed_rows, first, count, points))
                last = points.step[first + count - 1]
                self.bucketed[passed_rows] = np.maximum(self.bucketed[passed_rows], last)
                starts, sizes = starts + from_block, sizes - from_block
            length = self.length[rows]
        full = length + sizes
        self._make_room(int(full.max()))
        total = int(sizes.sum())
        if total:
            begin = np.cumsum(sizes) - sizes
            position = np.arange(total)
            target = position + np.repeat(rows * self.width + length - begin, sizes)
            points = points.take(position + np.repeat(starts - begin, sizes))
            self.step.ravel()[target] = points.step
            self.wall.ravel()[target] = points.wall_time
            self.value.ravel()[target] = points.value
        self.length[rows] = full

    def _rollover(self, rows: Rows, leaving: Rows) -> None:
        """Move the oldest points of some windows to the buckets: `leaving[i]` of row `rows[i]`."""
        order = np.argsort(rows)
        rows, leaving = rows[order], leaving[order]
        most = int(leaving.max())
        old = self.step[rows, :most].astype(np.int64)
        value = self.value[rows, :most].astype(np.float64)
        points = Points(old.ravel(), self.wall[rows, :most].ravel(), value.ravel())
        self.buckets.append_block(PointBlock(rows, np.arange(len(rows)) * most, leaving, points))
        self.bucketed[rows] = np.maximum(self.bucketed[rows], old[np.arange(len(rows)), leaving - 1])
        left = self.length[rows] - leaving
        self.length[rows] = left
        longest = int(left.max())
        if int(leaving.min()) == most and most + longest <= self.width:
            for table in (self.step, self.wall, self.value):
                table[rows, :longest] = table[rows, most : most + longest]
            return
        for row, count, size in zip(rows.tolist(), leaving.tolist(), left.tolist(), strict=True):
            for table in (self.step, self.wall, self.value):
                table[row, :size] = table[row, count : count + size]

    def _insert(self, row: int, points: Points) -> None:
        """Add points in any order, as many at a time as the window holds."""
        done = 0
        while done < len(points):
            if self.length[row] >= self.limit:
                self._rollover(np.array([row]), np.array([self.limit - self.window]))
            length = int(self.length[row])
            part = points.take(slice(done, done + self.limit - length))
            size = length + len(part)
            self._make_room(size)
            both = join([self.points(row), part])
            both = both.take(np.argsort(both.step, kind="stable"))
            self.step[row, :size] = both.step
            self.wall[row, :size] = both.wall_time
            self.value[row, :size] = both.value
            self.length[row] = size
            done += len(part)

    # ---- reading and removing points

    def points(self, row: int) -> Points:
        """The window of a series in step order. Wall times are a view: copy them to keep them."""
        return self._window(row, slice(0, int(self.length[row])))

    def between(self, row: int, low: float, high: float) -> Points:
        """The points of a window at steps in [low, high], both within +-2^53, in step order."""
        steps = self.step[row, : self.length[row]]
        begin = 0 if not len(steps) or steps[0] >= low else int(steps.searchsorted(low))
        end = len(steps)
        if begin < end and steps[-1] > high:
            end = int(steps.searchsorted(high, "right"))
        return self._window(row, slice(begin, end))

    def _window(self, row: int, part: slice) -> Points:
        return Points(
            self.step[row, part].astype(np.int64),
            self.wall[row, part],
            self.value[row, part].astype(np.float64),
        )

    def cut(self, row: int, low: int, high: int) -> tuple[Points, int, bool]:
        """Remove points at steps [low, high). Returns those of the window, the number of all, if exact."""
        length = int(self.length[row])
        begin, end = np.searchsorted(self.step[row, :length], (low, high)).tolist()
        gone = self._window(row, slice(begin, end)).copy()
        for table in (self.step, self.wall, self.value):
            table[row, begin : begin + length - end] = table[row, end:length]
        self.length[row] = length - (end - begin)
        dropped, nonfinite, straddles = 0, 0, False
        if self.bucketed[row] >= low:
            dropped, nonfinite, straddles = self.buckets.cut(row, low, high)
            self.bucketed[row] = self.buckets.newest(row)
        self.count[row] -= len(gone) + dropped
        self.nonfinite[row] -= nonfinite + int((~np.isfinite(gone.value)).sum())
        if low <= self.first[row]:
            lowest = self.step[row, 0] if self.length[row] else HIGHEST
            self.first[row] = lowest if self.bucketed[row] == LOWEST else min(self.first[row], lowest)
        return gone, len(gone) + dropped, not straddles

    def clear(self, row: int) -> int:
        """Remove all points of a series; returns their number."""
        gone = int(self.count[row])
        self.buckets.clear(row)
        self.length[row] = self.count[row] = self.nonfinite[row] = 0
        self.first[row] = HIGHEST
        self.bucketed[row] = LOWEST
        return gone
