"""One run in the SQLite database of a tracker, followed by the rowids of its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rltui.common.named_tuple import NamedTuple
from rltui.logs.formats.container import NewRows, Part, TrackerAlert
from rltui.logs.formats.trackers import sqlite_file

if TYPE_CHECKING:
    import sqlite3

_ROW_BYTES = 256  # approximately; determines the number of rows for a budget
_MIN_ROWS = 1000  # of one read

Record = tuple[int, float, dict[str, object]]  # step, wall time, values by tag


class Rows(NamedTuple):
    """A table of points. columns: selected after rowid and `size`.

    record: returns the record in the columns of a row, or None. value: the same for a single value. Raises
    ValueError, TypeError or OverflowError, since SQLite stores any value in any column.
    """

    table: str
    run: str  # SQL: the run's id, of a row `r`
    size: str  # SQL: bytes of a row
    columns: str  # SQL
    record: Callable[..., Record | None] | None = None
    value: Callable[..., tuple[str, float, tuple[int, float]]] | None = None


Cursor = tuple[int, ...]  # the last rowid of each table


class Schema(NamedTuple):
    """How a tracker stores its runs."""

    format: str
    rows: tuple[Rows, ...]
    about: Callable[
        [sqlite3.Connection, str], tuple[dict[str, object], str]
    ]  # hparams and exit code of a run
    alerts: Callable[[sqlite3.Connection, str], Sequence[TrackerAlert]] | None = None


class DatabaseRun(Part[Cursor]):
    """A `Part`: one run of a database."""

    def __init__(self, place: str, key: str, run: str, schema: Schema) -> None:
        super().__init__(schema.format, (place,), key, run)
        self._schema = schema
        self._counted: dict[str, tuple[int, int]] = {}  # by table: last rowid, bytes of rows

    def stamp(self) -> tuple[int, ...]:
        """Changes whenever the database can be read and has changed. Raises OSError."""
        return sqlite_file.readable_stamp(self.place)

    def modified(self) -> float:
        """When the database was last written. Raises OSError."""
        return sqlite_file.modified_of(self.place)

    def files(self) -> tuple[str, ...]:
        """The database, its WAL and its journal."""
        return sqlite_file.files_of(self.place)

    def size(self) -> int:
        """Bytes of the rows of the run, as far as they can be read now. Raises OSError."""
        sqlite_file.read_database(self.place, self._count)
        return sum(size for _, size in self._counted.values())

    def _count(self, base: sqlite3.Connection) -> None:
        for rows in self._schema.rows:
            last, before = self._counted.get(rows.table, (0, 0))
            new = f"FROM {rows.table} AS r WHERE {rows.run} = ? AND rowid > ?"
            found = base.execute(f"SELECT max(rowid), sum({rows.size}) {new}", (self.key, last))
            newest, size = found.fetchone()
            self._counted[rows.table] = newest or last, before + int(size or 0)

    def read(self, cursor: Cursor | None, budget: int) -> NewRows[Cursor] | None:
        """The rows after `cursor`, the last rowid of each table. Raises OSError."""
        since = cursor or (0,) * len(self._schema.rows)
        return sqlite_file.read_database(self.place, lambda base: self._take(base, since, budget))

    def _take(self, base: sqlite3.Connection, since: Cursor, budget: int) -> NewRows[Cursor]:
        new = NewRows[Cursor]()
        cursor = list(since)
        limit = max(_MIN_ROWS, budget // _ROW_BYTES)
        for number, rows in enumerate(self._schema.rows):
            sql = (
                f"SELECT rowid, {rows.size}, {rows.columns} FROM {rows.table} AS r"
                f" WHERE {rows.run} = ? AND rowid > ? ORDER BY rowid LIMIT ?"
            )
            found = base.execute(sql, (self.key, since[number], limit))
            for rowid, size, *columns in found:
                cursor[number] = _last_rowid(cursor[number], rowid)
                new.bytes_read += int(size or 0)
                try:
                    if rows.value is not None:
                        new.values.append(rows.value(*columns))
                    elif rows.record is not None and (record := rows.record(*columns)) is not None:
                        new.records.append(record)
                    else:
                        new.skipped += 1
                except (ValueError, TypeError, OverflowError):
                    new.skipped += 1
        new.cursor = tuple(cursor)
        new.hparams, new.exit_code = self._schema.about(base, self.key)
        if self._schema.alerts is not None:
            new.alerts = self._schema.alerts(base, self.key)
        return new


def _last_rowid(since: int, rowid: int) -> int:
    """A rowid. Raises DatabaseError unless it is higher than the last one: reading would not end."""
    if rowid <= since:
        import sqlite3  # as in `sqlite_file`

        raise sqlite3.DatabaseError("rows are out of order: the database is damaged")
    return rowid


def columns_of(base: sqlite3.Connection, table: str) -> set[str]:
    """The names of the columns of a table; empty if there is no such table."""
    return {row[1] for row in base.execute(f"PRAGMA table_info({table})")}


def unique_names(rows: Sequence[tuple[str, str]]) -> dict[str, str]:
    """A name for each id, from pairs of id and name, oldest first: repeated names get part of the id."""
    names: dict[str, str] = {}
    for key, name in rows:
        shown = name or key
        names[key] = f"{shown}-{key[:8]}" if shown in names.values() else shown
    return names
