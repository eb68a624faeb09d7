"""Consoles with labelled numbers: a counter and named values, in the words of whoever wrote the loop.

`Episode 12 | Avg Reward: 3.5`, `iter 5: loss=0.3, kl=0.01`, or a line with the counter and one name and value
on each line below it. Nothing marks such a line as one of metrics, so lines are accepted only on evidence:
repeated lines with the same names, one of which is typical of training (`rltui/data/labelled_lines.toml`).
Sentences and lists of single programs are first rewritten as labelled numbers, by the same table.

This format is tried after all others. If logs of another format lie beside or below such a console, it
repeats them and is no run of its own (`rltui.logs.discovery.run_assignment`).
"""

from __future__ import annotations

import math
import re
from collections import Counter as TotalOf
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from rltui.common.problem import Problem
from rltui.common.regex import regex
from rltui.logs.formats.interface import Format
from rltui.logs.formats.lines.line_reader import LineParser, LineReader
from rltui.logs.formats.printed_metrics.line_items import (
    ANSI,
    BAR,
    ROUNDED,
    Counter,
    LabelledLine,
    Step,
    items,
    line_of,
    words,
)
from rltui.logs.formats.printed_metrics.printed_hparams import printed_hparams
from rltui.logs.formats.printed_metrics.printed_outline import PrintedOutline
from rltui.logs.formats.printed_metrics.printed_tables import PrintedTables
from rltui.logs.log_file_names import names
from rltui.logs.records.doubtful_step import MOST_HELD, Doubt, doubt_of, is_justified
from rltui.logs.records.record_batcher import RecordBatcher
from rltui.logs.records.record_keys import is_small, log_keys

NAME = "labelled"
_MAX_EXCERPTS = 4  # parts of a block that are parsed to see whether it contains such lines
_EXCERPT_BYTES = 16 << 10
_MAX_TELLING_LINES = 256  # of a block that are parsed one by one
_MAX_LOOKED_ABOVE = 16  # lines of the same names above which a counter is looked for
_FILL = b"    "
_FILLS = regex(rb" {5,}")
MIN_STEPS = 3  # with lines of the same names, or blocks below the same counter, before these are accepted
# Lines with the same names before these are accepted, where nothing in the log has counted steps so far.
MIN_UNCOUNTED = 8
_UNCOUNTED = "without counter"  # of the names of such a group
_FORMATTED_DECIMALS = 6  # at most, as of `%f`; a number that is not formatted has more
# Fractions that tell whether a console is rounded: those of a few lines may be short by chance, and the
# beginning by which logs are compared (16 KiB) has as many if there is one in 512 bytes.
_ENOUGH_FRACTIONS = 32
_MAX_LINE = 4000  # characters; longer lines are ignored
_MAX_GROUPS = 256  # sets of names without evidence so far
_MAX_PENDING = 64  # lines of a group that are kept until there is evidence
_LINES_BELOW_COUNTER = 120  # within which values belong to a counter on a line of its own
_LINES_BELOW_VALUES = 6  # the same for a counter with values on its own line
# Lines of a block that are parsed to find counters above values: those of as many steps as are evidence.
_MAX_LINES_ABOVE = MIN_STEPS * _LINES_BELOW_COUNTER
# A counter that restarts at a goal this low counts a phase, such as the updates of each rollout, since a
# training has more steps. The higher limit applies if another counter has increased in between.
_PHASE_GOAL, _LONG_PHASE_GOAL = 5, 64
_DIGIT = regex(r"\d")
_ASCII_DIGIT = regex(rb"[0-9]")
_ESCAPE_OR_LETTER = regex(rb"\\.|[A-Z]")
_TRAINING = regex(r"(?:train/)?")  # roles of lines whose goal is that of the run
_BLANKS = " \t\n\v\f\b"


@dataclass(slots=True)
class _Group:
    """Lines with the same names, or the lines below one counter."""

    accepted: bool = False
    pending: list[Step] = field(default_factory=list)
    steps: set[int] = field(default_factory=set)  # until it is accepted
    last_bar: dict[str, object] | None = None  # values of the progress bar when last drawn
    lines: int = 0  # so far, where these are the steps


