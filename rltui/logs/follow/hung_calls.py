"""File calls that do not come back: which logs wait for them, and what is reported of it.

The supervisor gives up, the thread that hung comes back, the reader reports: three threads, so what they
share is touched under a lock that nobody holds during a file call.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping

from rltui.common.problem import Problem
from rltui.common.text import clean
from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery, Source
from rltui.logs.log_file.log_file import LogFile

GIVE_UP = 5.0  # seconds after which a file call counts as one that never returns
MOUNT = 3  # hanging logs of one device from which all logs there are left alone until one answers


class HungCalls:
    """The logs and folders that do not answer."""

    def __init__(self) -> None:
        self._news: deque[tuple[str, LogFile | None, bool]] = deque()  # path, log, whether it answers
        self._freed: deque[LogFile] = deque()
        self._suspended: list[LogFile] = []
        self._lock = threading.Lock()

    @property
    def news(self) -> bool:
        """Whether there is anything to report or to go on with."""
        return bool(self._news or self._freed)

    def give_up(self, path: str, log: LogFile | None, logs: Mapping[str, LogFile]) -> None:
        """A call on `path`, made for a log or for a search, hangs. From the supervisor's thread."""
        with self._lock:
            self._news.append((path, log, False))
            if log is None:
                return
            log.hung = True
            beside = [each for each in list(logs.values()) if each.found.device == log.found.device]
            if sum(each.hung for each in beside) >= MOUNT:
                idle = [each for each in beside if not each.hung]
                for each in idle:
                    each.hung = True
                self._suspended += idle

    def returned(self, path: str, log: LogFile | None) -> None:
        """The call came back, and with it the logs of its device. From the thread that had been given up."""
        with self._lock:
            self._news.append((path, log, True))
            if log is None:
                return
            device = log.found.device
            back = [log, *(each for each in self._suspended if each.found.device == device)]
            self._suspended = [each for each in self._suspended if each.found.device != device]
            for each in back:
                each.hung = False
            self._freed.extend(back)

    def reports(self) -> Iterator[Delivery]:
        """What to report of it."""
        while self._news:
            path, log, answers = self._news.popleft()
            source = log.source() if log is not None else Source(run="", path=clean(path), format="")
            late = f"the file system has not answered for {GIVE_UP:.0f} s; the rest goes on without it"
            message = "answers again" if answers else late
            problem = Problem("error", "not-answering", source.path, message, healed=answers)
            yield Delivery(source, Batch(problems=(problem,)), "state")

    def suspended(self) -> Iterator[Delivery]:
        """One report for the logs that nobody asked because others of their device did not answer."""
        logs, self._suspended = self._suspended, []
        if logs:
            path = logs[0].found.path
            message = f"not read, like {len(logs) - 1} other logs of a file system that does not answer"
            problem = Problem("error", "not-answering", path, message, count=len(logs))
            yield Delivery(logs[0].source(), Batch(problems=(problem,)), "state")

    def freed(self) -> Iterator[LogFile]:
        """Logs that can be looked at again."""
        while self._freed:
            yield self._freed.popleft()
