"""Console logs: metrics lines such as `step:12 - actor/pg_loss:np.float64(0.1) - ...` among other output.

This is the format of veRL; under Ray, lines have colours and a `(TaskRunner pid=123)` prefix. The disk log of
torchtune has lines `Step 12 | loss:0.5 lr:1e-05`. `trainer_lines` parses the output of other trainers. All
other lines are ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache

from rltui.common.problem import Problem
from rltui.common.regex import regex
from rltui.logs.formats.interface import File, Format
from rltui.logs.formats.lines.line_reader import LineParser, LineReader
from rltui.logs.formats.printed_metrics.line_items import ANSI, ROUNDED
from rltui.logs.formats.printed_metrics.trainer_lines import TrainerLines
from rltui.logs.log_file_names import names
from rltui.logs.records.parse_number import from_text
from rltui.logs.records.record_batcher import RecordBatcher
from rltui.logs.records.record_keys import is_rounded_away
from rltui.schema.toml_files import read_table

_VERL = regex(r"(?:^|[\s)\]])step:(-?[0-9]{1,19}) - (?=\S)")
_TORCHTUNE = regex(r"(?:^|\s)Step (-?[0-9]{1,19}) \| (?=\S+:)")
_REPEATED = regex(r"\s*\[repeated [0-9]+x across cluster\].*\Z", re.DOTALL)
# A value printed with its type: np.float32(0.5), tensor(2., device='cuda:0'), array([0.5]).
_WRAPPED = regex(r"(.+?):(?:\w{1,8}\.)?(?:float|int|uint|bfloat|tensor|array)[0-9]{0,3}\(([^,]*).*\)\Z")


def record_of(line: str) -> dict[str, object] | None:
    """The step and the numbers of a metrics line; None for any other line."""
    if "step:" not in line and "Step " not in line:
        return None
    if "\x1b" in line:
        line = ANSI.sub("", line)
    separator = None  # blanks
    if found := _VERL.search(line):
        separator = " - "
    elif (found := _TORCHTUNE.search(line)) is None:
        return None
    rest = line[found.end() :]
    if "[repeated " in rest:
        rest = _REPEATED.sub("", rest)
    numbers: dict[str, object] = {}
    before = ""
    for pair in rest.rstrip().split(separator):
        key, colon, value = pair.rpartition(":")
        if value.startswith("np.float64("):  # the most frequent spelling
            value = value[11:-1]
        elif pair.endswith(")") and (wrapped := _WRAPPED.match(pair)):
            key, value = wrapped[1], wrapped[2].strip("[] ")
        if not colon:  # part of a key or text that contains the separator
            before += f"{pair} - "
            continue
        number = from_text(value)
        if number is not None and not (number == 0.0 and is_rounded_away(before + key, value)):
            numbers[before + key] = number
        before = ""
    return {**numbers, "step": int(found[1])} if numbers else None


class ConsoleParser(LineParser):
    """The `LineParser` of console logs."""

    def __init__(self, path: str) -> None:
        self._trainer = TrainerLines()
        super().__init__(path)

    def parse(self, lines: Sequence[bytes], start: int, records: RecordBatcher) -> None:
        """Add the records of metrics lines; all other lines are ignored."""
        for line in lines:
            text = None
            if b"tep" in line:
                text = line.decode("utf-8", "replace")
                record = record_of(text)
                if record is not None:
                    records.add(record)
                    continue
            if self._trainer.may_hold(line):
                for step, numbers in self._trainer.feed(text or line.decode("utf-8", "replace")):
                    records.add(numbers, at=(step, math.nan))

    def preview(self, lines: Sequence[bytes], file: File, records: RecordBatcher) -> None:
        """Add the records of metrics lines that contain their step."""
        for line in lines:
            if b"tep" in line and (record := record_of(line.decode("utf-8", "replace"))) is not None:
                records.add(record)

    def parse_last(self, line: bytes, records: RecordBatcher) -> str | None:
        """A metrics line without newline may be cut within a number, so it is not read."""
        for step, numbers in self._trainer.flush():
            records.add(numbers, at=(step, math.nan))
        return None if record_of(line.decode("utf-8", "replace")) is None else "has no end"

    def problems(self) -> list[Problem]:
        """Reports, once each, that values are rounded or steps counted."""
        if self._trainer.rounded:
            self.note(*ROUNDED)
        if self._trainer.counted:
            self.note("counted-steps", "the console names no steps: its rows are counted")
        return super().problems()


def _matches(name: str, head: bytes) -> bool:
    """By name, then by a metrics line, which may be far from the start (see `holds_metrics`)."""
    return bool(names().may_print_metrics.search(name)) and (not head or holds_metrics(head))


def holds_metrics(data: bytes) -> bool:
    """Whether a part of a file contains a metrics line."""
    return any(pattern.search(data) for pattern in _beginnings())


@cache
def _beginnings() -> tuple[re.Pattern[bytes], ...]:
    return tuple(re.compile(text.encode()) for text in read_table("console_metrics", dict[str, str]).values())


FORMAT = Format("console", _matches, lambda path, _: LineReader(path, ConsoleParser(path)))
