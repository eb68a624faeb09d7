"""When to visit each log file again: at the requested interval if that is cheap, else less often."""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable

from rltui.logs.file_systems import FileSystem
from rltui.logs.log_file.log_file import LogFile

HOT_SECONDS = 600.0  # after a change in which a log may grow; RL steps may take minutes
HOT_MODIFIED = 3600.0  # the same for new logs, by their modification time
MAX_IDLE_INTERVAL = 30.0  # seconds
MIN_REMOTE_INTERVAL = 2.0  # seconds
_HOT_SHARE = 0.007  # of a core, for visiting all local files that may grow
_GROWING_SHARE = 0.02  # for those that grew while they were followed
_IDLE_SHARE = 0.003  # of a core, for visiting all others
_WITHIN = 0.85  # of the poll interval; the rest is for the visit, so that a line is shown within the interval
_WEIGHT = 0.02  # of one visit in the mean of costs
_REMOTE_SHARE = 0.1  # of the time, waiting for a network file system


class PollInterval:
    """Intervals between visits, from their measured cost. Times in seconds."""

    def __init__(self, poll: float, system: FileSystem) -> None:
        self.poll = poll
        self.system = system
        self.look_cost = 1e-5  # of one visit of an unchanged file, a moving mean

    def measured(self, seconds: float, looks: int) -> None:
        """Add the cost of each of some successive visits of unchanged files.

        Their weight is at most half, since something else may have delayed all of them.
        """
        self.look_cost += min(_WEIGHT * looks, 0.5) * (min(seconds, 10.0) - self.look_cost)

    def hot(self, files: int) -> float:
        """Between two visits of a log that may grow, of which there are `files`."""
        if self.system.remote:
            return min(
                MAX_IDLE_INTERVAL, max(MIN_REMOTE_INTERVAL, self.poll, files * self.look_cost / _REMOTE_SHARE)
            )
        return min(MAX_IDLE_INTERVAL, max(self.poll / 2, files * self.look_cost / _HOT_SHARE))

    def growing(self, files: int, hot: int) -> float:
        """Between two visits of a log that grew, one of `files` among `hot` that may grow."""
        usual = self.hot(hot)
        if self.system.remote:
            return usual
        return min(usual, max(_WITHIN * self.poll, files * self.look_cost / _GROWING_SHARE))

    def idle(self, files: int) -> float:
        """Between two visits of an idle log, of which there are `files`."""
        share = _REMOTE_SHARE / 2 if self.system.remote else _IDLE_SHARE
        floor = MIN_REMOTE_INTERVAL if self.system.remote else 0.0
        return min(MAX_IDLE_INTERVAL, max(floor, _WITHIN * self.poll, files * self.look_cost / share))


class _Group:
    """Logs with one interval, visited one after the other.

    With a due time for each of 2,000 idle logs the reader wakes 480 times a minute, with a group 65 times.
    """

    def __init__(self, interval: Callable[[], float]) -> None:
        self.due = float("inf")  # infinity while it is empty
        self._interval = interval
        self._began = 0.0
        self._now: deque[tuple[int, LogFile]] = deque()  # still to be visited in this round
        self._next: deque[tuple[int, LogFile]] = deque()

    def __len__(self) -> int:
        return len(self._now) + len(self._next)

    def put(self, turn: int, log: LogFile, now: float) -> None:
        """Visit the log in the next round."""
        if not self:
            self.due = now + self._interval()
        self._next.append((turn, log))

    def take(self, now: float) -> tuple[int, LogFile]:
        """Remove and return the next log of a group that is due."""
        if not self._now:
            self._began, self._now, self._next = now, self._next, self._now
        taken = self._now.popleft()
        if not self._now:
            self.due = self._began + self._interval() if self._next else float("inf")
        return taken


class PollSchedule:
    """Which log files are due. `now` is monotonic, in seconds."""

    def __init__(self, interval: PollInterval) -> None:
        self.interval = interval
        self._growing = _Group(lambda: interval.growing(len(self._growing), self._hot))
        self._still = _Group(lambda: interval.hot(self._hot))  # may grow, but did not while followed
        self._idle = _Group(lambda: interval.idle(len(self._idle)))
        self._groups = deque((self._growing, self._still, self._idle))  # in turns, the next one first
        self._single: list[tuple[float, int, LogFile]] = []  # a heap of logs with separate due times
        self._turns = itertools.count(1)

    @property
    def _hot(self) -> int:
        return len(self._growing) + len(self._still)

    def poll(self) -> float:
        """Present seconds between two visits of a growing log."""
        if self._growing:
            return self.interval.growing(len(self._growing), self._hot)
        return self.interval.hot(self._hot)

    def put(self, log: LogFile, now: float, *, soon: bool = False) -> None:
        """Visit the log again when it is due, or in the next round if `soon`."""
        log.schedule_turn = next(self._turns)
        if soon or log.errors.count:
            due = now if soon else now + log.errors.wait()
            heapq.heappush(self._single, (due, log.schedule_turn, log))
        elif log.gone or log.duplicate_of is not None or now - log.last_change > HOT_SECONDS:
            self._idle.put(log.schedule_turn, log, now)
        elif now - log.last_growth <= HOT_SECONDS:
            self._growing.put(log.schedule_turn, log, now)
        else:
            self._still.put(log.schedule_turn, log, now)

    def take(self, now: float) -> LogFile | None:
        """Remove and return a log that is due; None without one."""
        while (taken := self._next_due(now)) is not None:
            turn, log = taken
            if log.schedule_turn == turn and not log.hung:
                log.schedule_turn = 0
                return log
        return None

    def _next_due(self, now: float) -> tuple[int, LogFile] | None:
        if self._single and self._single[0][0] <= now:
            return heapq.heappop(self._single)[1:]
        for _ in range(len(self._groups)):  # in turns, so that no group delays the others
            group = self._groups[0]
            self._groups.rotate(-1)
            if group.due <= now:
                return group.take(now)
        return None

    def next_due(self) -> float:
        """When the first log is due; infinity without logs."""
        return min([group.due for group in self._groups] + [due for due, _, _ in self._single[:1]])
