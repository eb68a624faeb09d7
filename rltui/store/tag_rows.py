"""The series of one run over shared tables: which tag is which row, previews, what is new by tag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rltui.batch import Batch
from rltui.logs.delivery import Source
from rltui.store.model import NO_POINTS, Fresh, Points, join, sensible
from rltui.store.series import SeriesByTag
from rltui.store.series_table import SeriesTable

Rows = NDArray[np.intp]
# The more series a run has, the less each holds: series from which it is so, window and slots at most.
# A dozen hold a thousand exact points each, the sixty of a usual trainer half of it, and thousands (a norm
# of each layer) so much that charts still look right.
SIZES = ((24, 512, 384), (2000, 256, 128))


@dataclass(slots=True, eq=False)
class _Preview:
    """The end of a log, shown while its history is being read."""

    until: int  # bytes settled at which the history has caught up with it
    points: dict[int, Points]


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """The tags of a tick. The next one of its log mostly brings the same in the same order."""

    tags: bytes
    table: Rows  # by which they have these rows
    rows: Rows
    span: slice | None  # the same, where they are neighbours in order


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Points by series: row each[i] has sizes[i] of the points, from heads[i] on, in order of arrival.

    What lies between two series, if anything, repeats the last point of the one before.
    """

    each: Rows
    heads: Rows
    sizes: Rows
    points: Points


def _turn_length(batch: Batch) -> int:
    """After how many points the same tags have their turn again, all the way; 0 where they do not."""
    tag, size = batch.tag, len(batch)
    again = np.flatnonzero(tag[1 : 2 * len(batch.tags) + 1] == tag[0])
    turn = int(again[0]) + 1 if len(again) else size
    return turn if 2 * turn <= size and (tag[turn:] == tag[:-turn]).all() else 0


def _regular(table: Rows, batch: Batch, turn: int) -> Groups | None:
    """The groups of a batch in which the same tags take turns, as most trainings log; None of others.

    Then they are the columns of a matrix, and nothing needs to be sorted.
    """
    tag, size = batch.tag, len(batch)
    if not turn:
        return None
    rows = table[tag[:turn]]
    order = np.argsort(rows)
    each = rows[order]
    ordered = bool((each == rows).all())
    if (each[1:] == each[:-1]).any():
        return None
    full, rest = divmod(size, turn)
    sizes = full + (order < rest)
    deep = full + (rest > 0)
    missing = slice((full - 1) * turn + rest, full * turn) if rest else slice(0, 0)

    def columns(array: NDArray[Any]) -> NDArray[Any]:
        whole = np.concatenate([array, array[missing]]) if rest else array
        grid = whole.reshape(deep, turn).T
        return np.ascontiguousarray(grid if ordered else grid[order]).ravel()

    points = Points(columns(batch.step), columns(batch.wall_time), columns(batch.value))
    return Groups(each, np.arange(turn) * deep, sizes, points)


