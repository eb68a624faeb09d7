"""All samples of a run: their heads in memory, their texts read from the files on demand.

Files of JSON lines are read in blocks and may grow; a torn last line is read when it is complete. Files that
were rewritten or truncated are read again. Reading stops at a deadline and continues at the next call, newest
steps first, so that the first screen of a large folder does not have to wait.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import orjson

from rltui.common.display_text import clean
from rltui.common.extras import install_hint
from rltui.common.problem import Problem, ProblemLevel
from rltui.draw.numbers import format_bytes
from rltui.logs.formats.lines.line_splitter import LineSplitter
from rltui.logs.local_file import LocalFile
from rltui.logs.sample_layouts.layouts import (
    LayoutMatch,
    conversations,
    layouts,
    match_by_content,
    match_layout,
    parquet_samples,
    samples_of,
    table_samples,
    trace_sample,
    unread_reason,
    with_text,
)
from rltui.logs.sample_layouts.sample import Sample, SampleHead, head_of
from rltui.run_context.samples import trackio_traces
from rltui.run_context.samples.evaluations import evaluations_of
from rltui.run_context.samples.run_samples import RunSamples

MAX_HEADS = 300_000  # the oldest steps beyond that are left out and counted
_BLOCK = 4 << 20  # bytes of one read
_FIRST_BLOCK = 256 << 10  # the same for the first read of a file
_MAX_LINE_BYTES = 64 << 20  # bytes; a longer line is left out
_MAX_WHOLE_BYTES = 256_000_000  # bytes of a file that can only be read as a whole (gzip, parquet, tables)
_WHOLE_KINDS = frozenset({"table", "parquet", "traces", "database"})


@dataclass(slots=True)
class SampleFile:
    """One file of samples and how far it was read."""

    path: str
    shown: str  # relative to LOGDIR, cleaned
    match: LayoutMatch
    lines: LineSplitter = field(init=False)
    size: int = -1  # bytes, at the last look
    modified: int = -1  # nanoseconds, at the last look
    done: bool = False  # whether it was read to its end
    samples: int = 0

    def __post_init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Read it again from its first byte."""
        self.lines = LineSplitter(self.shown, _MAX_LINE_BYTES)
        self.samples, self.done = 0, False

    @property
    def offset(self) -> int:
        """Of the first byte that was not read."""
        return self.lines.offset

    @property
    def whole(self) -> bool:
        """Whether it can only be read as a whole."""
        return self.match.layout.kind in _WHOLE_KINDS or self.path.endswith(".gz")


