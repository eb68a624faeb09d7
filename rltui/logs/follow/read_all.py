"""Reading everything once, to the end: what commands without a screen start with."""

from __future__ import annotations

import contextlib
import fnmatch
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rltui.batch import EMPTY, Batch, Problem
from rltui.logs.delivery import Delivery, Source
from rltui.logs.discovery.related_runs import RelatedRuns
from rltui.logs.discovery.walk import scan
from rltui.logs.files import Calls
from rltui.logs.formats.registry import REGISTRY, FormatRegistry
from rltui.logs.log_file.log_file import LogFile, Piece
from rltui.logs.run_names import file_order

PORTION = 4 << 20  # bytes of a log that one delivery holds at most, about


class MissingError(FileNotFoundError):
    """A LOGDIR does not exist. `problem` says it for people."""

    def __init__(self, logdir: str) -> None:
        super().__init__(f"{logdir}: no such file or folder")
        self.problem = Problem("error", "missing", logdir, "no such file or folder")


def read_all(
    logdirs: Sequence[str | Path],
    *,
    run_glob: str | None = None,
    verify: bool = False,
    all_sources: bool = False,
    kinds: FormatRegistry = REGISTRY,
) -> Iterator[Delivery]:
    """Every point of every log below the LOGDIRs: runs by name, their logs as they were written.

    Twins come as one "state" each unless `all_sources`. Troubles with folders come under the empty run
    name. verify: check all checksums. Raises MissingError at the start for a LOGDIR that is not there.
    """
    found, problems, missing = scan(logdirs, kinds.could_be_log)
    if missing:
        raise MissingError(missing[0])
    for problem in problems:
        yield Delivery(Source(run="", path=problem.path, format=""), Batch(problems=(problem,)), "state")
    calls = Calls()
    family = RelatedRuns()
    tracks = [LogFile(each, kinds, verify=verify) for each in found]
    for track in tracks:
        family.add(track)
        _presume(track, calls)
    opened = [(track, track.visit(calls, 0.0, trust=True, until=None)) for track in tracks]
    for track in tracks:
        family.settle(track, calls)
    opened.sort(key=lambda each: (each[0].run, each[0].found.folder, file_order(each[0].found.name)))
    if run_glob is not None:
        opened = [each for each in opened if fnmatch.fnmatchcase(each[0].run, run_glob)]
    for track, pieces in opened:
        reads = all_sources or track.also_of is None
        told: Source | None = None
        for delivery in _read(track, pieces, calls) if reads else _deliver(track, pieces):
            told = delivery.source
            yield delivery
        if track.format is not None and (told is None or not told.caught_up or told.read != track.offset):
            yield from _deliver(track, [("state", EMPTY)])
        track.close()


def _presume(track: LogFile, calls: Calls) -> None:
    """Know what can be known of a log without opening it; its visit tells what is wrong."""
    with contextlib.suppress(OSError):
        track.presume(calls.run(track.found.place, os.stat, track.found.place))


def _read(track: LogFile, pieces: Sequence[Piece], calls: Calls) -> Iterator[Delivery]:
    """What was said when it was opened, and all that it says."""
    yield from _deliver(track, pieces)
    while track.readable and not track.caught_up:
        yield from _deliver(track, _portion(track, calls))
    if track.format is not None:
        yield from _deliver(track, track.finish(calls))


def _portion(track: LogFile, calls: Calls) -> list[Piece]:
    """The next PORTION of a log, or a bit more."""
    stop = track.offset + PORTION
    return track.visit(calls, 0.0, trust=True, until=lambda: track.offset >= stop, limit=1 << 62)


def _deliver(track: LogFile, pieces: Sequence[Piece]) -> Iterator[Delivery]:
    for kind, batch in pieces:
        yield Delivery(track.source(), track.renamed(batch), kind)
