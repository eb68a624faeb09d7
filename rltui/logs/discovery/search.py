"""Searching for new logs beside everything else: in pieces, again and again, at once when the bell rings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from rltui.batch import Problem
from rltui.logs.discovery.walk import Found, Item, Root, Search, is_folder, roots_of
from rltui.logs.file_systems import FileSystem, kind_of
from rltui.logs.files import Calls
from rltui.logs.follow.poll_interval import PollInterval
from rltui.logs.formats.registry import FormatRegistry

UNKNOWN = FileSystem("not answering", remote=True, events=False, hold=False)
_FRESH = 300.0  # seconds between two searches that list every folder, whatever their time stamps say
_PATIENCE = 0.3  # seconds of searching before the first logs are opened
_RUNG_SHORTEST = 0.25  # seconds between two searches however often the bell rings


class BackgroundSearch:
    """The LOGDIRs, their file systems, and the walk over them. Touches nothing before the first `seek`."""

    def __init__(
        self,
        logdirs: Sequence[str],
        kinds: FormatRegistry,
        pace: PollInterval,
        *,
        system: FileSystem | None,
        wall: Callable[[], float],
    ) -> None:
        self._logdirs = tuple(logdirs)
        self._kinds = kinds
        self._pace = pace
        self._given = system
        self._wall = wall
        self.roots: tuple[Root, ...] = ()
        self.systems: tuple[FileSystem, ...] = ()
        self.dead: set[str] = set()  # folders that do not answer
        self.search: Search | None = None
        self.first = True  # the first walk is not over
        self.due = float("-inf")
        self._rung = False
        self._walk: Iterator[Item] | None = None
        self._spent = 0.0
        self._last = float("-inf")
        self._listed = float("-inf")

    @property
    def busy(self) -> bool:
        """Whether a walk is under way."""
        return self._walk is not None or self.first

    @property
    def slow(self) -> bool:
        """Whether the walk takes so long that what it has found so far should be shown."""
        return self._spent > _PATIENCE

    def ring(self) -> None:
        """Something was made, moved or deleted: search soon. From any thread."""
        self._rung = True

    def next_due(self) -> float:
        """When the next walk should begin."""
        return min(self.due, self._last + _RUNG_SHORTEST) if self._rung else self.due

    def give_up(self, path: str | None) -> None:
        """The walk will not come back, because of `path` if that is known: the next one goes without it."""
        if path is not None:
            self.dead.add(path)
        self._walk = None
        self.due = float("-inf")

    def seek(self, now: float, calls: Calls, over: Callable[[], bool]) -> Iterator[Found | Problem]:
        """Go on with the walk until `over`, or begin one if it is time. Raises GivenUpError."""
        if self.search is None:
            self.search = self._begin(calls)
        if self._walk is None:
            if now < self.next_due():
                return
            self._rung = False
            fresh = now - self._listed >= _FRESH
            self._listed = now if fresh else self._listed
            self._spent = 0.0
            self._walk = self.search.walk(calls, fresh=fresh)
        started = time.perf_counter()
        for item in self._walk:
            if item is not None:
                yield item
            if over():
                self._spent += time.perf_counter() - started
                return
        self._walk = None
        if not self.first:  # the first walk lists everything, and is no measure of the others
            self._pace.scan_cost = self._spent + time.perf_counter() - started
        self.first = False
        self._last = now
        self.due = now + self._pace.scan()

    def _begin(self, calls: Calls) -> Search:
        def ask(path: str) -> bool | None:
            return True if path in self.dead else calls.run(path, is_folder, path)

        self.roots = roots_of(self._logdirs, self._kinds.could_be_log, ask)
        systems = []
        for root in self.roots:
            if root.place in self.dead:
                systems.append(UNKNOWN)
            else:
                systems.append(self._given or calls.run(root.place, kind_of, root.place))
        self.systems = tuple(systems)
        # The most cautious of the file systems sets the pace for all.
        if systems:
            self._pace.system = FileSystem(
                "+".join(dict.fromkeys(system.name for system in systems)),
                remote=any(system.remote for system in systems),
                events=all(system.events for system in systems),
                hold=all(system.hold for system in systems),
            )
        search = Search(
            self.roots, self._kinds.could_be_log, trust_times=self._pace.system.hold, wall=self._wall
        )
        search.skipped = self.dead
        return search
