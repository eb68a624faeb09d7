"""Logs with one record per sample, such as rollouts of veRL (`<step>.jsonl`), verifiers and prime-rl.

The numbers of a step become aggregates (`sample_statistics`). A step is delivered when another one begins or
the file stops growing, and again if more of its samples arrive: later values replace earlier ones.
"""

from __future__ import annotations

import math
import re
from functools import cache

from rltui.common.display_text import count_of
from rltui.common.problem import CountedProblem, Problem
from rltui.common.regex import regex
from rltui.logs import log_contents, log_file_names
from rltui.logs.batch import EMPTY, Batch
from rltui.logs.formats.interface import BLOCK, LINE_CAP, File, Format, ReadFromStart, read_to_end, torn_tail
from rltui.logs.formats.lines.jsonl import objects
from rltui.logs.formats.lines.line_splitter import LineSplitter, SkippedLines
from rltui.logs.records import parse_number, record_keys
from rltui.logs.records.parse_number import step_of
from rltui.logs.records.record_keys import COMPUTED, log_keys, text_keys
from rltui.logs.records.sample_statistics import LoggedStep, SampledStep, numbers
from rltui.logs.records.tag_table import TagTable
from rltui.logs.sample_layouts.layouts import LayoutMatch, layouts, match_log, samples_of, texts_of
from rltui.logs.sample_layouts.sample import Sample

MAX_STEPS = 4  # whose samples are kept in memory, in case more of them arrive
MAX_NUMBERS = 2_000_000  # kept in memory, 16 bytes each
IDLE_READS = 3  # without new bytes, after which samples are freed; they can be read again


@cache
def _step_in_path() -> re.Pattern[str]:
    words = "|".join(layouts().path_steps)
    named = rf"(?:^|/)(?:global_?)?(?:{words})[_-]?(\d{{1,18}})(?=[/._-]|\Z)"
    return re.compile(rf"{named}|(?:^|/)(\d{{1,18}})\.")


def step_in_path(path: str) -> int | None:
    """The step in a path: `rollouts/step_12/train.jsonl`, `dump/12.jsonl`. None for other paths."""
    found = list(_step_in_path().finditer(path))
    return int(found[-1][1] or found[-1][2]) if found else None


