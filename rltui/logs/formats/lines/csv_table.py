"""Tables: CSV and TSV with a header line, of Stable-Baselines3, RLlib, Spinning Up and custom code.

Empty cells are missing values. Comments (`#`) may be above the header. A monitor file of Stable-Baselines3
starts with `#{json}`; its rows are episodes, so the step is the sum of their lengths `l` and the wall time is
`t_start + t`. The step of other tables is a column with the name of a step (`record_keys.toml`), or a first
column that increases evenly, or else, with a problem reported once, the row number.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from itertools import dropwhile, takewhile

from rltui.common.regex import regex
from rltui.logs import log_contents, log_file_names
from rltui.logs.formats.interface import HEAD, File, Format
from rltui.logs.formats.lines.line_reader import LineParser, LineReader, RecordSink
from rltui.logs.formats.lines.table_header import (
    MIN_EVEN_ROWS,
    TableHeader,
    column_name,
    is_number_or_time,
    number_in,
    split_row,
)
from rltui.logs.records import record_keys
from rltui.logs.records.record_batcher import RecordBatcher

_QUOTED_CAP = 64 << 10  # bytes of a quoted field over several lines
_HEADER_CAP = 4 << 20
_LENGTH_CAP = 1 << 40  # steps of an episode; a damaged number must not overflow the sum
_MOST_HPARAM_ROWS = 1  # whole rows after which rows may lack their last cells
_MIN_ITEMS = 3  # rows with distinct names in a table that has items in place of steps
_MOST_WORDS = 3  # of the name of a single column; more are a sentence
_MOST_CLASSES = 10  # different integers that are labels or marks, if each is there twice on average


class CsvParser(LineParser):
    """The `LineParser` of tables."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "bad-row", "row", "skipped for not fitting the header")
        self._header: TableHeader | None = None
        self._pending: list[dict[str, object]] | None = None  # rows until the column of steps is determined
        self._step_column: str | None = None  # a column of steps without a typical name
        self._short: tuple[bytes, int, Sequence[str]] | None = None  # the last row, if cells are missing
        self._short_width = 0  # number of cells in repeated short rows
        self._whole_rows = 0  # with all cells
        self._title = b""  # the first line, which may be the name of a single column
        self._quoted = b""  # lines of a row with an open quoted field
        self._quoted_at = 0  # and their offset
        self._monitor = False  # it is a monitor file, and the next three attributes are used
        self._start = math.nan  # wall time of the start of the first episode
        self._steps = 0  # total length of the episodes so far
        self._elapsed = -math.inf  # seconds at the end of the last episode

    def parse(self, lines: Sequence[bytes], start: int, records: RecordSink) -> None:
        """Add the rows of complete lines; the header and comments are among them."""
        for line in lines:
            self._parse_line(line, start, records)
            start += len(line) + 1

    def preview(self, lines: Sequence[bytes], file: File, records: RecordBatcher) -> None:
        """Add rows, with the header in the first line of the file; none of a monitor file."""
        first = file.read_at(0, min(_HEADER_CAP, file.size())).partition(b"\n")[0]
        header = TableHeader.of(first, self.path)
        if header is None or header.line.startswith(b"#"):
            return
        if not header.has_steps:
            head = file.read_at(0, min(_HEADER_CAP, file.size())).split(b"\n")[1 : MIN_EVEN_ROWS + 1]
            if (column := header.find_step_column(header.records(head))) is not None:
                header = header.with_step(column)
        for record in header.records(lines):
            records.add(record)

    def parse_last(self, line: bytes, records: RecordBatcher) -> str | None:
        """A row without newline may be cut within a number, so it is not read."""
        if self._quoted:
            self.skipped.add_line(self._quoted, self._quoted_at)
            self._quoted = b""
        if self._short is not None and self._header is not None:  # a torn row has no other one below it
            *_, cells = self._short
            if len(self._header.cells(line)) == len(cells):
                self._add(self._header.padded(cells), records)
                self._short = None
        self._skip_short()
        self._add_pending(records)
        return super().parse_last(line, records)

    def _parse_line(self, line: bytes, offset: int, records: RecordSink) -> None:
        if self._quoted and self._is_row(line):  # the open quote was torn, or is never closed
            self.skipped.add_line(self._quoted, self._quoted_at)
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
            return  # repeated by an appended session
        if header is None or line.startswith(b"#"):
            self._parse_header(line, offset, records)
            return
        record = header.numeric_record(line)
        if record is not None:
            self._skip_short()
            self._whole_rows += 1
            self._add(record, records)
            return
        cells = header.cells(line)
        if header.is_short(cells):
            self._add_short(line, offset, cells, header, records)
            return
        self._skip_short()
        if len(cells) == len(header.names):
            self._whole_rows += 1
            self._add(header.record(cells), records)
        elif (other := TableHeader.of(line, self.path)) is not None and other.is_similar(header):
            self._header = other.with_step(self._step_column) if self._step_column is not None else other
        else:
            self.skipped.add_line(line, offset)

    def _add_short(
        self, line: bytes, offset: int, cells: Sequence[str], header: TableHeader, records: RecordSink
    ) -> None:
        """Add a row without its last cells, such as all rows after the first if only that contains settings.

        A single one is torn; two consecutive rows with equally many cells are both added. After several whole
        rows, any of the cells may be missing.
        """
        previous, self._short = self._short, None
        if self._whole_rows > _MOST_HPARAM_ROWS:
            self.skipped.add_line(line, offset)
        elif len(cells) == self._short_width:
            self._add(header.padded(cells), records)
        elif previous is not None and len(previous[2]) == len(cells):
            self._short_width = len(cells)
            self._add(header.padded(previous[2]), records)
            self._add(header.padded(cells), records)
        else:
            if previous is not None:
                self.skipped.add_line(*previous[:2])
            self._short = line, offset, cells

    def _skip_short(self) -> None:
        """Skip a pending short row, since the next row has another width."""
        if self._short is not None:
            self.skipped.add_line(*self._short[:2])
            self._short = None

    def _is_row(self, line: bytes) -> bool:
        """Whether a line is a complete row: it has as many cells as the header, and a step.

        Indented lines are excluded, since a tensor printed over several lines has numbers and commas as well.
        """
        header = self._header
        if header is None or b'"' in line or line[:1].isspace():
            return False
        cells = header.cells(line.strip(b"\r\0"))
        return len(cells) == len(header.names) and header.has_step(cells)

    def _parse_column(self, line: bytes, offset: int, records: RecordSink) -> None:
        """Add the first number of a table of one column, or keep its possible name."""
        text = line.decode("utf-8", "replace").strip("\ufeff ")
        if number_in(text) is not None:
            name = self._title.decode("utf-8", "replace").strip('\ufeff "')
            if not any(map(str.isalnum, name)):  # a line below a title
                name = column_name(self.path)
            self._header = TableHeader(b"", [name], ",")
            self._add(self._header.record([text]), records)
        elif self._title and (header := TableHeader.of_words(self._title, line)) is not None:
            self._header, self._pending = header, None if header.has_steps else []
            self._add(header.record(header.cells(line)), records)
        elif (header := TableHeader.unnamed(line, self.path)) is not None:
            self._header, self._pending = header, []
            self._add(header.record(header.cells(text.encode())), records)
        elif not offset and _is_title(line, self.path):
            self._title = line
        else:
            self.skipped.add_line(line, offset)

    def _parse_header(self, line: bytes, offset: int, records: RecordSink) -> None:
        """Parse the header, or a comment."""
        if not line.startswith(b"#"):
            self._header = TableHeader.of(line, self.path)
            if self._header is None:
                self._parse_column(line, offset, records)
            elif not (self._header.has_steps or self._monitor):
                self._pending = []
            return
        try:
            comment = json.loads(line[1:])
            self._monitor = isinstance(comment, dict) and "t_start" in comment
            self._start = float(comment["t_start"])
            self._elapsed = -math.inf
            if isinstance(comment.get("env_id"), str):
                records.add_hparams({"env_id": comment["env_id"]})
        except (ValueError, OverflowError, RecursionError, KeyError, TypeError):
            if self._header is None and not self._monitor:
                self._title = line.lstrip(b"# ")  # a comment without a start time: perhaps the names

    def _add_pending(self, records: RecordSink) -> None:
        """Determine the column of steps from the pending rows, and add them."""
        rows, self._pending = self._pending, None
        header = self._header
        if not rows or header is None:
            return
        self._step_column = column = header.find_step_column(rows)
        if column is not None:
            self._header = header.with_step(column, header.times(rows))
            renamed = dict(zip(header.names, self._header.names, strict=True))
            rows = [{renamed[name]: value for name, value in row.items()} for row in rows]
        for row in rows:
            records.add(row)

    def _add(self, record: dict[str, object], records: RecordSink) -> None:
        if self._pending is not None and self._header is not None:
            self._pending.append(record)
            enough = len(self._pending) == self._header.rows_to_decide
            if enough or self._header.find_step_column(self._pending, complete=False) is None:
                self._add_pending(records)
            return
        if not self._monitor:
            records.add(record)
            return
        length, elapsed = record.get("l"), record.get("t")
        if isinstance(length, int | float) and 0 <= length < _LENGTH_CAP:
            self._steps += int(length)
        if isinstance(elapsed, int | float):
            if elapsed < self._elapsed / 2:  # an appended session, whose start time is unknown
                self._start = math.nan
            self._elapsed = elapsed
        wall = self._start + elapsed if isinstance(elapsed, int | float) else math.nan
        records.add(record, (self._steps, wall))