class LabelledLines:
    """Turns lines, fed in order, into records with steps, once there is evidence that they are metrics."""

    def __init__(self) -> None:
        self._tables = PrintedTables()
        self._outline = PrintedOutline()
        self._groups: dict[tuple[str, ...], _Group] = {}
        self._heading = ""  # the latest counter, if it was alone on its line
        self._heading_role = ""  # prefix of the values below it, until other text follows one of them
        self._heading_has_values = False  # such values have appeared
        self._step: int | None = None
        self._lines_since = 0  # lines since that counter
        self._nested_counters: set[str] = set()  # other counters on those lines
        self._lines_accepted: set[str] = set()  # first counters of groups of lines with values, accepted
        self._learner = ""  # prefix of the values on the following lines
        self._learner_has_values = False  # such values have appeared
        self._block = ""  # the latest counters
        self._telling_blocks: set[str] = set()  # those with a typical metric of training beside or below them
        # By role and counter: the last values of the counters, the offset added to the first, and how often
        # other counters had increased at that time.
        self._offsets: dict[tuple[str, str], tuple[tuple[int, ...], int, int]] = {}
        # Roles and counters that did not restart when the next coarser counter increased.
        self._going_on: set[tuple[str, str]] = set()
        self._values: dict[str, int] = {}  # the latest value of each counter
        self._increases: TotalOf[str] = TotalOf()  # how often each counter has increased
        self._step_of_coarse: dict[str, tuple[int, int]] = {}  # by coarse counter: its last value, the step
        self._held: list[LabelledLine] = []  # until it is known whether their first counter is the plan
        self._plan: Doubt | None = None  # a counter that is the plan
        self._doubts_resolved = False
        self._lines_counted = 0  # of the most frequent group without a counter
        self.counts_lines = False  # steps are numbers of lines, since the log has no counter
        self.counter = ""  # the name of the first counter that was accepted
        self.planned = 0  # the goal of the counters; 0: unknown, or exceeded
        self._reached = 0  # the step of the latest line with a goal
        self._goal_exceeded = False

    def feed(self, line: str) -> Iterator[Step]:
        """The records that are accepted with this line: its own and earlier ones."""
        if "\x1b" in line:
            line = ANSI.sub("", line)
        for segment in line.split("\r"):
            self._lines_since += 1
            if len(segment) < _MAX_LINE and (text := self._outline.feed(segment).strip(_BLANKS)):
                ended, text = self._tables.feed(text)
                if ended:
                    yield from self._process(line_of(ended))
                if _DIGIT.search(text) is None:
                    self._tables.note_heading(text)
                    self._end_heading_role()
                elif len(text) > 3:
                    parsed = self._tables.parse_columns(text) or items(text)
                    if parsed.counters and not parsed.numbers and parsed.only_items:
                        self._outline.begin()
                    if parsed.counters or parsed.numbers:
                        yield from self._process(parsed)
                    elif parsed.role and parsed.only_items:
                        self._learner, self._learner_has_values = parsed.role, False
                    if not ((parsed.counters or parsed.numbers) and parsed.only_items):
                        self._end_heading_role()

    def flush(self) -> Iterator[Step]:
        """The records of a table that ends with the file, and of lines that are held."""
        if ended := self._tables.end():
            yield from self._process(line_of(ended))
        yield from self._process_held()

    def _end_heading_role(self) -> None:
        """Other text after the values of an evaluation: the training continues."""
        if self._heading_has_values:
            self._heading_role, self._heading_has_values = "", False

    def accepts(self, line: str) -> bool:
        """Whether lines with these names are accepted."""
        counters, numbers, _, _ = items(line.strip())
        counted, uncounted = (*(each.name for each in counters), *numbers), (*numbers, _UNCOUNTED)
        groups = (self._groups.get(counted), self._groups.get(uncounted))
        return bool(numbers) and any(group is not None and group.accepted for group in groups)

    def _hold(self, line: LabelledLine, doubt: Doubt | None) -> Iterator[Step]:
        """Keep a line until the doubt about the first counter of the first one is settled."""
        self._held.append(line)
        doubt = doubt or self._doubt_of(self._held[0])
        if doubt is not None:
            values = [{each.name: each.value for each in held.counters} for held in self._held]
            both = [row for row in values if {doubt.key, doubt.other} <= row.keys()]
            is_plan = is_justified(doubt, [(row[doubt.key], row[doubt.other]) for row in both])
            if is_plan is not None or len(self._held) >= MOST_HELD:
                yield from self._process_held(doubt if is_plan else None)

    def _process_held(self, plan: Doubt | None = None) -> Iterator[Step]:
        held, self._held = self._held, []
        if held:
            self._doubts_resolved, self._plan = True, plan
        for line in held:
            yield from self._process(line)

    def _doubt_of(self, line: LabelledLine) -> Doubt | None:
        plans = log_keys().doubtful_steps.plans
        if self._doubts_resolved or not line.counters or line.counters[0].name not in plans:
            return None
        return doubt_of([each.name for each in line.counters])

    def _without_plan(self, counters: Sequence[Counter], plan: Doubt) -> list[Counter]:
        """The counters without the one that is the plan, which is the goal of the other one."""
        planned = next((each.value for each in counters if each.name == plan.key), 0)
        return [
            each._replace(goal=planned) if planned and each.name == plan.other else each
            for each in counters
            if each.name != plan.key
        ]

    def _process(self, line: LabelledLine) -> Iterator[Step]:
        doubt = self._doubt_of(line)
        if self._held or doubt is not None:
            yield from self._hold(line, doubt)
            return
        counters, numbers, only_items, role = line
        if self._plan is not None:
            counters = self._without_plan(counters, self._plan)
        if self._learner and not role:
            if counters and self._learner_has_values:
                self._learner = ""
            elif numbers and only_items:
                numbers = {self._learner + name: value for name, value in numbers.items()}
                self._learner_has_values = True
        near = self._lines_since <= (_LINES_BELOW_COUNTER if self._heading else _LINES_BELOW_VALUES)
        if self._heading and near and only_items and not numbers and len(counters) == 1:
            name = counters[0].name
            if name not in {self._heading, *self._nested_counters}:  # a total in the block of the counter
                self._nested_counters.add(name)
                counters, numbers = [], {name: counters[0].value}
        for name, value in ((each.name, each.value) for each in counters):
            self._increases[name] += value > self._values.get(name, -1)
            self._values[name] = value
        if counters:
            if not numbers and counters[0].name in self._lines_accepted:
                self._step = None  # a counter without values where other lines have them: prose
                return
            self._step, self._lines_since = self._step_of(counters, role), 0
            self._nested_counters.clear()
            self._heading = "" if numbers else counters[0].name
            self._heading_role, self._heading_has_values = "" if numbers else role, False
            self._block = " ".join(each.name for each in counters)
            if numbers:
                group = self._group((*(each.name for each in counters), *numbers))
                if counters[0].name == BAR:  # redrawn many times per step
                    if group.last_bar == numbers:
                        return
                    group.last_bar = numbers
                if not counters[1:] and counters[0].name in words().telling_counters:
                    self._telling_blocks.add(f"{self._block}, one line")
                yield from self._collect(group, numbers, f"{self._block}, one line" if only_items else "")
                if group.accepted:
                    self._lines_accepted.add(counters[0].name)
                    self.counter = self.counter or counters[0].name
                    self._update_plan(counters, role)
        elif len(numbers) > 1 and only_items and not self._values:
            yield from self._number(numbers)
        elif numbers and only_items and near:
            if self._heading_role and not role:
                numbers = {self._heading_role + name: value for name, value in numbers.items()}
                self._heading_has_values = True
            group = self._group((*numbers, f"below {self._heading}"))
            yield from self._collect(group, numbers, self._block)

    def _number(self, numbers: dict[str, object]) -> Iterator[Step]:
        """A record of a log that has had no counter: its step is the number of its line.

        Of several groups of names, the lines of the most frequent one are counted: an evaluation is at the
        step of the training.
        """
        group = self._group((*numbers, _UNCOUNTED))
        group.lines += 1
        self._lines_counted = max(self._lines_counted, group.lines)
        if not group.accepted:
            group.pending.append((self._lines_counted, numbers))
            if group.lines < MIN_UNCOUNTED or not any(map(words().telling.search, numbers)):
                group.pending = group.pending[-_MAX_PENDING:]
                return
            self.counts_lines = group.accepted = True
            yield from group.pending
            group.pending = []
        else:
            yield self._lines_counted, numbers

    def _group(self, names: tuple[str, ...]) -> _Group:
        group = self._groups.get(names)
        if group is None:
            if len(self._groups) >= _MAX_GROUPS:
                self._groups = {each: known for each, known in self._groups.items() if known.accepted}
            group = self._groups[names] = _Group()
        return group

    def _collect(self, group: _Group, numbers: dict[str, object], block: str) -> Iterator[Step]:
        """Keep a record until there is evidence for its group; from then on yield all of the group.

        block: of the group; empty for lines with other text.
        """
        if self._step is None:
            return
        if group.accepted:
            yield self._step, numbers
            return
        group.steps.add(self._step)
        if len(group.pending) < _MAX_PENDING:
            group.pending.append((self._step, numbers))
        if len(group.steps) < MIN_STEPS:
            return
        if any(map(words().telling.search, numbers)):
            self._telling_blocks.add(block)
        elif not block or block not in self._telling_blocks:
            return
        group.accepted = True
        yield from group.pending
        group.pending = []

    def _update_plan(self, counters: Sequence[Counter], role: str) -> None:
        """Track the highest goal of training lines; unknown if the counter exceeds it or restarts.

        The goals of counters of which the first restarts for each value of the others are multiplied.
        """
        going_on = (role, counters[0].name) in self._going_on
        goal = math.prod(counter.goal for counter in counters[: 1 if going_on else None])
        if not goal or self._step is None or self._goal_exceeded or not _TRAINING.fullmatch(role):
            return
        goal = goal if going_on else max(goal, self.planned)
        self._goal_exceeded = self._step > goal or (self._reached == goal and self._step < goal)
        self._reached = self._step
        self.planned = 0 if self._goal_exceeded else goal

    def _step_of(self, counters: Sequence[Counter], role: str) -> int:
        """The step of a line: its finest counter, continued if it restarts for each value of the next one.

        A line with only a coarse counter (`Epoch 3: test_reward 1.5`) gets the last step that a finer counter
        gave to that value or the one before it.
        """
        fine, coarse = counters[0], tuple(each.value for each in counters[1:])
        if not coarse and not fine.total:
            value, step = self._step_of_coarse.get(fine.name, (-2, 0))
            known = fine.value - value in (0, 1)
            if known or not fine.goal:
                return step if known else fine.value
        others = self._increases.total() - self._increases[fine.name]
        before, added, then = self._offsets.get((role, fine.name), ((fine.value, *coarse), 0, others))
        goal = fine.total or fine.goal
        advanced = len(before) == len(coarse) + 1 and coarse > before[1:]
        if advanced and fine.value <= before[0]:  # equal if only the last batch of each epoch is printed
            added += fine.total or before[0] + (fine.value == 0)
            self._going_on.discard((role, fine.name))
        elif advanced and not added:
            self._going_on.add((role, fine.name))
        elif (
            not coarse
            and fine.value < before[0] == goal
            and (fine.total or goal <= (_LONG_PHASE_GOAL if others > then else _PHASE_GOAL))
        ):
            added += goal  # a bar per epoch with equally many batches, or a phase
        self._offsets[role, fine.name] = ((fine.value, *coarse), added, others)
        step = fine.value + added
        self._step_of_coarse.update({each.name: (each.value, step) for each in counters[1:]})
        return step