class TagRows:
    """The series of a run. A tag is a row of the pool from its first point on."""

    def __init__(self, window: int, slots: int) -> None:
        self._wanted = (window, slots)
        self.series = SeriesByTag(self)
        self.first_wall = np.nan  # lowest and highest sensible ones
        self.last_wall = np.nan
        self.pool = SeriesTable(window, slots)
        self._tables: dict[str, Rows] = {}
        self._complete: dict[str, int] = {}  # tags of a log that all have rows, so many
        self._turns: dict[str, _Turn] = {}
        self._previews: dict[str, _Preview] = {}

    def hold(self, window: int, slots: int) -> None:
        """Hold so many exact points and buckets per series from now on; less of many series."""
        self._wanted = (window, slots)
        for above, most, fewest in SIZES:
            if len(self.series) > above:
                window, slots = min(window, most), min(slots, fewest)
        if (self.pool.window, self.pool.buckets.slots) != (window, slots):
            self.pool.resize(window, slots)

    @property
    def previewing(self) -> bool:
        """Whether the ends of logs are shown while their history is still being read."""
        return bool(self._previews)

    def _table_of(self, path: str, batch: Batch, turn: int = 0) -> Rows:
        """Row of each tag of a log; -1 where it has no points. A tag becomes a series with its first one.

        turn: points after which, as is known, no other tags come.
        """
        table = self._tables.get(path)
        if table is None or len(table) < len(batch.tags):
            self._complete.pop(path, None)
            done = 0 if table is None else len(table)
            part = np.full(len(batch.tags) - done, -1, np.intp)
            table = self._tables[path] = part if table is None else np.concatenate([table, part])
        if not len(batch) or self._complete.get(path) == len(table):
            return table
        if int(table.min()) >= 0:
            self._complete[path] = len(table)
            return table
        if turn and int(table.max()) < 0:
            new: NDArray[np.integer] = batch.tag[:turn]
        else:
            tag = batch.tag[:turn] if turn else batch.tag
            first = np.full(len(table), -1, np.intp)
            first[tag[::-1]] = np.arange(len(tag) - 1, -1, -1)  # of equal places the last one counts
            new = np.flatnonzero((first >= 0) & (table < 0))
            new = new[np.argsort(first[new])]
        if len(new):
            table[new] = self.series.rows([batch.tags[index] for index in new.tolist()])
            rows = len(self.series)
            if any(rows > above >= self.pool.rows for above, _, _ in SIZES):
                self.hold(*self._wanted)
            self.pool.add_rows(rows, len(batch) // len(table))
        return table

    def _rows_of(self, path: str, batch: Batch) -> Rows:
        """Rows of the points."""
        return self._table_of(path, batch)[batch.tag]

    def _turn_of(self, path: str, batch: Batch) -> _Turn | None:
        """The rows of a tick, none of them twice: those of the tick before, if it can. None of others."""
        known, tags = self._turns.get(path), batch.tag.tobytes()
        if known is not None and known.tags == tags and known.table is self._tables.get(path):
            return known
        rows = self._rows_of(path, batch)
        seen = np.zeros(len(self.series), np.bool_)
        seen[rows] = True
        if int(np.count_nonzero(seen)) != len(rows):
            return None
        first, alike = int(rows[0]), bool((np.diff(rows) == 1).all())
        span = slice(first, first + len(rows)) if alike else None
        turn = self._turns[path] = _Turn(tags, self._tables[path], rows, span)
        return turn

    def _preview(self, source: Source, batch: Batch) -> None:
        if not len(batch):
            return
        rows = self._rows_of(source.path, batch)
        order = np.lexsort((batch.step, rows))
        sorted_rows = rows[order]
        heads = np.flatnonzero(np.concatenate([[True], sorted_rows[1:] != sorted_rows[:-1]]))
        points: dict[int, Points] = {}
        for head, tail in zip(heads.tolist(), [*heads[1:].tolist(), len(order)], strict=True):
            at = order[head:tail]
            points[int(sorted_rows[head])] = Points(batch.step[at], batch.wall_time[at], batch.value[at])
        self._previews[source.path] = _Preview(source.size, points)
        self._clock(batch.wall_time)

    def preview_of(self, row: int) -> Points:
        """Points of the previews for one series, in step order."""
        parts = [preview.points[row] for preview in self._previews.values() if row in preview.points]
        if len(parts) < 2:
            return parts[0] if parts else NO_POINTS
        found = join(parts)
        order = np.argsort(found.step, kind="stable")
        return Points(found.step[order], found.wall_time[order], found.value[order])

    def _clock(self, wall: NDArray[np.float64]) -> bool:
        """Note the run's first and last time; whether all of these can be meant."""
        if not len(wall):
            return True
        low, high = float(np.minimum.reduce(wall)), float(np.maximum.reduce(wall))
        good = sensible(low) and sensible(high)
        if not good:
            known = wall[sensible(wall)]
            if not len(known):
                return False
            low, high = float(known.min()), float(known.max())
        if not self.first_wall <= low:
            self.first_wall = low
        if not self.last_wall >= high:
            self.last_wall = high
        return good

    def _groups_of(self, path: str, batch: Batch) -> Groups:
        """The points of a batch by series."""
        turn = _turn_length(batch)
        table = self._table_of(path, batch, turn)
        regular = _regular(table, batch, turn)
        if regular is not None:
            return regular
        count = len(self.series)
        # Radix sort of the narrowest integers is the fastest way to part the points.
        narrow = table.astype(np.uint8 if count <= 1 << 8 else np.uint16 if count <= 1 << 16 else np.intp)
        rows = narrow.take(batch.tag)
        order = rows.argsort(kind="stable")
        sizes = np.bincount(rows, minlength=count)
        each = np.flatnonzero(sizes)
        sizes = sizes[each]
        heads = np.cumsum(sizes) - sizes
        points = Points(batch.step.take(order), batch.wall_time.take(order), batch.value.take(order))
        return Groups(each, heads, sizes, points)

    def _fresh_of_groups(self, groups: Groups) -> list[Fresh]:
        tags = self.series.tags
        step, wall, value = groups.points.step, groups.points.wall_time, groups.points.value
        ends = zip(groups.each.tolist(), groups.heads.tolist(), groups.sizes.tolist(), strict=True)
        return [
            Fresh(
                tags[row],
                Points(step[head : head + size], wall[head : head + size], value[head : head + size]),
            )
            for row, head, size in ends
        ]

    def _fresh_of_turn(self, turn: _Turn, points: Points) -> list[Fresh]:
        """The points of a tick by tag."""
        if turn.span is None:
            return self._fresh_of(turn.rows, points)
        step, wall, value = points.step, points.wall_time, points.value
        return [
            Fresh(tag, Points(step[at : at + 1], wall[at : at + 1], value[at : at + 1]))
            for at, tag in enumerate(self.series.tags[turn.span])
        ]

    def _fresh_of(
        self, rows: Rows, points: Points, rewound: dict[int, int] | None = None, late: set[int] | None = None
    ) -> list[Fresh]:
        """New shown points by tag in order of arrival."""
        found: list[Fresh] = []
        tags = self.series.tags
        rewound = dict(rewound or {})
        if len(rows):
            order = np.argsort(rows, kind="stable")
            sorted_rows = rows[order]
            step, wall, value = points.step[order], points.wall_time[order], points.value[order]
            heads = np.flatnonzero(np.concatenate([[True], sorted_rows[1:] != sorted_rows[:-1]])).tolist()
            for head, tail in zip(heads, [*heads[1:], len(order)], strict=True):
                row = int(sorted_rows[head])
                part = Points(step[head:tail], wall[head:tail], value[head:tail])
                back = rewound.pop(row, None)
                if back is not None and late and row in late:
                    part = self._from(row, back)
                found.append(Fresh(tags[row], part, back))
        for row, back in rewound.items():
            part = self._from(row, back) if late and row in late else NO_POINTS
            found.append(Fresh(tags[row], part, back))
        return found

    def _from(self, row: int, step: int) -> Points:
        """Shown points of a window at or above a step: an older log was told after a newer one."""
        window = self.pool.points(row)
        begin = int(np.searchsorted(window.step, step))
        return Points(
            window.step[begin:].copy(), window.wall_time[begin:].copy(), window.value[begin:].copy()
        )
