"""Tables: CSV and TSV with a header line, as Stable-Baselines3, RLlib, Spinning Up and people write them.

Empty cells are missing values. An SB3 monitor file begins with `#{json}`; its rows are episodes, so the
step is the sum of their lengths `l` and the wall time is `t_start + t`. Any other table takes its step
from a column that names it (`log_keys.toml`), from a first column that counts on evenly, whatever its name,
or, said once, from the number of its row.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import orjson

from rltui.common.regex import regex
from rltui.logs import log_contents, log_file_names
from rltui.logs.formats.interface import File, Format
from rltui.logs.formats.lines.line_reader import LineParser, LineReader, RecordSink
from rltui.logs.records import record_keys
from rltui.logs.records.parse_number import step_of
from rltui.logs.records.record_batcher import RecordBatcher

_QUOTED_CAP = 64 << 10  # bytes of a quoted field that runs over lines
_HEADER_CAP = 4 << 20
_LENGTH_CAP = 1 << 40  # steps of an episode; a damaged number must not carry the sum beyond 64 bits
_DELIMITERS = ",\t;"
_WIDEST = 16  # columns of a table without header: a row of more is one of a matrix
_NUMBERS = {int, float}
_ITEMS = 3  # rows that begin with a name of their own, after which a table without steps is one of things
_STEP = "step"
_COUNTED = 3  # rows whose first numbers grow by one stride, which makes them steps: two would by chance
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
        names = [name.strip() for name in _split(text, delimiter)]
        if names == ["", "0"] and path:  # an array that pandas saved
            return cls(line, ["", _called(path)], delimiter)
        if len(names) < 2 or not any(names) or any(_number(name) is not None for name in names):
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
        cells = _split(text, delimiter if delimiter in text else " ")
        if not 1 < len(cells) <= _WIDEST or any(_number(cell) is None for cell in cells):
            return None
        called = _called(path)
        names = [f"{called}/{number}" for number in range(1, len(cells) + 1)]
        return cls(b"", names, delimiter if delimiter in text else " ")

    def cells(self, line: bytes) -> list[str]:
        """The cells of a row; between other marks a comma is that of a decimal, as spreadsheets write it."""
        cells = _split(line.decode("utf-8", "replace"), self.delimiter)
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
                    record[names[column]] = _number(cells[column])
                record.pop("", None)
                return record
        except ValueError:
            pass
        record = {}
        for name, cell in zip(names, cells, strict=True):
            if name and cell:
                number = _number(cell)
                record[name] = cell if number is None else number
        return record

    def may_lack(self, cells: Sequence[str]) -> bool:
        """Whether a row has its step, but not its last cells."""
        if not self._steps or not self._steps[0] < len(cells) < len(self.names):
            return False
        return step_of(_number(cells[self._steps[0]])) is not None

    def padded(self, cells: Sequence[str]) -> dict[str, object]:
        """The record of a row that lacks its last cells."""
        return self.record([*cells, *[""] * (len(self.names) - len(cells))])

    def has_step(self, cells: list[str]) -> bool:
        """Whether a row names its step; of a table without steps, whether it holds a number at all."""
        if not self._steps:
            return any(_number(cell) is not None for cell in cells)
        return all(step_of(_number(cells[column])) is not None for column in self._steps)

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
        return _COUNTED if self.line else _GROWN

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


def _called(path: str) -> str:
    """What a table calls its only column that has no name."""
    return log_file_names.stem_of(path.rpartition("/")[2])


def _split(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
    if '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _number(cell: str) -> int | float | None:
    """The number in a cell; None for an empty cell and for text. `1_000` is text: trial ids look so."""
    try:
        digits = cell.removeprefix("-")
        if digits.isdigit() and len(digits) < 20:
            number = int(cell)
            return number if number or cell[0] != "-" else -0.0
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


class CsvParser(LineParser):
    """The `LineParser` of tables."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "bad-row", "rows skipped that do not fit the header")
        self._header: TableHeader | None = None
        self._held: list[dict[str, object]] | None = None  # rows until it is known whether a column counts
        self._counts: str | None = None  # the column that does
        self._short: tuple[bytes, int, Sequence[str]] | None = None  # a row that lacks cells, its offset
        self._shorter = 0  # cells of rows that have fewer than the header, again and again
        self._title = b""  # the first line, which may be the name of an only column
        self._quoted = b""  # lines of a row whose quoted field is still open
        self._quoted_at = 0  # and their offset
        self._monitor = False  # Stable-Baselines3's log of episodes
        self._start = math.nan  # monitor: wall time of its first episode's start
        self._steps = 0  # monitor: lengths of the episodes so far
        self._elapsed = -math.inf  # monitor: seconds at the end of the last one

    def parse(self, lines: Sequence[bytes], start: int, records: RecordSink) -> None:
        """Take whole lines: the header, comments, rows."""
        for line in lines:
            self._line(line, start, records)
            start += len(line) + 1

    def preview(self, lines: Sequence[bytes], file: File, records: RecordBatcher) -> None:
        """Take rows, under the header of the first line of the file; none of a monitor file."""
        first = file.read_at(0, min(_HEADER_CAP, file.size())).partition(b"\n")[0]
        header = TableHeader.of(first, self.path)
        if header is None or header.line.startswith(b"#"):
            return
        if not header.has_steps:
            rows = file.read_at(0, min(_HEADER_CAP, file.size())).split(b"\n")[1 : _COUNTED + 1]
            split = [header.cells(row.strip(b"\r\0")) for row in rows]
            held = [header.record(cells) for cells in split if len(cells) == len(header.names)]
            if (column := header.counting_column(held)) is not None:
                header = header.counting(column)
        for line in lines:
            cells = header.cells(line.rstrip(b"\r"))
            if len(cells) == len(header.names):
                records.add(header.record(cells))

    def parse_last(self, line: bytes, records: RecordBatcher) -> str | None:
        """A row without newline may be cut inside a number, so it is not read."""
        if self._quoted:
            self.skipped.add(self._quoted, self._quoted_at)
            self._quoted = b""
        self._skip_short()
        self._settle(records)
        return super().parse_last(line, records)

    def _line(self, line: bytes, offset: int, records: RecordSink) -> None:
        if self._quoted and self._is_row(line):  # the quote before it was torn, or never closed
            self.skipped.add(self._quoted, self._quoted_at)
            self._quoted = b""
        if self._quoted:
            line, offset, self._quoted = self._quoted + b"\n" + line, self._quoted_at, b""
        if b'"' in line and line.count(b'"') % 2 and not line.startswith(b"#") and len(line) < _QUOTED_CAP:
            self._quoted, self._quoted_at = line, offset
            return
        line = line.strip(b"\r\0")
        if not line or line.isspace():
            return
        header = self._header
        if header is not None and line == header.line:
            return  # of a session that was appended
        if header is None or line.startswith(b"#"):
            self._begin(line, offset, records)
            return
        record = header.numeric_record(line)
        if record is not None:
            self._skip_short()
            self._add(record, records)
            return
        cells = header.cells(line)
        if header.may_lack(cells):
            self._add_short(line, offset, cells, header, records)
            return
        self._skip_short()
        if len(cells) == len(header.names):
            self._add(header.record(cells), records)
        elif (other := TableHeader.of(line, self.path)) is not None and other.is_like(header):
            self._header = other.counting(self._counts) if self._counts is not None else other
        else:
            self.skipped.add(line, offset)

    def _add_short(
        self, line: bytes, offset: int, cells: Sequence[str], header: TableHeader, records: RecordSink
    ) -> None:
        """Take a row that lacks its last cells, as all do but the first where only that tells the settings.

        One alone was torn: two that follow each other with as many cells are both taken.
        """
        held, self._short = self._short, None
        if len(cells) == self._shorter:
            self._add(header.padded(cells), records)
        elif held is not None and len(held[2]) == len(cells):
            self._shorter = len(cells)
            self._add(header.padded(held[2]), records)
            self._add(header.padded(cells), records)
        else:
            if held is not None:
                self.skipped.add(*held[:2])
            self._short = line, offset, cells

    def _skip_short(self) -> None:
        """Skip a row that was held, since no row like it follows."""
        if self._short is not None:
            self.skipped.add(*self._short[:2])
            self._short = None

    def _is_row(self, line: bytes) -> bool:
        """Whether a line is a whole row by itself: as many cells as columns, whole numbers where the step is.

        Not one that is indented: a tensor that is printed over several lines has numbers and commas, too.
        """
        header = self._header
        if header is None or b'"' in line or line[:1].isspace():
            return False
        cells = header.cells(line.strip(b"\r\0"))
        return len(cells) == len(header.names) and header.has_step(cells)

    def _begin_column(self, line: bytes, offset: int, records: RecordSink) -> None:
        """Take the first number of a table of one column, or keep what may be its name."""
        text = line.decode("utf-8", "replace").strip("\ufeff ")
        if _number(text) is not None:
            name = self._title.decode("utf-8", "replace").strip('\ufeff "')
            self._header = TableHeader(b"", [name or _called(self.path)], ",")
            self._add(self._header.record([text]), records)
        elif (header := TableHeader.unnamed(line, self.path)) is not None:
            self._header, self._held = header, []
            self._add(header.record(header.cells(text.encode())), records)
        elif not offset and len(_split(text, ",")) == 1:
            self._title = line
        else:
            self.skipped.add(line, offset)

    def _begin(self, line: bytes, offset: int, records: RecordSink) -> None:
        """Take the header, or a comment."""
        if not line.startswith(b"#"):
            self._header = TableHeader.of(line, self.path)
            if self._header is None:
                self._begin_column(line, offset, records)
            elif not (self._header.has_steps or self._monitor):
                self._held = []
            return
        try:
            said = json.loads(line[1:])
            self._monitor = isinstance(said, dict) and "t_start" in said
            self._start = float(said["t_start"])
            self._elapsed = -math.inf
        except (ValueError, OverflowError, RecursionError, KeyError, TypeError):
            pass  # a comment that says nothing of a start

    def _settle(self, records: RecordSink) -> None:
        """Give the rows that were held: they say whether the first column counts, or there are no more."""
        held, self._held = self._held, None
        header = self._header
        if not held or header is None:
            return
        self._counts = column = header.counting_column(held)
        if column is not None:
            self._header = header.counting(column)
            called = dict(zip(header.names, self._header.names, strict=True))
            held = [{called[name]: value for name, value in row.items()} for row in held]
        for row in held:
            records.add(row)

    def _add(self, record: dict[str, object], records: RecordSink) -> None:
        if self._held is not None and self._header is not None:
            self._held.append(record)
            enough = len(self._held) == self._header.deciding
            if enough or self._header.counting_column(self._held, known=False) is None:
                self._settle(records)
            return
        if not self._monitor:
            records.add(record)
            return
        length, elapsed = record.get("l"), record.get("t")
        if isinstance(length, int | float) and 0 <= length < _LENGTH_CAP:
            self._steps += int(length)
        if isinstance(elapsed, int | float):
            if elapsed < self._elapsed / 2:  # another session was appended; when it began is not written
                self._start = math.nan
            self._elapsed = elapsed
        wall = self._start + elapsed if isinstance(elapsed, int | float) else math.nan
        records.add(record, (self._steps, wall))


