"""Following: looks at the logs, decides what to read next, and says what changed. No threads, no waiting.

Every look is one bounded round: search for new logs, look at those that are due, show the newest of those
that are new, read on in the history of the rest.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rltui.batch import EMPTY, Batch, Problem
from rltui.logs.delivery import Delivery, FollowStatus, Kind, Source
from rltui.logs.discovery.related_runs import RelatedRuns
from rltui.logs.discovery.run_filter import RunFilter
from rltui.logs.discovery.search import BackgroundSearch
from rltui.logs.discovery.walk import Found
from rltui.logs.file_systems import FileSystem
from rltui.logs.files import Calls, GivenUpError
from rltui.logs.follow.follow_stats import FollowStats
from rltui.logs.follow.history_queue import HistoryQueue
from rltui.logs.follow.hung_calls import GIVE_UP, HungCalls
from rltui.logs.follow.open_queue import OpenQueue
from rltui.logs.follow.poll_interval import HOT_MODIFIED, HOT_SECONDS, PollInterval
from rltui.logs.follow.poll_schedule import PollSchedule
from rltui.logs.follow.read_all import read_all
from rltui.logs.formats.interface import BLOCK
from rltui.logs.formats.registry import REGISTRY, FormatRegistry
from rltui.logs.log_file.log_file import LogFile
from rltui.logs.run_names import rotated_from

__all__ = ["GIVE_UP", "Follower", "read_all"]

SLICE = 0.05  # seconds of reading between two chances for the consumer
PREVIEW = 256 << 10  # bytes at the end of a large log that are shown first
LARGE = BLOCK  # bytes of history from which a preview is worth it

Over = Callable[[], bool]


class Follower:
    """All logs below the LOGDIRs, followed. To be driven by one thread at a time.

    poll: seconds between looks at a log that grows; half of it on local disks where that is cheap.
    run_glob: only runs with such names, and what is called `also`. all_sources: deliver points of twins too.
    clock, wall: monotonic and wall time; kinds: the formats; system: what is known of the file system.
    """

    def __init__(
        self,
        logdirs: Sequence[str | Path],
        *,
        poll: float = 1.0,
        run_glob: str | None = None,
        also: str | None = None,
        all_sources: bool = False,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        kinds: FormatRegistry = REGISTRY,
        system: FileSystem | None = None,
    ) -> None:
        self.logdirs = tuple(os.fspath(logdir) for logdir in logdirs)
        self._choice = RunFilter(run_glob, also)
        self._all_sources = all_sources
        self._clock, self._wall = clock, wall
        self.kinds = kinds
        self._calls = Calls()
        self.pace = PollInterval(poll, system or FileSystem("", remote=False, events=False, hold=True))
        self.seeker = BackgroundSearch(self.logdirs, self.kinds, self.pace, system=system, wall=wall)
        self.gauge = FollowStats()
        self.tracks: dict[str, LogFile] = {}
        self._absorbed: set[str] = set()
        self._aside: set[str] = set()  # not asked for, but perhaps the main logs of twins that are
        self._family = RelatedRuns()
        self._agenda = PollSchedule(self.pace)
        self._backlog = HistoryQueue()
        self._arrivals = OpenQueue()
        self._patience = HungCalls()

    # -- what the owner asks

    def look(self, now: float | None = None) -> Iterator[Delivery]:
        """One round. Yields after at most about SLICE of work; to be consumed to its end."""
        calls = self._calls
        began = time.perf_counter()
        for delivery in self._round(self._clock() if now is None else now, calls, began):
            if not self._choice.takes(delivery.source.run):
                continue  # a twin or a part of a run that was not asked for
            self.gauge.note(delivery.batch.problems)
            yield delivery
        if calls.given_up:
            self._returned(calls)
        else:
            self.gauge.looked(time.perf_counter() - began)

    @property
    def caught_up(self) -> bool:
        """Whether everything that was there has been read."""
        return not (self.seeker.first or self._arrivals or self._backlog)

    def next_due(self, now: float | None = None) -> float:
        """Seconds until the next look is worth it; 0 when there is work now."""
        if self.seeker.busy or self._patience.news or not self.caught_up:
            return 0.0
        at = self._clock() if now is None else now
        return max(0.0, min(self.seeker.next_due(), self._agenda.next_due()) - at)

    def focus(self, run: str | None) -> None:
        """Read the history of this run first."""
        self._backlog.focus(run)

    def ring(self) -> None:
        """Something was made, moved or deleted: search now. From any thread."""
        self.seeker.ring()

    def progress(self) -> tuple[int, int]:
        """Bytes settled and bytes known, of all logs that are read. From any thread."""
        read = [track for track in list(self.tracks.values()) if self._reads(track) and not track.gone]
        return sum(track.offset for track in read), sum(track.size for track in read)

    def status(self) -> FollowStatus:
        """How the following goes. From any thread."""
        return self.gauge.status(
            list(self.tracks.values()),
            seeker=self.seeker,
            agenda=self._agenda,
            calls=self._calls,
            caught_up=self.caught_up,
            known=self.progress()[1],
        )

    # -- what a supervisor asks

    def busy_with(self) -> tuple[str, float] | None:
        """The path that a file call is about, and since when (`time.monotonic`); None between calls."""
        calls = self._calls
        path, since = calls.path, calls.since
        return None if path is None else (path, since)

    def give_up(self, path: str) -> bool:
        """The call on `path` will not return: another thread may `look` on without that file or folder.

        False when it has returned meanwhile.
        """
        calls = self._calls
        if calls.path != path:
            return False
        self._patience.give_up(path, calls.subject, self.tracks)
        self.seeker.give_up(None if isinstance(calls.subject, LogFile) else path)
        self.gauge.retired(calls)
        self._calls = Calls()
        calls.given_up = True
        return True

    def _returned(self, calls: Calls) -> None:
        """A call that was given up came back after all, in the thread that nobody waits for."""
        if isinstance(calls.subject, LogFile):
            self._patience.returned(calls.subject.found.place, calls.subject)
        for path in () if isinstance(calls.subject, LogFile) else calls.failed:
            self.seeker.dead.discard(path)
            self._patience.returned(path, None)

    def _report_stuck(self, at: float) -> Iterator[Delivery]:
        yield from self._patience.reports()
        for track in self._patience.freed():
            if track.opened:
                self._agenda.put(track, at, soon=True)
            else:
                self._arrivals.meet(track)

    # -- the round

    def _round(self, at: float, calls: Calls, began: float) -> Iterator[Delivery]:
        def over() -> bool:
            now = time.perf_counter()
            # Each step has a share for itself: neither a long search nor many looks make others wait.
            return calls.given_up or (now - began > SLICE and now - step_began > SLICE / 4)

        step_began = began
        yield from self._report_stuck(at)
        steps = (self._seek, self._look_at_due, self._open_met, self._show_ready, self._read_history)
        for step in steps:
            step_began = time.perf_counter()
            try:
                yield from step(at, calls, over)
            except GivenUpError as error:
                calls.failed.append(str(error.filename))
            if calls.given_up:
                return

    def _seek(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        calls.subject = None
        for item in self.seeker.seek(at, calls, over):
            if isinstance(item, Problem):
                yield Delivery(Source(run="", path=item.path, format=""), Batch(problems=(item,)), "state")
            else:
                yield from self._meet(item, at, calls)
                calls.subject = None

    def _meet(self, found: Found, at: float, calls: Calls) -> Iterator[Delivery]:
        known = self.tracks.get(found.place)
        if known is not None and known.gone and not known.stuck:
            self._agenda.put(known, at, soon=True)
        if known is not None or found.place in self._absorbed:
            return
        if not self._choice.may_take(found):
            if found.place not in self._aside:
                self._aside.add(found.place)
                unasked = LogFile(found, self.kinds)
                unasked.aside = True  # opened only if a log that was asked for may be its twin
                self._family.add(unasked)
            return
        base = rotated_from(found.name)
        original = self.tracks.get(found.place[: -len(found.name)] + base) if base else None
        if original is not None and not original.stuck:
            # A log that is read may just have been rotated into this file: it reads its rest there.
            with contextlib.suppress(OSError):
                for kind, batch in original.absorb(found.place, calls):
                    yield self._delivery(original, kind, batch)
            self._absorbed.update(original.absorbed)
            if calls.given_up or found.place in self._absorbed:
                return
        track = LogFile(found, self.kinds)
        track.changed = at
        calls.subject = track
        self.tracks[found.place] = track
        with contextlib.suppress(OSError):  # its visit tells what is wrong
            track.presume(calls.run(found.place, os.stat, found.place))
            if self._wall() - track.modified > HOT_MODIFIED:
                track.changed = at - HOT_SECONDS - 1.0  # it may be over: looked at where that is cheap
        self._family.add(track)
        if not calls.given_up:
            self._arrivals.meet(track)

    def _look_at_due(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        started, unchanged = time.perf_counter(), 0
        trust = self.pace.system.hold
        self._agenda.recount(self.tracks.values(), at)
        while (track := self._agenda.take(at)) is not None:
            if trust and track.asleep(calls, at):
                unchanged += 1
                if at - track.changed > HOT_SECONDS:
                    track.close()  # what it learned of its records: restarts leave a quiet log each
            else:
                yield from self._visit(track, at, calls, over if self._reads(track) else None)
                if calls.given_up:
                    return
                unchanged += not trust
            self._agenda.put(track, at)
            if over():
                break
        if unchanged:
            self.pace.measured((time.perf_counter() - started) / unchanged)

    def _open_met(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        """Find out what the new files are before the first of them is shown: twins must know each other."""
        arrivals = self._arrivals
        if self.seeker.busy and not self.seeker.slow:
            return  # the run written last may not have been found yet
        while (track := arrivals.next_met()) is not None:
            if not track.stuck:
                if track.presumed is None:
                    yield from self._visit(track, at, calls, None)
                arrivals.opened(track)
            if over():
                break

    def _show_ready(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        """Settle where the new logs belong; read small runs, show the ends of large ones."""
        while self._arrivals.enough:
            group, whole = self._arrivals.group()
            if not group:
                return
            for track in group:
                if not track.stuck:
                    yield from self._settle(track, calls)
            yield from self._show(group, whole, at, calls, over)
            if calls.given_up or over():
                return

    def _show(
        self, group: list[LogFile], whole: bool, at: float, calls: Calls, over: Over
    ) -> Iterator[Delivery]:
        """Show logs of one run. Small ones are read at once, unless that would bring them out of order."""
        new = {
            track
            for track in group
            if self._reads(track) and track.log is not None and not (track.caught_up or track.stuck)
        }
        small = whole and sum(track.backlog for track in new) <= LARGE
        at_once = small and all(track.run == track.found.run for track in new)
        while group and not calls.given_up:
            track = group.pop(0)
            if at_once and track in new:
                yield from self._visit(track, at, calls, over, history=True)
                at_once = track.caught_up or not track.readable
            if track not in new or track.caught_up or not track.readable:
                self._agenda.put(track, at)
            else:
                self._backlog.add(track)
                if not small and not track.previewed and (track.backlog > LARGE or not whole):
                    yield from self._preview(track, calls)

    def _read_history(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        if self._arrivals:
            return
        while (track := self._backlog.take()) is not None:
            if not track.readable or not self._reads(track):
                self._agenda.put(track, at)
                continue
            yield from self._visit(track, at, calls, over, history=True)
            if calls.given_up:
                return
            if track.caught_up or not track.readable:
                self._agenda.put(track, at)
            else:
                self._backlog.put_back(track)
            if over():
                return

    # -- one log

    def _visit(
        self, track: LogFile, at: float, calls: Calls, until: Over | None, history: bool = False
    ) -> Iterator[Delivery]:
        """Look at one log; yields what it says. Raises GivenUpError."""
        was_caught_up, size = track.caught_up, track.size
        limit = 1 << 62 if history else LARGE
        pieces = track.visit(calls, at, trust=self.pace.system.hold, until=until, limit=limit)
        self._absorbed.update(track.absorbed)
        if not calls.given_up and any(len(batch) for _, batch in pieces) and self._family.undecided(track):
            yield from self._settle(track, calls)
            if not self._reads(track):
                pieces = [("state", EMPTY)]  # it says what another log says: nothing of it is delivered
        if any(kind == "rewritten" for kind, _ in pieces):
            for other in self._family.mixed_with(track, self.tracks.values()):
                yield self._withdraw(other, other.source())
        for kind, batch in pieces:
            yield self._delivery(track, kind, batch)
            if kind == "points" and len(batch) and was_caught_up and track.modified:
                self.gauge.lagged(self._wall() - track.modified)
        if calls.given_up:
            return
        if until is None:
            if track.size != size and track.opened and self._family.freed(track):
                # The log that said the same is gone, and this one goes on.
                track.forget()
                self._arrivals.meet(track)
        elif not history and not track.caught_up and track.log is not None and self._reads(track):
            self._backlog.add(track)
            if not track.previewed and track.backlog > LARGE:
                yield from self._preview(track, calls)

    def _preview(self, track: LogFile, calls: Calls) -> Iterator[Delivery]:
        for kind, batch in track.newest(calls, PREVIEW):
            yield self._delivery(track, kind, batch)

    def _settle(self, track: LogFile, calls: Calls) -> Iterator[Delivery]:
        """Find out which run the log belongs to, and whether it is a twin; withdraw what was said wrongly."""
        for other, before in self._family.settle(track, calls):
            if other.published:
                yield self._withdraw(other, replace(other.source(), run=before, also_of=other.run))
            yield self._delivery(other, "state", EMPTY)

    def _withdraw(self, track: LogFile, source: Source) -> Delivery:
        """Take back what a log said; it will be told anew."""
        track.published = False
        track.forget()
        if self._reads(track):
            self._arrivals.meet(track)
        return Delivery(source, EMPTY, "rewritten")

    def _reads(self, track: LogFile) -> bool:
        return self._all_sources or track.also_of is None

    def _delivery(self, track: LogFile, kind: Kind, batch: Batch) -> Delivery:
        told = track.renamed(batch)
        if len(batch):
            track.published, track.tags = True, told.tags
        return Delivery(track.source(), told, kind)
