"""ClearML offline: `offline-<id>/metrics.jsonl`, a JSON array of hundreds of events in each line.

An event is `{"timestamp": ms, "iter": step, "metric": ..., "variant": ..., "value": ...}`; the tag is metric
and variant joined by `/`. ClearML itself writes 0 for NaN and infinities.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import orjson

from rltui.common.regex import regex
from rltui.logs.formats.interface import File, Format
from rltui.logs.formats.lines.line_reader import BLANKS, LineParser, LineReader
from rltui.logs.records.parse_number import step_of
from rltui.logs.records.record_batcher import RecordBatcher

_BEGIN = regex(rb'\s*\[\s*\{\s*"timestamp"\s*:\s*\d+,\s*"type"\s*:\s*"(training_stats|log)')

_NAMES = ("metrics.jsonl", "log.jsonl")  # the second is console text, whose events have no value


class ClearmlParser(LineParser):
    """The `LineParser` of arrays of events."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "not-json", "line", "skipped for not being an array of events")

    def parse(self, lines: Sequence[bytes], start: int, records: RecordBatcher) -> None:
        """Add the events of complete lines."""
        for number, line in enumerate(lines):
            if line.strip(BLANKS) and not _add_events(line, records):
                self.skip(lines, number, start)

    def preview(self, lines: Sequence[bytes], file: File, records: RecordBatcher) -> None:
        """Add the events, without counting other lines."""
        for line in lines:
            _add_events(line, records)

    def parse_last(self, line: bytes, records: RecordBatcher) -> str | None:
        """A complete array needs no newline."""
        return None if not line.strip(BLANKS) or _add_events(line, records) else "is incomplete"


def _add_events(line: bytes, records: RecordBatcher) -> bool:
    """Add the points of an array to `records`; False if the line is no array."""
    try:
        events = orjson.loads(line)
    except ValueError:
        return False
    if not isinstance(events, list):
        return False
    for step, wall, tag, value in _points(events):
        records.add_value(tag, value, (step, wall))
    return True


def _points(events: list[object]) -> Iterator[tuple[int, float, str, float]]:
    for event in events:
        if not isinstance(event, dict):
            continue
        value, step = event.get("value"), step_of(event.get("iter"))
        if step is None or not isinstance(value, int | float):
            continue
        tag = "/".join(str(event[key]) for key in ("metric", "variant") if event.get(key) not in (None, ""))
        time = event.get("timestamp")
        yield step, time / 1000 if isinstance(time, int | float) else math.nan, tag, float(value)


def _matches(name: str, head: bytes) -> bool:
    """By name, then by the first event."""
    return name in _NAMES and (not head or bool(_BEGIN.match(head)))


FORMAT = Format("clearml", _matches, lambda path, _: LineReader(path, ClearmlParser(path)))
