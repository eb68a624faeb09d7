"""One run in a tracker's SQLite database, followed by the rowids of its rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rltui.logs.formats.trackers import sqlite_file
from rltui.logs.formats.trackers.part_reader import Alert, Look, PartFormat, PointColumns

_ROW = 256  # bytes of a row, about: how many are taken for a budget
_FEWEST = 1000  # rows of one look

Record = tuple[int, float, dict[str, object]]  # step, wall time, values by tag


@dataclass(frozen=True, slots=True)
class Rows:
    """A table of points. `columns` come behind rowid and `size`.

    `record` makes a record of those of a row, or None; `points` makes points of those of many rows.
    """

    table: str
    run: str  # the column that holds the run's id
    size: str  # SQL: bytes of a row
    columns: str  # SQL
    record: Callable[..., Record | None] | None = None
    points: Callable[..., PointColumns] | None = None


@dataclass(frozen=True, slots=True)
class Schema:
    """How a tracker keeps its runs."""

    format: str
    rows: tuple[Rows, ...]
    about: Callable[
        [sqlite3.Connection, str], tuple[dict[str, object], str]
    ]  # hparams and exit code of a run
    alerts: Callable[[sqlite3.Connection, str], Sequence[Alert]] | None = None


class DatabaseRun:
    """A `Part`: one run of a database."""

    def __init__(self, place: str, key: str, run: str, schema: Schema) -> None:
        self.place, self.key, self.run = place, key, run
        self._schema = schema
        self.format = PartFormat(schema.format, self)
        self.moves = False
        self._counted = [0] * len(schema.rows)  # the last rowid that is counted, by table
        self._bytes = 0

    def stamp(self) -> tuple[int, ...]:
        """What changes when something new can be read from the database. Raises OSError."""
        return sqlite_file.readable_stamp(self.place)

    def modified(self) -> float:
        """When the database was written last. Raises OSError."""
        return sqlite_file.modified_of(self.place)

    def size(self) -> int:
        """Bytes of the run's rows; what is known of it while a writer is at work. Raises OSError."""
        sqlite_file.read_database(self.place, self._count)
        return self._bytes

    def look(self, cursor: Any, budget: int) -> Look | None:
        """Rows behind `cursor`, the last rowid of each table. Raises OSError."""
        since: list[int] = list(cursor or [0] * len(self._schema.rows))
        return sqlite_file.read_database(self.place, lambda base: self._take(base, since, budget))

    def _count(self, base: sqlite3.Connection) -> None:
        for number, rows in enumerate(self._schema.rows):
            sql = f"SELECT max(rowid), sum({rows.size}) FROM {rows.table} WHERE {rows.run} = ? AND rowid > ?"
            last, size = base.execute(sql, (self.key, self._counted[number])).fetchone()
            if last is not None:
                self._counted[number] = last
                self._bytes += int(size or 0)

    def _take(self, base: sqlite3.Connection, since: list[int], budget: int) -> Look:
        look = Look()
        cursor = list(since)
        limit = max(_FEWEST, budget // _ROW)
        for number, rows in enumerate(self._schema.rows):
            sql = (
                f"SELECT rowid, {rows.size}, {rows.columns} FROM {rows.table} AS r"
                f" WHERE {rows.run} = ? AND rowid > ? ORDER BY rowid LIMIT ?"
            )
            found = base.execute(sql, (self.key, since[number], limit))
            if rows.points is not None:
                if taken := found.fetchall():
                    rowids, sizes, *every = zip(*taken, strict=True)
                    cursor[number] = rowids[-1]
                    look.settled += sum(sizes)
                    look.points = rows.points(*every)
                continue
            for rowid, size, *columns in found:
                cursor[number] = rowid
                look.settled += int(size or 0)
                record = rows.record(*columns) if rows.record is not None else None
                if record is not None:
                    look.records.append(record)
        look.cursor = tuple(cursor)
        look.hparams, look.exit_code = self._schema.about(base, self.key)
        if self._schema.alerts is not None:
            look.alerts = self._schema.alerts(base, self.key)
        return look


def columns_of(base: sqlite3.Connection, table: str) -> set[str]:
    """The names of a table's columns; empty where there is no such table."""
    return {row[1] for row in base.execute(f"PRAGMA table_info({table})")}
