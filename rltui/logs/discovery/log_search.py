"""Searches for log files repeatedly, in pieces between which other files are read, or on request."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rltui.common.problem import Problem
from rltui.common.writable_paths import is_url
from rltui.logs.discovery.folder_walk import FolderWalker, Item
from rltui.logs.discovery.logdir_roots import Root, is_folder, roots_of
from rltui.logs.file_calls import Calls
from rltui.logs.file_systems import FileSystem, kind_of
from rltui.logs.formats.registry import FormatRegistry
from rltui.logs.found_file import FoundFile

if TYPE_CHECKING:
    from rltui.logs.remote.remote_folders import RemoteFolder

NOT_ANSWERING = FileSystem("not answering")
MIN_INTERVAL, MAX_INTERVAL = 5.0, 30.0  # seconds between two searches
_CPU_SHARE = 0.003  # of a core, for searching
_FULL_INTERVAL = 300.0  # seconds between two searches that list folders with unchanged time stamps, too
_SLOW = 0.3  # seconds of searching after which the first logs are opened
_MIN_REQUESTED_INTERVAL = 0.25  # seconds between two requested searches


class LogSearch:
    """The LOGDIRs, their file systems, and the walks over them. No file call before the first `search`.

    poll: requested seconds between visits of a growing log. system: the file system, if known.
    follow: whether remote folders are kept up to date; otherwise they are used as they were fetched before.
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
        self._began = self._walked = 0.0  # wall times at which the present and the last complete walk began
        self._formats = formats
        self._poll = poll
        self._given = system
        self._clock, self._wall = clock, wall
        self.roots: tuple[Root, ...] = ()
        self.systems: tuple[FileSystem, ...] = ()
        # The properties that all of them have.
        self.system = system or FileSystem("", remote=False, attributes=True)
        self.not_answering: set[str] = set()  # folders
        self.walker: FolderWalker | None = None
        self.first = True  # whether the first walk has not ended
        self.due = float("-inf")
        self.cost = 0.0  # seconds of the last walk
        self._requested = False
        self._walk: Iterator[Item] | None = None
        self._spent = 0.0
        self._last = float("-inf")
        self._listed = float("-inf")

    @property
    def changes(self) -> int:
        """Rises when there may be other files than before, of any name. From any thread."""
        return self.walker.changes if self.walker is not None else 0

    @property
    def counts(self) -> tuple[int, int] | None:
        """The number of files and folders below the LOGDIRs; None before the first walk has ended."""
        return self.walker.counts if self.walker is not None else None

    @property
    def busy(self) -> bool:
        """Whether a walk has not ended."""
        return self._walk is not None or self.first

    @property
    def slow(self) -> bool:
        """Whether the walk takes so long that the logs found so far should be shown."""
        return self._spent > _SLOW

    @property
    def waiting(self) -> tuple[str, ...]:
        """The LOGDIRs that do not exist yet, as given; known after the first walk and the first listing."""
        missing = self.walker.waiting if self.walker is not None else ()
        # A folder that was fetched after the last walk began has not been walked.
        synced = {folder.mirror.url: folder.mirror.synced for folder in self.remote}
        unknown = {url for url, at in synced.items() if not at or at >= self._walked}
        return tuple(each for each in missing if each not in unknown) if unknown else missing

    @property
    def fetching(self) -> bool:
        """Whether a remote folder has not been listed yet."""
        return self._follow and not all(folder.begun for folder in self.remote)

    def request(self) -> None:
        """Request a search soon, since a file was created, moved or deleted. From any thread."""
        self._requested = True

    def next_due(self) -> float:
        """When the next walk is due."""
        return min(self.due, self._last + _MIN_REQUESTED_INTERVAL) if self._requested else self.due

    def interval(self) -> float:
        """Seconds between two searches. A search of local folders only reads their time stamps."""
        shortest = MIN_INTERVAL if self.system.remote else min(MIN_INTERVAL, max(self._poll, 1.0))
        return min(MAX_INTERVAL, max(shortest, self.cost / _CPU_SHARE))

    def give_up(self, path: str | None) -> None:
        """Abandon a walk that hangs, because of `path` if that is known, which the next walk leaves out."""
        if path is not None:
            self.not_answering.add(path)
        self._walk = None
        self.due = float("-inf")

    def search(self, now: float, calls: Calls, over: Callable[[], bool]) -> Iterator[FoundFile | Problem]:
        """Continue the walk until `over`, or begin one if it is due. Raises GivenUpError."""
        if self.walker is None:
            self.walker = self._begin(calls)
        yield from self._remote_changes()
        if self._walk is None:
            if now < self.next_due():
                return
            self._requested = False
            full = now - self._listed >= _FULL_INTERVAL
            self._listed = now if full else self._listed
            self._spent = 0.0
            self._walk = self.walker.walk(calls, full=full)
            self._began = self._wall()
        started = self._clock()
        for item in self._walk:
            if item is not None:
                yield item
            if over():
                self._spent += self._clock() - started
                return
        self._walk, self._walked = None, self._began
        if not self.first:  # the first walk lists all folders, so its cost is not typical
            self.cost = self._spent + self._clock() - started
        self.first = False
        self._last = now
        self.due = now + self.interval()

    def _remote_changes(self) -> Iterator[Problem]:
        """New problems of remote folders, and those that are resolved."""
        if not self.remote:
            return
        present = {each.key: each for folder in self.remote for each in folder.mirror.problems()}
        for key, problem in present.items():
            if self._remote_problems.get(key) != problem:
                yield problem
        for key in self._remote_problems.keys() - present.keys():
            yield replace(self._remote_problems[key], message="is over", healed=True)
        self._remote_problems = present

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
    from rltui.logs.remote.remote_folders import REMOTE  # few need it

    return tuple(map(REMOTE.of, urls))
