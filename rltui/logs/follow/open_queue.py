"""Logs that were found: to be opened, then to be shown, the most recently written run first."""

from __future__ import annotations

import heapq
import itertools
from collections import deque

from rltui.logs.log_file.log_file import LogFile
from rltui.logs.run_names import file_order

EAGER = 64  # logs opened before the first of them is shown although there are more
_AHEAD = 128  # runs whose order is settled


class OpenQueue:
    """Two lists: what waits to be opened, and what is open and waits to be shown. Each log costs O(log n)."""

    def __init__(self) -> None:
        self._met: list[tuple[float, int, LogFile]] = []  # a heap: the last written comes first
        self._turn = itertools.count()
        self._unopened: dict[str, int] = {}  # how many, by run
        self._ready: dict[str, list[LogFile]] = {}  # by run
        self._waiting = 0  # logs in it
        self._order: list[tuple[float, str]] = []  # a heap of their runs, some more than once
        self._next: deque[str] = deque()  # the first of them, in order
        self._group: list[LogFile] = []  # being shown; the first comes first

    def __bool__(self) -> bool:
        return bool(self._met or self._ready or self._group)

    @property
    def enough(self) -> bool:
        """Whether so many are open that the first of them should be shown now."""
        return self._waiting >= EAGER or not self._met

    def meet(self, track: LogFile) -> None:
        """The log was found, or begins anew."""
        heapq.heappush(self._met, (-track.modified, next(self._turn), track))
        run = track.found.run
        self._unopened[run] = self._unopened.get(run, 0) + 1

    def next_met(self) -> LogFile | None:
        """The log to open now, off the list; None when there is none."""
        if not self._met:
            return None
        _, _, track = heapq.heappop(self._met)
        run = track.found.run
        left = self._unopened.pop(run) - 1
        if left:
            self._unopened[run] = left
        return track

    def opened(self, track: LogFile) -> None:
        """It is open now."""
        self._ready.setdefault(track.found.run, []).append(track)
        self._waiting += 1
        heapq.heappush(self._order, (-track.modified, track.found.run))

    def group(self) -> tuple[list[LogFile], bool]:
        """The open logs of the run written last, in the order in which they were written.

        Whoever has shown one takes it off this list: should that never come back, another worker finds the
        others here. The second says whether no other log of that run waits to be opened.
        """
        if not self._group and self._ready:
            self._look_ahead()
            self._group = self._ready.pop(self._next.popleft())
            self._waiting -= len(self._group)
            self._group.sort(key=lambda track: (track.found.folder, file_order(track.found.name)))
        return self._group, not self._group or self._group[0].found.run not in self._unopened

    def _look_ahead(self) -> None:
        """Settle which runs are shown next, at least one."""
        if self._next:
            return
        settled: dict[str, None] = {}
        while self._order and len(settled) < _AHEAD:
            _, run = heapq.heappop(self._order)
            if run in self._ready:
                settled[run] = None
        self._next.extend(settled)