class SamplesReader(ReadFromStart):
    """Reads one file of samples."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lines = LineSplitter(path)
        self._tags = TagTable(path)
        self._skipped = SkippedLines(path, "not-json", "line", "skipped for not being a JSON object")
        self._match = match_log(path)
        self._logged = self._match is not None and self._match.layout.kind == "metrics"
        self._default = step_in_path(path) if self._match is None else self._match.step
        self._prefix = _prefix(self._match)
        self._steps: dict[int, SampledStep | LoggedStep] = {}  # in order of their first samples
        self._changed: dict[int, None] = {}  # steps with samples that were not delivered yet
        self._dropped: set[int] = set()  # steps whose samples are no longer kept
        self._latest: int | None = None
        # Offset of the first sample that was freed while idle, and the step before it.
        self._released: tuple[int, int | None] | None = None
        self._idle_reads = 0
        self._late = CountedProblem(
            "late-samples",
            path,
            lambda count: f"{count_of(count, 'sample')} left out: written long after the step was over",
        )

    @property
    def offset(self) -> int:
        """Bytes that have been read."""
        return self._lines.offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode more; deliver finished steps, or all steps if no more bytes arrive."""
        before = self._lines.offset
        if self._match is not None and not self._match.layout.statistics:
            self._lines.offset = max(before, file.size())
            return EMPTY
        self._read(file, budget)
        moved = self._lines.offset > before
        self._idle_reads = 0 if moved else self._idle_reads + 1
        if moved and self._lines.offset < file.size():
            return self._batch([step for step in self._changed if step != self._latest])
        batch = self._batch(list(self._changed))
        # A file per step rarely grows again, and there may be thousands of them.
        if self._idle_reads >= IDLE_READS or self._default is not None:
            self._release()
        return batch

    def finish(self, file: File) -> Batch:
        """Read the rest and deliver all steps."""
        if self._match is not None and not self._match.layout.statistics:
            return EMPTY
        for _ in read_to_end(self, lambda: self._read(file, BLOCK, final=True)):
            pass
        tail, before = self._lines.tail(file), self.offset
        torn = []
        if tail.strip(b" \t\r\0"):
            try:
                last = list(objects(tail))
                self._read_again(file, before)
                for record in last:
                    self._take(record, before)
                self._lines.offset += len(tail)
            except ValueError:
                torn.append(torn_tail(self._path, before, len(tail), "line"))
        return self._batch(list(self._changed), torn)

    def close(self) -> None:
        """Free the samples."""
        if not self._changed:
            self._release()

    def _read(self, file: File, budget: int, *, final: bool = False) -> None:
        before = self.offset
        if lines := self._lines.take(file, budget, final=final):
            self._read_again(file, before)
            self._add(lines, self._lines.start)

    def _add(self, lines: list[bytes], offset: int) -> None:
        for line in lines:
            if line and not line.isspace():
                try:
                    for record in objects(line):
                        self._take(record, offset)
                except ValueError:
                    if line.strip(b" \t\r\0\xef\xbb\xbf"):
                        self._skipped.add_line(line, offset)
            offset += len(line) + 1

    def _take(self, record: dict[str, object], offset: int) -> None:
        if self._match is None or self._logged:
            self._take_sample(record, offset, None if self._logged else texts_of(record))
            return
        rows = self._match.layout.kind == "rows"
        if rows:  # nested objects describe the environment, and would hide the framework of the run
            record = {key: value for key, value in record.items() if not isinstance(value, dict)}
        if rows and any(type(record.get(key)) in (int, float) for key in layouts().columns["reward"]):
            self._take_sample(record, offset, texts_of(record))
            return
        for sample in samples_of(record, self._match):
            measured = _measured(sample)
            known = {**record, **measured} if rows else {**measured, "step": sample.step}
            self._take_sample(known, offset, (sample.prompt, sample.response) if not sample.note else None)

    def _take_sample(
        self, record: dict[str, object], offset: int, texts: tuple[str, str] | None = None
    ) -> None:
        step = next(
            (step for key in record_keys.step_keys(record) if (step := step_of(record[key])) is not None),
            self._latest if self._default is None else self._default,
        )
        step = 0 if step is None else step
        samples = self._steps.get(step)
        if samples is None:
            if step in self._dropped:
                self._late.add()
                return
            samples = (LoggedStep if self._logged else SampledStep)(offset, self._latest)
            self._steps[step] = samples
        samples.add(record, texts)
        self._changed[step] = None
        self._latest = step
        for key in record_keys.wall_time_keys(record):
            wall = parse_number.wall_time(record[key])
            if wall == wall:
                samples.wall_time = wall if math.isnan(samples.wall_time) else max(samples.wall_time, wall)
                break

    def _batch(self, steps: list[int], torn: list[Problem] | None = None) -> Batch:
        problems = [*self._lines.problems(), *self._skipped.problems(), *(torn or [])]
        rows = []
        for at in steps:
            samples = self._steps[at]
            del self._changed[at]
            for key, aggregate in samples.aggregates():
                if (number := self._tags.index(self._prefix + key)) >= 0:
                    rows.append((number, at, samples.wall_time, aggregate))
        self._drop_oldest()
        problems += self._late.problems()
        if full := self._tags.problem():
            problems.append(full)
        if not (rows or problems):
            return EMPTY
        tag, step, wall_time, value = zip(*rows, strict=True) if rows else ((), (), (), ())
        return Batch.of_doubles(self._tags.names, tag, step, wall_time, value, problems=problems)

    def _drop_oldest(self) -> None:
        """Free the samples of the oldest steps beyond the limits."""
        total = sum(samples.size for samples in self._steps.values())
        for step in list(self._steps)[:-1]:
            if len(self._steps) <= MAX_STEPS and total <= MAX_NUMBERS:
                break
            if step not in self._changed:
                total -= self._steps.pop(step).size
                self._dropped.add(step)

    def _release(self) -> None:
        """Free all samples; they are read again if more arrive."""
        if self._steps:
            first = min(self._steps.values(), key=lambda samples: samples.begin)
            self._released = (first.begin, first.after)
            self._steps.clear()

    def _read_again(self, file: File, end: int) -> None:
        """Read the freed samples again, which are before `end`."""
        if self._released is None:
            return
        (place, self._latest), self._released = self._released, None
        skipped, late = self._skipped.count, self._late.count  # they include what is read again
        again, rest = place, b""
        while place < end and (data := file.read_at(place, min(BLOCK, end - place))):
            *lines, rest = (rest + data).split(b"\n")
            self._add(lines, again)
            place += len(data)
            if len(rest) > LINE_CAP:
                rest = b""
        self._skipped.count, self._late.count = skipped, late


