"""The follower: visits the logs, decides what to read next, and delivers changes. No threads, no waiting.

A look is one bounded round: search for new logs, visit those that are due, show the ends of new ones, read
the history of the others. Reading everything once is the same round with other steps: all logs are found and
opened before the first is read, and each is read to its end, run by run.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rltui.common.display_text import quote
from rltui.common.problem import Problem
from rltui.logs.batch import EMPTY, Batch
from rltui.logs.delivery import Delivery, Kind, Source
from rltui.logs.discovery.log_search import LogSearch
from rltui.logs.discovery.run_assignment import RunAssignment
from rltui.logs.file_calls import Calls, GivenUpError
from rltui.logs.file_systems import FileSystem
from rltui.logs.follow.follow_stats import FollowStats, FollowStatus
from rltui.logs.follow.hung_calls import HungCalls
from rltui.logs.follow.poll_schedule import HOT_MODIFIED, HOT_SECONDS, PollInterval, PollSchedule
from rltui.logs.follow.read_queues import HistoryQueue, OpenQueue, reading_order
from rltui.logs.formats.container import shared_resources
from rltui.logs.formats.interface import BLOCK
from rltui.logs.formats.registry import REGISTRY, FormatRegistry
from rltui.logs.found_file import AssignedLog, FoundFile, VisitedPaths
from rltui.logs.local_file import FETCHED_ENDS
from rltui.logs.log_file.log_file import LogFile, Piece
from rltui.logs.log_file_names import rotated_from
from rltui.logs.run_names import ALL_RUNS, RunFilter

SLICE = 0.05  # seconds of a look, after which the consumer can work
PREVIEW = 256 << 10  # bytes at the end of a large log that are shown first
LARGE = BLOCK  # bytes of history from which there is a preview
PORTION = 4 << 20  # approximate most bytes in one look that reads once
_WHOLE = 1 << 62  # bytes: no limit
_TEXT_ENDINGS = (".log", ".out", ".err", ".txt")
_CHANGED = "was cut or replaced while it was read; read it again to have all of it"

Over = Callable[[], bool]


class MissingError(FileNotFoundError):
    """A LOGDIR does not exist. problem: the error for display."""

    def __init__(self, logdir: str) -> None:
        super().__init__(f"{logdir}: no such file or folder")
        self.problem = Problem("error", "missing", logdir, "no such file or folder")


class Follower:
    """Follows all logs below the LOGDIRs. Used by one thread at a time.

    poll: seconds between visits of a growing log; half of it on local disks if that is cheap. runs: those to
    read. all_sources: deliver points of duplicates, too. once: read the present content of all logs, runs by
    name; `poll` then raises MissingError for a LOGDIR that does not exist. assign_only: the same without
    reading; see `assigned`. given: logs that were assigned to runs before, to be read once instead of a
    search. verify: check all checksums. clock, wall: monotonic and wall time. system: the file system, if
    known.
    """

    def __init__(
        self,
        logdirs: Sequence[str | Path],
        *,
        poll: float = 1.0,
        runs: RunFilter = ALL_RUNS,
        all_sources: bool = False,
        once: bool = False,
        assign_only: bool = False,
        given: Sequence[AssignedLog] = (),
        verify: bool = False,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        formats: FormatRegistry = REGISTRY,
        system: FileSystem | None = None,
    ) -> None:
        self.logdirs = tuple(os.fspath(logdir) for logdir in logdirs)
        self.once = once or assign_only or bool(given)
        self._assign_only = assign_only
        self._given = list(given)
        self._places: dict[str, AssignedLog] = {}  # of logs that were given, by place
        self.caught_up = False  # whether everything had been read, as of the last look
        self.all_found = False  # whether the runs of all logs had been delivered, as of the last look
        self.formats = formats
        self.search = LogSearch(
            self.logdirs, formats, poll=poll, system=system, clock=clock, wall=wall, follow=not self.once
        )
        self.interval = PollInterval(poll, self.search.system)
        self.stats = FollowStats()
        self.logs: dict[str, LogFile] = {}  # by place
        self._filter = runs
        self._all_sources = all_sources
        self._verify = verify
        self._clock, self._wall = clock, wall
        self._calls = Calls()
        self._found: list[FoundFile] = []  # if everything is read once, until the search has ended
        self._absorbed: set[str] = set()  # paths of rotated copies that were read as part of their log
        self._unrequested: dict[str, FoundFile] = {}  # perhaps main logs of requested duplicates
        self._assigned = 0  # rises when logs may have been found or assigned to runs
        self._others: tuple[int, dict[str, list[str]]] = (-1, {})  # `_assigned`, and `others` at that time
        self._assignment = RunAssignment()
        self._schedule = PollSchedule(self.interval)
        self._opening = OpenQueue()
        self._history = HistoryQueue(newest_first=not self.once)
        self._hung = HungCalls()

    # -- for the owner

    def poll(self, now: float | None = None) -> Iterator[Delivery]:
        """One round of about SLICE seconds. The iterator must be consumed to its end."""
        calls = self._calls
        began = time.perf_counter()
        # When reading once, the schedule is not used.
        at = 0.0 if self.once else self._clock() if now is None else now
        with shared_resources():
            for delivery in self._round(at, calls, began):
                self._assigned += 1
                if calls.given_up and self.once:
                    return  # another worker continues, perhaps with another run already
                if not self._filter.takes(delivery.source.run):
                    continue  # a duplicate or a part of a run that was not requested
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
        """Whether everything has been read, and all remote folders have been fetched."""
        return self.caught_up and not (FETCHED_ENDS or self.search.fetching)

    @property
    def done(self) -> bool:
        """Whether no look will deliver anything."""
        return self.once and self.caught_up

    def assigned(self) -> list[AssignedLog]:
        """The logs of requested runs in reading order."""
        wanted = [log for log in self.logs.values() if self._filter.takes(log.run) and not log.hung]
        return [
            AssignedLog(log.found, log.run, log.duplicate_of, log.tag_map, log.size)
            for log in sorted(wanted, key=reading_order)
            if log.source().run
        ]

    def others(self) -> dict[str, list[str]]:
        """The paths of the logs of runs that were not requested, by run. From any thread.

        Without text files that were not opened, which may be no logs. The same object until it changes.
        """
        found: dict[str, list[str]] = {}
        if self._filter.takes_all:
            return found
        version = self._assigned
        if self._others[0] == version:
            return self._others[1]
        for each in list(self._unrequested.values()):
            if not each.name.endswith(_TEXT_ENDINGS):
                found.setdefault(each.run, []).append(each.path)
        for log in list(self.logs.values()):
            if not self._filter.takes(log.run) and log.source().run:
                found.setdefault(log.run, []).append(log.found.path)
        self._others = (version, found)
        return found

    def unread(self) -> dict[str, int]:
        """The sizes in bytes of files that may be logs, but are not recognised, by path. From any thread."""
        return {log.found.path: log.size for log in list(self.logs.values()) if log.format is None}

    def visited_paths(self) -> VisitedPaths:
        """The paths that were visited to find the logs and assign them to runs."""
        visited_paths = (
            self.search.walker.visited_paths() if self.search.walker is not None else VisitedPaths()
        )
        files = [log.found.place for log in self.logs.values() if log.found.part is None]
        hung = any(log.hung for log in self.logs.values())
        certain = visited_paths.certain and not (hung or self._unrequested or self.search.system.remote)
        return visited_paths._replace(files=(*visited_paths.files, *files), certain=certain)

    def next_due(self, now: float | None = None) -> float:
        """Seconds until the next look is due; 0 if there is work now."""
        if self.search.busy or self._hung.news or not self.caught_up:
            return 0.0
        at = self._clock() if now is None else now
        return max(0.0, min(self.search.next_due(), self._schedule.next_due()) - at)

    def focus(self, run: str | None) -> None:
        """Read the history of this run first."""
        self._history.focus(run)

    def search_now(self) -> None:
        """Search for new logs soon, since a file was created, moved or deleted. From any thread."""
        self.search.request()

    def progress(self) -> tuple[int, int]:
        """Bytes that were parsed, and bytes known to exist, of all logs that are read. From any thread."""
        read = [log for log in list(self.logs.values()) if self._reads(log) and not log.gone]
        return sum(log.offset for log in read), sum(log.size for log in read)

    def status(self) -> FollowStatus:
        """The present status. From any thread."""
        return self.stats.status(
            list(self.logs.values()),
            search=self.search,
            schedule=self._schedule,
            calls=self._calls,
            known=self.progress()[1],
        )

    # -- for the supervisor

    def busy_with(self) -> tuple[str, float] | None:
        """The path of the present file call, and its start (`time.monotonic`); None between calls."""
        calls = self._calls
        path, since = calls.path, calls.since
        return None if path is None else (path, since)

    def give_up(self, path: str) -> bool:
        """Abandon the call on `path`, so that another thread can `poll` without that file or folder.

        False if the call has returned meanwhile.
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
        """Handle an abandoned call that returned after all, in the thread that was replaced."""
        if self.once:
            return  # its run may have been delivered: the report about it remains
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
            # Each step has its share of time: neither a long search nor many visits delay the others.
            return calls.given_up or (now - began > SLICE and now - step_began > SLICE / 4)

        following = (self._search, self._visit_due, self._open_found, self._show_opened, self._read_history)
        last = self._report_assigned if self._assign_only else self._read_whole
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
                yield from self._add_found(item, at, calls)
                calls.subject = None
        self.interval.system = self.search.system
        if self.once and not self.search.busy:
            yield from self._look_up_given(calls)
            self._add_all_found(calls)

    def _add_found(self, found: FoundFile, at: float, calls: Calls) -> Iterator[Delivery]:
        known = self.logs.get(found.place)
        if known is not None and known.gone and not known.hung:
            self._schedule.put(known, at, soon=True)
        if known is not None or found.place in self._absorbed:
            return
        if not self._filter.may_take(found.run, found.folder, found.name):
            if found.place not in self._unrequested:
                self._unrequested[found.place] = found
                self._assigned += 1
                unasked = LogFile(found, self.formats)
                unasked.unrequested = True
                self._assignment.add(unasked)
            return
        base = rotated_from(found.name)
        original = self.logs.get(found.place[: -len(found.name)] + base) if base else None
        if original is not None and not original.hung:
            # The original log may just have been rotated to this file, where its end is read then.
            with contextlib.suppress(OSError):
                yield from self._deliver(original, original.absorb(found.place, calls))
            self._absorbed.update(original.absorbed)
            if calls.given_up or found.place in self._absorbed:
                return
        log = self._add(found, calls)
        log.last_change = at
        if log.modified and self._wall() - log.modified > HOT_MODIFIED:
            log.last_change = at - HOT_SECONDS - 1.0  # its run may have ended: it counts as idle
        self._opening.add(log)

    def _add_all_found(self, calls: Calls) -> None:
        """Reading once: add all logs in the order of their paths, after the search."""
        if self.search.waiting:
            raise MissingError(self.search.waiting[0])
        self._found.sort(key=lambda found: found.path, reverse=True)
        while self._found:
            found = self._found.pop()
            if found.place not in self.logs:
                self._opening.add(self._add(found, calls))

    def _look_up_given(self, calls: Calls) -> Iterator[Delivery]:
        """Look up logs that were assigned to runs before."""
        while self._given:
            given = self._given.pop()
            place = given.found.place
            try:
                found = calls.run(place, given.with_part, self.formats)
            except OSError as error:
                reason = quote(error.strerror or str(error))
                gone = Problem("warning", "unreadable", given.found.path, f"cannot be read: {reason}")
                source = Source(run=given.run, path=given.found.path, format="", gone=True)
                yield Delivery(source, Batch(problems=(gone,)), "state")
                continue
            self._places[place] = found
            self._found.append(found.found)

    def _add(self, found: FoundFile, calls: Calls) -> LogFile:
        log = LogFile(found, self.formats, verify=self._verify)
        calls.subject = log
        self.logs[found.place] = log
        self._assignment.add(log)
        with contextlib.suppress(OSError):  # reported by its visit
            log.presume(calls.run(found.place, os.stat, found.place))
        return log

    def _visit_due(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        started, unchanged = self._clock(), 0
        trust = self._trust
        while (log := self._schedule.take(at)) is not None:
            if trust and log.is_unchanged(calls, at):
                unchanged += 1
                if at - log.last_change > HOT_SECONDS:
                    log.close()  # to free memory: each restart leaves an idle log
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
        """Open new files before the first is shown, since duplicates must be detected."""
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
        """Assign new logs to runs; read small runs, show the ends of large ones."""
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
        """Show logs of one run. Small ones are read at once, unless that would change their order."""
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
        """Reading once: assign all logs to runs before the first is read."""
        group = self._opening.everything()
        while group:  # each log is removed after its assignment, since another file may hang
            if (given := self._places.get(group[0].found.place)) is not None:
                group[0].run, group[0].duplicate_of, group[0].tag_map = (
                    given.run,
                    given.duplicate_of,
                    given.tag_map,
                )
            elif not group[0].hung:
                self._assignment.place(group[0], calls)
            if calls.given_up:
                return
            self._history.add(group.popleft())
            if over():
                return
        yield from ()

    def _report_assigned(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        """Without reading: report problems of files that are no logs, and of those that do not answer."""
        if self.search.busy or self._opening:
            return
        while (log := self._history.take()) is not None:
            if self._filter.takes(log.run) and not log.source().run:
                yield from self._deliver(log, ())
        yield from self._hung.suspended()

    def _read_whole(self, at: float, calls: Calls, over: Over) -> Iterator[Delivery]:
        """Reading once: read one log after the other to its end, about a PORTION in each look."""
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
        """Whether attributes of files are up to date."""
        return self.interval.system.attributes

    def _visit(
        self, log: LogFile, at: float, calls: Calls, until: Over | None, history: bool = False
    ) -> Iterator[Delivery]:
        """Visit one log. Raises GivenUpError."""
        was_caught_up, size = log.caught_up, log.size
        limit = _WHOLE if history else LARGE
        pieces = log.visit(calls, at, trust=self._trust, until=until, limit=limit)
        self._absorbed.update(log.absorbed)
        has_data = any(len(batch) or batch.texts for _, batch in pieces)  # a sub-run may have only hparams
        if has_data and not calls.given_up and self._assignment.undecided(log):
            yield from self._place(log, calls)
            if not self._reads(log):
                pieces = [("state", EMPTY)]  # it is a duplicate
        if log.delivered and log.caught_up and not (was_caught_up or pieces):
            pieces = [("state", EMPTY)]  # the rest is an incomplete record: its run has been read
        if any(kind == "rewritten" for kind, _ in pieces):
            for other in self._assignment.mixed_with(log, self.logs.values()):
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
            if log.size != size and log.opened and self._assignment.freed(log):
                # Its main log was deleted, and this one still grows.
                log.forget()
                self._opening.add(log)
        elif not history and not log.caught_up and log.reader is not None and self._reads(log):
            self._history.add(log)
            if not log.previewed and log.unread > LARGE:
                yield from self._deliver(log, log.newest(calls, PREVIEW))

    def _place(self, log: LogFile, calls: Calls) -> Iterator[Delivery]:
        """Assign a log to its run; withdraw points that were delivered for other runs."""
        for other, before in self._assignment.place(log, calls):
            elsewhere = other.source()._replace(run=before, duplicate_of=other.run)
            if other.published:
                yield self._withdraw(other, elsewhere)
            elif other.delivered:
                yield Delivery(elsewhere, EMPTY, "rewritten")
            yield self._delivery(other, "state", EMPTY)

    def _withdraw_imported(self, log: LogFile) -> Iterator[Delivery]:
        """Withdraw the points of an inbox that was imported into the database."""
        for other, before in self._assignment.imported(log):
            if other.published:
                mixed = self._assignment.mixed_with(other, self.logs.values())
                yield self._withdraw(other, other.source()._replace(run=before, duplicate_of=other.run))
                for each in mixed:
                    yield self._withdraw(each, each.source())

    def _withdraw(self, log: LogFile, source: Source) -> Delivery:
        """Withdraw the points of a log, which will be delivered again."""
        log.published = False
        log.forget()
        if self._reads(log):
            self._opening.add(log)
        return Delivery(source, EMPTY, "rewritten")

    def _reads(self, log: LogFile) -> bool:
        return self._all_sources or log.duplicate_of is None

    def _deliver(self, log: LogFile, pieces: Sequence[Piece]) -> Iterator[Delivery]:
        """Deliver the pieces of a log, after those found when it was opened."""
        opening, log.opening = log.opening, []
        for kind, batch in (*opening, *pieces):
            yield self._delivery(log, kind, batch)

    def _delivery(self, log: LogFile, kind: Kind, batch: Batch) -> Delivery:
        renamed = log.renamed(batch)
        log.delivered = True
        if len(batch):
            log.published, log.tags = True, renamed.tags
        return Delivery(log.source(), renamed, kind)