_NAME = regex(r"\.(csv|tsv)\Z|\Aprogress\.txt\Z", re.IGNORECASE)


def _matches(name: str, head: bytes) -> bool:
    """By name, then by the header and the first row: numbers, and a step column or a telling name."""
    if not _NAME.search(name):
        # Keras: CSVLogger("training.log"); PFRL and ChainerRL: scores.txt
        return name.endswith((".log", ".txt")) and (_is_table(head) or _is_column(name, head))
    if name.startswith("."):
        return False
    if not head:
        return True
    lines = head.split(b"\n")
    if lines[0].startswith(b"#"):
        lines = lines[1:]
    header = TableHeader.of(lines[0], name) if lines else None
    if header is None:
        return _is_column(name, head)
    if log_contents.is_transition(header.names):
        return False
    steps = record_keys.step_keys(header.names)
    if not steps and not log_file_names.is_telling(name):
        return False
    if len(lines) < 2 or not lines[1].strip():
        return True
    first, count = lines[1], 2
    while first.count(b'"') % 2 and count < len(lines):  # a quoted field runs over lines
        first, count = first + b"\n" + lines[count], count + 1
    cells = header.cells(first.rstrip(b"\r"))
    record = header.record(cells) if len(cells) == len(header.names) else {}
    cut = len(lines) == count
    numbers = [key for key, value in record.items() if type(value) in (int, float) and key not in steps]
    if not steps and (log_contents.is_of_data(header.names, numbers) or _is_of_items(header, lines[1:-1])):
        return False
    told = log_file_names.is_telling(name.lower().replace("result", "")) or not numbers
    if not (steps or told or any(map(log_file_names.names().column.search, numbers))):
        return False  # results of anything: of a simulation, of an experiment
    return bool(numbers) or cut


