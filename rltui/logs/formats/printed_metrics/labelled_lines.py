"""Lines of labelled numbers: a counter and values behind their names, in the words of whoever wrote the loop.

`Episode 12 | Avg Reward: 3.5`, `iter 5: loss=0.3, kl=0.01`, or a line with the counter and one name and value
on each line below it. Nothing marks such a line as one of metrics, so what is taken needs evidence: lines of
the same names, again and again, one of which a training prints (`rltui/data/labelled_lines.toml`). Sentences
and lists of one program are first rewritten as labelled numbers, by the same table.
"""

from __future__ import annotations

import math
from collections import Counter as TotalOf
from collections.abc import Iterator, Sequence
from dataclasses import field

from rltui.common.data_class import dataclass
from rltui.common.regex import regex
from rltui.logs.formats.printed_metrics.line_items import (
    ANSI,
    BAR,
    Counter,
    LabelledLine,
    Step,
    items,
    line_of,
    words,
)
from rltui.logs.formats.printed_metrics.printed_tables import PrintedTables

SEEN = 3  # lines of the same names, or blocks under the same counter, before they are taken
_LINE = 4000  # characters of a line that is looked at
_SHAPES = 256  # sets of names that wait for evidence
_WAITING = 64  # lines of one kind that wait for evidence
_BELOW = 120  # lines below a counter alone that its values may stand on
_BEHIND = 3  # the same for a line that has values itself
# A counter that goes no further and begins again counts no trainings, which have more to say: updates of each
# rollout. One that goes no further than the second counts none where another counter has grown between.
_PHASE, _LONG_PHASE = 5, 64
_DIGIT = regex(r"\d")
_TRAINING = regex(r"(?:train/)?")  # roles of lines whose goal is that of the run
_BLANKS = " \t\n\v\f\b"


@dataclass(slots=True)
class _Shape:
    """Lines of the same names, or the lines below one counter."""

    accepted: bool = False
    waiting: list[Step] = field(default_factory=list)
    steps: set[int] = field(default_factory=set)  # until it is accepted
    drawn: dict[str, object] | None = None  # by a progress bar, the last time


