"""A table of several runs exported from the web page of W&B: columns for each run and metric, and its bounds.

`"Step","warm-sun-1 - loss","warm-sun-1 - loss__MIN","warm-sun-1 - loss__MAX","cold-sea-2 - loss",...`. A
table of a single run is read by `csv_table`.
"""

from __future__ import annotations

import csv
import math
import os
from functools import lru_cache

from rltui.logs.formats.container import Container, NewRows, Part, Parts
from rltui.logs.formats.lines.table_header import split_row
from rltui.logs.log_file_names import exported_columns, is_plain
from rltui.logs.records.parse_number import from_text, step_of
from rltui.logs.records.record_keys import step_keys

_HEAD = 4096
_HEADER_CAP = 4 << 20
_SIZE_CAP = 64 << 20  # bytes; the table is read at once
Cursor = tuple[int, int]  # number of rows that were read, and bytes of the table at that time
Columns = dict[str, dict[str, list[int]]]  # by run and tag: the columns of the value and its bounds


def _parts(place: str) -> Parts | None:
    """The runs of a table; None for any other table, and for one of a single run."""
    with open(place, "rb") as file:  # noqa: PTH123
        head = file.read(_HEAD)
        if b" - " not in head or b"__M" not in head:
            return None
        header = head + (b"" if b"\n" in head else file.readline(_HEADER_CAP))
    columns = _columns(header.partition(b"\n")[0].decode("utf-8-sig", "replace"))
    if len(columns) < 2 or os.stat(place).st_size > _SIZE_CAP:  # noqa: PTH116
        return None
    return Parts(tuple(_Run("csv", (place,), run, run) for run in columns))


# Tables with a common name for all metrics of a program are read by `csv_table`.
EXPORTED = Container(lambda place: place.endswith(".csv") and not is_plain(place.rpartition("/")[2]), _parts)


class _Run(Part[Cursor]):
    """A `Part`: the columns of one run."""

    def read(self, cursor: Cursor | None, budget: int) -> NewRows[Cursor] | None:
        """All rows on the first call, then only new ones. Raises OSError."""
        size, stamp, *_ = self.stamp()
        header, rows = _table(self.place, size, stamp)
        columns = _columns(header).get(self.key, {})
        seen, before = cursor or (0, 0)
        new = NewRows[Cursor](cursor=(len(rows), size), bytes_read=size - before)
        for number, row in enumerate(rows[seen:], seen + 1):
            values: dict[str, object] = {}
            for tag, (column, *bounds) in columns.items():
                value = from_text(row[column]) if column < len(row) else None
                if value is None:
                    continue
                values[tag] = value
                for bound, place in zip(("__MIN", "__MAX"), bounds, strict=False):
                    limit = from_text(row[place]) if place < len(row) else None
                    if limit is not None and limit != value:  # of several points that were merged
                        values[tag + bound] = limit
            step = step_of(from_text(row[0])) if row else None
            if values:
                new.records.append((number if step is None else step, math.nan, values))
        return new


@lru_cache(maxsize=2)
def _table(place: str, size: int, stamp: int) -> tuple[str, list[list[str]]]:
    """The header and the rows of a table. size, stamp: invalidate the cache. Raises OSError."""
    with open(place, encoding="utf-8-sig", errors="replace", newline="") as file:  # noqa: PTH123
        header = file.readline()
        try:
            return header, list(csv.reader(file))
        except csv.Error:  # a field without end
            return header, []


@lru_cache(maxsize=8)
def _columns(header: str) -> Columns:
    """The columns of each run; empty for any other table."""
    columns: Columns = {}
    for place, column in enumerate(exported_columns(split_row(header.rstrip("\r\n"), ",")), 1):
        if not step_keys([column["tag"]]):
            columns.setdefault(column["run"], {}).setdefault(column["tag"], []).append(place)
    return columns