@dataclass(slots=True)
class SampleIndex:
    """The samples of one run.

    `heads` are in the order of files and records. `refresh` reads new samples; `load` reads the texts of one.
    """

    table_steps: Callable[[], dict[str, int]] = dict  # the step of each table by its name, from logs of W&B
    files: list[SampleFile] = field(default_factory=list)
    heads: list[SampleHead] = field(default_factory=list)
    problems: dict[tuple[str, str, int | None], Problem] = field(default_factory=dict)
    left_out: int = 0  # samples beyond MAX_HEADS
    _known: set[str] = field(default_factory=set)  # paths of files
    _by_copy_key: dict[int, int] = field(default_factory=dict)  # indices of heads

    def add(self, paths: Iterable[tuple[str, str]]) -> None:
        """Add files that may hold samples, unless they are known: path, path relative to LOGDIR."""
        for path, shown in paths:
            if path in self._known:
                continue
            self._known.add(path)
            reason = unread_reason(shown)
            if reason is not None:
                self._report("info", "not-opened", shown, reason)
                continue
            # If LOGDIR is this file, only the whole path shows the layout.
            match = match_layout(shown) or match_layout(path) or match_by_content(shown)
            self.files.append(SampleFile(path, clean(shown), match))

    def refresh(self, seconds: float = 0.5, clock: Callable[[], float] = time.monotonic) -> bool:
        """Read new samples, newest steps first, for about `seconds`. True if everything was read."""
        deadline = clock() + seconds
        steps = [file.match.step for file in self.files]
        order = sorted(range(len(steps)), key=lambda number: (-(steps[number] or 0), number))
        done = True
        for number in order:
            try:
                done &= self._read(number, deadline, clock)
            except OSError as error:
                file = self.files[number]
                reason = error.strerror or str(error)
                self._report("warning", "unreadable", file.shown, f"cannot be read: {reason}")
            if clock() >= deadline and number != order[-1]:
                return all(file.done for file in self.files)
        return done

    @property
    def bytes_left(self) -> int:
        """Bytes that were not read yet."""
        return sum(max(0, file.size - file.offset) for file in self.files)

    def load(self, head: SampleHead) -> Sample:
        """The sample of a head with its texts. Raises OSError, ValueError and IndexError."""
        return _with_split(self._records(self.files[head.file], head)[head.item], head)

    def load_many(self, heads: Iterable[SampleHead]) -> Iterator[tuple[SampleHead, Sample]]:
        """The samples of several heads, each file or record read once; those that are gone are left out."""
        by_record: dict[tuple[int, int], list[SampleHead]] = {}
        for head in heads:
            by_record.setdefault((head.file, head.offset), []).append(head)
        for group in by_record.values():
            try:
                records = self._records(self.files[group[0].file], group[0])
            except (OSError, ValueError, IndexError):
                continue
            for head in group:
                if head.item < len(records):
                    yield head, _with_split(records[head.item], head)

    def snapshot(self) -> RunSamples:
        """The present samples as an immutable value."""
        by_step: dict[int, list[SampleHead]] = {}
        for head in self.heads:
            by_step.setdefault(head.step, []).append(head)
        steps = {step: tuple(by_step[step]) for step in sorted(by_step)}
        return RunSamples(
            steps, tuple(self.problems.values()), self.left_out, self.bytes_left, evaluations_of(self.heads)
        )

    def _records(self, file: SampleFile, head: SampleHead) -> list[Sample]:
        if file.whole:
            return self._read_whole(file)
        with LocalFile(file.path, file.shown) as opened:
            line = opened.read_at(head.offset, head.size)
        samples = list(samples_of(orjson.loads(line), file.match))
        if file.match.layout.kind == "summaries":
            samples = self._with_texts(file, head, samples)
        return samples

    def _with_texts(self, file: SampleFile, head: SampleHead, samples: list[Sample]) -> list[Sample]:
        """Add prompt and response, which tinker writes to another file for the first samples."""
        tree = file.path.replace("_rollout_summaries.jsonl", "_logtree.json")
        try:
            with LocalFile(tree, file.shown) as opened:
                content = opened.read_at(0, min(opened.size(), _MAX_WHOLE_BYTES))
            turns = list(conversations(orjson.loads(content)))
        except (OSError, ValueError):
            return samples
        offsets = [other.offset for other in self.heads if other.file == head.file]
        first = 2 * offsets.index(head.offset) if head.offset in offsets else 0
        if first + 1 >= len(turns):
            return samples
        return [with_text(sample, turns[first], turns[first + 1]) for sample in samples]

    def _read(self, number: int, deadline: float, clock: Callable[[], float]) -> bool:
        """Read new samples of one file; True if it was read to its end."""
        file = self.files[number]
        if file.match.layout.kind == "database":
            size, modified = trackio_traces.file_stamps(file.path)
            if (size, modified) != (file.size, file.modified) or not file.done:
                self._add_whole(number, size, modified)
            return True
        with LocalFile(file.path, file.shown) as opened:
            size = opened.size()
            modified = opened.status.st_mtime_ns if opened.status else -1
            if size == file.size and modified == file.modified and file.done:
                return True
            if size < file.offset:
                self._forget(number)
            if file.whole:
                self._add_whole(number, size, modified)
                return True
            file.size, file.modified = size, modified
            file.done = False
            while clock() < deadline:
                before = file.offset
                self._add_lines(number, opened)
                if file.offset == before:
                    file.done = True
                    return True
        return False

    def _add_whole(self, number: int, size: int, modified: int) -> None:
        """Add the samples of a file that is read as a whole, again if it has changed."""
        file = self.files[number]
        if file.size >= 0 and (size, modified) != (file.size, file.modified):
            self._forget(number)
        file.size, file.modified, file.done = size, modified, True
        for item, sample in enumerate(self._read_whole(file)):
            self._add(sample, head_of(sample, number, 0, size, item))
        file.lines.offset = size

    def _add_lines(self, number: int, opened: LocalFile) -> None:
        """Add the complete lines of the next block; a last line without newline counts if it is JSON."""
        file, before = self.files[number], self.files[number].offset
        # The first read is small, so that the first samples are shown early.
        lines = file.lines.take(opened, _BLOCK if before else _FIRST_BLOCK)
        offset = file.lines.start
        for line in lines:
            self._add_line(number, line, offset)
            offset += len(line) + 1
        if file.offset == before:
            tail = file.lines.tail(opened)
            if tail.strip() and self._add_line(number, tail, before, torn=True):
                file.lines.offset += len(tail)
        self.problems.update({problem.key: problem for problem in file.lines.problems()})

    def _add_line(self, number: int, line: bytes, offset: int, *, torn: bool = False) -> bool:
        """Add the samples of one record. torn: the line may be incomplete, so an error is not reported."""
        file = self.files[number]
        if not line.strip():
            return True
        try:
            record = orjson.loads(line)
        except ValueError:
            if not torn:
                message = "holds lines that are not JSON; they are left out"
                self._report("warning", "not-json", file.shown, message)
            return False
        if isinstance(record, dict):
            for item, sample in enumerate(samples_of(record, file.match)):
                self._add(sample, head_of(sample, number, offset, len(line), item))
        return True

    def _read_whole(self, file: SampleFile) -> list[Sample]:
        if file.match.layout.kind == "database":
            return trackio_traces.traces_of(file.path, file.match)
        with LocalFile(file.path, file.shown) as opened:
            size = opened.size()
            if size > _MAX_WHOLE_BYTES:
                limit = format_bytes(_MAX_WHOLE_BYTES)
                message = f"is larger than {limit} and can be read only as a whole; it is left out"
                self._report("warning", "too-large", file.shown, message)
                return []
            content = opened.read_at(0, size)
        try:
            return self._decode(file, content)
        except (ValueError, KeyError, TypeError, EOFError, OSError) as error:
            reason = clean(str(error), 120)
            self._report("warning", "not-samples", file.shown, f"holds no samples that can be read: {reason}")
            return []

    def _decode(self, file: SampleFile, content: bytes) -> list[Sample]:
        kind = file.match.layout.kind
        if kind == "table":
            step = self.table_steps().get(Path(file.path).name)
            return table_samples(content, file.match if step is None else file.match._replace(step=step))
        if kind == "traces":
            sample = trace_sample(content.splitlines(), file.match)
            return [] if sample is None else [sample]
        if kind == "parquet":
            rows = _parquet_rows(content)
            if rows is None:
                self._report("warning", "missing-extra", file.shown, install_hint("parquet"))
                return []
            return parquet_samples(rows, file.match)
        text = gzip.decompress(content)
        return [
            sample
            for line in text.splitlines()
            if line.strip()
            for sample in samples_of(orjson.loads(line), file.match)
        ]

    def _add(self, sample: Sample, head: SampleHead) -> None:
        file = self.files[head.file]
        file.samples += 1
        if file.match.layout.name in _copied_layouts():
            head = head._replace(copy_key=hash((sample.step, sample.id, head.item)))
            at = self._by_copy_key.get(head.copy_key)
            known = self.heads[at] if at is not None else None
            copy = file.match.layout.copies
            if at is not None and known is not None and copy != self.files[known.file].match.layout.copies:
                kept, split = (known, head.split) if copy else (head, known.split)
                self.heads[at] = kept._replace(split=split)
                return
        if len(self.heads) >= MAX_HEADS:
            self.left_out += 1
            return
        if head.copy_key:
            self._by_copy_key[head.copy_key] = len(self.heads)
        self.heads.append(head)

    def _forget(self, number: int) -> None:
        """Remove the samples of a file that was rewritten."""
        self.files[number].forget()
        self.heads = [head for head in self.heads if head.file != number]
        self._by_copy_key = {head.copy_key: at for at, head in enumerate(self.heads) if head.copy_key}

    def _report(self, level: ProblemLevel, code: str, path: str, message: str) -> None:
        problem = Problem(level, code, clean(path), message)
        self.problems[problem.key] = problem


@cache
def _copied_layouts() -> frozenset[str]:
    """Layouts that write some samples to two files."""
    return frozenset(layout.name for layout in layouts().layout if layout.copies)


def _with_split(sample: Sample, head: SampleHead) -> Sample:
    """The sample with the split of its head, which may be that of a copy in another file."""
    return sample if sample.split == head.split else sample._replace(split=head.split)


def _parquet_rows(content: bytes) -> Sequence[dict[str, object]] | None:
    """The rows of a parquet file; None if pyarrow is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return None
    table = pyarrow.parquet.read_table(pyarrow.BufferReader(content))
    rows: list[dict[str, object]] = table.to_pylist()
    return rows