def _prefix(match: LayoutMatch | None) -> str:
    """The prefix of tags, which separates them from the trainer's, by split and data set of evaluations."""
    if match is not None and match.layout.kind == "metrics":
        return ""
    if match is None:
        return COMPUTED
    split = match.split.partition("/")[0]
    parts = ("" if split == "train" else split, match.dataset)
    return COMPUTED + "".join(f"{part}/" for part in parts if part)


def _measured(sample: Sample) -> dict[str, object]:
    """The numbers of a sample under the names that `sample_statistics` uses."""
    components = {f"reward/{name}": value for name, value in sample.rewards.items()}
    named: dict[str, object] = {
        "reward": sample.reward,
        **(components if len(components) > 1 else {}),
        "advantage": sample.advantage,
        "length": None if sample.counted else sample.length,
        "stop_reason": sample.stop or None,
        "group_id": sample.group,
        "prompt": sample.prompt or None,
    }
    return {key: value for key, value in named.items() if value is not None}


_NAME = regex(r"sample|rollout|generation|completion|trajector|result|episode|dump", re.IGNORECASE)
_STEP_NAME = regex(r"\A(?:global_?)?(?:step[_-]?)?\d{1,18}\.(?:jsonl|ndjson)\Z", re.IGNORECASE)


def may_be_called(name: str) -> bool:
    """Whether a name is typical of samples in JSON lines."""
    return log_file_names.is_json(name) and bool(_STEP_NAME.match(name) or _NAME.search(name))


def _matches(name: str, head: bytes) -> bool:
    """By the first record: a prompt group or texts, a number, and a step or a name typical of samples."""
    if not log_file_names.is_json(name) or name.lower().endswith(".json"):
        return False
    if not head:
        return True
    *whole, cut = log_contents.from_first_record(head).split(b"\n")
    by_name = bool(_STEP_NAME.match(name) or _NAME.search(name))
    for line in whole:
        try:
            first = next(objects(line), None)
        except ValueError:
            continue
        if first is not None:
            measured = {key.rpartition("/")[2] for key, _ in numbers(first)}
            texts = {key for key in first if key in text_keys() and isinstance(first[key], str | list)}
            return bool(measured) and _is_sample(set(first), texts, measured, by_name)
    keys = log_contents.cut_keys(cut)
    texts = {key for key, number in keys if key in text_keys() and not number}
    names = {key for key, _ in keys}
    # Numbers may follow texts that are longer than the head.
    return bool(texts) and (by_name or _is_sample(names, texts, names, by_name))


def _is_sample(keys: set[str], texts: set[str], measured: set[str], by_name: bool) -> bool:
    grouped = any(key in keys for key in log_keys().samples.group)
    rewarded = any(key in measured for key in log_keys().samples.reward)
    stepped = bool(record_keys.step_keys(keys))
    if stepped and by_name and rewarded and not keys.isdisjoint(log_keys().samples.identity):
        return True
    return (stepped or by_name) and (
        (grouped and (rewarded or bool(texts))) or (bool(texts) and (rewarded or by_name))
    )


FORMAT = Format("samples", _matches, lambda path, _: SamplesReader(path))
