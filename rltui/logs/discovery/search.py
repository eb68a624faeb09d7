"""Searching for log files while others are read: in pieces, again and again, at once when asked to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rltui.common.paths import is_url
from rltui.common.problem import Problem
from rltui.logs.discovery.walk import FolderWalker, Item, Root, is_folder, roots_of
from rltui.logs.file_calls import Calls
from rltui.logs.file_systems import FileSystem, kind_of
from rltui.logs.formats.registry import FormatRegistry
from rltui.logs.found_file import FoundFile

if TYPE_CHECKING:
    from rltui.logs.remote.remote_folders import RemoteFolder

NOT_ANSWERING = FileSystem("not answering", remote=True, events=False, attributes=False)
SHORTEST, LONGEST = 5.0, 30.0  # seconds between two searches
_SHARE = 0.003  # of a core, for searching
_FRESH = 300.0  # seconds between two searches that list every folder, whatever their time stamps say
_SLOW = 0.3  # seconds of searching before the first logs are opened
_REQUESTED_SHORTEST = 0.25  # seconds between two searches however often one is requested


class LogSearch:
    """The LOGDIRs, their file systems, and the walk over them. Touches nothing before the first `search`.

    poll: seconds between looks at a growing log, as asked. system: what is known of the file system.
    follow: whether remote folders are looked at again and again; else as they were fetched before.
    """

    def __init__(
        self,
        logdirs: Sequence[str],
        formats: FormatRegistry,
        *,
        poll: float,
        system: FileSystem | None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float],
        follow: bool = False,
    ) -> None:
        self._logdirs = tuple(logdirs)
        self._follow = follow
        self.remote: tuple[RemoteFolder, ...] = ()
        self._remote_problems: dict[tuple[str, str, int | None], Problem] = {}
        self._began = self._walked = 0.0  # wall time at which the present and the last whole walk began
        self._formats = formats
        self._poll = poll
        self._given = system
        self._clock, self._wall = clock, wall
        self.roots: tuple[Root, ...] = ()
        self.systems: tuple[FileSystem, ...] = ()
        # What may be expected of all of them: the most cautious one decides.
        self.system = system or FileSystem("", remote=False, events=False, attributes=True)
        self.not_answering: set[str] = set()  # folders
        self.walker: FolderWalker | None = None
        self.first = True  # the first walk is not over
        self.due = float("-inf")
        self.cost = 0.0  # seconds that the last walk took
        self._requested = False
        self._walk: Iterator[Item] | None = None
        self._spent = 0.0
        self._last = float("-inf")
        self._listed = float("-inf")

    @property
    def changes(self) -> int:
        """Rises when other files may be there than before, of whatever names. From any thread."""
        return self.walker.changes if self.walker is not None else 0

    @property
    def busy(self) -> bool:
        """Whether a walk is under way."""
        return self._walk is not None or self.first

    @property
    def slow(self) -> bool:
        """Whether the walk takes so long that what it has found so far should be shown."""
        return self._spent > _SLOW

    @property
    def waiting(self) -> tuple[str, ...]:
        """The LOGDIRs that do not exist yet, as given; known after the first walk and the first listing."""
        missing = self.walker.waiting if self.walker is not None else ()
        # What was fetched after the last walk began was not looked at yet.
        synced = {folder.mirror.url: folder.mirror.synced for folder in self.remote}
        unknown = {url for url, at in synced.items() if not at or at >= self._walked}
        return tuple(each for each in missing if each not in unknown) if unknown else missing

    @property
    def fetching(self) -> bool:
        """Whether what remote folders hold is not known yet."""
        return self._follow and not all(folder.begun for folder in self.remote)

    def request(self) -> None:
        """Something was made, moved or deleted: search soon. From any thread."""
        self._requested = True

    def next_due(self) -> float:
        """When the next walk should begin."""
        return min(self.due, self._last + _REQUESTED_SHORTEST) if self._requested else self.due

    def interval(self) -> float:
        """Seconds between two searches. A search of local folders asks only their time stamps."""
        shortest = SHORTEST if self.system.remote else min(SHORTEST, max(self._poll, 1.0))
        return min(LONGEST, max(shortest, self.cost / _SHARE))

    def give_up(self, path: str | None) -> None:
        """The walk will not come back, because of `path` if that is known: the next one goes without it."""
        if path is not None:
            self.not_answering.add(path)
        self._walk = None
        self.due = float("-inf")

    def search(self, now: float, calls: Calls, over: Callable[[], bool]) -> Iterator[FoundFile | Problem]:
        """Go on with the walk until `over`, or begin one if it is time. Raises GivenUpError."""
        if self.walker is None:
            self.walker = self._begin(calls)
        yield from self._of_remote()
        if self._walk is None:
            if now < self.next_due():
                return
            self._requested = False
            fresh = now - self._listed >= _FRESH
            self._listed = now if fresh else self._listed
            self._spent = 0.0
            self._walk = self.walker.walk(calls, fresh=fresh)
            self._began = self._wall()
        started = self._clock()
        for item in self._walk:
            if item is not None:
                yield item
            if over():
                self._spent += self._clock() - started
                return
        self._walk, self._walked = None, self._began
        if not self.first:  # the first walk lists everything, and is no measure of the others
            self.cost = self._spent + self._clock() - started
        self.first = False
        self._last = now
        self.due = now + self.interval()

    def _of_remote(self) -> Iterator[Problem]:
        """What remote folders say that they did not say before, and what is over."""
        if not self.remote:
            return
        standing = {each.key: each for folder in self.remote for each in folder.mirror.problems()}
        for key, problem in standing.items():
            if self._remote_problems.get(key) != problem:
                yield problem
        for key in self._remote_problems.keys() - standing.keys():
            yield replace(self._remote_problems[key], message="is over", healed=True)
        self._remote_problems = standing

    def _begin(self, calls: Calls) -> FolderWalker:
        def ask(path: str) -> bool | None:
            return True if path in self.not_answering else calls.run(path, is_folder, path)

        self.roots = roots_of(self._logdirs, self._formats.could_be_log, ask)
        self.remote = _remote_folders([root.given for root in self.roots if is_url(root.given)])
        if self._follow:
            for folder in self.remote:
                folder.thread.start()
        systems = []
        for root in self.roots:
            if root.place in self.not_answering:
                systems.append(NOT_ANSWERING)
                continue
            kind = self._given or calls.run(root.place, kind_of, root.place)
            if is_url(root.given):
                kind = kind._replace(name=f"{root.given.partition(':')[0]} by way of {kind.name}")
            systems.append(kind)
        self.systems = tuple(systems)
        if systems:
            self.system = FileSystem(
                "+".join(dict.fromkeys(system.name for system in systems)),
                remote=any(system.remote for system in systems),
                events=all(system.events for system in systems),
                attributes=all(system.attributes for system in systems),
            )
        walker = FolderWalker(
            self.roots,
            self._formats.could_be_log,
            self._formats,
            trust_times=self.system.attributes,
            wall=self._wall,
        )
        walker.skipped = self.not_answering
        return walker


def _remote_folders(urls: Sequence[str]) -> tuple[RemoteFolder, ...]:
    if not urls:
        return ()
    from rltui.logs.remote.remote_folders import REMOTE  # what few need

    return tuple(map(REMOTE.of, urls))
