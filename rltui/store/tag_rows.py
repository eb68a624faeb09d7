"""The row of each tag in the tables of a run, and the points of a batch by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Bools
from rltui.logs.batch import Batch
from rltui.logs.records.record_keys import COMPUTED
from rltui.store.points import Points

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class PointBlock:
    """Points by row: rows[i], ascending, has sizes[i] points from index starts[i], in order of arrival."""

    rows: Rows
    starts: Rows
    sizes: Rows
    points: Points

    @classmethod
    def grouped(cls, rows: Rows, points: Points) -> PointBlock:
        """Group points in order of arrival, (n,), by the row of each, (n,), n > 0."""
        order = _by_row(rows)
        sizes = np.bincount(rows)
        distinct_rows = np.flatnonzero(sizes)
        sizes = sizes[distinct_rows]
        ordered = Points(points.step.take(order), points.wall_time.take(order), points.value.take(order))
        return cls(distinct_rows, np.cumsum(sizes) - sizes, sizes, ordered)

    def __iter__(self) -> Iterator[tuple[int, Points]]:
        """The rows, each with its points."""
        points = self.points
        for row, start, size in zip(
            self.rows.tolist(), self.starts.tolist(), self.sizes.tolist(), strict=True
        ):
            part = slice(start, start + size)
            yield row, Points(points.step[part], points.wall_time[part], points.value[part])


def _by_row(rows: Rows) -> Rows:
    """The indices of points, (n,), by row and in order of arrival."""
    most = int(rows.max())  # numpy uses radix sort for narrow integers, which takes a third of the time
    narrow = rows.astype(np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.intp)
    return narrow.argsort(kind="stable")


class TagRows:
    """The rows of a run's tags, in order of their first points; each log has its own table of tags."""

    def __init__(self) -> None:
        self.tags: list[str] = []  # by row
        self.rows: dict[str, int] = {}
        self._by_log: dict[str, Rows] = {}  # row of each tag of a log; -1 where it has no points
        self._own = np.empty(0, np.bool_)

    @property
    def own(self) -> Bools:
        """For each row, whether the trainer wrote it; rltui computed the others from samples."""
        if len(self._own) != len(self.tags):
            self._own = np.array([not tag.startswith(COMPUTED) for tag in self.tags], np.bool_)
        return self._own

    def __len__(self) -> int:
        return len(self.tags)

    def of_batch(self, path: str, batch: Batch) -> Rows:
        """The row of each point, (n,)."""
        return self._table(path, batch)[batch.tag]

    def of_log(self, path: str) -> Rows:
        """The rows of the tags of a log that have points."""
        table = self._by_log.get(path, np.empty(0, np.intp))
        return table[table >= 0]

    def forget(self, path: str) -> Rows:
        """Remove the tags of a log; returns the rows that no other log writes."""
        own = self.of_log(path)
        self._by_log.pop(path, None)
        others = {row for table in self._by_log.values() for row in table.tolist()}
        return np.array(sorted(set(own.tolist()) - others), np.intp)

    def _table(self, path: str, batch: Batch) -> Rows:
        """The row of each tag of a log; -1 where it has no points."""
        table = self._by_log.get(path)
        if table is None or len(table) < len(batch.tags):
            old = np.empty(0, np.intp) if table is None else table
            new = np.full(len(batch.tags) - len(old), -1, np.intp)
            table = self._by_log[path] = np.concatenate([old, new])
        if not len(batch) or int(table.min()) >= 0:
            return table
        first = np.full(len(table), -1, np.intp)
        first[batch.tag[::-1]] = np.arange(len(batch) - 1, -1, -1)  # of equal tags the last assignment stays
        new = np.flatnonzero((first >= 0) & (table < 0))
        new = new[np.argsort(first[new])]  # in order of their first points
        rows = self.rows
        table[new] = [rows.setdefault(batch.tags[index], len(rows)) for index in new.tolist()]
        self.tags.extend(islice(rows, len(self.tags), None))
        return table
