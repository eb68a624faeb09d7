"""Batches of the records of any text format: the step and the wall time of each, hyperparameters, and plans.

`record_columns` takes their numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rltui.common.problem import Problem
from rltui.logs.batch import Batch, Text
from rltui.logs.records import doubtful_step, record_keys
from rltui.logs.records.flatten import is_declared_hparams, is_summary, looks_like_hparams
from rltui.logs.records.parse_number import ratio, rounded_step, step_of, wall_time
from rltui.logs.records.record_columns import NUMBERS, RecordColumns
from rltui.logs.records.tag_table import TagTable

_MAX_KEY_SETS = 4096  # cached; a log may have new keys in each record
_MAX_WRITERS = 256  # of one file that are distinguished
_MAX_HPARAMS = 1 << 20  # characters of settings that are reported

Writer = tuple[tuple[str, str | int], ...]  # labels of one of several writers, by key


@dataclass(slots=True)
class _KeySet:
    """The meaning of the keys of a record."""

    steps: list[str]  # the best first, like wall_times
    wall_times: list[str]
    planned: str | None  # number of steps
    outer_steps: Sequence[str]  # for each of which the best step may restart
    writers: Sequence[str]  # identify one of several writers
    name_and_value: tuple[str, str] | None  # keys of a single value and its name
    is_summary: bool  # of a finished trainer: no point
    is_envelope: bool  # veRL: {"step": n, "data": {...}}
    doubt: doubtful_step.Doubt | None  # whether the best step is one
    are_lengths: bool  # the best step is the length of an episode


@dataclass(slots=True)
class _Counter:
    """Continues a step that restarts with each epoch, or with another coarser counter.

    lengths: each record has the length of an episode, so that the step restarts with each.
    """

    fine: int
    coarse: int
    stride: int = 1
    added: int = 0  # the step at which the current epoch begins
    lengths: bool = False

    def step(self, fine: int, coarse: int) -> int:
        """The step within the training. If epochs restart as well, another training begins.

        The same step in two epochs is no restart: an evaluation after an epoch may have the next number.
        """
        if coarse < self.coarse:
            self.added = 0
        elif coarse > self.coarse and (fine < self.fine or self.added or self.lengths):
            self.added += self.fine + (self.stride if fine == 0 else 0)
        if fine > self.fine:
            self.stride = fine - self.fine
        self.fine, self.coarse = fine, coarse
        return fine + self.added


class RecordBatcher:
    """Collects records in the order of the file and returns batches in the same order."""

    def __init__(self, path: str, tags: TagTable | None = None, *, preview: bool = False) -> None:
        self.tags = TagTable(path) if tags is None else tags
        self._path = path
        self._preview = preview  # from the middle of a file: only records that contain their step
        self._explicit = False  # a record had a step key
        self._step = 0  # of the latest record
        self._records = 0
        self._total = ""
        self._hparams = ""  # that were added last
        self._undecided: Mapping[str, object] | None = None  # the first record, if it looks like settings
        self._are_rows = False  # records that look like settings are repeated, so they are none
        self._key_sets: dict[tuple[str, ...], _KeySet] = {}
        # Records until it is known whether their best step key is a step, and what was then found.
        self._held: list[tuple[Mapping[str, object], tuple[int, float] | None]] = []
        self._doubts_resolved = False
        self._justified: doubtful_step.Doubt | None = None
        self._counters: dict[Writer, _Counter] = {}
        self._highest_steps: dict[Writer, int] = {}  # in order of appearance
        self._latest_writer: Writer = ()
        self._repeated_writer = False  # whether any writer has several records
        self._separate_writers = False  # each writer counts its own steps
        self._step_key = ""  # of the first record with one
        self._texts: list[Text] = []
        self._problems: list[Problem] = []
        self._row: dict[str, float] = {}  # single values of one step and wall time
        self._row_at = (0, math.nan)
        self._columns = RecordColumns(self.tags)

    def preview(self) -> RecordBatcher:
        """A batcher with the same tag table for records from the end of the file."""
        records = RecordBatcher(self._path, self.tags, preview=True)
        records._highest_steps, records._separate_writers = dict(self._highest_steps), self._separate_writers
        records._doubts_resolved, records._justified = self._doubts_resolved, self._justified
        return records

    def add(self, record: Mapping[str, object], at: tuple[int, float] | None = None) -> None:
        """Add one record. at: its step and wall time, if the format knows them better than its keys."""
        if self._row:
            self._add_row()
        if self._undecided is not None:
            self._decide(self._undecided, record)
        keys = tuple(record)
        key_set = self._key_sets.get(keys) or self._key_set(keys)
        if self._held or (at is None and key_set.doubt is not None):
            self._hold(record, at)
            return
        key, axis = None, None
        if at is not None:
            step, wall = at
        elif key_set.is_summary or (found := self._step_of(record, key_set)) is None:
            return
        else:
            key, step = found
            wall, axis = _wall_time_of(record, key_set)
        self._records += 1
        self._step = step
        if key is not None:
            self._explicit = True
            self.count(key)
            self._note_planned_steps(record, key, key_set.planned, step, wall)
        skip: tuple[str, ...] = () if key is None or key_set.are_lengths else (key,)
        if axis is not None:
            skip = (*skip, axis)
        prefix = ""
        if key_set.writers:
            writer = _writer_of(record, key_set)
            prefix = self._writer_prefix(writer, step)
            skip = (*skip, *(each for each, _ in writer if prefix or record_keys.is_learner(each)))
        body = record
        if key_set.name_and_value is not None and (named := _named_value(record, key_set)):
            body, skip = {prefix + named[0]: named[1]}, ()
        elif prefix:
            body, skip = {prefix + name: value for name, value in record.items() if name not in skip}, ()
        elif key_set.is_envelope and isinstance(data := record["data"], dict):
            body, skip = data, ()
        self._columns.add(body, skip, step, wall)

    def _hold(self, record: Mapping[str, object], at: tuple[int, float] | None) -> None:
        """Keep a record until the doubt about the step of the first one is settled."""
        if self._preview:
            return
        self._held.append((record, at))
        doubt = self._key_set(tuple(self._held[0][0])).doubt
        rows = [
            (value, other)
            for each, known in self._held
            if doubt is not None
            and known is None
            and (value := step_of(each.get(doubt.key))) is not None
            and (other := step_of(each.get(doubt.other))) is not None
        ]
        justified = None if doubt is None else doubtful_step.is_justified(doubt, rows)
        if justified is not None or len(self._held) >= doubtful_step.MOST_HELD:
            self.add_held(doubt if justified else None)

    def add_held(self, justified: doubtful_step.Doubt | None = None) -> None:
        """Add the records that are held. justified: the doubt that was; by default, no key is doubted."""
        held, self._held = self._held, []
        if held:
            self._doubts_resolved, self._justified = True, justified
            self._key_sets.clear()
        for record, at in held:
            self.add(record, at)

    def add_value(self, key: str, value: float, at: tuple[int, float]) -> None:
        """Add a single value. Those of one step and wall time are joined to a record."""
        if self._row_at != at or key in self._row:
            self._add_row()
            self._row_at = at
        self._row[key] = value

    def _add_row(self) -> None:
        row, self._row = self._row, {}
        if row:
            self.add(row, self._row_at)

    def _step_of(self, record: Mapping[str, object], key_set: _KeySet) -> tuple[str | None, int] | None:
        """Key and step of a record; None if it is no point. The key is None if the step was counted."""
        for key in key_set.steps:
            value = record[key]
            step = step_of(value) if type(value) is int or not record_keys.needs_integer(key) else None
            if step is not None and not record_keys.is_idle(key, step):
                break
        else:
            for key in key_set.steps:
                step = None if record_keys.needs_integer(key) else rounded_step(record[key])
                if step is not None and not record_keys.is_idle(key, step):
                    break
            else:
                return self._step_of_unkeyed(record)
        if key_set.outer_steps and key == key_set.steps[0]:
            coarse = next((value for name in key_set.outer_steps if type(value := record[name]) is int), None)
            if coarse is not None:
                if self._preview:
                    return None  # the first step of its epoch is unknown
                writer = _writer_of(record, key_set)
                counter = self._counters.get(writer)
                if counter is None:
                    counter = self._counters[writer] = _Counter(step, coarse, lengths=key_set.are_lengths)
                step = counter.step(step, coarse)
        return key, step

    def _writer_prefix(self, writer: Writer, step: int) -> str:
        """The prefix of names of a writer: empty for the first one, and while all count the same steps."""
        known = self._highest_steps
        if not writer or len(known) > _MAX_WRITERS:
            return ""
        if not self._separate_writers:
            others = [other for other in known if other != writer]
            reached = max(map(known.__getitem__, others), default=step - 1)
            differing = {key for other in others for key, _ in {*writer} ^ {*other}}
            if all(map(record_keys.is_varying, differing)) and not self._repeated_writer:
                self._separate_writers = False
            elif differing and not all(map(record_keys.is_resumable, differing)):
                self._separate_writers = step < reached + any(map(record_keys.is_learner, differing))
            else:  # a later training, unless an earlier one continues
                self._separate_writers = writer in known and writer != self._latest_writer
            if self._separate_writers:
                keys = ", ".join(f"`{key}`" for key, _ in writer if key in differing)
                message = f"several writers ({keys}) count steps of their own; the first keeps its names"
                self._problems.append(Problem("info", "several-writers", self._path, message))
        self._repeated_writer = self._repeated_writer or writer in known
        known[writer] = max(step, known.get(writer, step))
        self._latest_writer = writer
        first = next(iter(known))
        if not self._separate_writers or writer == first:
            return ""
        return "".join(
            f"{record_keys.word_of(key)}_{value}/" for key, value in writer if (key, value) not in first
        )

    def count(self, step_key: str) -> None:
        """Report what the steps count; the first such name holds."""
        self._step_key = self._step_key or step_key

    def plan(self, total: int) -> None:
        """Report the planned number of steps if it changed; 0: no longer known."""
        if str(total) != (self._total or "0"):
            self._total = str(total)
            self._texts.append(Text("planned", self._step, math.nan, "total-steps", self._total))

    def batch(self, problems: list[Problem] | None = None) -> Batch:
        """The records since the last call."""
        self._add_row()
        problems = [*(problems or []), *self._problems]
        if full := self.tags.problem():
            problems.append(full)
        texts, self._texts, self._problems = self._texts, [], []
        columns = self._columns.take()
        if columns is None:
            return Batch(tags=self.tags.names, texts=tuple(texts), problems=tuple(problems))
        return Batch.of_doubles(
            self.tags.names, *columns, texts=texts, problems=problems, step_key=self._step_key
        )

    def _key_set(self, keys: tuple[str, ...]) -> _KeySet:
        steps = record_keys.step_keys(keys)
        walls = record_keys.wall_time_keys(keys)
        doubt, found = (
            (None, self._justified) if self._doubts_resolved else (doubtful_step.doubt_of(steps, keys), None)
        )
        if found is not None and not (found.key in keys and found.other in steps):
            found = None
        if found is not None and found.may_be_total:
            steps.insert(0, found.key)
            found = None
        if found is not None and found.is_plan:
            steps.remove(found.key)
            total: str | None = found.key
        else:
            total = record_keys.planned_steps_key(steps[0], keys) if steps else None
        lengths = found is not None and not found.is_plan
        envelope = "data" in keys and bool(steps) and {"data", *steps, *walls}.issuperset(keys)
        writers = record_keys.writer_keys(keys)
        named = record_keys.name_and_value(keys)
        outer = [found.other] if found is not None and lengths else record_keys.outer_steps(steps)
        key_set = _KeySet(
            steps, walls, total, outer, writers, named, is_summary(keys), envelope, doubt, lengths
        )
        if len(self._key_sets) < _MAX_KEY_SETS:
            self._key_sets[keys] = key_set
        return key_set

    def _step_of_unkeyed(self, record: Mapping[str, object]) -> tuple[str | None, int] | None:
        """The same for a record without a step on its top level."""
        for key, value in record_keys.grouped_steps(record).items():
            step = step_of(value)
            if step is not None:
                return key, step
        if self._preview:
            return None
        first = not self._records
        if is_declared_hparams(record):
            self.add_hparams(record)
            return None
        if first and not self._are_rows and looks_like_hparams(record):
            self._undecided = record
            return None
        if self._explicit:
            return None, self._step
        if first:
            message = "no step in its records; their number counts as step"
            self._problems.append(Problem("info", "no-step", self._path, message))
        return None, self._records + 1

    def _decide(self, first: Mapping[str, object], record: Mapping[str, object]) -> None:
        """Decide on the first record: settings occur once, so repeated keys make it a row."""
        self._undecided = None
        if first.keys() == record.keys():
            self._are_rows = True
            self.add(first)
        else:
            self.add_hparams(first)

    def add_hparams(self, record: Mapping[str, object]) -> None:
        """Add hyperparameters, unless they are those that were added last."""
        try:
            body = json.dumps(record, default=str, skipkeys=True)
        except (ValueError, RecursionError):
            return
        if body != self._hparams and len(body) <= _MAX_HPARAMS:
            self._hparams = body
            self._texts.append(Text("config", self._step, math.nan, "hparams", body))

    def add_exit_code(self, code: str) -> None:
        """Add the exit code of the run; empty: it is active again."""
        self._texts.append(Text("exit", self._step, math.nan, "exit-code", code))

    def _note_planned_steps(
        self, record: Mapping[str, object], key: str, total: str | None, step: int, wall: float
    ) -> None:
        """Report the planned number of steps if the record changes it."""
        if total is not None:
            planned = step_of(record[total])
        elif type(text := record.get(key)) is str and (pair := ratio(text)):
            planned = pair[1]
        else:
            return
        if planned is not None and str(planned) != self._total and planned > 0:
            self._total = str(planned)
            self._texts.append(Text(total or key, step, wall, "total-steps", self._total))


def _writer_of(record: Mapping[str, object], key_set: _KeySet) -> Writer:
    """The writer of a record: its labels by key, texts and numbers that are no steps."""
    labels = [(key, record[key]) for key in key_set.writers]
    return tuple(
        (key, value)
        for key, value in labels
        if isinstance(value, str) or (type(value) is int and key not in key_set.steps)
    )


def _named_value(record: Mapping[str, object], key_set: _KeySet) -> tuple[str, object] | None:
    """Name and value of a record that has a single value; None for any other."""
    assert key_set.name_and_value is not None
    name, value = map(record.__getitem__, key_set.name_and_value)
    return (name, value) if type(name) is str and type(value) in NUMBERS else None


def _wall_time_of(record: Mapping[str, object], key_set: _KeySet) -> tuple[float, str | None]:
    """Wall time, NaN if unknown, and its key if that is no series."""
    for key in key_set.wall_times:
        wall = wall_time(record[key])
        if wall == wall:
            return wall, key if record_keys.is_axis(key) else None
    return math.nan, None
