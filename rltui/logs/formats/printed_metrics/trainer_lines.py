"""Metrics printed by trainers other than as `step:N - key:value` lines: dictionaries and tables.

Supported are the dictionaries of the Hugging Face Trainer (and so TRL, Unsloth, Axolotl), OpenRLHF, slime and
SkyRL, and the tables of AReaL, Stable-Baselines3 and programs with the same logger (Baselines, Spinning Up).
Text is never evaluated: keys and numbers are matched.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import orjson

from rltui.common.regex import regex
from rltui.logs.formats.printed_metrics.line_items import ANSI, RAY, Step
from rltui.logs.formats.printed_metrics.printed_tables import PrintedTables
from rltui.logs.records.parse_number import from_text, step_of
from rltui.logs.records.record_keys import compared, step_keys

_BAR = regex(r"^\s*\d{1,3}%\|[^|]*\| (\d{1,12})/(\d{1,12}) \[")  # a progress bar without a description
_DICT = regex(r"\{'[^'{}]{1,300}': ")
_JSON = regex(r'\{"[^"{}]{1,300}": ?')  # json.dumps after the prefix of a logger
_PAIR = regex(
    r"'([^'\\]{1,300})': ?(?:'([^']{0,60})'"
    r"|(?:np\.\w+|\w*tensor|[aA]rray)\(\[?([^,()\[\]]{1,60})[^()]*\)"
    r"|([^\s,{}\[\]']{1,60}))"
)
# OpenRLHF `Global step 12: {`, `global_step 12, eval_metrics: {`; slime `step 12: {`, `perf 12: {`.
_LABELLED = regex(
    r"(?:^|[\s-])(?:Global step|global_step|step|perf|eval|rollout) (?P<step>\d{1,18})"
    r"(?::|, \w+:) (?=\{'(?!\d{1,3}'|\w'))"  # not the values of several agents
)
_SKYRL = regex(r"(?:^|[\s-])Step (\d{1,18}):\s*$")
_AREAL = regex(r"\bTrain step (\d{1,18})/\d+ done")
_GRID = "│├╒╘"  # first characters of the lines of AReaL's tables
_ROWS_TO_DECIDE = 3  # after which it is clear whether the progress bar shows the step
_MAX_DICT_LINES = 400  # of a dictionary without end


class TrainerLines:
    """Turns lines, fed in order, into records with steps."""

    def __init__(self) -> None:
        self.rounded = False  # values were printed with few digits
        self.counted = False  # steps are row numbers, since no line contains them
        self.ended = False  # the trainer reported that it has finished
        self._open: tuple[int, list[str]] | None = None  # SkyRL: step and lines of a dictionary
        self._areal: int | None = None  # the step of the following table
        self._tables = PrintedTables()
        self._bar: tuple[int, int] | None = None
        self._step = 0
        self._bar_is_step: bool | None = None  # whether the bar shows the step; None: not decided
        self._every = 1
        self._pending: list[tuple[int | None, dict[str, object]]] = []
        self._last: Step | None = None

    def may_hold(self, line: bytes) -> bool:
        """Whether a line must be fed: it may be part of a dictionary or a table, or contain a step."""
        return (
            b"{'" in line
            or b'{"' in line
            or b"tep " in line
            or b"\r" in line
            or b"|" in line
            or line.startswith(b"---")
            or self._open is not None
            or (self._areal is not None and b"\xe2" in line)
        )

    def feed(self, line: str) -> Iterator[Step]:
        """The records completed by a line."""
        if "\x1b" in line:
            line = ANSI.sub("", line)
        for segment in line.split("\r"):
            for record in self._parse_segment(segment):
                if record != self._last:
                    self._last = record
                    yield record

    def flush(self) -> Iterator[Step]:
        """The records that were waiting for further lines."""
        if self._pending:
            yield from self._decide_steps()

    def _parse_segment(self, text: str) -> Iterator[Step]:
        if "|" in text and (bar := _BAR.match(text)):
            self._bar = (int(bar[1]), int(bar[2]))
        if text[:1] == "(" or text[:2] == " (":
            text = RAY.sub("", text, count=1)
        if self._open is not None:
            yield from self._parse_dict_line(text)
            return
        grid = self._areal is not None and text[:1] in _GRID
        if (grid or self._tables.ruled or text.startswith("---")) and (line := text.strip()):
            table, text = self._tables.feed(line)
            yield from self._parse_table(table)
        if "{'" in text:
            yield from self._parse_dict(text)
        elif '{"' in text:
            yield from _parse_json(text)
        elif "tep " in text:
            if skyrl := _SKYRL.search(text):
                self._open = (int(skyrl[1]), [])
            elif areal := _AREAL.search(text):
                self._areal = int(areal[1])

    def _parse_dict(self, text: str) -> Iterator[Step]:
        if labelled := _LABELLED.search(text):
            step = int(labelled["step"])
            numbers = {
                key: value
                for key, value in pairs(text[labelled.end() :]).items()
                if value != step or not key.endswith(("/step", "_step"))  # repeats the step
            }
            if numbers:
                yield step, numbers
            return
        found = _DICT.search(text)
        if found is None or "}" not in text[found.start() :]:
            return
        body = text[found.start() : text.rindex("}")]
        numbers = pairs(body)
        if "train_runtime" in numbers:
            self.ended = True
            yield from self.flush()
            yield self._step, numbers
            return
        if (stated := _stated_step(numbers)) is not None:
            yield stated
            return
        if "epoch" not in numbers or len(numbers) < 2:
            return  # the Trainer writes its epoch into every row
        self.rounded = True
        if any(key.startswith("eval_") for key in numbers):
            yield from self.flush()
            yield self._step, numbers
            return
        yield from self._parse_trainer_row(numbers)

    def _parse_trainer_row(self, numbers: dict[str, object]) -> Iterator[Step]:
        """A row of the Trainer, which has no step: taken from the progress bar before it, or counted."""
        bar = self._bar[0] if self._bar else None
        if self._bar_is_step is None:
            self._pending.append((bar, numbers))
            if len(self._pending) >= _ROWS_TO_DECIDE:
                yield from self._decide_steps()
            return
        yield self._next_step(bar), numbers

    def _decide_steps(self) -> Iterator[Step]:
        """Decide whether bars show the steps: they do if they increase equally from row to row."""
        bars = [bar for bar, _ in self._pending]
        known = [bar for bar in bars if bar is not None]
        self._bar_is_step = False
        if len(known) == len(bars) and len(bars) > 1:
            gaps = [after - before for before, after in pairwise(known)]
            every = gaps[-1]
            starts = known[0] == every or (known[0] == 1 and len(gaps) > 1 and known[1] == every)
            if every > 0 and starts and all(gap in (every, every - 1) for gap in gaps):
                self._bar_is_step, self._every = True, every
        elif len(known) == 1 and len(bars) == 1 and self.ended:
            self._bar_is_step = True
        if not self._bar_is_step:
            self.counted = True
        for bar, numbers in self._pending:
            yield self._next_step(bar), numbers
        self._pending = []

    def _next_step(self, bar: int | None) -> int:
        if self._bar_is_step and bar is not None:
            # A bar is redrawn at most ten times a second and may be older than the row.
            self._step = bar if bar > self._step else self._step + self._every
        else:
            self._step += self._every
        return self._step

    def _parse_dict_line(self, text: str) -> Iterator[Step]:
        """A line of a dictionary that is printed over several lines."""
        assert self._open is not None
        step, lines = self._open
        start = not lines
        if start and "{'" not in text:
            self._open = None
            return
        if not start and not text.lstrip().startswith("'"):
            return  # printed by another process
        lines.append(text)
        if "}" in text:
            self._open = None
            numbers = pairs("\n".join(lines))
            if numbers:
                yield step, numbers
        elif len(lines) > _MAX_DICT_LINES:
            self._open = None

    def _parse_table(self, table: dict[str, float]) -> Iterator[Step]:
        """A table with its step, or the step printed above it."""
        step = self._areal
        if step is None:
            step = step_of(table.get(next(iter(step_keys(table)), "steps")))
        if table and step is not None:
            self.rounded = True
            yield step, dict(table)


def _parse_json(text: str) -> Iterator[Step]:
    """The numbers of a JSON object that contains its step."""
    found = _JSON.search(text)
    end = text.rfind("}") + 1
    if found is None or end <= found.start():
        return
    try:
        record = orjson.loads(text[found.start() : end])
    except ValueError:
        return
    if isinstance(record, dict) and (stated := _stated_step(record)) is not None:
        yield stated


def _stated_step(numbers: dict[str, object]) -> Step | None:
    """Step and values of a dictionary that contains its step; None for any other."""
    for key in numbers:
        last = compared(key.rpartition("/")[2])
        if last in ("step", "global_step") or (key.isidentifier() and last == "iteration"):
            step = step_of(numbers[key])
            rest = {name: value for name, value in numbers.items() if name != key}
            if step is not None and any(type(value) in (int, float) for value in rest.values()):
                return step, rest
    return None


def pairs(text: str) -> dict[str, object]:
    """Keys and numbers of a dictionary as printed by Python; other values are omitted."""
    numbers: dict[str, object] = {}
    for key, quoted, wrapped, plain in _PAIR.findall(text):
        number = from_text(quoted or wrapped or plain)
        if number is not None:
            numbers[key] = number
    return numbers
