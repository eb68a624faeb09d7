"""All points of all logs in file order, with their superseded flags, for all export formats.

Whether a point is superseded is only known after reading its run to the end. Runs of up to `MAX_HELD` points
are held in memory until then; larger ones are read twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Bools
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problems
from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery, Source
from rltui.logs.follow.read_all import read_assigned
from rltui.logs.records.tag_table import written_tag
from rltui.logs.run_names import ALL_RUNS, RunFilter
from rltui.many_runs.plan import RunPlan
from rltui.store.points import HIGHEST, Points
from rltui.store.restarts.supersession import Supersession

if TYPE_CHECKING:
    from rltui.metrics.resolve import MetricNames

MAX_HELD = 2_000_000  # points of a run in memory, about 40 bytes each
GROUP_BYTES = 4 << 20  # size of the logs of small runs that are read in one pass


NamesOf = Callable[[Iterable[str], str], "MetricNames"]  # the meanings of the tags of a run


class PointSelection(NamedTuple):
    """Which points to export."""

    logdirs: Sequence[str]
    runs: RunFilter = ALL_RUNS
    metrics: Sequence[str] = ()  # globs; empty for all tags
    all_sources: bool = False  # whether to include duplicate logs
    verify: bool = False  # whether to check every checksum


@dataclass(frozen=True, slots=True, eq=False)
class ExportBatch:
    """Points of a log, in its order. superseded: (n,) bool, None if no point is superseded."""

    source: Source
    batch: Batch
    superseded: Bools | None
    number: int  # index of the first point in its log
    generation: int = 0  # of the file at that path; increases when the file is replaced
    names: MetricNames | None = None  # the meanings of the run's tags, if requested


class SupersededFlags:
    """Superseded flags of the points of a run, from the restarts in the points added so far."""

    def __init__(self, keep: int | None = None) -> None:
        self.restarts = Supersession(keep)
        self._rows: dict[str, int] = {}
        self._tables: dict[str, NDArray[np.intp]] = {}

    def rows(self, path: str, batch: Batch) -> NDArray[np.intp]:
        """(n,) row of each point of a batch; every tag of the run has a row."""
        table = self._tables.get(path)
        if table is None or len(table) < len(batch.tags):
            known = self._rows
            table = np.array([known.setdefault(tag, len(known)) for tag in batch.tags], np.intp)
            self._tables[path] = table
        return table[batch.tag]

    def begin(self, delivery: Delivery) -> None:
        """Handle a rewritten or restarted file before its points."""
        if delivery.kind == "rewritten":
            self.restarts.forget(delivery.source.path)
            self._tables.pop(delivery.source.path, None)
        elif delivery.kind == "restarted":
            self.restarts.replace_log(delivery.source.path)
            self._tables.pop(delivery.source.path, None)

    def add(self, source: Source, batch: Batch) -> None:
        """Add points in their order."""
        restarts, rows = self.restarts, self.rows(source.path, batch)
        log = restarts.log(source.path, source.rank)
        points = Points(batch.step, batch.wall_time, batch.value)
        pieces = restarts.split(log, rows, points, batch.starts)
        for segment in restarts.released:
            segment.cuts[:] = HIGHEST
        restarts.released.clear()
        restarts.note_points(log, pieces, rows, points, len(self._rows))
        restarts.commit(log, len(rows))

    def of_batch(self, source: Source, batch: Batch, number: int, generation: int) -> Bools | None:
        """(n,) bool: superseded points of a batch whose first point has index `number`; None if none is."""
        if len(self.restarts.segments) < 2:
            return None
        flags: Bools | None = None
        rows = self.rows(source.path, batch)
        segments = [
            segment
            for segment in self.restarts.segments
            if segment.log.path == source.path and segment.log.generation == generation
        ]
        for index, segment in enumerate(segments):
            end = segments[index + 1].begin if index + 1 < len(segments) else HIGHEST
            low, high = max(segment.begin - number, 0), min(end - number, len(batch))
            limit = self.restarts.superseded_from(segment) if low < high else None
            if limit is None:
                continue
            over = batch.step[low:high] >= limit[rows[low:high]]
            if over.any():
                flags = np.zeros(len(batch), np.bool_) if flags is None else flags
                flags[low:high] = over
        return flags

    def count(self, path: str) -> int:
        """The number of points added of a log."""
        log = self.restarts.logs.get(path)
        return 0 if log is None else log.count

    def generation(self, path: str) -> int:
        """The current generation of the file at a path: 1 after it was replaced once."""
        log = self.restarts.logs.get(path)
        return 0 if log is None else log.generation


class Exporter:
    """Reads the logs of some runs once (those of large runs twice) and yields their points.

    Collects problems. names_of: determines `ExportBatch.names`.
    """

    def __init__(
        self,
        selection: PointSelection,
        runs: Sequence[RunPlan],
        *,
        names_of: NamesOf | None = None,
        held: int = MAX_HELD,
    ) -> None:
        self._selection = selection
        self._runs = {run.name: run for run in runs if selection.runs.takes(run.name)}
        self._names_of = names_of
        self.metrics = TagFilter(selection.metrics)
        self._held = held
        self.problems = Problems()
        self._read_logs: set[str] = set()  # paths of logs of runs
        self._has_points: dict[str, bool] = {}  # by path, of logs that have points or are damaged

    @property
    def logs(self) -> int:
        """The number of logs that were read, without damaged logs that have no points."""
        return sum(self._has_points.get(path, True) for path in self._read_logs)

    def batches(self) -> Iterator[ExportBatch]:
        """The points by run and log, in file order."""
        group: list[RunPlan] = []
        room = GROUP_BYTES
        for run in self._runs.values():
            if group and run.size > room:
                yield from self._of_runs(group)
                group, room = [], GROUP_BYTES
            group.append(run)
            room -= run.size
        yield from self._of_runs(group)

    def _of_runs(self, runs: Sequence[RunPlan]) -> Iterator[ExportBatch]:
        """The points of runs that are read in one pass: for 64 small runs, 0.27 instead of 0.33 s."""
        if len(runs) == 1:
            yield from self.of_run(runs[0])
            return
        read: dict[str, list[Delivery]] = {run.name: [] for run in runs}
        for delivery in self._read(*runs):
            if delivery.source.run:  # otherwise a problem of a file that is no log
                read[delivery.source.run].append(delivery)
        for run in runs:
            yield from self.of_run(run, read.pop(run.name))

    def of_run(self, run: RunPlan, read: Iterable[Delivery] | None = None) -> Iterator[ExportBatch]:
        """The points of a run, from the given deliveries or by reading its logs."""
        readers: dict[str | None, SupersededFlags] = {}
        held: list[ExportBatch] | None = []
        tags: dict[str, None] = {}
        size = 0
        for delivery in self._read(run) if read is None else read:
            reader = readers.setdefault(_restarts_key(delivery.source), SupersededFlags())
            reader.begin(delivery)
            path = delivery.source.path
            if delivery.kind == "rewritten" and held:
                held = [points for points in held if points.source.path != path]
            batch = delivery.batch
            if not len(batch) and not batch.starts:
                continue
            if delivery.source.duplicate_of is None:
                tags.update(dict.fromkeys(batch.tags))
            number = reader.count(path)
            reader.add(delivery.source, batch)
            size += len(batch)
            if size > self._held:
                held = None
            elif held is not None:
                held.append(ExportBatch(delivery.source, batch, None, number, reader.generation(path)))
        names = self._names_of(tags, run.name) if self._names_of is not None else None
        batches = self._again(run) if held is None else iter(held)
        for points in self._flagged(batches, readers):
            yield points if names is None else replace(points, names=names)

    def _read(self, *runs: RunPlan) -> Iterator[Delivery]:
        chosen = self._selection
        logs = [log for run in runs for log in run.logs]
        read = read_assigned(logs, all_sources=chosen.all_sources, verify=chosen.verify)
        for delivery in chain(*(run.deliveries for run in runs), read):
            self.problems.note(delivery.batch.problems)
            path, batch = delivery.source.path, delivery.batch
            if delivery.source.run:
                if len(batch):
                    self._has_points[path] = True
                elif any(problem.level != "info" for problem in batch.problems):
                    self._has_points.setdefault(path, False)
                self._read_logs.add(path)
            yield delivery

    def _again(self, run: RunPlan) -> Iterator[ExportBatch]:
        """The second reading of a large run."""
        numbers: dict[str, int] = {}
        generations: dict[str, int] = {}
        for delivery in self._read(run):
            source, batch = delivery.source, delivery.batch
            if delivery.kind == "restarted":
                generations[source.path] = generations.get(source.path, 0) + 1
                numbers[source.path] = 0
            if len(batch):
                number = numbers.get(source.path, 0)
                numbers[source.path] = number + len(batch)
                yield ExportBatch(source, batch, None, number, generations.get(source.path, 0))

    def _flagged(
        self, batches: Iterator[ExportBatch], readers: dict[str | None, SupersededFlags]
    ) -> Iterator[ExportBatch]:
        for points in batches:
            reader = readers[_restarts_key(points.source)]
            batch = points.batch
            flags = reader.of_batch(points.source, batch, points.number, points.generation)
            wanted = self.metrics.mask(batch)
            if wanted is not None:
                if not wanted.any():
                    continue
                batch, flags = batch.where(wanted), None if flags is None else flags[wanted]
            if len(batch):
                yield ExportBatch(points.source, batch, flags, points.number, points.generation)


def _restarts_key(source: Source) -> str | None:
    """The key of a log's restarts, which all logs of a run share except duplicates."""
    return None if source.duplicate_of is None else source.path


class TagFilter:
    """Selects tags that match any of some globs; all tags without globs."""

    def __init__(self, globs: Sequence[str]) -> None:
        self._globs = tuple(globs)
        self._known: dict[str, bool] = {}

    def tag(self, tag: str) -> bool:
        """Whether a tag is selected."""
        found = self._known.get(tag)
        if found is None:
            found = not self._globs or any(fnmatchcase(tag, glob) for glob in self._globs)
            self._known[tag] = found
        return found

    def table(self, batch: Batch) -> list[bool]:
        """Whether each tag of a batch is selected, by its name in the log or in the run."""
        wanted = [self.tag(tag) or self.tag(written_tag(tag)) for tag in batch.tags]
        if batch.written:
            wanted = [one or self.tag(tag) for one, tag in zip(wanted, batch.written, strict=True)]
        return wanted

    def matched_none(self) -> bool:
        """Whether there are globs and no tag matched."""
        return bool(self._globs) and not any(self._known.values())

    def mask(self, batch: Batch) -> Bools | None:
        """(n,) bool: the selected points; None for all."""
        if not self._globs:
            return None
        table = np.array(self.table(batch), np.bool_)
        found: Bools = table[batch.tag] if len(table) else np.zeros(0, np.bool_)
        return found
