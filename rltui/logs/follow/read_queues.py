"""What is opened and read next: log files just found, and log files with history left to read."""

from __future__ import annotations

import heapq
import itertools
from collections import deque

from rltui.logs.log_file.log_file import LogFile
from rltui.logs.log_file_names import file_order

EAGER = 64  # logs opened before the first of them is shown although there are more


def reading_order(log: LogFile) -> tuple[str, str, tuple[str, int, int]]:
    """Sorts logs by run, those of a run as they were written."""
    return (log.run, log.found.folder, file_order(log.found.name))


class OpenQueue:
    """Logs that were found: to be opened, then to be shown, the most recently written run first.

    Each log costs O(log n).
    """

    def __init__(self) -> None:
        self._found: list[tuple[float, int, LogFile]] = []  # a heap: the last written comes first
        self._number = itertools.count()
        self._unopened: dict[str, int] = {}  # how many, by run
        self._opened: dict[str, list[LogFile]] = {}  # by run
        self._waiting = 0  # logs in it
        self._order: list[tuple[float, str]] = []  # a heap of their runs, some more than once
        self._group: deque[LogFile] = deque()  # being shown; the first comes first

    def __bool__(self) -> bool:
        return bool(self._found or self._opened or self._group)

    @property
    def enough(self) -> bool:
        """Whether so many are open that the first of them should be shown now."""
        return self._waiting >= EAGER or not self._found

    def add(self, log: LogFile) -> None:
        """The log was found, or begins anew."""
        heapq.heappush(self._found, (-log.modified, next(self._number), log))
        run = log.found.run
        self._unopened[run] = self._unopened.get(run, 0) + 1

    def take(self) -> LogFile | None:
        """The log to open now, off the list; None when there is none."""
        if not self._found:
            return None
        _, _, log = heapq.heappop(self._found)
        run = log.found.run
        left = self._unopened.pop(run) - 1
        if left:
            self._unopened[run] = left
        return log

    def opened(self, log: LogFile) -> None:
        """It is open now."""
        self._opened.setdefault(log.found.run, []).append(log)
        self._waiting += 1
        heapq.heappush(self._order, (-log.modified, log.found.run))

    def group(self) -> tuple[deque[LogFile], bool]:
        """The open logs of the run written last, in the order in which they were written.

        Whoever has shown one takes it off this list: should that never come back, another worker finds the
        others here. The second says whether no other log of that run waits to be opened.
        """
        if not self._group and self._opened:
            logs: list[LogFile] = []
            while not logs:
                logs = self._opened.pop(heapq.heappop(self._order)[1], [])
            self._waiting -= len(logs)
            self._group = deque(sorted(logs, key=lambda log: (log.found.folder, file_order(log.found.name))))
        return self._group, not self._group or self._group[0].found.run not in self._unopened

    def everything(self) -> deque[LogFile]:
        """All logs in the order of their paths, once none of them waits to be opened; off it as above."""
        if not self._found and self._opened:
            logs = [*self._group, *itertools.chain.from_iterable(self._opened.values())]
            self._group = deque(sorted(logs, key=lambda log: log.found.path))
            self._opened.clear()
            self._waiting = 0
        return self._group if not self._found else deque()


class HistoryQueue:
    """Logs with history left to read: the focused run first, then the others, each in file order.

    newest_first: the runs that were written last come before older ones; otherwise they go by name.
    """

    def __init__(self, *, newest_first: bool = True) -> None:
        self._newest_first = newest_first
        self._logs: list[LogFile] = []  # the last comes first
        self._sorted = True
        self._focus: str | None = None

    def __len__(self) -> int:
        return len(self._logs)

    def focus(self, run: str | None) -> None:
        """Read this run first. Said with every message of the screen: the same run changes nothing."""
        if run != self._focus:
            self._focus, self._sorted = run, False

    def add(self, log: LogFile) -> None:
        """The log has history left. Adding it twice does nothing."""
        if not log.queued:
            log.queued = True
            self._logs.append(log)
            self._sorted = False

    def take(self) -> LogFile | None:
        """The log to read on in, off the list; None when nothing is left."""
        if not self._sorted:
            self._sort()
        if not self._logs:
            return None
        log = self._logs.pop()
        log.queued = False
        return log

    def put_back(self, log: LogFile) -> None:
        """Not finished: it stays the first, unless the order changed."""
        if not log.queued:
            log.queued = True
            self._logs.append(log)

    def _sort(self) -> None:
        self._sorted = True
        newest: dict[str, float] = {}
        if self._newest_first:
            for log in self._logs:
                newest[log.run] = max(log.modified, newest.get(log.run, log.modified))
        focus = self._focus
        self._logs.sort(
            key=lambda log: (log.run != focus, -newest.get(log.run, 0.0), *reading_order(log)), reverse=True
        )
