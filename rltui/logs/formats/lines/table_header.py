"""The header of a table: its columns, and how its rows become records."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import orjson

from rltui.common.regex import regex
from rltui.logs import log_file_names
from rltui.logs.records import record_keys
from rltui.logs.records.parse_number import step_of, wall_time

_DELIMITERS = ",\t;"
_MAX_COLUMNS = 16  # of a table without header; wider ones are matrices
_NUMBERS = {int, float}
_STEP, _TIME = "step", "time"
MIN_EVEN_ROWS = 3  # whose numbers increase by one stride if they are steps; two do so by chance
MIN_INCREASING_ROWS = 8  # without header; eight outcomes increase by chance in one of 40,000 tables
_DECIMAL = regex(r"\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?\s*")


class TableHeader:
    """The columns of a table. line: empty for a table without header."""

    def __init__(self, line: bytes, names: list[str], delimiter: str) -> None:
        self.line = line
        self.names = names
        self.delimiter = delimiter
        self._steps = [names.index(name) for name in record_keys.step_keys(names)]
        self.has_steps = bool(self._steps)

    @classmethod
    def of(cls, line: bytes, path: str = "") -> TableHeader | None:
        """Parse a header line: at least two cells, none of them a number. None for any other line.

        path: of the file, which gives the name of the single column of a saved series.
        """
        text = line.decode("utf-8", "replace").strip("\ufeff\r\0")
        delimiter = max(_DELIMITERS, key=text.count)
        names = [name.strip() for name in split_row(text, delimiter)]
        if names == ["", "0"] and path:  # an array saved by pandas
            return cls(line, ["", column_name(path)], delimiter)
        if len(names) < 2 or not any(names) or any(number_in(name) is not None for name in names):
            return None
        return cls(line, _tags(names, path), delimiter)

    @classmethod
    def unnamed(cls, line: bytes, path: str) -> TableHeader | None:
        """The columns of a table that starts with a row of numbers, in a file named after a metric or log.

        None for any other line, and for a single number.
        """
        name = path.rpartition("/")[2]
        if log_file_names.names().column.search(name) is None and not log_file_names.is_telling(name):
            return None
        text = line.decode("utf-8", "replace").strip("\ufeff\r\0 ")
        delimiter = max(_DELIMITERS, key=text.count)
        cells = split_row(text, delimiter if delimiter in text else " ")
        if not 1 < len(cells) <= _MAX_COLUMNS or any(number_in(cell) is None for cell in cells):
            return None
        name_of_file = column_name(path)
        names = [f"{name_of_file}/{number}" for number in range(1, len(cells) + 1)]
        return cls(b"", names, delimiter if delimiter in text else " ")

    @classmethod
    def of_words(cls, line: bytes, row: bytes) -> TableHeader | None:
        """A header of words between blanks, above a row of as many numbers or times; None for other lines."""
        names = line.decode("utf-8", "replace").strip("\ufeff\r\0# ").split()
        cells = row.decode("utf-8", "replace").strip("\r\0").split()
        if len(names) != len(cells) or len(names) < 2 or len(set(names)) < len(names):
            return None
        known = [number_in(name) is None for name in names] + [is_number_or_time(cell) for cell in cells]
        return cls(line, names, " ") if all(known) else None

    def cells(self, line: bytes) -> list[str]:
        """The cells of a row. If commas are no delimiters, they are decimal commas, as in spreadsheets."""
        cells = split_row(line.decode("utf-8", "replace"), self.delimiter)
        if self.delimiter != "," and b"," in line:
            return [cell.replace(",", ".") if _DECIMAL.fullmatch(cell) else cell for cell in cells]
        return cells

    def numeric_record(self, line: bytes) -> dict[str, object] | None:
        """The same as `record` for a row of numbers in the spelling of JSON; None for any other.

        The row is parsed as one JSON array: without that, `check` of 200,000 cells takes 13 % longer.
        """
        if self.delimiter == ";":
            line = line.replace(b",", b".").replace(b";", b",")
        elif self.delimiter != ",":
            if b"," in line:
                return None
            line = line.replace(self.delimiter.encode(), b",")
        if b"-0," in line or line.endswith(b"-0"):  # an int has no negative zero
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
        """The non-empty cells by column name, as numbers if possible, else as text."""
        record: dict[str, object] = {}
        for name, cell in zip(self.names, cells, strict=True):
            if name and cell:
                number = number_in(cell)
                record[name] = cell if number is None else number
        return record

    def records(self, rows: Iterable[bytes]) -> list[dict[str, object]]:
        """The records of the rows with all cells."""
        every = [self.cells(row.strip(b"\r\0")) for row in rows]
        return [self.record(cells) for cells in every if len(cells) == len(self.names)]

    def is_short(self, cells: Sequence[str]) -> bool:
        """Whether a row has a step, but not the last cells."""
        if not self._steps or not self._steps[0] < len(cells) < len(self.names):
            return False
        return step_of(number_in(cells[self._steps[0]])) is not None

    def padded(self, cells: Sequence[str]) -> dict[str, object]:
        """The record of a row without its last cells."""
        return self.record([*cells, *[""] * (len(self.names) - len(cells))])

    def has_step(self, cells: list[str]) -> bool:
        """Whether a row has a step, or in a table without steps, any number."""
        if not self._steps:
            return any(number_in(cell) is not None for cell in cells)
        return all(step_of(number_in(cells[column])) is not None for column in self._steps)

    def find_step_column(self, rows: Sequence[Mapping[str, object]], *, complete: bool = True) -> str | None:
        """The column of steps without the name of a step: its first rows increase evenly.

        This is the first one, unless its name is that of an outcome (lengths and scores may increase evenly
        as well), or one with the name of a counter. Without names, it is the finer one of the first two
        columns that increase. complete: whether all rows that are needed must be given; else the column is
        provisional.
        """
        if self.has_steps or (complete and len(rows) < self.rows_to_decide):
            return None
        if not self.line:
            columns = {name: [row.get(name) for row in rows] for name in self.names[:2]}
            counts = [
                name for name, values in columns.items() if _increase(values) and not _are_times(values)
            ]
            return max(counts, key=lambda name: step_of(rows[-1].get(name)) or 0, default=None)
        keys = record_keys.log_keys()
        names = [name for name in self.names if record_keys.compared(name) in keys.column_steps]
        first = self.names[0]
        unnamed = record_keys.compared(first) in keys.samples.names
        if not (unnamed or log_file_names.names().column.search(first)):
            names.insert(0, first)
        return next((name for name in names if _increase_evenly([row.get(name) for row in rows])), None)

    @property
    def rows_to_decide(self) -> int:
        """Number of rows that determine the column of steps."""
        return MIN_EVEN_ROWS if self.line else MIN_INCREASING_ROWS

    def with_step(self, column: str, times: str = "") -> TableHeader:
        """The same with a column as the step, and one as the wall time.

        The only other one without a name gets that of the file.
        """
        names = [_STEP if name == column else name for name in self.names]
        if not self.line and times in names:
            names[names.index(times)] = _TIME
        if not self.line and len({*names} - {_STEP, _TIME}) == 1:
            names = [name.rpartition("/")[0] or name for name in names]
        return TableHeader(self.line, names, self.delimiter)

    def times(self, rows: Sequence[Mapping[str, object]]) -> str:
        """The column of wall times of a table without header; empty if there is none."""
        columns = () if self.line else self.names
        return next((name for name in columns if _are_times([row.get(name) for row in rows])), "")

    def is_similar(self, other: TableHeader) -> bool:
        """Whether it is a header of the same table with other columns."""
        return 2 * len(set(self.names) & set(other.names)) > len(other.names)


def _increase_evenly(values: Sequence[object]) -> bool:
    """Whether values are whole numbers that increase by one stride."""
    steps = [step_of(value) for value in values]
    known = [step for step in steps if step is not None]
    return _increase(values) and len({later - former for former, later in pairwise(known)}) < 2


def _are_times(values: Sequence[object]) -> bool:
    """Whether values are all readings of a clock."""
    return bool(values) and not any(math.isnan(wall_time(value)) for value in values)


def _increase(values: Sequence[object]) -> bool:
    """Whether values are whole numbers that increase."""
    steps = [step_of(value) for value in values]
    known = [step for step in steps if step is not None and step >= 0]
    return len(known) == len(steps) and all(later > former for former, later in pairwise(known))


def _tags(names: list[str], path: str) -> list[str]:
    """The tags of columns in exports from the web pages of trackers; other names unchanged.

    TensorBoard only has the tag in the name of the file, W&B has the run in each column.
    """
    if log_file_names.are_saved_columns(names):
        return ["time", names[1], saved_tag(path)]
    exported = log_file_names.exported_columns(names)
    if len({column["run"] for column in exported}) != 1:
        return names
    return [names[0], *(column["tag"] + (column["bound"] or "") for column in exported)]


def saved_tag(path: str) -> str:
    """The tag of a series exported from TensorBoard's page: part of the file's name as it was saved.

    Of a renamed file its name, or that of its folder if only that is typical of metrics.
    """
    folder, _, base = path.rpartition("/")
    if saved := log_file_names.names().saved_series.match(base):
        return saved["tag"]
    stem, above = log_file_names.stem_of(base), folder.rpartition("/")[2]
    telling = log_file_names.names().column.search
    return above if above and telling(above) and not telling(stem) else stem


def column_name(path: str) -> str:
    """The name of a single column without name."""
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


def is_number_or_time(cell: str) -> bool:
    """Whether a cell has a number or a date with its time."""
    return number_in(cell) is not None or not math.isnan(wall_time(cell))


def number_in(cell: str) -> int | float | None:
    """The number in a cell; None for an empty cell and for text, including `1_000`, perhaps a trial id."""
    try:
        digits = cell.removeprefix("-")
        if digits.isdigit() and len(digits) < 20:
            number = int(cell)
            return number if number or cell[0] != "-" else -0.0
        return None if "_" in cell else float(cell)
    except ValueError:
        return None
