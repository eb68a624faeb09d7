"""Consoles of loops that print their metrics in words of their own (`labelled_lines`).

Asked after all other formats, and for nothing but what a program printed. Where logs of another format lie
beside or below such a console it says again what they say, and is no run of its own (`run_assignment`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from rltui.common.problem import Problem
from rltui.logs.formats.interface import Format
from rltui.logs.formats.lines.line_reader import LineParser, LineReader
from rltui.logs.formats.printed_metrics.labelled_lines import LabelledLines
from rltui.logs.formats.printed_metrics.line_items import words
from rltui.logs.log_file_names import names
from rltui.logs.records.record_batcher import RecordBatcher

NAME = "labelled"
_PLACES = 4  # of a piece of a file that are read to see whether it holds such lines
_PLACE = 16 << 10  # bytes of each


class LabelledParser(LineParser):
    """The `LineParser` of such consoles."""

    def __init__(self, path: str) -> None:
        self._lines = LabelledLines()
        super().__init__(path)
        self._said = False
        self._any = False

    def parse(self, lines: Sequence[bytes], start: int, records: RecordBatcher) -> None:
        """Take the lines that came often enough; all others are no business of this log."""
        for line in lines:
            for step, numbers in self._lines.feed(line.decode("utf-8", "replace")):
                self._any = True
                records.add(numbers, at=(step, math.nan))
        if self._any:
            records.plan(self._lines.planned)

    def parse_last(self, line: bytes, records: RecordBatcher) -> str | None:
        """A line without newline may be cut inside a number, so it is not read."""
        return "has no end" if self._lines.takes(line.decode("utf-8", "replace")) else None

    def problems(self) -> list[Problem]:
        """That values are as rounded as they were printed."""
        if self._said or not self._any:
            return []
        self._said = True
        message = "the console shows few digits: its values are rounded"
        return [Problem("info", "rounded", self.path, message)]


def holds_metrics(data: bytes) -> bool:
    """Whether a piece of a file has lines of labelled numbers that tell of a training."""
    end = 0
    for _ in range(_PLACES):
        found = _telling().search(data, end)
        if found is None:
            return False
        begin, end = max(end, found.start() - _PLACE // 8), found.start() + _PLACE
        lines = LabelledLines()
        for line in data[begin:end].decode("utf-8", "replace").split("\n"):
            if next(lines.feed(line), None) is not None:
                return True
    return False


def _telling() -> re.Pattern[bytes]:
    return re.compile(words().telling.pattern.encode(), re.IGNORECASE)


def _matches(name: str, head: bytes) -> bool:
    return bool(names().console.search(name)) and (not head or holds_metrics(head))


FORMAT = Format(NAME, _matches, lambda path, _: LineReader(path, LabelledParser(path)))
