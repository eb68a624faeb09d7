"""Lines of labelled numbers: a counter and values behind their names, in the words of whoever wrote the loop.

`Episode 12 | Avg Reward: 3.5`, `iter 5: loss=0.3, kl=0.01`, or a line with the counter and one name and value
on each line below it. Nothing marks such a line as one of metrics, so what is taken needs evidence: lines of
the same names, again and again, one of which a training prints (`rltui/data/labelled_lines.toml`). Sentences
and lists of one program are first rewritten as labelled numbers, by the same table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from rltui.data.fields import ConvertedField, ListField, TableField, TextField, table_of
from rltui.data.toml_files import read_table
from rltui.logs.records.record_keys import compared
from rltui.logs.records.trainer_lines import ANSI, RAY, Step

SEEN = 3  # lines of the same names, or blocks under the same counter, before they are taken
_LINE = 4000  # characters of a line that is looked at
_SHAPES = 256  # sets of names that wait for evidence
_WAITING = 64  # lines of one kind that wait for evidence
_BELOW = 120  # lines below a counter alone that its values may stand on
_BEHIND = 3  # the same for a line that has values itself

_NUMBER = r"[-+]?(?:\d+(?:,\d+)*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,4})?|[-+]?(?:nan|NaN|inf|Infinity)"
_WORD = r"(?!(?:nan|NaN|inf|Infinity)\b)[^\W\d][\w%/.()@]*"
_NAME = rf"(?P<name>{_WORD}(?:[ -]{_WORD}){{0,5}}(?: \([^()]{{1,20}}\))?)"
_UNIT = r"(?: ?(?P<unit>%|(?:ms|s|secs?|min|[GM]i?B|[kKM])\b))?"
_ITEM = re.compile(
    rf"(?<![\w.]){_NAME}(?:[:=][\[(]?|(?P<blank> +)(?P<hash>#)?\[?)(?P<value>{_NUMBER})"
    rf"(?:\s*/\s*(?P<total>\d{{1,15}}))?{_UNIT}[\])]?(?: ?(?:±|\+/?-) ?{_NUMBER})?(?!\w|\.\w|[-:]\d)"
)
_DIGIT = re.compile(r"\d")
_JOINT = re.compile(r"\s*([:=])\s*|\t+")
_WRAPPED = re.compile(r"\b(?:np\.\w{1,10}|tensor|array)\(\[?([^(),\[\]]{1,40})[^()]*\)")
_RESTS = re.compile(r"[\s|,;:/()\[\]#*=~.<>—–•▶·-]*")  # between the items of a line that holds nothing else
_EPOCH_AND_BATCH = re.compile(
    r"\bepoch ?[:=]? ?[\[(]?(\d{1,9})(?:/\d{1,9})?[\])]?,? ?[\[(] ?(\d{1,12})/ ?(\d{1,12}) ?[\])]", re.I
)
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6}


class Rewrite(NamedTuple):
    """A piece of a line that is written anew. holds: plain text that such a line has."""

    holds: str
    pattern: re.Pattern[str]
    becomes: str = ""  # as in `re.sub`


class Words(NamedTuple):
    """The tables of `labelled_lines.toml`. counters: the rank of each."""

    counters: dict[str, int]
    leading: frozenset[str]
    unnamed: frozenset[str]
    telling: re.Pattern[str]
    prefixes: re.Pattern[str]
    rewrite: tuple[Rewrite, ...]


def words_field() -> TableField[Words]:
    """What the table must hold."""
    texts = ListField(TextField())
    return table_of(
        Words,
        counters=ConvertedField(texts, lambda names: {name: rank for rank, name in enumerate(names)}),
        telling=ConvertedField(texts, lambda words: re.compile("|".join(words), re.IGNORECASE)),
        prefixes=ConvertedField(texts, lambda each: re.compile(f"(?:{'|'.join(each)}){{1,4}}")),
        rewrite=ListField(table_of(Rewrite)),
    )


@cache
def words() -> Words:
    """The tables, read when the first line is looked at."""
    return read_table("labelled_lines", words_field())


@dataclass(slots=True)
class _Shape:
    """Lines of the same names, or the lines below one counter."""

    accepted: bool = False
    waiting: list[Step] = field(default_factory=list)
    steps: set[int] = field(default_factory=set)  # until it is accepted


class _Counter(NamedTuple):
    name: str
    value: int


class LabelledLines:
    """Takes lines in order, gives records with their steps once there is evidence that they are metrics."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[str, ...], _Shape] = {}
        self._heading = ""  # counter of the line above; empty: that line had values, too
        self._step: int | None = None
        self._since = 0  # lines since then
        self._inner: set[str] = set()  # other counters among them
        self._lines_accepted = False  # lines with counter and values are
        self._told: set[str] = set()  # counters below which something telling stands
        self._last: dict[str, tuple[tuple[int, ...], int]] = {}  # counter: its last values, what is added

    def feed(self, line: str) -> Iterator[Step]:
        """The records that a line gives evidence of, its own and earlier ones."""
        if "\x1b" in line:
            line = ANSI.sub("", line)
        for segment in line.split("\r"):
            self._since += 1
            if 3 < len(segment) < _LINE:
                yield from self._segment(segment.strip())

    def takes(self, line: str) -> bool:
        """Whether a line would be read: its names came often enough."""
        counters, numbers, _ = items(line.strip())
        shape = self._shapes.get((*(each.name for each in counters), *numbers))
        return bool(numbers) and shape is not None and shape.accepted

    def _segment(self, text: str) -> Iterator[Step]:
        counters, numbers, whole = items(text)
        if self._heading and not numbers and whole and len(counters) == 1 and self._since <= _BELOW:
            name = counters[0].name
            if name != self._heading and name not in self._inner:  # a total in the block below the counter
                self._inner.add(name)
                counters, numbers = [], {name: counters[0].value}
        if counters:
            if not numbers and self._lines_accepted:
                self._step = None  # a counter alone, where lines have values: text of something else
                return
            self._step, self._since = self._place(counters), 0
            self._inner.clear()
            self._heading = "" if numbers else counters[0].name
            if numbers:
                shape = self._shape((*(each.name for each in counters), *numbers))
                yield from self._take(shape, numbers)
                self._lines_accepted = self._lines_accepted or shape.accepted
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

    def _place(self, counters: Sequence[_Counter]) -> int:
        """The step of a line: its finest counter, counted on where that begins again for each of the next."""
        fine, coarse = counters[0], tuple(each.value for each in counters[1:])
        if not coarse:
            return fine.value
        before, added = self._last.get(fine.name, ((fine.value, *coarse), 0))
        if fine.value < before[0] and len(before) == len(coarse) + 1 and coarse > before[1:]:
            added += before[0] + (fine.value == 0)
        self._last[fine.name] = ((fine.value, *coarse), added)
        return fine.value + added