def _is_column(name: str, head: bytes) -> bool:
    """Whether a file named after a metric has nothing but numbers, as numpy.savetxt writes them.

    One in each line, perhaps below its name, or as many in each line as in the others.
    """
    if log_file_names.names().column.search(name) is None:
        return False
    lines = head.decode("utf-8-sig", "replace").split("\n")[:-1]
    rows = [row for line in lines if (row := line.strip())]
    table = TableHeader.unnamed(rows[0].encode(), name) if rows else None
    if table is not None:
        every = [table.cells(row.encode()) for row in rows]
        return len(rows) >= _ITEMS and all(
            len(cells) == len(table.names) and None not in map(_number, cells) for cells in every
        )
    if rows and _number(rows[0]) is None:
        rows = rows[1:]
    return len(rows) >= _ITEMS and all(_number(row) is not None for row in rows)


def _is_of_items(header: TableHeader, rows: Sequence[bytes]) -> bool:
    """Whether the first column names what each row is about, another thing in each: graphs, models, files."""
    names = [header.cells(row)[0] for row in rows[:_ITEMS]]
    first = header.names[0].lower()
    if len(names) < _ITEMS or "time" in first or "date" in first:
        return False
    # A step may be written as `10k`.
    called = (name[:1].isalpha() or sum(map(str.isalpha, name)) > 1 for name in names)
    return len(set(names)) == len(names) and all(called)


def _is_table(head: bytes) -> bool:
    """Whether bytes are a table beyond doubt: a header with a step, and whole rows of nothing but numbers."""
    first, *rows = [*head.lstrip(b"\xef\xbb\xbf").replace(b"\r", b"").split(b"\n")[:-1], b""][:3]
    rows = [row for row in rows if row]
    header = TableHeader.of(first) if rows else None
    if header is None or not record_keys.step_keys(header.names):
        return False
    every = [header.cells(row) for row in rows]
    return all(len(cells) == len(header.names) for cells in every) and all(
        type(value) in (int, float) for cells in every for value in header.record(cells).values()
    )


FORMAT = Format("csv", _matches, lambda path, _: LineReader(path, CsvParser(path)), rewrites=True)
