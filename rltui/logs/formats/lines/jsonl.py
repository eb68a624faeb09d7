"""JSON lines: one object per line, in all variants of trainers.

Lines are parsed by orjson. Other lines (with bare NaN and Infinity, byte-order marks, invalid UTF-8, two
objects, or text around an object) are searched for objects by Python's parser.
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
from rltui.logs.records import record_keys
from rltui.logs.records.record_batcher import RecordBatcher

_BETWEEN = " \t\r\n\0\ufeff"
_MAX_TRIES = 16  # offsets in a damaged line at which an object is searched


def objects(line: bytes) -> Iterator[dict[str, object]]:
    """The objects of a line. Raises ValueError after them if there is anything else."""
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


def whole_objects(
    text: str, position: int = 0, between: str = _BETWEEN
) -> tuple[list[dict[str, object]], int]:
    """Consecutive objects from an offset on, and the offset of the first other text."""
    found: list[dict[str, object]] = []
    while True:
        while position < len(text) and text[position] in between:
            position += 1
        if text[position : position + 1] != "{":
            return found, position
        try:
            record, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return found, position
        found.append(record)


def recovered_objects(line: bytes) -> Iterator[dict[str, object]]:
    """The objects of a line that is no plain JSON object. Raises ValueError after them for other text."""
    text = line.decode("utf-8", "replace")
    found, position = whole_objects(text)
    yield from found
    if position == len(text):
        return
    # After damage, an object is only accepted if it ends with the line and contains a step: it may be nested
    # in a record whose start is missing.
    for opening in islice(_OPENING.finditer(text, position + 1), _MAX_TRIES):
        found, end = whole_objects(text, opening.start())
        if len(found) == 1 and end == len(text) and any(record_keys.step_keys(found[0])):
            yield found[0]
            break
    raise ValueError("not only objects")


class JsonlParser(LineParser):
    """The `LineParser` of JSON lines."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "not-json", "line", "skipped for not being a JSON object")

    def parse(self, lines: Sequence[bytes], start: int, records: RecordBatcher) -> None:
        """Add the objects of complete lines, and count other lines."""
        add = records.add
        for number, line in enumerate(lines):
            if not line or line.isspace():
                continue
            try:
                for each in objects(line):
                    add(each)
            except ValueError:
                if line.strip(b"\xef\xbb\xbf" + BLANKS):
                    self.skip(lines, number, start)

    def preview(self, lines: Sequence[bytes], file: File, records: RecordBatcher) -> None:
        """Add the objects, without counting other lines."""
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


def _matches(name: str, head: bytes) -> bool:
    """By name, then by the first record: numbers, and a step key or a name typical of logs.

    A file that is named as a table is a log of JSON lines if it begins with an object.
    """
    named_otherwise = log_file_names.is_table(name) and log_contents.begins_with_object(head)
    if not (log_file_names.is_json(name) or named_otherwise):
        return False
    if not head:
        return True
    telling = log_file_names.is_telling(name)
    lines = log_contents.from_first_record(head).split(b"\n")
    complete_lines = lines[:-1]
    if name.lower().endswith(".json"):
        if not _starts_like_lines(lines):
            return False
        # A single object without a step is a result ({"highest_score": 12}), unless similar ones follow.
        alone = len(lines) == 1 or (len(lines) == 2 and not lines[1].strip())
        whole_one = alone and lines[0].rstrip().endswith(b"}") and not log_file_names.is_plain(name)
        if whole_one and len(lines) == 1:
            return False  # a document, such as metadata of a checkpoint: a log ends with a newline
        telling = telling and not whole_one
    records: list[dict[str, object]] = []
    for line in complete_lines:
        with contextlib.suppress(ValueError):
            records += objects(line)
    points = [record for record in records if log_contents.is_point(record, telling)]
    if points:
        steps = record_keys.step_keys(points[0])
        return not log_contents.is_of_evaluation(
            name, steps, [each.get(steps[0]) for each in points if steps]
        )
    if any(map(log_contents.is_data, records)):
        return False  # whole records say more than the beginning of the next one
    return log_contents.is_cut_point(lines[-1], telling)


def _starts_like_lines(lines: list[bytes]) -> bool:
    """Whether a `.json` file starts like JSON lines: with an object, or with the start of a long one."""
    first = lines[0].strip()
    return first.startswith(b'{"') and (len(lines) > 1 or len(first) > 1024 or first.endswith(b"}"))


FORMAT = Format("jsonl", _matches, lambda path, _: LineReader(path, JsonlParser(path)))
