"""JSON lines: one object a line, in every shape that trainers write.

Parsed by orjson, bare NaN and Infinity with the help of `json_nan`; a line that is refused even so
(byte-order marks, invalid UTF-8, two objects on a line, text around an object) is searched for objects.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from itertools import islice

import orjson

from rltui.common.regex import regex
from rltui.logs import log_contents, log_file_names
from rltui.logs.formats.interface import File, Format
from rltui.logs.formats.lines.line_reader import BLANKS, LineParser, LineReader
from rltui.logs.records import json_nan, record_keys
from rltui.logs.records.record_batcher import RecordBatcher

_BETWEEN = " \t\r\n\0\ufeff"
_TRIES = 16  # places in a damaged line where an object is looked for


def objects(line: bytes) -> Iterator[dict[str, object]]:
    """The objects of a line. Raises ValueError when it holds anything else, after the objects it holds."""
    try:
        record = orjson.loads(line)
    except ValueError:
        yield from recovered_objects(line)
        return
    if type(record) is not dict:
        raise ValueError("no object")
    yield record


_DECODER = json.JSONDecoder()
_OPENING = regex(r'\{\s*"')


def whole_objects(text: str, place: int = 0, between: str = _BETWEEN) -> tuple[list[dict[str, object]], int]:
    """Objects from a place on, one after another, and where what is none of them begins, if anything."""
    found: list[dict[str, object]] = []
    while True:
        while place < len(text) and text[place] in between:
            place += 1
        if text[place : place + 1] != "{":
            return found, place
        try:
            record, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            return found, place
        found.append(record)


def recovered_objects(line: bytes) -> Iterator[dict[str, object]]:
    """Objects of a line that is no plain JSON object. Raises ValueError when something else is there too."""
    text = line.decode("utf-8", "replace")
    found, place = whole_objects(text)
    yield from found
    if place == len(text):
        return
    # After damage an object counts only when it reaches the end and names its step: it may be an inner one
    # of a record whose beginning is lost.
    for opening in islice(_OPENING.finditer(text, place + 1), _TRIES):
        found, end = whole_objects(text, opening.start())
        if len(found) == 1 and end == len(text) and any(record_keys.step_keys(found[0])):
            yield found[0]
            break
    raise ValueError("not only objects")


class JsonlParser(LineParser):
    """The `LineParser` of JSON lines."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "not-json", "lines skipped that are no JSON objects")
        self._bare_nan = False  # the last line held bare NaN or Infinity: the next one will, most likely

    def parse(self, lines: Sequence[bytes], start: int, records: RecordBatcher) -> None:
        """Take whole lines; what is no object in them is counted."""
        add = records.add
        for number, line in enumerate(lines):
            if not line or line.isspace():
                continue
            record = self._plain_object(line)
            if type(record) is dict:
                add(record)
                continue
            try:
                for each in recovered_objects(line):
                    add(each)
            except ValueError:
                if line.strip(b"\xef\xbb\xbf" + BLANKS):
                    self.skipped.add(line, start + sum(map(len, lines[:number])) + number)

    def preview(self, lines: Sequence[bytes], file: File, records: RecordBatcher) -> None:
        """Take the objects there are."""
        for line in lines:
            with contextlib.suppress(ValueError):
                for record in objects(line):
                    records.add(record)

    def parse_last(self, line: bytes, records: RecordBatcher) -> str | None:
        """A complete object needs no newline."""
        try:
            for record in list(objects(line)) if line.strip(BLANKS) else ():
                records.add(record)
        except ValueError:
            return "is incomplete"
        return None

    def _plain_object(self, line: bytes) -> object:
        """The value of a line that is JSON, perhaps with bare NaN and Infinity; None for any other."""
        if not self._bare_nan:
            try:
                return orjson.loads(line)
            except ValueError:
                pass
        try:
            record, count = json_nan.loads(line)
        except ValueError:
            return None
        self._bare_nan = count > 0
        return record


def _matches(name: str, head: bytes) -> bool:
    """By name, then by the first record: numbers, and a step key or a telling name."""
    if not log_file_names.is_json(name):
        return False
    if not head:
        return True
    telling = log_file_names.is_telling(name)
    lines = head.lstrip(b"\xef\xbb\xbf\0 \t\r\n").split(b"\n")
    whole = lines[:-1]
    if name.lower().endswith(".json"):
        if not _many(lines):
            return False
        # A single object without a step is a result ({"highest_score": 12}), unless more of its kind follow.
        alone = len(lines) == 1 or (len(lines) == 2 and not lines[1].strip())
        whole_one = alone and lines[0].rstrip().endswith(b"}") and not log_file_names.is_plain(name)
        if whole_one and len(lines) == 1:
            return False  # a document, such as what a checkpoint says of itself: a log ends its records
        telling = telling and not whole_one
    for line in whole:
        try:
            found = list(objects(line))
        except ValueError:
            continue
        for record in found:
            if log_contents.is_point(record, telling):
                return True
    return log_contents.is_cut_point(lines[-1], telling)


def _many(lines: list[bytes]) -> bool:
    """Whether a `.json` file starts like JSON lines: an object, or the start of a long one, first."""
    first = lines[0].strip()
    return first.startswith(b'{"') and (len(lines) > 1 or len(first) > 1024 or first.endswith(b"}"))


FORMAT = Format("jsonl", _matches, lambda path, _: LineReader(path, JsonlParser(path)))
