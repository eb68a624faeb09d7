"""`rltui export --follow`: print points as they are written, until somebody says stop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np

from rltui.cli.export.point_lines import JsonlWriter
from rltui.cli.export.points import PointSelection, SupersededFlags, TagFilter
from rltui.cli.file_problems import FileProblemReporter
from rltui.cli.output import need_reader
from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.read_all import Deliveries

IDLE = 0.5  # seconds between two questions which LOGDIRs are still missing


class PointPrinter:
    """Turns deliveries into lines. Each point of a log is printed once, in file order.

    A point is marked superseded when a later attempt is known as it is printed; lines that are out
    stay as they are.
    """

    def __init__(self, metrics: Sequence[str], write: Callable[[bytes], object]) -> None:
        self._wanted = TagFilter(metrics)
        self._write = write
        self._printer = JsonlWriter()
        self._readers: dict[tuple[str, str | None], SupersededFlags] = {}
        self._given: dict[str, dict[str, int]] = {}  # points read, by path and tag
        self._repeats: dict[str, dict[str, int]] = {}  # of a rewritten log: points that will come again

    def take(self, delivery: Delivery) -> bool:
        """Print what is new; whether that was anything."""
        source, batch = delivery.source, delivery.batch
        if delivery.kind == "newest":  # a preview; the same points come in their order later
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
        """Points that are wanted and have not been printed before the log was rewritten."""
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
    """Print for ever. Ends by a signal or a closed pipe."""
    out = sys.stdout.buffer
    printer = PointPrinter(selection.metrics, out.write)
    follower = Follower(selection.logdirs, run_glob=selection.run_glob, all_sources=selection.all_sources)
    reporter = FileProblemReporter()
    for deliveries in Deliveries(follower, wait=IDLE):
        need_reader()
        reporter.report_missing(follower.search.waiting)
        for delivery in reporter.passing(deliveries):
            if selection.takes(delivery.source.run) and printer.take(delivery):
                out.flush()
