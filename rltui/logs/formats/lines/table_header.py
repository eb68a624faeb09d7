"""The header of a table: its columns, and how its rows become records."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import pairwise

import orjson

from rltui.common.regex import regex
from rltui.logs import log_file_names
from rltui.logs.records import record_keys
from rltui.logs.records.parse_number import step_of

_DELIMITERS = ",\t;"
_WIDEST = 16  # columns of a table without header: a row of more is one of a matrix
_NUMBERS = {int, float}
_STEP = "step"
COUNTED_ROWS = 3  # rows whose first numbers grow by one stride, which makes them steps: two would by chance
_GROWN = 8  # rows without header whose first numbers just grow: eight outcomes do once in 40,000 tables
_DECIMAL = regex(r"\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?\s*")


class TableHeader:
    """The columns of a table."""

    def __init__(self, line: bytes, names: list[str], delimiter: str) -> None:
        self.line = line
        self.names = names
        self.delimiter = delimiter
        self._steps = [names.index(name) for name in record_keys.step_keys(names)]
        self.has_steps = bool(self._steps)

    @classmethod
    def of(cls, line: bytes, path: str = "") -> TableHeader | None:
        """The header that a line is: at least two cells, none a number. None for any other line.

        path: of the file, which tells what the one column of a saved series is.
        """
        text = line.decode("utf-8", "replace").strip("\ufeff\r\0")
        delimiter = max(_DELIMITERS, key=text.count)
        names = [name.strip() for name in split_row(text, delimiter)]
        if names == ["", "0"] and path:  # an array that pandas saved
            return cls(line, ["", column_name(path)], delimiter)
        if len(names) < 2 or not any(names) or any(number_in(name) is not None for name in names):
            return None
        return cls(line, _tags(names, path), delimiter)

    @classmethod
    def unnamed(cls, line: bytes, path: str) -> TableHeader | None:
        """The columns of a table that begins with a row of numbers, in a file that is named after a metric.

        None for any other line, and for one number alone.
        """
        if log_file_names.names().column.search(path.rpartition("/")[2]) is None:
            return None
        text = line.decode("utf-8", "replace").strip("\ufeff\r\0 ")
        delimiter = max(_DELIMITERS, key=text.count)
        cells = split_row(text, delimiter if delimiter in text else " ")
        if not 1 < len(cells) <= _WIDEST or any(number_in(cell) is None for cell in cells):
            return None
        called = column_name(path)
        names = [f"{called}/{number}" for number in range(1, len(cells) + 1)]
        return cls(b"", names, delimiter if delimiter in text else " ")

    def cells(self, line: bytes) -> list[str]:
        """The cells of a row; between other marks a comma is that of a decimal, as spreadsheets write it."""
        cells = split_row(line.decode("utf-8", "replace"), self.delimiter)
        if self.delimiter != "," and b"," in line:
            return [cell.replace(",", ".") if _DECIMAL.fullmatch(cell) else cell for cell in cells]
        return cells

    def numeric_record(self, line: bytes) -> dict[str, object] | None:
        """What `record` gives of a row of nothing but numbers as JSON spells them; None of any other.

        They are read as one JSON array, since that is ten times as fast as one by one.
        """
        if self.delimiter == ";":
            line = line.replace(b",", b".").replace(b";", b",")
        elif self.delimiter != ",":
            if b"," in line:
                return None
            line = line.replace(self.delimiter.encode(), b",")
        if b"-0," in line or line.endswith(b"-0"):  # a sign that a whole number cannot keep
            return None
        try:
            values = orjson.loads(b"[" + line + b"]")
        except ValueError:
            return None
        if len(values) != len(self.names) or not _NUMBERS.issuperset(map(type, values)):
            return None
        record: dict[str, object] = dict(zip(self.names, values, strict=True))
        record.pop("", None)
        return record

    def record(self, cells: list[str]) -> dict[str, object]:
        """The cells that are there under their names: numbers, and text where it is none."""
        names = self.names
        try:
            if "_" not in "".join(cells):
                record: dict[str, object] = dict(zip(names, map(float, cells), strict=True))
                for column in self._steps:
                    record[names[column]] = number_in(cells[column])
                record.pop("", None)
                return record
        except ValueError:
            pass
        record = {}
        for name, cell in zip(names, cells, strict=True):
            if name and cell:
                number = number_in(cell)
                record[name] = cell if number is None else number
        return record

    def may_lack(self, cells: Sequence[str]) -> bool:
        """Whether a row has its step, but not its last cells."""
        if not self._steps or not self._steps[0] < len(cells) < len(self.names):
            return False
        return step_of(number_in(cells[self._steps[0]])) is not None

    def padded(self, cells: Sequence[str]) -> dict[str, object]:
        """The record of a row that lacks its last cells."""
        return self.record([*cells, *[""] * (len(self.names) - len(cells))])

    def has_step(self, cells: list[str]) -> bool:
        """Whether a row names its step; of a table without steps, whether it holds a number at all."""
        if not self._steps:
            return any(number_in(cell) is not None for cell in cells)
        return all(step_of(number_in(cells[column])) is not None for column in self._steps)

    def counting_column(self, rows: Sequence[Mapping[str, object]], *, known: bool = True) -> str | None:
        """The column that gives the steps, though it is no step key: its first rows count evenly.

        It is the first one, unless its name tells of what a training achieves (lengths and scores may grow
        evenly, too), or one that is named as counters are. Where nothing has a name, it is the finer of the
        first two that just grow. known: whether there are as many rows as are needed; else the column that
        it may still be.
        """
        if self.has_steps or (known and len(rows) < self.deciding):
            return None
        if not self.line:
            counts = [name for name in self.names[:2] if _grows([row.get(name) for row in rows])]
            return max(counts, key=lambda name: step_of(rows[-1].get(name)) or 0, default=None)
        keys = record_keys.log_keys()
        names = [name for name in self.names if record_keys.compared(name) in keys.column_steps]
        first = self.names[0]
        unnamed = record_keys.compared(first) in keys.samples.names
        if not (unnamed or log_file_names.names().column.search(first)):
            names.insert(0, first)
        return next((name for name in names if _counts_evenly([row.get(name) for row in rows])), None)

    @property
    def deciding(self) -> int:
        """Rows by which it is known whether a column counts."""
        return COUNTED_ROWS if self.line else _GROWN

    def counting(self, column: str) -> TableHeader:
        """The same with a column as the step. Of a table without names the only other one is the file's."""
        names = [_STEP if name == column else name for name in self.names]
        if not self.line and len(names) == 2:
            names = [name.rpartition("/")[0] or name for name in names]
        return TableHeader(self.line, names, self.delimiter)

    def is_like(self, other: TableHeader) -> bool:
        """Whether it is the header of the same table with other columns."""
        return 2 * len(set(self.names) & set(other.names)) > len(other.names)