_NAME = regex(r"\.(csv|tsv)\Z|\Aprogress\.txt\Z", re.IGNORECASE)


def _matches(name: str, head: bytes) -> bool:
    """By name, then by the header and the first row: numbers, and a step column or a name typical of logs."""
    if name.endswith(".dat") and not head:
        return log_file_names.names().column.search(name) is not None
    if not _NAME.search(name):
        # Keras: CSVLogger("training.log"); PFRL and ChainerRL: scores.txt
        return name.endswith((".log", ".txt", ".dat")) and (_is_table(head) or _is_column(name, head))
    if name.startswith("."):
        return False
    if not head:
        return True
    if log_contents.begins_with_object(head):  # of JSON lines, whatever follows
        return False
    lines = head.split(b"\n")
    if monitor := lines[0].startswith(b"#"):
        lines = list(dropwhile(_is_comment, lines))
    header = TableHeader.of(lines[0], name) if lines else None
    if header is None:
        return _is_column(name, head)
    if log_contents.is_transition(header.names) or _is_trace(name, header.names):
        return False
    steps = record_keys.step_keys(header.names)
    if not steps and not log_file_names.is_telling(name):
        return False
    if len(lines) < 2 or not lines[1].strip():
        return True
    first, count = lines[1], 2
    while first.count(b'"') % 2 and count < len(lines):  # a quoted field over several lines
        first, count = first + b"\n" + lines[count], count + 1
    cut = len(lines) == count
    numbers = [
        key
        for record in header.records([first])
        for key, value in record.items()
        if type(value) in (int, float) and key not in steps
    ]
    if not steps and (log_contents.is_of_data(header.names, numbers) or _is_of_items(header, lines[1:-1])):
        return False
    evaluates = log_file_names.names().evaluation.search(name) is not None
    if not steps and evaluates and not (monitor or _counts(header, lines[1:-1])):
        return False
    if steps and log_contents.is_of_evaluation(
        name, steps, [record.get(steps[0]) for record in header.records(lines[1:-1])]
    ):
        return False
    if not steps and (_is_data_set(name, numbers) or _is_of_hparams(name, numbers, head, lines[count:])):
        return False
    typical = log_file_names.is_telling(log_file_names.without_vague_words(name)) or not numbers
    if not (steps or typical or _has_metric(numbers)):
        return False  # other results, such as of a simulation
    return bool(numbers) or cut


