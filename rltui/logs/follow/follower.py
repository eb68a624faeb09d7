"""Following: looks at the logs, decides what to read next, and delivers what changed. No threads, no waiting.

Every look is one bounded round: search for new logs, look at those that are due, show the newest of those
that are new, read on in the history of the rest. Reading everything once is the same round with other steps:
all logs are found and opened before the first is read, and each is read to its end, run by run.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rltui.common.problem import Problem
from rltui.common.text import quote
from rltui.logs.batch import EMPTY, Batch
from rltui.logs.delivery import Delivery, Kind, Source
from rltui.logs.discovery.run_assignment import RunAssignment
from rltui.logs.discovery.search import LogSearch
from rltui.logs.file_calls import Calls, GivenUpError
from rltui.logs.file_systems import FileSystem
from rltui.logs.follow.follow_stats import FollowStats, FollowStatus
from rltui.logs.follow.hung_calls import HungCalls
from rltui.logs.follow.poll_schedule import HOT_MODIFIED, HOT_SECONDS, PollInterval, PollSchedule
from rltui.logs.follow.read_queues import HistoryQueue, OpenQueue, reading_order
from rltui.logs.formats.container import shared_resources
from rltui.logs.formats.interface import BLOCK
from rltui.logs.formats.registry import REGISTRY, FormatRegistry
from rltui.logs.found_file import FoundFile, PlacedLog, Walked
from rltui.logs.local_file import ENDS
from rltui.logs.log_file.log_file import LogFile, Piece
from rltui.logs.log_file_names import rotated_from
from rltui.logs.run_names import RunFilter

SLICE = 0.05  # seconds of reading between two chances for the consumer
PREVIEW = 256 << 10  # bytes at the end of a large log that are shown first
LARGE = BLOCK  # bytes of history from which a preview is worth it
PORTION = 4 << 20  # bytes of a log that one delivery of reading once holds at most, about
_WHOLE = 1 << 62  # bytes: no limit
_TEXTS = (".log", ".out", ".err", ".txt")
_CHANGED = "was cut or replaced while it was read; read it again to have all of it"

Over = Callable[[], bool]


class MissingError(FileNotFoundError):
    """A LOGDIR does not exist. `problem` says it for people."""

    def __init__(self, logdir: str) -> None:
        super().__init__(f"{logdir}: no such file or folder")
        self.problem = Problem("error", "missing", logdir, "no such file or folder")


class Follower:
    """All logs below the LOGDIRs, followed. To be driven by one thread at a time.

    poll: seconds between looks at a log that grows; half of it on local disks where that is cheap,
    for a log that was written lately.
    run_glob: only runs with such names, and what is called `also`; part: of these, as `RunFilter` has it.
    all_sources: deliver points of duplicates
    too. once: read what is there to its end, runs by name, and nothing that comes later; `look` then raises
    MissingError for a LOGDIR that is not there. place_only: the same without reading: `placed` has the logs.
    given: logs to be read once that were placed before, instead of a search. verify: check all checksums.
    clock, wall: monotonic and wall time; formats: what is read; system: what is known of the file system.
    """

    def __init__(
        self,
        logdirs: Sequence[str | Path],
        *,
        poll: float = 1.0,
        run_glob: str | None = None,
        also: str | None = None,
        part: tuple[int, int] | None = None,
        all_sources: bool = False,
        once: bool = False,
        place_only: bool = False,
        given: Sequence[PlacedLog] = (),
        verify: bool = False,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        formats: FormatRegistry = REGISTRY,
        system: FileSystem | None = None,
    ) -> None:
        self.logdirs = tuple(os.fspath(logdir) for logdir in logdirs)
        self.once = once or place_only or bool(given)
        self._place_only = place_only
        self._given = list(given)
        self._places: dict[str, PlacedLog] = {}  # of logs that were given, by place
        self.caught_up = False  # whether everything that was there has been read, as of the last look
        self.all_found = False  # whether the runs of all that was there have been delivered, as of that look
        self.formats = formats
        self.search = LogSearch(
            self.logdirs,
            self.formats,
            poll=poll,
            system=system,
            clock=clock,
            wall=wall,
            follow=not self.once,
        )
        self.interval = PollInterval(poll, self.search.system)
        self.stats = FollowStats()
        self.logs: dict[str, LogFile] = {}  # by place
        self._filter = RunFilter(run_glob, also, part)
        self._all_sources = all_sources
        self._verify = verify
        self._clock, self._wall = clock, wall
        self._calls = Calls()
        self._found: list[FoundFile] = []  # until the search is over, where everything is read once
        self._absorbed: set[str] = set()
        self._unrequested: dict[
            str, FoundFile
        ] = {}  # not asked for, but perhaps the main logs of duplicates that are
        self._placed = 0  # rises when logs may have been found or given to runs
        self._others: tuple[int, dict[str, list[str]]] = (-1, {})  # as they were at one of these
        self._related = RunAssignment()
        self._schedule = PollSchedule(self.interval)
        self._opening = OpenQueue()
        self._history = HistoryQueue(newest_first=not self.once)
        self._hung = HungCalls()

    # -- what the owner asks

    def look(self, now: float | None = None) -> Iterator[Delivery]:
        """One round. Yields after at most about SLICE of work; to be consumed to its end."""
        calls = self._calls
        began = time.perf_counter()
        # Reading once takes no time: nothing is looked at twice.
        at = 0.0 if self.once else self._clock() if now is None else now
        with shared_resources():
            for delivery in self._round(at, calls, began):
                self._placed += 1
                if calls.given_up and self.once:
                    return  # another worker goes on, perhaps with another run already
                if not self._filter.takes(delivery.source.run):
                    continue  # a duplicate or a part of a run that was not asked for
                self.stats.problems.note(delivery.batch.problems)
                yield delivery
        if calls.given_up:
            self._returned(calls)
            return
        self.stats.looks.append(time.perf_counter() - began)
        self.all_found = not (self.search.first or self._found or self._opening or self._given)
        self.caught_up = self.all_found and not self._history

    @property
    def complete(self) -> bool:
        """Whether everything has been read, also of remote folders, which may still be fetched."""
        return self.caught_up and not (ENDS or self.search.fetching)

    @property
    def done(self) -> bool:
        """Whether no look will deliver anything more."""
        return self.once and self.caught_up

    def placed(self) -> list[PlacedLog]:
        """The logs of runs that were asked for, in the order in which they are read."""
        wanted = [log for log in self.logs.values() if self._filter.takes(log.run) and not log.hung]
        return [
            PlacedLog(log.found, log.run, log.duplicate_of, log.tag_map, log.size)
            for log in sorted(wanted, key=reading_order)
            if log.source().run
        ]

    def others(self) -> dict[str, list[str]]:
        """The paths of the logs of runs that were not asked for, by run. From any thread.

        Texts that were not opened may be no logs, and are not among them. The same object until others come.
        """
        found: dict[str, list[str]] = {}
        if self._filter.takes_all:
            return found
        version = self._placed
        if self._others[0] == version:
            return self._others[1]
        for each in list(self._unrequested.values()):
            if not each.name.endswith(_TEXTS):
                found.setdefault(each.run, []).append(each.path)
        for log in list(self.logs.values()):
            if not self._filter.takes(log.run) and log.source().run:
                found.setdefault(log.run, []).append(log.found.path)
        self._others = (version, found)
        return found

    def walked(self) -> Walked:
        """What was looked at to find and place the logs."""
        walked = self.search.walker.walked() if self.search.walker is not None else Walked()
        files = [log.found.place for log in self.logs.values() if log.found.part is None]
        hung = any(log.hung for log in self.logs.values())
        certain = walked.certain and not (hung or self._unrequested or self.search.system.remote)
        return walked._replace(files=(*walked.files, *files), certain=certain)

    def next_due(self, now: float | None = None) -> float:
        """Seconds until the next look is worth it; 0 when there is work now."""
        if self.search.busy or self._hung.news or not self.caught_up:
            return 0.0
        at = self._clock() if now is None else now
        return max(0.0, min(self.search.next_due(), self._schedule.next_due()) - at)

    def focus(self, run: str | None) -> None:
        """Read the history of this run first."""
        self._history.focus(run)

    def search_now(self) -> None:
        """Something was made, moved or deleted: search for new logs soon. From any thread."""
        self.search.request()

    def progress(self) -> tuple[int, int]:
        """Bytes settled and bytes known, of all logs that are read. From any thread."""
        read = [log for log in list(self.logs.values()) if self._reads(log) and not log.gone]
        return sum(log.offset for log in read), sum(log.size for log in read)

    def status(self) -> FollowStatus:
        """How the following goes. From any thread."""
        return self.stats.status(
            list(self.logs.values()),
            search=self.search,
            schedule=self._schedule,
            calls=self._calls,
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
        log = calls.subject if isinstance(calls.subject, LogFile) else None
        self._hung.give_up(path, log, self.logs)
        self.search.give_up(None if log is not None else path)
        self.stats.given_up(calls)
        self._calls = Calls()
        calls.given_up = True
        return True

    def _returned(self, calls: Calls) -> None:
        """A call that was given up came back after all, in the thread that nobody waits for."""
        if self.once:
            return  # its run may have been delivered: what was reported of it stays true
        if isinstance(calls.subject, LogFile):
            self._hung.returned(calls.subject.found.place, calls.subject)
            return
        for path in calls.failed:
            self.search.not_answering.discard(path)
            self._hung.returned(path, None)

    # -- the round

    def _round(self, at: float, calls: Calls, began: float) -> Iterator[Delivery]:
        def over() -> bool:
            now = time.perf_counter()
            # Each step has a share for itself: neither a long search nor many looks make others wait.
            return calls.given_up or (now - began > SLICE and now - step_began > SLICE / 4)

        following = (self._search, self._look_at_due, self._open_found, self._show_opened, self._read_history)
        last = self._report_placed if self._place_only else self._read_whole
        reading_once = (self._search, self._open_found, self._place_opened, last)
        step_began = began
        yield from self._report_hung(at)
        for step in reading_once if self.once else following:
            step_began = time.perf_counter()
            try:
                yield from step(at, calls, over)
            except GivenUpError as error:
                calls.failed.append(error.path)
            if calls.given_up:
                return

    def _report_hung(self, at: float) -> Iterator[Delivery]:
        yield from self._hung.reports()
        for log in self._hung.freed():
            if log.opened:
                self._schedule.put(log, at, soon=True)
            else:
                self._opening.add(log)

    def _search(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        calls.subject = None
        for item in self.search.search(at, calls, over):
            if isinstance(item, Problem):
                yield Delivery(Source(run="", path=item.path, format=""), Batch(problems=(item,)), "state")
            elif self.once:
                self._found.append(item)
            else:
                yield from self._meet(item, at, calls)
                calls.subject = None
        self.interval.system = self.search.system
        if self.once and not self.search.busy:
            yield from self._meet_given(calls)
            self._meet_all(calls)

    def _meet(self, found: FoundFile, at: float, calls: Calls) -> Iterator[Delivery]:
        known = self.logs.get(found.place)
        if known is not None and known.gone and not known.hung:
            self._schedule.put(known, at, soon=True)
        if known is not None or found.place in self._absorbed:
            return
        if not self._filter.may_take(found.run, found.folder, found.name):
            if found.place not in self._unrequested:
                self._unrequested[found.place] = found
                self._placed += 1
                unasked = LogFile(found, self.formats)
                unasked.unrequested = True
                self._related.add(unasked)
            return
        base = rotated_from(found.name)
        original = self.logs.get(found.place[: -len(found.name)] + base) if base else None
        if original is not None and not original.hung:
            # A log that is read may just have been rotated into this file: it reads its rest there.
            with contextlib.suppress(OSError):
                yield from self._deliver(original, original.absorb(found.place, calls))
            self._absorbed.update(original.absorbed)
            if calls.given_up or found.place in self._absorbed:
                return
        log = self._add(found, calls)
        log.last_change = at
        if log.modified and self._wall() - log.modified > HOT_MODIFIED:
            log.last_change = at - HOT_SECONDS - 1.0  # it may be over: looked at where that is cheap
        self._opening.add(log)

    def _meet_all(self, calls: Calls) -> None:
        """Reading once: the search is over. Logs are told apart and placed in the order of their paths."""
        if self.search.waiting:
            raise MissingError(self.search.waiting[0])
        self._found.sort(key=lambda found: found.path, reverse=True)
        while self._found:
            found = self._found.pop()
            if found.place not in self.logs:
                self._opening.add(self._add(found, calls))

    def _meet_given(self, calls: Calls) -> Iterator[Delivery]:
        """Logs that were placed before: nothing is searched for."""
        while self._given:
            given = self._given.pop()
            place = given.found.place
            try:
                arrived = calls.run(place, given.with_part, self.formats)
            except OSError as error:
                reason = quote(error.strerror or str(error))
                gone = Problem("warning", "unreadable", given.found.path, f"cannot be read: {reason}")
                source = Source(run=given.run, path=given.found.path, format="", gone=True)
                yield Delivery(source, Batch(problems=(gone,)), "state")
                continue
            self._places[place] = arrived
            self._found.append(arrived.found)

    def _add(self, found: FoundFile, calls: Calls) -> LogFile:
        log = LogFile(found, self.formats, verify=self._verify)
        calls.subject = log
        self.logs[found.place] = log
        self._related.add(log)
        with contextlib.suppress(OSError):  # its visit tells what is wrong
            log.presume(calls.run(found.place, os.stat, found.place))
        return log

    def _look_at_due(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        started, unchanged = self._clock(), 0
        trust = self._trust
        while (log := self._schedule.take(at)) is not None:
            if trust and log.is_unchanged(calls, at):
                unchanged += 1
                if at - log.last_change > HOT_SECONDS:
                    log.close()  # what it learned of its records: restarts leave a quiet log each
            else:
                yield from self._visit(log, at, calls, over if self._reads(log) else None)
                if calls.given_up:
                    return
                unchanged += not trust
            self._schedule.put(log, at)
            if over():
                break
        if unchanged:
            self.interval.measured((self._clock() - started) / unchanged, unchanged)

    def _open_found(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        """Find out what the new files are before the first is shown: duplicates must know each other."""
        if self.search.busy and (self.once or not self.search.slow):
            return  # the run written last may not have been found yet
        while (log := self._opening.take()) is not None:
            if not log.hung:
                if log.presumed is None:
                    log.opening += log.visit(calls, at, trust=self._trust, until=None)
                    self._absorbed.update(log.absorbed)
                self._opening.opened(log)
            if over():
                break
        yield from ()

    def _show_opened(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        """Find out where the new logs belong; read small runs, show the ends of large ones."""
        while self._opening.enough:
            group, whole = self._opening.group()
            if not group:
                return
            for log in group:
                if not log.hung:
                    yield from self._place(log, calls)
            yield from self._show(group, whole, at, calls, over)
            if calls.given_up or over():
                return

    def _show(
        self, group: deque[LogFile], whole: bool, at: float, calls: Calls, over: Over
    ) -> Iterator[Delivery]:
        """Show logs of one run. Small ones are read at once, unless that would bring them out of order."""
        new = {
            log
            for log in group
            if self._reads(log) and log.reader is not None and not (log.caught_up or log.hung)
        }
        small = whole and sum(log.unread for log in new) <= LARGE
        at_once = small and all(log.run == log.found.run for log in new)
        while group and not calls.given_up:
            log = group.popleft()
            yield from self._deliver(log, ())
            if at_once and log in new:
                yield from self._visit(log, at, calls, over, history=True)
                at_once = log.caught_up or not log.readable
            if log not in new or log.caught_up or not log.readable:
                self._schedule.put(log, at)
            else:
                self._history.add(log)
                if not small and not log.previewed and (log.unread > LARGE or not whole):
                    yield from self._deliver(log, log.newest(calls, PREVIEW))

    def _read_history(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        if self._opening:
            return
        while (log := self._history.take()) is not None:
            if not log.readable or not self._reads(log):
                self._schedule.put(log, at)
                continue
            yield from self._visit(log, at, calls, over, history=True)
            if calls.given_up:
                return
            if log.caught_up or not log.readable:
                self._schedule.put(log, at)
            else:
                self._history.put_back(log)
            if over():
                return

    def _place_opened(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        """Reading once: find out where all logs belong before the first is read."""
        group = self._opening.everything()
        while group:  # while it is on the list: the file that never answers may be another one
            if (given := self._places.get(group[0].found.place)) is not None:
                group[0].run, group[0].duplicate_of, group[0].tag_map = (
                    given.run,
                    given.duplicate_of,
                    given.tag_map,
                )
            elif not group[0].hung:
                self._related.place(group[0], calls)
            if calls.given_up:
                return
            self._history.add(group.popleft())
            if over():
                return
        yield from ()

    def _report_placed(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        """Placing only: what was learned of files that are no logs, and of those that do not answer."""
        if self.search.busy or self._opening:
            return
        while (log := self._history.take()) is not None:
            if self._filter.takes(log.run) and not log.source().run:
                yield from self._deliver(log, ())
        yield from self._hung.suspended()

    def _read_whole(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        """Reading once: one log after the other to its end, about a PORTION in each look."""
        if self.search.busy or self._opening:
            return
        room = PORTION
        while room > 0 and self._history:
            log = self._history.take()
            if log is None or not self._filter.takes(log.run):
                continue
            before, last = log.offset, None
            for delivery in self._deliver(log, self._portion(log, at, calls)):
                last = delivery.source
                yield delivery
            if calls.given_up:
                return
            room -= max(0, log.offset - before)
            if self._reads(log) and log.readable and not log.caught_up:
                if log.offset != before:
                    self._history.put_back(log)
                    continue
                changed = Problem("warning", "changed", log.found.path, _CHANGED)
                yield self._delivery(log, "state", Batch(problems=(changed,)))
            for delivery in self._deliver(log, log.finish(calls) if self._reads(log) else ()):
                last = delivery.source
                yield delivery
            if log.format is not None and (last is None or not last.caught_up or last.read != log.offset):
                yield self._delivery(log, "state", EMPTY)
            log.close()
        if not self._history:
            yield from self._hung.suspended()

    def _portion(self, log: LogFile, at: float, calls: Calls) -> Sequence[Piece]:
        if not (self._reads(log) and log.readable) or log.caught_up:
            return ()
        stop = log.offset + PORTION
        return log.visit(calls, at, trust=True, until=lambda: log.offset >= stop, limit=_WHOLE, last=True)

    # -- one log

    @property
    def _trust(self) -> bool:
        """Whether a file whose attributes did not change did not change."""
        return self.interval.system.attributes

    def _visit(
        self, log: LogFile, at: float, calls: Calls, until: Over | None, history: bool = False
    ) -> Iterator[Delivery]:
        """Look at one log; yields what it says. Raises GivenUpError."""
        was_caught_up, size = log.caught_up, log.size
        limit = _WHOLE if history else LARGE
        pieces = log.visit(calls, at, trust=self._trust, until=until, limit=limit)
        self._absorbed.update(log.absorbed)
        spoke = any(len(batch) or batch.texts for _, batch in pieces)  # a sub-run may have hparams alone
        if spoke and not calls.given_up and self._related.undecided(log):
            yield from self._place(log, calls)
            if not self._reads(log):
                pieces = [("state", EMPTY)]  # it says what another log says: nothing of it is delivered
        if log.delivered and log.caught_up and not (was_caught_up or pieces):
            pieces = [("state", EMPTY)]  # what was left is half a record: its run is not being read any more
        if any(kind == "rewritten" for kind, _ in pieces):
            for other in self._related.mixed_with(log, self.logs.values()):
                yield self._withdraw(other, other.source())
        for delivery in self._deliver(log, pieces):
            yield delivery
            if delivery.kind == "points" and len(delivery.batch) and was_caught_up and log.modified:
                self.stats.lags.append(max(0.0, self._wall() - log.modified))
        if calls.given_up:
            return
        if log.found.part is not None:
            yield from self._withdraw_imported(log)
        if until is None:
            if log.size != size and log.opened and self._related.freed(log):
                # The log that said the same is gone, and this one goes on.
                log.forget()
                self._opening.add(log)
        elif not history and not log.caught_up and log.reader is not None and self._reads(log):
            self._history.add(log)
            if not log.previewed and log.unread > LARGE:
                yield from self._deliver(log, log.newest(calls, PREVIEW))

    def _place(self, log: LogFile, calls: Calls) -> Iterator[Delivery]:
        """Find out which run the log belongs to, and whether it is a duplicate; withdraw what was wrong."""
        for other, before in self._related.place(log, calls):
            elsewhere = other.source()._replace(run=before, duplicate_of=other.run)
            if other.published:
                yield self._withdraw(other, elsewhere)
            elif other.delivered:
                yield Delivery(elsewhere, EMPTY, "rewritten")
            yield self._delivery(other, "state", EMPTY)

    def _withdraw_imported(self, log: LogFile) -> Iterator[Delivery]:
        """Take back what an inbox said before it was imported: the database says it again."""
        for other, before in self._related.imported(log):
            if other.published:
                mixed = self._related.mixed_with(other, self.logs.values())
                yield self._withdraw(other, other.source()._replace(run=before, duplicate_of=other.run))
                for each in mixed:
                    yield self._withdraw(each, each.source())

    def _withdraw(self, log: LogFile, source: Source) -> Delivery:
        """Take back what a log said; it will be delivered anew."""
        log.published = False
        log.forget()
        if self._reads(log):
            self._opening.add(log)
        return Delivery(source, EMPTY, "rewritten")

    def _reads(self, log: LogFile) -> bool:
        return self._all_sources or log.duplicate_of is None

    def _deliver(self, log: LogFile, pieces: Sequence[Piece]) -> Iterator[Delivery]:
        """What a log says now, after what was learned when it was opened."""
        opening, log.opening = log.opening, []
        for kind, batch in (*opening, *pieces):
            yield self._delivery(log, kind, batch)

    def _delivery(self, log: LogFile, kind: Kind, batch: Batch) -> Delivery:
        renamed = log.renamed(batch)
        log.delivered = True
        if len(batch):
            log.published, log.tags = True, renamed.tags
        return Delivery(log.source(), renamed, kind)
