"""The order in which logs are opened and read: queues of new logs, and of logs with unread history."""

from __future__ import annotations

import heapq
import itertools
from collections import deque

from rltui.logs.log_file.log_file import LogFile
from rltui.logs.log_file_names import file_order

ENOUGH_OPEN = 64  # opened logs after which the first of them is shown although there are more


def reading_order(log: LogFile) -> tuple[str, str, tuple[str, int, int]]:
    """Sorts logs by run, those of a run by age."""
    return (log.run, log.found.folder, file_order(log.found.name))


class OpenQueue:
    """New logs, to be opened and then shown, the run written last first. O(log n) for each log."""

    def __init__(self) -> None:
        self._found: list[tuple[float, int, LogFile]] = []  # a heap, the log written last first
        self._number = itertools.count()
        self._unopened: dict[str, int] = {}  # number of logs by run
        self._opened: dict[str, list[LogFile]] = {}  # by run
        self._waiting = 0  # number of opened logs
        self._order: list[tuple[float, str]] = []  # a heap of their runs, some more than once
        self._group: deque[LogFile] = deque()  # being shown

    def __bool__(self) -> bool:
        return bool(self._found or self._opened or self._group)

    @property
    def enough(self) -> bool:
        """Whether enough logs are open to show the first of them now."""
        return self._waiting >= ENOUGH_OPEN or not self._found

    def add(self, log: LogFile) -> None:
        """Add a log that was found or is read again."""
        heapq.heappush(self._found, (-log.modified, next(self._number), log))
        run = log.found.run
        self._unopened[run] = self._unopened.get(run, 0) + 1

    def take(self) -> LogFile | None:
        """Remove and return the log to open now; None without one."""
        if not self._found:
            return None
        _, _, log = heapq.heappop(self._found)
        run = log.found.run
        left = self._unopened.pop(run) - 1
        if left:
            self._unopened[run] = left
        return log

    def opened(self, log: LogFile) -> None:
        """Add a log that was opened."""
        self._opened.setdefault(log.found.run, []).append(log)
        self._waiting += 1
        heapq.heappush(self._order, (-log.modified, log.found.run))

    def group(self) -> tuple[deque[LogFile], bool]:
        """The open logs of the run written last, by age, and whether all logs of that run are open.

        The caller removes each log that it has shown. If it hangs, another worker finds the others here.
        """
        if not self._group and self._opened:
            logs: list[LogFile] = []
            while not logs:
                logs = self._opened.pop(heapq.heappop(self._order)[1], [])
            self._waiting -= len(logs)
            self._group = deque(sorted(logs, key=lambda log: (log.found.folder, file_order(log.found.name))))
        return self._group, not self._group or self._group[0].found.run not in self._unopened

    def everything(self) -> deque[LogFile]:
        """All logs in the order of their paths, once all are open; the caller removes each as above."""
        if not self._found and self._opened:
            logs = [*self._group, *itertools.chain.from_iterable(self._opened.values())]
            self._group = deque(sorted(logs, key=lambda log: log.found.path))
            self._opened.clear()
            self._waiting = 0
        return self._group if not self._found else deque()


class HistoryQueue:
    """Logs with unread history: the focused run first, then the others, the logs of each by age.

    newest_first: the order of runs is by modification time instead of name.
    """

    def __init__(self, *, newest_first: bool) -> None:
        self._newest_first = newest_first
        self._logs: list[LogFile] = []  # the next one last
        self._sorted = True
        self._focus: str | None = None

    def __len__(self) -> int:
        return len(self._logs)

    def focus(self, run: str | None) -> None:
        """Read this run first. Called often with the same run."""
        if run != self._focus:
            self._focus, self._sorted = run, False

    def add(self, log: LogFile) -> None:
        """Add a log with unread history, unless it is in the queue."""
        if not log.queued:
            log.queued = True
            self._logs.append(log)
            self._sorted = False

    def take(self) -> LogFile | None:
        """Remove and return the log to read next; None without one."""
        if not self._sorted:
            self._sort()
        if not self._logs:
            return None
        log = self._logs.pop()
        log.queued = False
        return log

    def put_back(self, log: LogFile) -> None:
        """Add a log with unread history as the next one, unless the order changed."""
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
