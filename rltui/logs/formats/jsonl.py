"""JSON lines: one object a line, in every shape that trainers write.

Parsed by orjson, bare NaN and Infinity with the help of `tokens`; a line that is refused even so (byte-order
marks, invalid UTF-8, two objects on a line, text around an object) gets a second, patient reading.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import orjson

from rltui.batch import EMPTY, Batch, Problem
from rltui.logs import log_file_names
from rltui.logs.formats.interface import BLOCK, File
from rltui.logs.records import json_nan, record_keys
from rltui.logs.records.record_batcher import RecordBatcher
from rltui.logs.records.skipped_lines import SkippedLines
from rltui.logs.records.text_lines import TextLines

_BLANKS = " \t\r\n\0\ufeff"
_TRIES = 16  # places in a damaged line where an object is looked for
_UTF16 = re.compile(rb"\xff\xfe[^\0]\0|\xfe\xff\0[^\0]")  # a mark and an ASCII character


def records(line: bytes) -> Iterator[dict[str, object]]:
    """The objects of a line. Raises ValueError when it holds anything else, after the objects it holds."""
    try:
        record = orjson.loads(line)
    except ValueError:
        yield from patiently(line)
        return
    if type(record) is not dict:
        raise ValueError("no object")
    yield record


_DECODER = json.JSONDecoder()
_OPENING = re.compile(r'\{\s*"')


def patiently(line: bytes) -> Iterator[dict[str, object]]:
    """Objects of a line that is no plain JSON object. Raises ValueError when something else is there too."""
    text = line.decode("utf-8", "replace")
    place, damaged = 0, False
    for _ in range(_TRIES):
        while place < len(text) and text[place] in _BLANKS:
            place += 1
        if place == len(text):
            break
        whole = not damaged
        try:
            record, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            record, end = None, place + 1
        # After damage an object counts only when it reaches the end and names its step: it may be an
        # inner one of a record whose beginning is lost.
        if isinstance(record, dict) and (
            whole or (not text[end:].strip(_BLANKS) and any(record_keys.step_keys(record)))
        ):
            yield record
            place = end
            continue
        damaged = True
        opening = _OPENING.search(text, place + 1)
        if opening is None:
            break
        place = opening.start()
    if damaged:
        raise ValueError("not only objects")


class JsonlLog:
    """One file of JSON lines being read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lines = TextLines(path)
        self._rows = RecordBatcher(path)
        self._junk = SkippedLines(path, "not-json", "lines skipped that are no JSON objects")
        self._tokens = False  # the last line held bare NaN or Infinity: the next one will, most likely
        self._foreign = False  # an encoding that is not read

    @property
    def offset(self) -> int:
        """Bytes settled."""
        return self._lines.offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode on from `offset`."""
        if self._lines.offset == 0 and _UTF16.match(file.read_at(0, 4)):
            return self._refuse(file)
        self._add(self._lines.take(file, budget))
        return self._batch()

    def newest(self, file: File, length: int) -> Batch:
        """Scalars of the last `length` bytes: of the lines there that name their step."""
        size = file.size()
        begin = max(0, size - length)
        lines = file.read_at(begin, size - begin).split(b"\n")
        rows = self._rows.preview()
        for line in lines[1 if begin else 0 : -1]:
            try:
                for record in records(line):
                    rows.add(record)
            except ValueError:
                continue
        batch = rows.batch()
        return Batch(batch.tags, batch.tag, batch.step, batch.wall_time, batch.value, batch.single)

    def finish(self, file: File) -> Batch:
        """Take what is left: zeros are not waited for, a complete last line needs no newline."""
        if self._lines.offset == 0 and _UTF16.match(file.read_at(0, 4)):
            return self._refuse(file)
        while True:
            before = self._lines.offset
            self._add(self._lines.take(file, final=True))
            if self._lines.offset == before:
                break
        problems = []
        tail = self._lines.tail(file)
        if tail.strip(b" \t\r\0"):
            try:
                for record in list(records(tail)):
                    self._rows.add(record)
                self._lines.offset += len(tail)
            except ValueError:
                message = f"the last line ({len(tail):,} bytes) is incomplete and was not read"
                problems.append(
                    Problem("info", "torn-tail", self._path, message, self._lines.offset, len(tail))
                )
        batch = self._batch(problems)
        return batch if batch else EMPTY

    def close(self) -> None:
        """Let go of what was collected."""
        self._rows.batch()

    def _add(self, lines: list[bytes]) -> None:
        add = self._rows.add
        for number, line in enumerate(lines):
            if not line or line.isspace():
                continue
            try:
                if self._tokens:
                    record, count = json_nan.loads(line)
                    self._tokens = count > 0
                else:
                    record = orjson.loads(line)
            except ValueError:
                record = None if self._tokens else self._with_tokens(line)
            if type(record) is dict:
                add(record)
                continue
            try:
                for record in patiently(line):
                    add(record)
            except ValueError:
                if line.strip(b" \t\r\0\xef\xbb\xbf"):
                    offset = self._lines.start + sum(map(len, lines[:number])) + number
                    self._junk.add(line, offset)

    def _with_tokens(self, line: bytes) -> object:
        """What a refused line says if bare tokens were the reason; None otherwise."""
        try:
            record, _ = json_nan.loads(line)
        except ValueError:
            return None
        self._tokens = True
        return record

    def _batch(self, problems: list[Problem] | None = None) -> Batch:
        return self._rows.batch([*self._lines.problems(), *self._junk.problems(), *(problems or [])])

    def _refuse(self, file: File) -> Batch:
        if self._foreign:
            return EMPTY
        self._foreign = True
        message = "the file is UTF-16, which is not read; write it as UTF-8"
        return Batch(problems=(Problem("error", "utf-16", self._path, message, 0),))


class JsonlFormat:
    """JSON lines."""

    name = "jsonl"
    rewrites = False

    def matches(self, name: str, head: bytes) -> bool:
        """By name, then by the first record: numbers, and a step key or a telling name."""
        if not log_file_names.is_json(name):
            return False
        if not head:
            return True
        telling = log_file_names.is_telling(name)
        if _UTF16.match(head):
            return telling
        lines = head.lstrip(b"\xef\xbb\xbf\0 \t\r\n").split(b"\n")
        whole = lines[:-1]
        if name.lower().endswith(".json") and not self._many(lines):
            return False
        for line in whole:
            try:
                found = list(records(line))
            except ValueError:
                continue
            for record in found:
                if log_file_names.is_point(record, telling):
                    return True
        return log_file_names.is_cut_point(lines[-1], telling)

    def open(self, path: str) -> JsonlLog:
        """A log at its beginning."""
        return JsonlLog(path)

    @staticmethod
    def _many(lines: list[bytes]) -> bool:
        """Whether a `.json` file starts like JSON lines: an object, or the start of a long one, first."""
        first = lines[0].strip()
        return first.startswith(b'{"') and (len(lines) > 1 or len(first) > 1024 or first.endswith(b"}"))


FORMAT = JsonlFormat()
