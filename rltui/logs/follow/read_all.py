"""Reads logs for commands: the deliveries of a reader thread, as an iterator in the calling thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from rltui.common import interpreter_settings
from rltui.logs.delivery import Delivery
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.hung_calls import GIVE_UP
from rltui.logs.follow.reader_thread import ReaderThread
from rltui.logs.found_file import AssignedLog, VisitedPaths
from rltui.logs.run_names import RunFilter


class Deliveries:
    """Iterates over lists of deliveries of a follower; ends only if the follower reads once.

    A signal ends the iteration even if the file system hangs. The reader and the command take turns: in
    parallel they would contend for the interpreter (15 % more CPU for `check` of a large log) and need more
    memory. wait: seconds after which an empty list is returned if there are no deliveries; None waits
    indefinitely.
    """

    def __init__(self, follower: Follower, *, wait: float | None = None, give_up: float = GIVE_UP) -> None:
        self.follower = follower
        self.at_rest = False  # everything has been read and returned
        self._wait = wait
        self._reader = ReaderThread(
            follower, self._put, ended=self._end, fs_events=not follower.once, give_up=give_up
        )
        self._change = threading.Condition()
        self._list: list[Delivery] | None = None
        self._requested = False  # whether the command waits for the next list
        self._ended = False
        self._closed = False
        self._error: Exception | None = None

    def __iter__(self) -> Iterator[list[Delivery]]:
        interpreter_settings.use_one_memory_arena()
        self._reader.start()
        try:
            while (deliveries := self._take()) is not None:
                yield deliveries
        finally:
            with self._change:
                self._closed = True
                self._change.notify_all()
            self._reader.stop()

    def _take(self) -> list[Delivery] | None:
        with self._change:
            at_rest, self._requested = self._reader.at_rest, True
            self._change.notify_all()
            self._change.wait_for(lambda: self._list is not None or self._ended, self._wait)
            if self._list is None:
                if self._error is not None:
                    raise self._error
                self.at_rest = at_rest
                return None if self._ended else []
            deliveries, self._list, self._requested = self._list, None, False
            return deliveries

    def _put(self, deliveries: list[Delivery]) -> None:
        with self._change:
            self._list = deliveries
            self._change.notify_all()
            self._change.wait_for(lambda: self._closed or (self._list is None and self._requested))

    def _end(self, error: Exception | None) -> None:
        with self._change:
            self._ended, self._error = True, error
            self._change.notify_all()


def read_all(
    logdirs: Sequence[str | Path],
    *,
    run_glob: str | None = None,
    verify: bool = False,
    all_sources: bool = False,
    give_up: float = GIVE_UP,
) -> Iterator[Delivery]:
    """All points of all logs below the LOGDIRs: runs by name, the logs of each by age.

    A duplicate is delivered as one "state" unless `all_sources`. Problems of folders have an empty run name,
    as have those of files that are not read because a file call does not return within `give_up` seconds.
    verify: check all checksums. Raises MissingError at the start for a LOGDIR that does not exist.
    """
    follower = Follower(logdirs, runs=RunFilter(run_glob), verify=verify, all_sources=all_sources, once=True)
    for deliveries in Deliveries(follower, give_up=give_up):
        yield from deliveries


def assign_all(
    logdirs: Sequence[str | Path],
    *,
    run_glob: str | None = None,
    verify: bool = False,
) -> tuple[list[AssignedLog], list[Delivery], VisitedPaths, dict[str, list[str]]]:
    """Assign the logs below the LOGDIRs to runs without reading them.

    Returns the logs by run, deliveries of problems, the paths that were visited, and the paths of the logs of
    runs that were not requested, by run. Raises MissingError for a LOGDIR that does not exist.
    """
    follower = Follower(logdirs, runs=RunFilter(run_glob), verify=verify, assign_only=True)
    problems = [delivery for deliveries in Deliveries(follower) for delivery in deliveries]
    return follower.assigned(), problems, follower.visited_paths(), follower.others()


def read_assigned(
    logs: Sequence[AssignedLog],
    *,
    verify: bool = False,
    all_sources: bool = False,
) -> Iterator[Delivery]:
    """All points of logs that were assigned to runs before, as `read_all` returns them."""
    if not logs:
        return
    follower = Follower((), given=logs, verify=verify, all_sources=all_sources)
    for deliveries in Deliveries(follower):
        yield from deliveries
