"""File calls that do not return: which logs wait for them, and what is reported.

Three threads use it: the supervisor gives up, the abandoned thread returns, the reader reports. They share
data under a lock that is never held during a file call.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping

from rltui.common.display_text import clean
from rltui.common.problem import Problem
from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery, Source
from rltui.logs.log_file.log_file import LogFile

GIVE_UP = 5.0  # seconds after which a file call is abandoned
DEVICE_HANGS = 3  # hanging logs of one device from which all its logs are suspended until one answers


class HungCalls:
    """The logs and folders that do not answer."""

    def __init__(self) -> None:
        self._news: deque[tuple[str, LogFile | None, bool]] = deque()  # path, log, whether it answers
        self._freed: deque[LogFile] = deque()
        self._suspended: list[LogFile] = []
        self._lock = threading.Lock()

    @property
    def news(self) -> bool:
        """Whether there is anything to report, or a log that answers again."""
        return bool(self._news or self._freed)

    def give_up(self, path: str, log: LogFile | None, logs: Mapping[str, LogFile]) -> None:
        """A call on `path`, made for a log or for a search, hangs. From the supervisor's thread."""
        with self._lock:
            self._news.append((path, log, False))
            if log is None:
                return
            log.hung = True
            beside = [each for each in list(logs.values()) if each.found.device == log.found.device]
            if sum(each.hung for each in beside) >= DEVICE_HANGS:
                idle = [each for each in beside if not each.hung]
                for each in idle:
                    each.hung = True
                self._suspended += idle

    def returned(self, path: str, log: LogFile | None) -> None:
        """A call returned: the logs of its device answer again. From the thread that had been replaced."""
        with self._lock:
            self._news.append((path, log, True))
            if log is None:
                return
            device = log.found.device
            answering = [log, *(each for each in self._suspended if each.found.device == device)]
            self._suspended = [each for each in self._suspended if each.found.device != device]
            for each in answering:
                each.hung = False
            self._freed.extend(answering)

    def reports(self) -> Iterator[Delivery]:
        """The problems to report or withdraw."""
        while self._news:
            path, log, answers = self._news.popleft()
            source = log.source() if log is not None else Source(run="", path=clean(path), format="")
            late = f"the file system has not answered for {GIVE_UP:.0f} s; the rest goes on without it"
            message = "answers again" if answers else late
            problem = Problem("error", "not-answering", source.path, message, healed=answers)
            yield Delivery(source, Batch(problems=(problem,)), "state")

    def suspended(self) -> Iterator[Delivery]:
        """One problem for the logs that were not read because others of their device did not answer."""
        logs, self._suspended = self._suspended, []
        if logs:
            path = logs[0].found.path
            message = f"not read, like {len(logs) - 1} other logs of a file system that does not answer"
            problem = Problem("error", "not-answering", path, message, count=len(logs))
            yield Delivery(logs[0].source(), Batch(problems=(problem,)), "state")

    def freed(self) -> Iterator[LogFile]:
        """Logs that answer again."""
        while self._freed:
            yield self._freed.popleft()
