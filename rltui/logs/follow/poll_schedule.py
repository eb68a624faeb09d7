"""When to look at which log file again: as often as asked while that is cheap, less often where it is not."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable

from rltui.logs.file_systems import FileSystem
from rltui.logs.log_file.log_file import LogFile

HOT_SECONDS = 600.0  # a log counts as growing for so long after a change; RL steps may take minutes
HOT_MODIFIED = 3600.0  # the same for logs that are found, by their time of modification
IDLE_LONGEST = 30.0
REMOTE_SHORTEST = 2.0
_HOT_SHARE = 0.007  # of a core, for looking at all local files that may grow
_GROWING_SHARE = 0.02  # for those among them that were seen to grow
_IDLE_SHARE = 0.003  # of a core, for looking at all others
_WITHIN = 0.85  # of the poll: what is left is for the look itself, so that a line is shown within the poll
_REMOTE_SHARE = 0.1  # of the time, waiting for a network file system
_RECOUNT = 5.0  # seconds between two counts of the logs that grow


class PollInterval:
    """Intervals from what looks were measured to cost. Times in seconds."""

    def __init__(self, poll: float, system: FileSystem) -> None:
        self.poll = poll
        self.system = system
        self.look_cost = 1e-5  # of one look at an unchanged file, a moving mean

    def measured(self, seconds: float) -> None:
        """One look at an unchanged file took so long."""
        self.look_cost += 0.02 * (min(seconds, 10.0) - self.look_cost)

    def hot(self, files: int) -> float:
        """Between two looks at a log that may grow, of which there are `files`."""
        if self.system.remote:
            return min(IDLE_LONGEST, max(REMOTE_SHORTEST, self.poll, files * self.look_cost / _REMOTE_SHARE))
        return min(IDLE_LONGEST, max(self.poll / 2, files * self.look_cost / _HOT_SHARE))

    def growing(self, files: int, hot: int) -> float:
        """Between two looks at a log that was seen to grow, one of `files` among `hot` that may."""
        usual = self.hot(hot)
        if self.system.remote:
            return usual
        return min(usual, max(_WITHIN * self.poll, files * self.look_cost / _GROWING_SHARE))

    def idle(self, files: int) -> float:
        """Between two looks at a log that did not grow for long, of which there are `files`."""
        share = _REMOTE_SHARE / 2 if self.system.remote else _IDLE_SHARE
        floor = REMOTE_SHORTEST if self.system.remote else self.poll / 2
        return min(IDLE_LONGEST, max(floor, self.poll / 2, files * self.look_cost / share))


class PollSchedule:
    """Due times of log files. `now` is monotonic, in seconds."""

    def __init__(self, interval: PollInterval) -> None:
        self.interval = interval
        self.hot = 0
        self.idle = 0
        self.growing = 0
        self._counted = float("-inf")
        self._heap: list[tuple[float, int, LogFile]] = []
        self._number = itertools.count()

    def recount(self, logs: Iterable[LogFile], now: float) -> None:
        """Count the logs that grow, now and then: intervals depend on how many there are."""
        if 0 <= now - self._counted < _RECOUNT:
            return
        self._counted = now
        recent = now - HOT_SECONDS
        self.hot = self.idle = self.growing = 0
        for log in logs:
            if log.grown >= recent:
                self.growing += 1
            if log.changed >= recent:
                self.hot += 1
            else:
                self.idle += 1

    def poll(self) -> float:
        """Seconds between two looks at a log that grows, as it is now."""
        if self.growing:
            return self.interval.growing(self.growing, self.hot)
        return self.interval.hot(self.hot)

    def wait(self, log: LogFile, now: float) -> float:
        """Seconds until the log should be looked at again."""
        age = now - log.changed
        if log.errors.count:
            return log.errors.wait()
        if log.gone or log.also_of is not None or age > HOT_SECONDS:
            return self.interval.idle(self.idle)
        if now - log.grown <= HOT_SECONDS:
            return self.interval.growing(self.growing, self.hot)
        return self.interval.hot(self.hot)

    def put(self, log: LogFile, now: float, *, soon: bool = False) -> None:
        """Look at the log again when its time comes, or at the next look if `soon`."""
        log.due = now if soon else now + self.wait(log, now)
        heapq.heappush(self._heap, (log.due, next(self._number), log))

    def take(self, now: float) -> LogFile | None:
        """A log whose time has come, off the schedule; None when there is none."""
        while self._heap and self._heap[0][0] <= now:
            due, _, log = heapq.heappop(self._heap)
            if log.due == due and not log.hung:
                log.due = float("inf")
                return log
        return None

    def next_due(self) -> float:
        """When the first log is due; infinity when none is."""
        return self._heap[0][0] if self._heap else float("inf")