def _counts_evenly(values: Sequence[object]) -> bool:
    """Whether values are whole numbers that grow, by one stride."""
    steps = [step_of(value) for value in values]
    known = [step for step in steps if step is not None]
    return _grows(values) and len({later - former for former, later in pairwise(known)}) < 2


def _grows(values: Sequence[object]) -> bool:
    """Whether values are whole numbers that grow."""
    steps = [step_of(value) for value in values]
    known = [step for step in steps if step is not None and step >= 0]
    return len(known) == len(steps) and all(later > former for former, later in pairwise(known))


def _tags(names: list[str], path: str) -> list[str]:
    """The tags of columns as trackers' pages save them; any other names as they are.

    TensorBoard writes the tag into the name of the file alone, W&B the run into each column.
    """
    known, base = log_file_names.names(), path.rpartition("/")[2]
    if log_file_names.are_saved_columns(names):
        saved = known.saved_series.match(base)
        return ["time", names[1], saved["tag"] if saved else _saved_as(path)]
    exported = log_file_names.exported_columns(names)
    if len({column["run"] for column in exported}) != 1:
        return names
    return [names[0], *(column["tag"] + (column["bound"] or "") for column in exported)]


def _saved_as(path: str) -> str:
    """The tag of a table under a name of its own: of its folder, where that tells more than the name does."""
    folder, _, base = path.rpartition("/")
    stem, above = log_file_names.stem_of(base), folder.rpartition("/")[2]
    telling = log_file_names.names().column.search
    return above if above and telling(above) and not telling(stem) else stem


def column_name(path: str) -> str:
    """What a table calls its only column that has no name."""
    return log_file_names.stem_of(path.rpartition("/")[2])


def split_row(line: str, delimiter: str) -> list[str]:
    """The cells of a row; none if its quotes are malformed."""
    if delimiter == " ":
        return line.split()
    if '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def number_in(cell: str) -> int | float | None:
    """The number in a cell; None for an empty cell and for text. `1_000` is text: trial ids look so."""
    try:
        digits = cell.removeprefix("-")
        if digits.isdigit() and len(digits) < 20:
            number = int(cell)
            return number if number or cell[0] != "-" else -0.0
        return None if "_" in cell else float(cell)
    except ValueError:
        return None
