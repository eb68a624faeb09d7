"""`rltui export --follow`: printing points as they are written, until a signal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np

from rltui.cli.export.export_points import PointSelection, SupersededFlags, TagFilter
from rltui.cli.export.point_lines import JsonlWriter
from rltui.cli.output.file_problems import FileProblemReporter
from rltui.cli.output.printing import need_reader
from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.read_all import Deliveries
from rltui.logs.run_names import RunFilter

IDLE_SECONDS = 0.5  # between checks for missing LOGDIRs


class PointPrinter:
    """Prints the points of deliveries as lines, once each and in file order.

    A point is marked superseded only if the later attempt is known when it is printed.
    """

    def __init__(self, metrics: Sequence[str], write: Callable[[bytes], object]) -> None:
        self._wanted = TagFilter(metrics)
        self._write = write
        self._printer = JsonlWriter()
        self._readers: dict[tuple[str, str | None], SupersededFlags] = {}
        self._given: dict[str, dict[str, int]] = {}  # number of points printed, by path and tag
        self._repeats: dict[str, dict[str, int]] = {}  # of rewritten logs: points that will be read again

    def take(self, delivery: Delivery) -> bool:
        """Print new points. Returns whether there were any."""
        source, batch = delivery.source, delivery.batch
        if delivery.kind == "newest":  # a preview of points that are delivered again in order
            return False
        lane = (source.run, None if source.duplicate_of is None else source.path)
        reader = self._readers.setdefault(lane, SupersededFlags(keep=32))
        reader.begin(delivery)
        if delivery.kind == "rewritten":
            self._repeats[source.path] = dict(self._given.get(source.path, {}))
            self._printer.forget(source.path)
        elif delivery.kind == "restarted":
            self._given.pop(source.path, None)
            self._repeats.pop(source.path, None)
            self._printer.forget(source.path)
        if not len(batch) and not batch.starts:
            return False
        number = reader.count(source.path)
        reader.add(source, batch)
        flags = reader.of_batch(source, batch, number, reader.generation(source.path))
        mask = self._new(source.path, batch)
        if not mask.all():
            batch, flags = batch.where(mask), None if flags is None else flags[mask]
        for block in self._printer.lines(source, batch, flags):
            self._write(block)
        return bool(len(batch))

    def _new(self, path: str, batch: Batch) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """(n,) bool: points that are selected and were not printed before the log was rewritten."""
        mask = np.ones(len(batch), np.bool_)
        repeats = self._repeats.get(path, {})
        given = self._given.setdefault(path, {})
        wanted = self._wanted.table(batch)
        counts = np.bincount(batch.tag, minlength=len(batch.tags))
        for index in np.flatnonzero(counts).tolist():
            tag, count = batch.tags[index], int(counts[index])
            again = min(repeats.get(tag, 0), count)
            if again:
                repeats[tag] -= again
                mask[np.flatnonzero(batch.tag == index)[:again]] = False
            given[tag] = given.get(tag, 0) + count - again
            if not wanted[index]:
                mask[batch.tag == index] = False
        return mask


def follow(selection: PointSelection) -> None:
    """Print points until a signal or a closed pipe."""
    out = sys.stdout.buffer
    printer = PointPrinter(selection.metrics, out.write)
    runs = RunFilter(selection.runs.glob)
    follower = Follower(selection.logdirs, runs=runs, all_sources=selection.all_sources)
    reporter = FileProblemReporter()
    for deliveries in Deliveries(follower, wait=IDLE_SECONDS):
        need_reader()
        reporter.report_missing(follower.search.waiting)
        for delivery in reporter.passing(deliveries):
            if selection.runs.takes(delivery.source.run) and printer.take(delivery):
                out.flush()
