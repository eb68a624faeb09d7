"""All samples of a run: their heads in memory, their texts read from the files when they are shown.

Files of JSON lines are read in blocks and grow; a torn last line waits for its end. What is rewritten or
shrinks is read anew. Reading stops at a deadline and goes on at the next call, newest steps first, so that
the first screen of a large folder does not wait for all of it.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path

import orjson

from rltui.common.data_class import dataclass
from rltui.common.problem import Problem
from rltui.common.text import clean
from rltui.logs.local_file import LocalFile
from rltui.logs.sample_layouts.layouts import (
    Place,
    conversations,
    layouts,
    parquet_samples,
    place_by_content,
    place_of,
    samples_of,
    table_samples,
    trace_sample,
    unread_reason,
    with_text,
)
from rltui.logs.sample_layouts.sample import Message, RunSamples, Sample, SampleHead, head_of
from rltui.run_context.samples import trackio_traces
from rltui.run_context.samples.evaluations import evaluations_of

HEADS = 300_000  # kept at the most; beyond that the oldest steps are left out, and that is said
_BLOCK = 4 << 20  # bytes of one read
_LONG_LINES = 16 << 20  # the same where lines are so long that it would hold one of them only
_FIRST = 256 << 10  # the same of the first read of a file
_LINE_CAP = 64 << 20  # a longer line is left out
_WHOLE_CAP = 256 << 20  # of a file that can be read only as a whole (gzip, parquet, tables)
_WHOLE = frozenset({"table", "parquet", "traces", "database"})


@dataclass(slots=True)
class SampleFile:
    """One file of samples and how far it was read."""

    path: str  # of this machine
    shown: str  # relative to LOGDIR, cleaned
    place: Place
    offset: int = 0  # first byte that was not taken in
    size: int = -1  # as seen last
    modified: int = -1  # nanoseconds, as seen last
    done: bool = False  # everything that was there has been taken in
    samples: int = 0
    line: int = 0  # bytes of the longest line


@dataclass(slots=True)
class Catalog:
    """The samples of one run.

    `heads` are in the order of files and records. `refresh` takes in what is new; `load` reads a text.
    """

    table_steps: Callable[[], dict[str, int]] = dict  # step of each table by its name, where a log says it
    files: list[SampleFile] = field(default_factory=list)
    heads: list[SampleHead] = field(default_factory=list)
    problems: dict[tuple[str, str, int | None], Problem] = field(default_factory=dict)
    left_out: int = 0  # samples beyond HEADS
    _known: dict[str, int] = field(default_factory=dict)
    _by_copy_key: dict[int, int] = field(default_factory=dict)  # indices of heads

    def add(self, paths: Iterable[tuple[str, str]]) -> None:
        """Files that may hold samples: path of this machine, path relative to LOGDIR. Known ones are left."""
        for path, shown in paths:
            if path in self._known:
                continue
            why = unread_reason(shown)
            if why is not None:
                self._note("info", "not-opened", shown, why)
                self._known[path] = -1
                continue
            self._known[path] = len(self.files)
            # Of a file that was named by itself only the whole path tells the layout.
            place = place_of(shown) or place_of(path) or place_by_content(shown)
            self.files.append(SampleFile(path, clean(shown), place))

    def refresh(self, seconds: float = 0.5, clock: Callable[[], float] = time.monotonic) -> bool:
        """Take in what is new, newest steps first, for about so long. True when nothing is left to read."""
        deadline = clock() + seconds
        steps = [file.place.step for file in self.files]
        order = sorted(range(len(steps)), key=lambda number: (-(steps[number] or 0), number))
        done = True
        for number in order:
            try:
                done &= self._read(number, deadline, clock)
            except OSError as error:
                file = self.files[number]
                self._note("warning", "unreadable", file.shown, f"cannot be read: {error.strerror or error}")
            if clock() >= deadline and number != order[-1]:
                return all(file.done for file in self.files)
        return done

    @property
    def bytes_left(self) -> int:
        """Bytes known to be there that were not read yet."""
        return sum(max(0, file.size - file.offset) for file in self.files)

    def load(self, head: SampleHead) -> Sample:
        """The sample of a head with its texts. Raises OSError and ValueError."""
        file = self.files[head.file]
        return _with_split(self._records(file, head)[head.item], head)

    def load_many(self, heads: Iterable[SampleHead]) -> Iterator[tuple[SampleHead, Sample]]:
        """The samples of several heads; a file that is read only as a whole is read once for its heads.

        What cannot be read any more is left out.
        """
        by_place: dict[tuple[int, int], list[SampleHead]] = {}
        for head in heads:
            by_place.setdefault((head.file, head.offset), []).append(head)
        for group in by_place.values():
            try:
                records = self._records(self.files[group[0].file], group[0])
            except (OSError, ValueError, IndexError):
                continue
            for head in group:
                if head.item < len(records):
                    yield head, _with_split(records[head.item], head)

    def snapshot(self) -> RunSamples:
        """What is known now, as a value that does not change."""
        by_step: dict[int, list[SampleHead]] = {}
        for head in self.heads:
            by_step.setdefault(head.step, []).append(head)
        steps = {step: tuple(by_step[step]) for step in sorted(by_step)}
        return RunSamples(
            steps, tuple(self.problems.values()), self.left_out, self.bytes_left, evaluations_of(self.heads)
        )

    def _records(self, file: SampleFile, head: SampleHead) -> list[Sample]:
        if file.place.layout.kind in _WHOLE or file.path.endswith(".gz"):
            return self._whole(file)
        with LocalFile(file.path, file.shown) as opened:
            line = opened.read_at(head.offset, head.size)
        record = orjson.loads(line)
        samples = list(samples_of(record, file.place))
        if file.place.layout.kind == "summaries":
            samples = self._with_tree(file, head, samples)
        return samples

    def _with_tree(self, file: SampleFile, head: SampleHead, samples: list[Sample]) -> list[Sample]:
        """The texts that tinker writes into a file of its own: prompt and response of the first samples."""
        tree = Path(file.path.replace("_rollout_summaries.jsonl", "_logtree.json"))
        try:
            with LocalFile(str(tree), file.shown) as opened:
                found = list(conversations(orjson.loads(opened.read_at(0, min(opened.size(), _WHOLE_CAP)))))
        except (OSError, ValueError):
            return samples
        mine = [each for each in self.heads if each.file == head.file]
        number = next((place for place, each in enumerate(mine) if each.offset == head.offset), 0)
        pairs: list[tuple[tuple[Message, ...], tuple[Message, ...]]] = list(
            zip(found[::2], found[1::2], strict=False)
        )
        if number >= len(pairs):
            return samples
        return [with_text(sample, *pairs[number]) for sample in samples]

    def _read(self, number: int, deadline: float, clock: Callable[[], float]) -> bool:
        """Take in what one file has; True when all of it was."""
        file = self.files[number]
        if file.place.layout.kind == "database":
            size, modified = trackio_traces.file_stamps(file.path)
            if (size, modified) != (file.size, file.modified) or not file.done:
                self._take_whole(number, size, modified)
            return True
        with LocalFile(file.path, file.shown) as opened:
            size = opened.size()
            modified = opened.status.st_mtime_ns if opened.status else -1
            if size == file.size and modified == file.modified and file.done:
                return True
            if size < file.offset:
                self._forget(number)
            if file.place.layout.kind in _WHOLE or file.path.endswith(".gz"):
                self._take_whole(number, size, modified)
                return True
            file.size, file.modified = size, modified
            file.done = False
            while clock() < deadline:
                before = file.offset
                self._lines(number, opened, size)
                if file.offset == before:
                    file.done = True
                    return True
        return False

    def _take_whole(self, number: int, size: int, modified: int) -> None:
        """Take in a file that is read as a whole, anew where it has changed."""
        file = self.files[number]
        if file.size >= 0 and (size, modified) != (file.size, file.modified):
            self._forget(number)
        file.size, file.modified, file.done = size, modified, True
        for item, sample in enumerate(self._whole(file)):
            self._take(sample, head_of(sample, number, 0, size, item))
        file.offset = size

    def _lines(self, number: int, opened: LocalFile, size: int) -> None:
        """Take in the whole lines of the next block; a last line without newline counts when it is JSON."""
        file = self.files[number]
        # The first samples are shown while the rest is read: the first look takes as little as it can.
        wanted = min(max(_BLOCK, 4 * file.line), _LONG_LINES) if file.offset else _FIRST
        pieces = [opened.read_at(file.offset, wanted)]
        length = len(pieces[0])
        while not (found := pieces[-1].rfind(b"\n") + 1) and length < _LINE_CAP:
            more = opened.read_at(file.offset + length, _BLOCK) if file.offset + length < size else b""
            if not more:
                break
            pieces.append(more)
            length += len(more)
        block = b"".join(pieces)
        end = len(block) - len(pieces[-1]) + found if found else 0
        at_end = file.offset + len(block) >= size
        if not end and not at_end:
            self._note(
                "warning", "line-too-long", file.shown, f"a line of over {_LINE_CAP:,} bytes is left out"
            )
            file.offset += len(block)
            return
        start = 0
        for line in block[:end].split(b"\n")[:-1]:
            self._line(number, line, file.offset + start)
            start += len(line) + 1
            file.line = max(file.line, len(line))
        tail = block[end:]
        if at_end and tail.strip() and self._line(number, tail, file.offset + end, torn=True):
            end += len(tail)
        file.offset += end

    def _line(self, number: int, line: bytes, offset: int, *, torn: bool = False) -> bool:
        """Take one record; with `torn`, a line that may still grow is left alone."""
        file = self.files[number]
        if not line.strip():
            return True
        try:
            record = orjson.loads(line)
        except ValueError:
            if not torn:
                self._note(
                    "warning", "not-json", file.shown, "holds lines that are no JSON; they are left out"
                )
            return False
        if isinstance(record, dict):
            for item, sample in enumerate(samples_of(record, file.place)):
                self._take(sample, head_of(sample, number, offset, len(line), item))
        return True

    def _whole(self, file: SampleFile) -> list[Sample]:
        """The samples of a file that is read as a whole."""
        if file.place.layout.kind == "database":
            return trackio_traces.traces_of(file.path, file.place)
        with LocalFile(file.path, file.shown) as opened:
            size = opened.size()
            if size > _WHOLE_CAP:
                message = (
                    f"is larger than {_WHOLE_CAP >> 20} MB and can be read only as a whole; it is left out"
                )
                self._note("warning", "too-large", file.shown, message)
                return []
            content = opened.read_at(0, size)
        try:
            return self._decode(file, content)
        except (ValueError, KeyError, TypeError, EOFError, OSError) as error:
            reason = clean(str(error), 120)
            self._note("warning", "not-samples", file.shown, f"holds no samples that can be read: {reason}")
            return []

    def _decode(self, file: SampleFile, content: bytes) -> list[Sample]:
        kind = file.place.layout.kind
        if kind == "table":
            step = self.table_steps().get(Path(file.path).name)
            place = file.place if step is None else Place(file.place.layout, step, file.place.split)
            return table_samples(content, place)
        if kind == "traces":
            sample = trace_sample(content.splitlines(), file.place)
            return [] if sample is None else [sample]
        if kind == "parquet":
            rows = _parquet_rows(content)
            if rows is None:
                message = "needs pyarrow: pip install 'rltui[parquet]'"
                self._note("warning", "missing-extra", file.shown, message)
                return []
            return parquet_samples(rows, file.place)
        text = gzip.decompress(content)
        return [
            sample
            for line in text.splitlines()
            if line.strip()
            for sample in samples_of(orjson.loads(line), file.place)
        ]

    def _take(self, sample: Sample, head: SampleHead) -> None:
        file = self.files[head.file]
        file.samples += 1
        if file.place.layout.name in _copied():
            head = head._replace(copy_key=hash((sample.step, sample.id, head.item)))
            at = self._by_copy_key.get(head.copy_key)
            known = self.heads[at] if at is not None else None
            copy = file.place.layout.copies
            if at is not None and known is not None and copy != self.files[known.file].place.layout.copies:
                kept, split = (known, head.split) if copy else (head, known.split)
                self.heads[at] = kept._replace(split=split)
                return
        if len(self.heads) >= HEADS:
            self.left_out += 1
            return
        if head.copy_key:
            self._by_copy_key[head.copy_key] = len(self.heads)
        self.heads.append(head)

    def _forget(self, number: int) -> None:
        """A file was rewritten: what it gave is read anew."""
        file = self.files[number]
        self.heads = [head for head in self.heads if head.file != number]
        self._by_copy_key = {head.copy_key: at for at, head in enumerate(self.heads) if head.copy_key}
        file.offset, file.samples, file.done = 0, 0, False

    def _note(self, level: str, code: str, path: str, message: str) -> None:
        problem = Problem(level, code, clean(path), message)  # type: ignore[arg-type]
        self.problems[problem.key] = problem


@cache
def _copied() -> frozenset[str]:
    """Layouts that have some samples in two files."""
    return frozenset(layout.name for layout in layouts().layout if layout.copies)


def _with_split(sample: Sample, head: SampleHead) -> Sample:
    """The sample as its head says: another file may have told its split."""
    return sample if sample.split == head.split else sample._replace(split=head.split)


def _parquet_rows(content: bytes) -> Sequence[dict[str, object]] | None:
    """The rows of a parquet file, None where pyarrow is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return None
    table = pyarrow.parquet.read_table(pyarrow.BufferReader(content))
    rows: list[dict[str, object]] = table.to_pylist()
    return rows