class LabelledParser(LineParser):
    """The `LineParser` of consoles with labelled numbers."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._lines = LabelledLines()
        self._has_metrics = False
        self._may_have_hparams = True  # until they, or metrics, were printed
        self._fractions = 0  # printed so far, of the first `_ENOUGH_FRACTIONS`
        self._is_precise = False  # one of them had all of its digits

    def parse(self, lines: Sequence[bytes], start: int, records: RecordBatcher) -> None:
        """Add the accepted records, and hyperparameters before them; all other lines are ignored."""
        for line in lines:
            text = line.decode("utf-8", "replace")
            if self._may_have_hparams and (hparams := printed_hparams(text)) is not None:
                self._may_have_hparams = False
                records.add_hparams(hparams)
                continue
            for step, numbers in self._lines.feed(text):
                self._has_metrics, self._may_have_hparams = True, False
                self._note_digits(numbers)
                records.add(numbers, at=(step, math.nan))
        if self._has_metrics:
            records.plan(self._lines.planned)
            records.count(self._lines.counter)

    def _note_digits(self, numbers: Mapping[str, object]) -> None:
        """Count fractions, up to as many as tell whether a program rounds, and note whether one is whole.

        Learning rates do not count: programs that round all else print them whole.
        """
        if self._fractions >= _ENOUGH_FRACTIONS:
            return
        for name, value in numbers.items():
            if type(value) is float and value % 1 > 0 and not is_small(name):
                self._fractions += 1
                decimals = repr(value).partition("e")[0].partition(".")[2]
                self._is_precise = self._is_precise or len(decimals) > _FORMATTED_DECIMALS
        if self._fractions >= _ENOUGH_FRACTIONS:
            self._note_rounded()

    def note_end(self) -> None:
        """Decide by fewer fractions whether values are rounded: a young log is compared with others, too."""
        self._note_rounded()

    def _note_rounded(self) -> None:
        if self._fractions and not self._is_precise:
            self.note(*ROUNDED)

    def parse_last(self, line: bytes, records: RecordBatcher) -> str | None:
        """A line without newline may be cut within a number; it is reported if it would be accepted."""
        for step, numbers in self._lines.flush():
            records.add(numbers, at=(step, math.nan))
        return "has no end" if self._lines.accepts(line.decode("utf-8", "replace")) else None

    def problems(self) -> list[Problem]:
        """Reports, once each, that printed values are rounded, or steps counted."""
        if self._lines.counts_lines:
            self.note("counted-steps", "the console names no steps: its lines are counted")
        return super().problems()


def holds_metrics(data: bytes) -> bool:
    """Whether a part of a file contains lines of labelled numbers typical of training."""
    if _FILL in data:
        data = _FILLS.sub(_FILL, data)  # lines filled up to the width of a terminal
    end, telling = 0, _TellingWords(data)
    for _ in range(_MAX_EXCERPTS):
        found = telling.next_from(end)
        if found is None:
            return False
        begin, end = max(end, found - _EXCERPT_BYTES // 8), found + _EXCERPT_BYTES
        lines = LabelledLines()
        for line in data[begin:end].decode("utf-8", "replace").split("\n"):
            if next(lines.feed(line), None) is not None:
                return True
    return _holds_lines_far_apart(data)


def _holds_lines_far_apart(data: bytes) -> bool:
    """Whether enough lines have the same names and a counter in or above them, whatever is in between."""
    steps: dict[tuple[str, ...], set[int]] = {}
    below: dict[tuple[str, ...], list[int]] = {}  # where lines without counter begin, by their names
    parsed: dict[int, LabelledLine] = {}  # by where it begins
    end, telling = 0, _TellingWords(data)
    for _ in range(_MAX_TELLING_LINES):
        found = telling.next_from(end)
        if found is None:
            break
        begin = data.rfind(b"\n", 0, found) + 1
        end = data.find(b"\n", found)
        end = len(data) if end < 0 else end
        if end - begin > _MAX_LINE:
            continue
        line = parsed[begin] = _parsed(data[begin:end])
        if not any(map(words().telling.search, line.numbers)):
            continue
        if line.counters:
            group = steps.setdefault((line.counters[0].name, *line.numbers), set())
            group.add(line.counters[0].value)
            if len(group) >= MIN_STEPS:
                return True
        elif line.only_items:
            below.setdefault((*line.numbers,), []).append(begin)
    most = len(parsed) + _MAX_LINES_ABOVE
    return any(
        len(
            {
                step
                for begin in lines[:_MAX_LOOKED_ABOVE]
                if (step := _counter_above(data, begin, parsed, most))
            }
        )
        >= MIN_STEPS
        for lines in below.values()
        if len(lines) >= MIN_STEPS
    )


def _counter_above(data: bytes, begin: int, parsed: dict[int, LabelledLine], most: int) -> Counter | None:
    """The counter to which the values on a line belong that begins at `begin`, as in `LabelledLines`.

    parsed: lines by where they begin, each of which is parsed once, and at most `most` of them.
    """
    for below in range(_LINES_BELOW_COUNTER):
        end = begin - 1
        if end < 0:
            break
        begin = data.rfind(b"\n", 0, end) + 1
        if end - begin >= _MAX_LINE:
            continue
        if begin not in parsed:
            if len(parsed) >= most:
                break
            if _ASCII_DIGIT.search(data, begin, end) is None:
                continue
            parsed[begin] = _parsed(data[begin:end])
        line = parsed[begin]
        if line.counters:
            return line.counters[0] if not line.numbers or below < _LINES_BELOW_VALUES else None
    return None


def _parsed(line: bytes) -> LabelledLine:
    return items(ANSI.sub("", line.decode("utf-8", "replace")).strip())


class _TellingWords:
    """Where words that are typical of training begin in a part of a file.

    They are searched for in lower-case text, those that begin a word apart from the others: `re` then skips
    quickly to the first letter of one. One expression that ignores case takes eight times as long.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data.lower()  # of ASCII letters only
        self._starts = [
            (found.start() for found in expression.finditer(self._data)) for expression in _telling()
        ]
        self._next: list[int | None] = [-1] * len(self._starts)

    def next_from(self, position: int) -> int | None:
        """The first such place at or behind a position, which does not decrease; None if there is no more."""
        for index, starts in enumerate(self._starts):
            found = self._next[index]
            while found is not None and found < position:
                found = next(starts, None)
            self._next[index] = found
        return min((found for found in self._next if found is not None), default=None)