def items(text: str) -> tuple[list[_Counter], dict[str, object], bool]:
    """The counters of a line, the finest first, its numbers by name, and whether it holds nothing else."""
    if _DIGIT.search(text) is None:
        return [], {}, False
    if text[:1] == "(":
        text = RAY.sub("", text, count=1)
    if found := words().prefixes.match(text):
        text = text[found.end() :]
    for rewrite in words().rewrite:
        if rewrite.holds in text:
            text = rewrite.pattern.sub(rewrite.becomes, text)
    if "(" in text:
        text = _WRAPPED.sub(r"\1", text)
    counters: dict[str, int] = {}
    if both := _EPOCH_AND_BATCH.search(text):
        epoch, batch, batches = map(int, both.groups())
        counters["step"] = max(epoch - 1, 0) * batches + batch
        text = text[: both.start()] + text[both.end() :]
    text = _JOINT.sub(lambda found: found[1] or "  ", text)
    numbers: dict[str, object] = {}
    labelled = rests = True
    end = 0
    commas = "." not in text and any(
        not _THOUSANDS.fullmatch(each["value"]) for each in _ITEM.finditer(text) if "," in each["value"]
    )
    for item in _ITEM.finditer(text):
        rests = rests and _RESTS.fullmatch(text, end, item.start()) is not None
        end = item.end()
        name = item["name"].rstrip(".")
        labelled = labelled and (not item["blank"] or " " not in name)
        value = _value(item["value"], item["unit"], commas=commas)
        if value is None or name.rpartition(" ")[2].lower() in words().unnamed:
            continue  # of a sentence
        counter = _counter(name)
        if counter is not None and value.is_integer() and 0 <= value < 1 << 62 and item["unit"] != "%":
            counters.setdefault(counter, int(value))
        elif not item["hash"]:
            numbers.setdefault(name, value)
    rests = rests and _RESTS.fullmatch(text, end) is not None
    ranks = words().counters
    ranked = sorted(counters, key=ranks.__getitem__)
    whole = rests and (labelled or bool(counters))
    return [_Counter(name, counters[name]) for name in ranked], numbers, whole


def _counter(name: str) -> str | None:
    """The counter that a name is, without the words before it that say nothing."""
    known = words()
    parts = compared(name.rpartition(". ")[2]).split("_")  # "Walker. Step"
    for skipped in range(min(len(parts), 3)):
        rest = "_".join(parts[skipped:])
        if rest in known.counters:
            return rest
        if parts[skipped] not in known.leading:
            break
    return None


def _value(text: str, unit: str | None, *, commas: bool) -> float | None:
    """The number of a text, with commas as thousands or, where the line says so, as decimals."""
    if "," in text:
        if not commas and _THOUSANDS.fullmatch(text):
            text = text.replace(",", "")
        elif _DECIMAL_COMMA.fullmatch(text):
            text = text.replace(",", ".")
        else:
            return None
    number = float(text)
    return number * _SCALES.get(unit or "", 1.0) if math.isfinite(number) else number