def _is_comment(line: bytes) -> bool:
    """Whether a line above a header is none: settings of the run, or nothing."""
    return line.startswith(b"#") or not line.strip()


def _has_metric(columns: Sequence[str]) -> bool:
    """Whether a column is named like a metric of a training."""
    known = log_file_names.names()
    return any(known.column.search(each) or known.telling.search(each.lower()) for each in columns)


def _is_of_hparams(name: str, numbers: Sequence[str], head: bytes, below: Sequence[bytes]) -> bool:
    """Whether a table without steps has a single row, of settings and not the first one of a log.

    below: the lines of `head` below that row. Names that trainers give their logs are not of settings.
    """
    known = log_file_names.names()
    row_is_all = len(head) < HEAD and not any(map(bytes.strip, below))
    named = known.part_logs.search(name) or known.companions.search(name)
    of_trainer = log_file_names.is_plain(name) or named is not None
    return row_is_all and not of_trainer and not _has_metric(numbers)


def _is_trace(name: str, columns: Sequence[str]) -> bool:
    """Whether a table is named as one of the steps of a rollout, and no column as a result of a training."""
    known = log_file_names.names()
    return known.traces.search(name) is not None and not any(map(known.column.search, columns))


def _is_data_set(name: str, numbers: Sequence[str]) -> bool:
    """Whether a table is named as data, and none of its columns like a result of a training."""
    return log_file_names.names().data_sets.search(name) is not None and not any(
        map(log_file_names.names().column.search, numbers)
    )


