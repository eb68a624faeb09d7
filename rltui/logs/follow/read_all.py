"""What commands read with: the deliveries of a reader thread, as an iterator in the command's own thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from rltui.common import interpreter_settings
from rltui.logs.delivery import Delivery
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.hung_calls import GIVE_UP
from rltui.logs.follow.reader_thread import ReaderThread
from rltui.logs.found_file import PlacedLog, Walked


class Deliveries:
    """Iterates over what a follower delivers, list by list; ends only where the follower reads once.

    A signal ends the iteration whatever the file system does. The reader and the command take turns: side by
    side they would contend for the interpreter (15 % more CPU for `check` of a large log) and hold more in
    memory. wait: seconds after which an empty list comes where nothing new does; None waits for ever.
    """

    def __init__(self, follower: Follower, *, wait: float | None = None, give_up: float = GIVE_UP) -> None:
        self.follower = follower
        self.at_rest = False  # everything that was there has been given
        self._wait = wait
        self._reader = ReaderThread(
            follower, self._put, ended=self._end, fs_events=not follower.once, give_up=give_up
        )
        self._change = threading.Condition()
        self._list: list[Delivery] | None = None
        self._requested = False  # the command waits for the next list
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
    """Every point of every log below the LOGDIRs: runs by name, their logs as they were written.

    Duplicates come as one "state" each unless `all_sources`. Problems of folders come under the empty run
    name; so does what is not read because a file call does not return within `give_up` seconds.
    verify: check all checksums. Raises MissingError at the start for a LOGDIR that is not there.
    """
    follower = Follower(logdirs, run_glob=run_glob, verify=verify, all_sources=all_sources, once=True)
    for deliveries in Deliveries(follower, give_up=give_up):
        yield from deliveries


def place_all(
    logdirs: Sequence[str | Path],
    *,
    run_glob: str | None = None,
    verify: bool = False,
) -> tuple[list[PlacedLog], list[Delivery], Walked, dict[str, list[str]]]:
    """The logs below the LOGDIRs by run, placed but not read; what was said of them and of folders.

    And what was looked at to find them, and the paths of the logs of runs that were not asked for, by run.

    Raises MissingError for a LOGDIR that is not there.
    """
    follower = Follower(logdirs, run_glob=run_glob, verify=verify, place_only=True)
    said = [each for deliveries in Deliveries(follower) for each in deliveries]
    return follower.placed(), said, follower.walked(), follower.others()


def read_placed(
    logs: Sequence[PlacedLog],
    *,
    verify: bool = False,
    all_sources: bool = False,
) -> Iterator[Delivery]:
    """Every point of logs that were placed before, as `read_all` gives them."""
    if not logs:
        return
    follower = Follower((), given=logs, verify=verify, all_sources=all_sources)
    for deliveries in Deliveries(follower):
        yield from deliveries
