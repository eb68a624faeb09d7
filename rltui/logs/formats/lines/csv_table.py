"""Tables: CSV and TSV with a header line, as Stable-Baselines3, RLlib, Spinning Up and people write them.

Empty cells are missing values. An SB3 monitor file begins with `#{json}`; its rows are episodes, so the
step is the sum of their lengths `l` and the wall time is `t_start + t`. Any other table takes its step
from a column that names it (`log_keys.toml`), from a first column that counts on evenly, whatever its name,
or, said once, from the number of its row.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence

from rltui.common.regex import regex
from rltui.logs import log_contents, log_file_names
from rltui.logs.formats.interface import File, Format
from rltui.logs.formats.lines.line_reader import LineParser, LineReader, RecordSink
from rltui.logs.formats.lines.table_header import COUNTED_ROWS, TableHeader, column_name, number_in, split_row
from rltui.logs.records import record_keys
from rltui.logs.records.record_batcher import RecordBatcher

_QUOTED_CAP = 64 << 10  # bytes of a quoted field that runs over lines
_HEADER_CAP = 4 << 20
_LENGTH_CAP = 1 << 40  # steps of an episode; a damaged number must not carry the sum beyond 64 bits
_ITEMS = 3  # rows that begin with a name of their own, after which a table without steps is one of things


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
            rows = file.read_at(0, min(_HEADER_CAP, file.size())).split(b"\n")[1 : COUNTED_ROWS + 1]
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
        if number_in(text) is not None:
            name = self._title.decode("utf-8", "replace").strip('\ufeff "')
            self._header = TableHeader(b"", [name or column_name(self.path)], ",")
            self._add(self._header.record([text]), records)
        elif (header := TableHeader.unnamed(line, self.path)) is not None:
            self._header, self._held = header, []
            self._add(header.record(header.cells(text.encode())), records)
        elif not offset and len(split_row(text, ",")) == 1:
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
            len(cells) == len(table.names) and None not in map(number_in, cells) for cells in every
        )
    if rows and number_in(rows[0]) is None:
        rows = rows[1:]
    return len(rows) >= _ITEMS and all(number_in(row) is not None for row in rows)


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
