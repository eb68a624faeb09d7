"""Console logs: metrics lines such as `step:12 - actor/pg_loss:np.float64(0.1) - ...` among other output.

This is the format of veRL; under Ray, lines have colours and a `(TaskRunner pid=123)` prefix. The disk log of
torchtune has lines `Step 12 | loss:0.5 lr:1e-05`. `trainer_lines` parses the output of other trainers. All
other lines are ignored.

Most lines of a log have the same keys. For frequent sets of keys, one expression parses the whole line:
180,000 values take 0.19 instead of 0.26 s. It accepts fewer spellings than parsing by pairs does.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

from rltui.common.problem import Problem
from rltui.common.regex import regex
from rltui.logs.formats.interface import File, Format
from rltui.logs.formats.lines.line_reader import LineParser, LineReader
from rltui.logs.formats.printed_metrics.line_items import ANSI
from rltui.logs.formats.printed_metrics.trainer_lines import TrainerLines
from rltui.logs.log_file_names import names
from rltui.logs.records.parse_number import from_text
from rltui.logs.records.record_batcher import RecordBatcher
from rltui.logs.records.record_keys import is_rounded_away, is_small
from rltui.schema.toml_files import read_table

_VERL = regex(r"(?:^|[\s)\]])step:(-?[0-9]{1,19}) - (?=\S)")
_TORCHTUNE = regex(r"(?:^|\s)Step (-?[0-9]{1,19}) \| (?=\S+:)")
_REPEATED = regex(r"\s*\[repeated [0-9]+x across cluster\].*\Z", re.DOTALL)
# A value printed with its type: np.float32(0.5), tensor(2., device='cuda:0'), array([0.5]).
_WRAPPED = regex(r"(.+?):(?:\w{1,8}\.)?(?:float|int|uint|bfloat|tensor|array)[0-9]{0,3}\(([^,]*).*\)\Z")

# A subset of the numbers that `from_text` accepts.
_NUMBER = r"(-?(?:0|[1-9][0-9]{0,40})(?:\.[0-9]{0,40})?(?:[eE][+-]?[0-9]{1,4})?|nan|-?inf)"
_PLAIN = regex(rf"(.+):(?:{_NUMBER}|np\.float64\({_NUMBER}\))\Z")
_FREQUENT = 100  # lines with the same keys, from which an expression pays off
_EXPRESSIONS = 4  # of one log: for lines with and without an evaluation, for example
_CANDIDATES = 64  # sets of keys being counted


def record_of(line: str) -> dict[str, object] | None:
    """The step and the numbers of a metrics line; None for any other line."""
    parts = _split(line)
    return None if parts is None else _by_pairs(*parts)


def _split(line: str) -> tuple[int, str, str | None] | None:
    """The step, the pairs, and their separator (None: blanks); None for any other line."""
    if "step:" not in line and "Step " not in line:
        return None
    if "\x1b" in line:
        line = ANSI.sub("", line)
    if found := _VERL.search(line):
        rest = line[found.end() :]
        return int(found[1]), (_REPEATED.sub("", rest) if "[repeated " in rest else rest).rstrip(), " - "
    if found := _TORCHTUNE.search(line):
        return int(found[1]), line[found.end() :], None
    return None


def _by_pairs(step: int, rest: str, separator: str | None) -> dict[str, object] | None:
    """Step and numbers, pair by pair; None without numbers."""
    numbers: dict[str, object] = {}
    before = ""
    for pair in rest.split(separator):
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
    return {**numbers, "step": step} if numbers else None


class MetricsLineParser:
    """Parses the metrics lines of one log, with one expression for each frequent set of keys."""

    def __init__(self) -> None:
        self._lines_by_keys: Counter[tuple[str, ...]] = Counter()
        self._expressions: list[tuple[list[str], re.Pattern[str]]] = []

    def parse(self, line: str) -> dict[str, object] | None:
        """The same as `record_of`."""
        parts = _split(line)
        if parts is None:
            return None
        step, rest, separator = parts
        for keys, expression in self._expressions:
            if found := expression.fullmatch(rest):
                numbers = dict(zip(keys, map(float, found.groups()), strict=True))
                for key in filter(is_small, keys):
                    if is_rounded_away(key, found[keys.index(key) + 1]):
                        del numbers[key]
                return {**numbers, "step": step}
        record = _by_pairs(step, rest, separator)
        if record and separator and len(self._expressions) < _EXPRESSIONS:
            self._count(tuple(record), rest.split(separator))
        return record

    def _count(self, keys: tuple[str, ...], pairs: list[str]) -> None:
        """Count a line; add an expression for its keys once they are frequent, if all values are plain."""
        self._lines_by_keys[keys] += 1
        if len(self._lines_by_keys) > _CANDIDATES:
            self._lines_by_keys.clear()
        if self._lines_by_keys[keys] != _FREQUENT:
            return
        plain = [found for pair in pairs if (found := _PLAIN.match(pair))]
        if len(plain) == len(pairs):
            spelled = [
                re.escape(found[1]) + (rf":np\.float64\({_NUMBER}\)" if found[2] is None else f":{_NUMBER}")
                for found in plain
            ]
            self._expressions.append(([found[1] for found in plain], re.compile(" - ".join(spelled))))


class ConsoleParser(LineParser):
    """The `LineParser` of console logs."""

    def __init__(self, path: str) -> None:
        self._metrics = MetricsLineParser()
        self._trainer = TrainerLines()
        super().__init__(path)
        self._reported: set[str] = set()

    def parse(self, lines: Sequence[bytes], start: int, records: RecordBatcher) -> None:
        """Add the records of metrics lines; all other lines are ignored."""
        for line in lines:
            text = None
            if b"tep" in line:
                text = line.decode("utf-8", "replace")
                record = self._metrics.parse(text)
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
        found = []
        for code, holds, message in (
            ("rounded", self._trainer.rounded, "the console shows few digits: its values are rounded"),
            ("counted-steps", self._trainer.counted, "the console names no steps: its rows are counted"),
        ):
            if holds and code not in self._reported:
                self._reported.add(code)
                found.append(Problem("info", code, self.path, message))
        return found


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