def _is_column(name: str, head: bytes) -> bool:
    """Whether a file named after a metric only has numbers, as written by numpy.savetxt.

    One number per line, perhaps below a name, or equally many in all lines.
    """
    named = log_file_names.names().column.search(name) is not None
    if not named and not log_file_names.tells_of_training(name):
        return False
    lines = head.decode("utf-8-sig", "replace").split("\n")[:-1]
    rows = [row for line in lines if (row := line.strip()) and not row.startswith("#")]
    table = TableHeader.unnamed(rows[0].encode(), name) if rows else None
    if table is not None:
        every = [table.cells(row.encode()) for row in rows]
        whole = len(rows) >= _MIN_ITEMS and all(
            len(cells) == len(table.names) and None not in map(number_in, cells) for cells in every
        )
        # In a file that is not named after a metric, a column has to count.
        return whole and (named or _counts(table, [row.encode() for row in rows]))
    if rows and number_in(rows[0]) is None:
        title, rows = rows[0], rows[1:]
        if not _is_title(title.encode(), name):
            return False  # of several columns
        named = named or (title == lines[0].strip() and _is_named_metric(title, rows))
    return named and len(rows) >= _MIN_ITEMS and all(number_in(row) is not None for row in rows)


def _is_title(line: bytes, path: str) -> bool:
    """Whether a line above numbers may be the name of a single column."""
    cells = split_row(line.decode("utf-8", "replace").strip("\ufeff\r\0 "), ",")
    return len(cells) == 1 and TableHeader.of(line, path) is None


def _is_named_metric(title: str, rows: Sequence[str]) -> bool:
    """Whether a column in a file that is not named after a metric is called like one, and has no labels."""
    title = title.strip('" ')
    if not title.isprintable() or len(title.split()) > _MOST_WORDS:
        return False
    if log_file_names.names().column.search(title) is None:
        return False
    values = [number_in(row) for row in rows]
    classes = {value for value in values if value is not None and float(value).is_integer()}
    few = len(classes) <= min(_MOST_CLASSES, len(values) // 2)
    return not (few and all(value in classes for value in values))


def _is_of_items(header: TableHeader, rows: Sequence[bytes]) -> bool:
    """Whether the first columns have different names in each row: graphs, models, files, settings."""
    items = [tuple(takewhile(_is_name, header.cells(row))) for row in rows[:_MIN_ITEMS]]
    first = header.names[0].lower()
    if len(items) < _MIN_ITEMS or "time" in first or "date" in first:
        return False
    return len(set(items)) == len(items) and all(items)


def _is_name(cell: str) -> bool:
    """Whether a cell has a name; a step may be written as `10k`."""
    return cell[:1].isalpha() or sum(map(str.isalpha, cell)) > 1


def _counts(header: TableHeader, rows: Sequence[bytes]) -> bool:
    """Whether a table has a column of steps without their name."""
    return header.find_step_column(header.records(rows)[: header.rows_to_decide]) is not None


def _is_table(head: bytes) -> bool:
    """Whether bytes are certainly a table: a header with a step, and complete rows of numbers and times."""
    first, *rows = [*head.lstrip(b"\xef\xbb\xbf").replace(b"\r", b"").split(b"\n")[:-1], b""][:3]
    rows = [row for row in rows if row]
    header = (TableHeader.of(first) or TableHeader.of_words(first, rows[0])) if rows else None
    if header is None or not record_keys.step_keys(header.names):
        return False
    records = header.records(rows)
    return len(records) == len(rows) and all(
        is_number_or_time(str(value)) for record in records for value in record.values()
    )


FORMAT = Format("csv", _matches, lambda path, _: LineReader(path, CsvParser(path)), rewrites=True)
