"""Records of any text format, collected into batches.

Most records of a log have the same keys. Such records are kept as tuples of numbers and become one array
at a time, without what gives no scalar (null, booleans, text that is no number). Only a record that holds
lists, groups or numbers in text is walked key by key.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rltui.common.data_class import dataclass
from rltui.common.problem import Problem
from rltui.logs.batch import Batch, Text
from rltui.logs.records import record_keys
from rltui.logs.records.flatten import is_declared_settings, is_summary, looks_like_settings, scalars
from rltui.logs.records.parse_number import (
    from_text,
    ratio,
    real,
    rounded_step,
    seconds,
    step_of,
    wall_time,
)
from rltui.logs.records.tag_table import TagTable

_NUMBERS = {int, float}
_VALUELESS = {bool, type(None)}  # give no scalar, whatever they are
_KEY_SETS = 4096  # sets of keys that are remembered; a log that makes ever new ones stays bounded
_WRITERS = 256  # of one file that are told apart
_SETTINGS_CAP = 1 << 20  # characters of settings that are handed up


@dataclass(slots=True)
class _KeySet:
    """Where a set of keys has its step and its time."""

    steps: list[str]
    walls: list[str]
    total: str | None
    outer: Sequence[str]  # keys of steps for each of which the best one may begin again
    writer: str | None  # tells from whom of several the record is
    summary: bool  # of a trainer that is done: no point
    envelope: bool  # veRL: {"step": n, "data": {...}}


@dataclass(slots=True)
class _Counter:
    """Steps of each epoch, or of another counter that is coarser."""

    fine: int
    coarse: int
    stride: int = 1
    added: int = 0  # where the present epoch begins

    def step(self, fine: int, coarse: int) -> int:
        """The step of the whole training; where epochs begin again as well, it is another training.

        One step of two epochs is no beginning: an evaluation after an epoch may have the next number.
        """
        if coarse < self.coarse:
            self.added = 0
        elif coarse > self.coarse and (fine < self.fine or self.added):
            self.added += self.fine + (self.stride if fine == 0 else 0)
        if fine > self.fine:
            self.stride = fine - self.fine
        self.fine, self.coarse = fine, coarse
        return fine + self.added


@dataclass(slots=True)
class _Block:
    """Records of one set of keys, of which nothing but numbers counts."""

    columns: NDArray[np.intp] | None  # of the values, that are series; None for all of them
    tags: NDArray[np.uint32]  # of those columns
    places: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    walls: list[float] = field(default_factory=list)
    values: list[tuple[float, ...]] = field(default_factory=list)
    pick: Callable[[tuple[object, ...]], Any] | None = None  # the numbers among the values; None: all of them


_Blocks = dict[tuple[Any, ...], _Block]  # by keys and those to skip, and by types where not all are numbers


class RecordBatcher:
    """Takes records in the order of the file, gives batches in the same order."""

    def __init__(self, path: str, tags: TagTable | None = None, *, preview: bool = False) -> None:
        self.tags = TagTable(path) if tags is None else tags
        self._path = path
        self._preview = preview  # from the middle of a file: records without a step of their own are left out
        self._explicit = False  # some record had a step key
        self._step = 0  # of the latest record
        self._records = 0
        self._total = ""
        self._undecided: Mapping[str, object] | None = None  # the first record, settings by its look
        self._are_rows = False  # what looks like settings is not: it comes again and again
        self._key_sets: dict[tuple[str, ...], _KeySet] = {}
        self._counters: dict[object, _Counter] = {}  # by writer
        self._writers: dict[object, int] = {}  # the highest step of each, the first one first
        self._apart = False  # each counts steps of its own
        self._texts: list[Text] = []
        self._problems: list[Problem] = []
        self._clear()

    def preview(self) -> RecordBatcher:
        """A collector with the same tag table, for records from the end of the file."""
        records = RecordBatcher(self._path, self.tags, preview=True)
        records._writers, records._apart = dict(self._writers), self._apart
        return records

    def add(self, record: Mapping[str, object], at: tuple[int, float] | None = None) -> None:
        """Take one record. `at` is its step and wall time where the format knows better than its keys."""
        if self._undecided is not None:
            self._decide(self._undecided, record)
        keys = tuple(record)
        key_set = self._key_sets.get(keys) or self._key_set(keys)
        if key_set.summary and at is None:
            return
        key, step, wall, clock = None, None, math.nan, None
        if at is not None:
            step, wall = at
        else:
            for key in key_set.steps:
                value = record[key]
                step = step_of(value) if type(value) is int or not record_keys.needs_integer(key) else None
                if step is not None:
                    break
            if step is None:
                for key in key_set.steps:
                    step = None if record_keys.needs_integer(key) else rounded_step(record[key])
                    if step is not None:
                        break
            if step is not None and key_set.outer and key == key_set.steps[0]:
                coarse = next((value for name in key_set.outer if type(value := record[name]) is int), None)
                if coarse is not None:
                    if self._preview:
                        return  # where its epoch began is not known
                    of = record[key_set.writer] if key_set.writer else None
                    of = of if type(of) in (int, str) else None
                    counter = self._counters.setdefault(of, _Counter(step, coarse))
                    step = counter.step(step, coarse)
            if step is None:
                key, step = self._step_of_unkeyed(record)
                if step is None:
                    return
            for name in key_set.walls:
                wall = wall_time(record[name])
                if wall == wall:
                    clock = name if record_keys.is_axis(name) else None
                    break
        self._records += 1
        self._place += 1
        self._step = step
        if key is not None:
            self._explicit = True
            self._note_planned_steps(record, key, key_set.total, step, wall)
        skip: tuple[str, ...] = () if key is None else (key,)
        if clock is not None:
            skip = (*skip, clock)
        if key_set.writer is not None and (of := self._writer(key_set.writer, record, step)):
            body = {of + name: value for name, value in record.items() if name not in (*skip, key_set.writer)}
            self._take(tuple(body), body, (), step, wall, self._blocks)
            return
        if key_set.envelope and isinstance(data := record["data"], dict):
            inner_keys = tuple(data)
            self._take(inner_keys, data, (), step, wall, self._inner_blocks)
        elif key == (key_set.steps[0] if key_set.steps else None):
            self._take(keys, record, skip, step, wall, self._blocks)
        else:
            self._take_irregular(record, skip, step, wall)

    def _writer(self, key: str, record: Mapping[str, object], step: int) -> str:
        """What the names of a record begin with: empty for the first writer, and for all that count alike."""
        writer = record[key]
        if type(writer) not in (int, str) or len(self._writers) > _WRITERS:
            return ""
        known = self._writers
        reached = max((at for other, at in known.items() if other != writer), default=step - 1)
        known[writer] = max(step, known.get(writer, step))
        if not self._apart and step < reached + record_keys.is_learner(key):
            self._apart = True
            message = f"several writers (`{key}`) count steps of their own; the first keeps its names"
            self._problems.append(Problem("info", "several-writers", self._path, message))
        if not self._apart or writer == next(iter(known)):
            return ""
        word = record_keys.compared(key).removesuffix("_id").removesuffix("_index")
        return f"{word}_{writer}/"

    def plan(self, total: int) -> None:
        """Hand up the planned number of steps, where it differs from what was known; 0: no longer known."""
        if str(total) != (self._total or "0"):
            self._total = str(total)
            self._texts.append(Text("planned", self._step, math.nan, "total-steps", self._total))

    def batch(self, problems: list[Problem] | None = None) -> Batch:
        """Everything taken since the last call."""
        problems = [*(problems or []), *self._problems]
        if full := self.tags.problem():
            problems.append(full)
        blocks = [*self._blocks.values(), *self._inner_blocks.values()]
        parts: list[_Columns] = [_arrays(block) for block in blocks]
        if self._irregular:
            columns = zip(zip(*self._irregular, strict=True), _TYPES, strict=True)
            parts.append(tuple(np.array(column, kind) for column, kind in columns))
        texts = tuple(self._texts)
        self._texts, self._problems = [], []
        self._clear()
        if not parts:
            return Batch(tags=self.tags.names, texts=texts, problems=tuple(problems))
        _, tag, step, wall_time, value = parts[0] if len(parts) == 1 else _in_order(parts)
        return Batch(
            tags=self.tags.names,
            tag=tag,
            step=step,
            wall_time=wall_time,
            value=value,
            single=np.zeros(len(tag), np.bool_),
            texts=texts,
            problems=tuple(problems),
        )

    def _clear(self) -> None:
        self._place = -1
        self._blocks: _Blocks = {}
        self._inner_blocks: _Blocks = {}
        self._irregular: list[tuple[int, int, int, float, float]] = []

    def _key_set(self, keys: tuple[str, ...]) -> _KeySet:
        steps = record_keys.step_keys(keys)
        walls = record_keys.wall_time_keys(keys)
        total = record_keys.planned_steps_key(steps[0], keys) if steps else None
        envelope = "data" in keys and bool(steps) and {"data", *steps, *walls}.issuperset(keys)
        writer = record_keys.writer_key(keys)
        outer = record_keys.outer_steps(steps)
        key_set = _KeySet(steps, walls, total, outer, writer, is_summary(keys), envelope)
        if len(self._key_sets) < _KEY_SETS:
            self._key_sets[keys] = key_set
        return key_set

    def _block(self, keys: tuple[str, ...], kinds: tuple[type, ...] | None, skip: tuple[str, ...]) -> _Block:
        """Room for records with these keys; kinds: the types of their values, None where all are numbers."""
        numbers = [column for column in range(len(keys)) if kinds is None or kinds[column] in _NUMBERS]
        named = [(place, self.tags.index(keys[column])) for place, column in enumerate(numbers)
                 if keys[column] not in skip]  # fmt: skip
        kept = [pair for pair in named if pair[1] >= 0]
        columns = None if len(kept) == len(numbers) else np.array([place for place, _ in kept], np.intp)
        block = _Block(columns, np.array([tag for _, tag in kept], np.uint32))
        if kinds is not None:
            block.pick = itemgetter(*numbers) if len(numbers) > 1 else lambda values: (values[numbers[0]],)
        return block

    def _take(
        self,
        keys: tuple[str, ...],
        record: Mapping[str, object],
        skip: tuple[str, ...],
        step: int,
        wall: float,
        blocks: _Blocks,
    ) -> None:
        values = tuple(record.values())
        known: tuple[Any, ...] = (keys, skip)
        kinds: tuple[type, ...] | None = None
        if not _NUMBERS.issuperset(map(type, values)):
            kinds = tuple(map(type, values))
            if not _rest_has_no_value(keys, values, kinds, skip):
                self._take_irregular(record, skip, step, wall)
                return
            known = (known, kinds)
        block = blocks.get(known)
        if block is None:
            block = blocks[known] = self._block(keys, kinds, skip)
        block.places.append(self._place)
        block.steps.append(step)
        block.walls.append(wall)
        block.values.append(values if block.pick is None else block.pick(values))  # type: ignore[arg-type]

    def _take_irregular(
        self, record: Mapping[str, object], skip: tuple[str, ...], step: int, wall: float
    ) -> None:
        index, place, irregular = self.tags.index, self._place, self._irregular
        for tag, value in scalars(record, skip):
            number = index(tag)
            if number >= 0:
                irregular.append((place, number, step, wall, value))

    def _step_of_unkeyed(self, record: Mapping[str, object]) -> tuple[str | None, int | None]:
        """Key and step of a record whose own keys name none; step None for one that is no point at all."""
        nested = {
            f"{key}/{name}": value
            for key, group in record.items()
            if isinstance(group, dict)
            for name, value in group.items()
        }
        for key in record_keys.step_keys(nested):
            step = step_of(nested[key])
            if step is not None:
                return key, step
        if self._preview:
            return None, None
        first = not self._records
        if is_declared_settings(record):
            self._add_settings(record)
            return None, None
        if first and not self._are_rows and looks_like_settings(record):
            self._undecided = record
            return None, None
        if self._explicit:
            return None, self._step
        if first:
            message = "no step in its records; their number counts as step"
            self._problems.append(Problem("info", "no-step", self._path, message))
        return None, self._records + 1

    def _decide(self, first: Mapping[str, object], record: Mapping[str, object]) -> None:
        """What the first record was: settings come once, so another one with its keys makes it a row."""
        self._undecided = None
        if first.keys() == record.keys():
            self._are_rows = True
            self.add(first)
        else:
            self._add_settings(first)

    def _add_settings(self, record: Mapping[str, object]) -> None:
        try:
            body = json.dumps(record)
        except (ValueError, RecursionError):
            return
        if len(body) <= _SETTINGS_CAP:
            self._texts.append(Text("config", self._step, math.nan, "hparams", body))

    def _note_planned_steps(
        self, record: Mapping[str, object], key: str, total: str | None, step: int, wall: float
    ) -> None:
        """Hand up the planned number of steps when the record declares another one than before."""
        if total is not None:
            planned = step_of(record[total])
        elif type(text := record.get(key)) is str and (pair := ratio(text)):
            planned = pair[1]
        else:
            return
        if planned is not None and str(planned) != self._total and planned > 0:
            self._total = str(planned)
            self._texts.append(Text(total or key, step, wall, "total-steps", self._total))


def _rest_has_no_value(
    keys: tuple[str, ...], values: tuple[object, ...], kinds: tuple[type, ...], skip: tuple[str, ...]
) -> bool:
    """Whether there are numbers, and what is no number gives no scalar either (see `flatten.scalars`)."""
    others = [column for column, kind in enumerate(kinds) if kind not in _NUMBERS]
    if len(others) == len(kinds):
        return False
    for column in others:
        key, value = keys[column], values[column]
        if kinds[column] in _VALUELESS or key in skip:
            continue
        if type(value) is not str or from_text(value) is not None or seconds(key, value) is not None:
            return False
    return True


# Number of the record within the batch, tag, step, wall time and value, (n,) each.
_Columns = tuple[NDArray[Any], ...]
_TYPES = (np.int64, np.uint32, np.int64, np.float64, np.float64)


def _arrays(block: _Block) -> _Columns:
    """The numbers of a block, record by record."""
    try:
        values = np.array(block.values, np.float64)
    except OverflowError:  # an integer beyond float64
        values = np.array([[real(value) for value in row] for row in block.values], np.float64)
    if block.columns is not None:
        values = values[:, block.columns]
    count, width = len(block.steps), len(block.tags)
    return (
        np.repeat(np.array(block.places, np.int64), width),
        np.tile(block.tags, count),
        np.repeat(np.array(block.steps, np.int64), width),
        np.repeat(np.array(block.walls, np.float64), width),
        values.reshape(-1),
    )


def _in_order(parts: list[_Columns]) -> _Columns:
    """Several parts as one, records in the order in which they came."""
    order = np.argsort(np.concatenate([part[0] for part in parts]), kind="stable")
    return tuple(np.concatenate(columns)[order] for columns in zip(*parts, strict=True))
