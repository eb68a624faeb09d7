"""Reading logs of lines: what is the same for JSON lines, tables and consoles.

A format of lines gives a `LineParser`, which makes records of lines. Whole lines, torn tails, previews and
batches are dealt with here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rltui.common.problem import Problem
from rltui.logs.batch import Batch
from rltui.logs.formats.interface import BLOCK, File, ReadFromStart
from rltui.logs.formats.lines.text_lines import TextLines
from rltui.logs.records.record_batcher import RecordBatcher

BLANKS = b" \t\r\0"  # of a line that holds nothing


class RecordSink(Protocol):
    """What takes records: a `RecordBatcher`, or what a table of a run in several files is put together by."""

    def add(self, record: dict[str, object], at: tuple[int, float] | None = None) -> None:
        """Take one record. `at` is its step and wall time where the format knows better than its keys."""
        ...


class LineParser(Protocol):
    """What a format does with the lines of one log, which come in order."""

    def parse(self, lines: Sequence[bytes], start: int, records: RecordBatcher) -> None:
        """Give the records of whole lines, without their newlines, to `records`. start: their offset."""
        ...

    def preview(self, lines: Sequence[bytes], file: File, records: RecordBatcher) -> None:
        """The same for lines from the end of the file, of which nothing is remembered or reported."""
        ...

    def parse_last(self, line: bytes, records: RecordBatcher) -> str | None:
        """Take what stands behind the last newline, perhaps nothing, or say why not ("is incomplete")."""
        ...

    def problems(self) -> list[Problem]:
        """What has been met since the last call."""
        ...


class LineReader(ReadFromStart):
    """A `LogReader` of lines."""

    def __init__(self, path: str, parser: LineParser) -> None:
        self._path = path
        self._parser = parser
        self._lines = TextLines(path)
        self._records = RecordBatcher(path)

    @property
    def offset(self) -> int:
        """Bytes that are done with."""
        return self._lines.offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode on from `offset`."""
        self._parse(file, budget)
        return self._records.batch(self._problems())

    def newest(self, file: File, length: int) -> Batch:
        """Points of the last `length` bytes: of the lines there that name their step."""
        size = file.size()
        begin = max(0, size - length)
        lines = file.read_at(begin, size - begin).split(b"\n")
        records = self._records.preview()
        self._parser.preview(lines[1 if begin else 0 : -1], file, records)
        return records.batch().points()

    def finish(self, file: File) -> Batch:
        """Take what is left: zeros are not waited for, and the last line may do without a newline."""
        before = -1
        while before != self.offset:
            before = self.offset
            self._parse(file, BLOCK, final=True)
        tail = self._lines.tail(file)
        refused = self._parser.parse_last(tail, self._records)
        problems = self._problems()
        if refused is not None:
            message = f"the last line ({len(tail):,} bytes) {refused} and was not read"
            problems.append(Problem("info", "torn-tail", self._path, message, before, len(tail)))
        elif tail.strip(BLANKS):
            self._lines.offset += len(tail)
        return self._records.batch(problems)

    def _parse(self, file: File, budget: int, *, final: bool = False) -> None:
        lines = self._lines.take(file, budget, final=final)
        if lines:
            self._parser.parse(lines, self._lines.start, self._records)

    def _problems(self) -> list[Problem]:
        return [*self._lines.problems(), *self._parser.problems()]
