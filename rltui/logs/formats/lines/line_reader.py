"""Reading logs of lines: what JSON lines, tables and consoles have in common.

A format of lines provides a `LineParser`, which turns lines into records. This module handles whole lines,
torn tails, previews and batches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from rltui.common.problem import Problem
from rltui.logs.batch import Batch
from rltui.logs.formats.interface import BLOCK, File, ReadFromStart, read_to_end, torn_tail
from rltui.logs.formats.lines.line_splitter import LineSplitter, SkippedLines
from rltui.logs.records.record_batcher import RecordBatcher

BLANKS = b" \t\r\0"  # characters of an empty line


class RecordSink(Protocol):
    """Takes records: a `RecordBatcher`, or the reader that merges the tables of several workers."""

    def add(self, record: dict[str, object], at: tuple[int, float] | None = None) -> None:
        """Add one record. at: its step and wall time, if the format knows them better than its keys."""
        ...

    def add_hparams(self, record: dict[str, object]) -> None:
        """Add hyperparameters."""
        ...


class LineParser(ABC):
    """Parses the lines of one log, in order. skipped: counts unusable lines, if the format reports them."""

    def __init__(self, path: str, code: str = "", noun: str = "line", why: str = "") -> None:
        self.path = path
        self.skipped = SkippedLines(path, code, noun, why)
        self._notes: dict[str, Problem | None] = {}  # by code; None once they were reported

    @abstractmethod
    def parse(self, lines: Sequence[bytes], start: int, records: RecordBatcher) -> None:
        """Add the records of complete lines, without their newlines, to `records`. start: their offset."""

    def preview(self, lines: Sequence[bytes], file: File, records: RecordBatcher) -> None:  # noqa: B027
        """The same for lines from the end of the file, without keeping or reporting anything.

        By default nothing, for formats in which the meaning of a line depends on earlier ones.
        """

    def note_end(self) -> None:  # noqa: B027
        """Take note that all complete lines that the file has so far were parsed. By default nothing."""

    def parse_last(self, line: bytes, records: RecordBatcher) -> str | None:
        """Take the text after the last newline, which may be empty, or return why it was not read.

        By default it is not read, since it may be cut within a number.
        """
        return "has no end" if line.strip(BLANKS) else None

    def problems(self) -> list[Problem]:
        """Problems since the last call."""
        notes = [note for note in self._notes.values() if note is not None]
        self._notes = dict.fromkeys(self._notes)
        return [*self.skipped.problems(), *notes]

    def skip(self, lines: Sequence[bytes], number: int, start: int) -> None:
        """Count one of the lines that begin at `start` as unusable."""
        self.skipped.add_line(lines[number], start + sum(map(len, lines[:number])) + number)

    def note(self, code: str, message: str) -> None:
        """Report something about the log, once."""
        self._notes.setdefault(code, Problem("info", code, self.path, message))


class LineReader(ReadFromStart):
    """A `LogReader` of lines."""

    def __init__(self, path: str, parser: LineParser) -> None:
        self._path = path
        self._parser = parser
        self._lines = LineSplitter(path)
        self._records = RecordBatcher(path)

    @property
    def offset(self) -> int:
        """Bytes that have been read."""
        return self._lines.offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode on from `offset`."""
        self._parse(file, budget)
        return self._records.batch(self._problems())

    def newest(self, file: File, length: int) -> Batch:
        """Points of the lines in the last `length` bytes that contain their step."""
        size = file.size()
        begin = max(0, size - length)
        lines = file.read_at(begin, size - begin).split(b"\n")
        records = self._records.preview()
        self._parser.preview(lines[1 if begin else 0 : -1], file, records)
        return records.batch().points()

    def finish(self, file: File) -> Batch:
        """Read the rest without waiting for zeros to be filled in; the last line may lack its newline."""
        for _ in read_to_end(self, lambda: self._parse(file, BLOCK, final=True)):
            pass
        tail = self._lines.tail(file)
        refused = self._parser.parse_last(tail, self._records)
        self._records.add_held()
        problems = self._problems()
        if refused is not None:
            problems.append(torn_tail(self._path, self.offset, len(tail), "line", refused))
        elif tail.strip(BLANKS):
            self._lines.offset += len(tail)
        return self._records.batch(problems)

    def _parse(self, file: File, budget: int, *, final: bool = False) -> None:
        lines = self._lines.take(file, budget, final=final)
        if lines:
            self._parser.parse(lines, self._lines.start, self._records)
        if self._lines.at_end:
            self._parser.note_end()

    def _problems(self) -> list[Problem]:
        return [*self._lines.problems(), *self._parser.problems()]