class LabelledLines:
    """Takes lines in order, gives records with their steps once there is evidence that they are metrics."""

    def __init__(self) -> None:
        self._tables = PrintedTables()
        self._shapes: dict[tuple[str, ...], _Shape] = {}
        self._heading = ""  # counter of the line above; empty: that line had values, too
        self._step: int | None = None
        self._since = 0  # lines since then
        self._inner: set[str] = set()  # other counters among them
        self._lines_accepted = False  # lines with counter and values are
        self._learner = ""  # whose values the lines below are
        self._learner_said = False  # it has had some
        self._told: set[str] = set()  # counters below which something telling stands
        # Role and counter: the last values of the counters, what is added, how often others had grown then.
        self._last: dict[tuple[str, str], tuple[tuple[int, ...], int, int]] = {}
        self._values: dict[str, int] = {}  # the last one of each counter
        self._growths: TotalOf[str] = TotalOf()  # how often each has grown
        self._finer: dict[str, tuple[int, int]] = {}  # by a coarser counter: its last value, the step then
        self.planned = 0  # steps that the counters go to; 0: unknown, or they went beyond
        self._reached = 0  # the step of the line before that said a goal
        self._beyond = False

    def feed(self, line: str) -> Iterator[Step]:
        """The records that a line gives evidence of, its own and earlier ones."""
        if "\x1b" in line:
            line = ANSI.sub("", line)
        for segment in line.split("\r"):
            self._since += 1
            if len(segment) < _LINE and (text := segment.strip(_BLANKS)):
                ended, text = self._tables.feed(text)
                if ended:
                    yield from self._line(line_of(ended))
                if _DIGIT.search(text) is None:
                    self._tables.note_heading(text)
                elif len(text) > 3:
                    said = self._tables.of_columns(text) or items(text)
                    if said.counters or said.numbers:
                        yield from self._line(said)
                    elif said.role and said.whole:
                        self._learner, self._learner_said = said.role, False

    def takes(self, line: str) -> bool:
        """Whether a line would be read: its names came often enough."""
        counters, numbers, _, _ = items(line.strip())
        shape = self._shapes.get((*(each.name for each in counters), *numbers))
        return bool(numbers) and shape is not None and shape.accepted

    def _line(self, line: LabelledLine) -> Iterator[Step]:
        counters, numbers, whole, role = line
        if self._learner and not role:
            if counters and self._learner_said:
                self._learner = ""
            elif numbers and whole:
                numbers = {self._learner + name: value for name, value in numbers.items()}
                self._learner_said = True
        if self._heading and not numbers and whole and len(counters) == 1 and self._since <= _BELOW:
            name = counters[0].name
            if name != self._heading and name not in self._inner:  # a total in the block below the counter
                self._inner.add(name)
                counters, numbers = [], {name: counters[0].value}
        for name, value in ((each.name, each.value) for each in counters):
            self._growths[name] += value > self._values.get(name, -1)
            self._values[name] = value
        if counters:
            if not numbers and self._lines_accepted:
                self._step = None  # a counter alone, where lines have values: text of something else
                return
            self._step, self._since = self._place(counters, role), 0
            self._inner.clear()
            self._heading = "" if numbers else counters[0].name
            if numbers:
                shape = self._shape((*(each.name for each in counters), *numbers))
                if counters[0].name == BAR:  # drawn again and again
                    if shape.drawn == numbers:
                        return
                    shape.drawn = numbers
                yield from self._take(shape, numbers)
                if shape.accepted:
                    self._lines_accepted = True
                    self._note_plan(counters, role)
        elif numbers and whole and self._since <= (_BELOW if self._heading else _BEHIND):
            yield from self._take(self._shape((*numbers, f"below {self._heading}")), numbers)

    def _shape(self, names: tuple[str, ...]) -> _Shape:
        shape = self._shapes.get(names)
        if shape is None:
            if len(self._shapes) >= _SHAPES:
                self._shapes = {each: known for each, known in self._shapes.items() if known.accepted}
            shape = self._shapes[names] = _Shape()
        return shape

    def _take(self, shape: _Shape, numbers: dict[str, object]) -> Iterator[Step]:
        """Keep a record until there is evidence of its kind; give all of that kind from then on."""
        if self._step is None:
            return
        if shape.accepted:
            yield self._step, numbers
            return
        shape.steps.add(self._step)
        if len(shape.waiting) < _WAITING:
            shape.waiting.append((self._step, numbers))
        if len(shape.steps) < SEEN:
            return
        if any(map(words().telling.search, numbers)):
            self._told.add(self._heading)
        elif not self._heading or self._heading not in self._told:
            return
        shape.accepted = True
        yield from shape.waiting
        shape.waiting = []

    def _note_plan(self, counters: Sequence[Counter], role: str) -> None:
        """The largest goal of lines on training; none where the counter goes beyond it or begins again."""
        goal = math.prod(counter.goal for counter in counters)
        if not goal or self._step is None or self._beyond or not _TRAINING.fullmatch(role):
            return
        goal = max(goal, self.planned)
        self._beyond = self._step > goal or (self._reached == goal and self._step < goal)
        self._reached = self._step
        self.planned = 0 if self._beyond else goal

    def _place(self, counters: Sequence[Counter], role: str) -> int:
        """The step of a line: its finest counter, counted on where that begins again for each of the next.

        A line with none but one of the next (`Epoch 3: test_reward 1.5`) stands where that, or the one before
        it, was last counted finer.
        """
        fine, coarse = counters[0], tuple(each.value for each in counters[1:])
        if not coarse and not fine.total:
            value, step = self._finer.get(fine.name, (-2, 0))
            known = fine.value - value in (0, 1)
            if known or not fine.goal:
                return step if known else fine.value
        others = self._growths.total() - self._growths[fine.name]
        before, added, then = self._last.get((role, fine.name), ((fine.value, *coarse), 0, others))
        goal = fine.total or fine.goal
        if fine.value <= before[0] and coarse:  # the same, where only the last batch of each epoch is printed
            if len(before) == len(coarse) + 1 and coarse > before[1:]:
                added += fine.total or before[0] + (fine.value == 0)
        elif fine.value < before[0] == goal and (
            fine.total or goal <= (_LONG_PHASE if others > then else _PHASE)
        ):
            added += goal  # a bar for each epoch, of as many batches; a phase
        self._last[role, fine.name] = ((fine.value, *coarse), added, others)
        step = fine.value + added
        self._finer.update({each.name: (each.value, step) for each in counters[1:]})
        return step