@cache
def _telling() -> tuple[re.Pattern[bytes], ...]:
    """Expressions for lower-case text."""
    known = words()
    counters = [re.escape(each) for each in sorted(known.telling_counters)]
    both = [*known.telling.pattern.split("|"), *(rf"\b{each}\b" for each in counters if each.isascii())]
    # In bytes, only ASCII letters have a lower case, and only these are letters.
    foreign = [each for each in (*both, *counters) if not each.isascii()]
    every = [*both, *foreign, *(each[:1].upper() + each[1:] for each in foreign)]
    # The letter of an escape such as `\S` keeps its case. `^` is for names, not for text within a file.
    lower = [_ESCAPE_OR_LETTER.sub(lambda found: _lower(found[0]), each.encode()) for each in every]
    begins = [each.removeprefix(rb"\b") for each in lower if each.startswith(rb"\b")]
    others = [each for each in lower if not each.startswith((rb"\b", b"^"))]
    return (
        re.compile(rb"\b(?:%s)" % b"|".join(dict.fromkeys(begins))),
        re.compile(b"|".join(dict.fromkeys(others))),
    )


def _lower(text: bytes) -> bytes:
    return text if text.startswith(b"\\") else text.lower()


def _matches(name: str, head: bytes) -> bool:
    return bool(names().may_print_metrics.search(name)) and (not head or holds_metrics(head))


FORMAT = Format(NAME, _matches, lambda path, _: LineReader(path, LabelledParser(path)))
