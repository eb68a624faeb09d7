"""When to look at which log again."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable

from rltui.logs.follow.poll_interval import HOT_SECONDS, PollInterval
from rltui.logs.log_file.log_file import LogFile

_RECOUNT = 5.0  # seconds between two counts of the logs that grow


class PollSchedule:
    """Due times of logs. `now` is monotonic, in seconds."""

    def __init__(self, pace: PollInterval) -> None:
        self.pace = pace
        self.hot = 0
        self.idle = 0
        self.growing = 0
        self._counted = float("-inf")
        self._heap: list[tuple[float, int, LogFile]] = []
        self._count = itertools.count()

    def recount(self, tracks: Iterable[LogFile], now: float) -> None:
        """Count the logs that grow, now and then: intervals depend on how many there are."""
        if 0 <= now - self._counted < _RECOUNT:
            return
        self._counted = now
        recent = now - HOT_SECONDS
        self.hot = self.idle = self.growing = 0
        for track in tracks:
            if track.grown >= recent:
                self.growing += 1
            if track.changed >= recent:
                self.hot += 1
            else:
                self.idle += 1

    def wait(self, track: LogFile, now: float) -> float:
        """Seconds until the log should be looked at again."""
        age = now - track.changed
        if track.trouble.count:
            return track.trouble.wait()
        if track.gone or track.also_of is not None or age > HOT_SECONDS:
            return self.pace.idle(self.idle)
        if now - track.grown <= HOT_SECONDS:
            return self.pace.growing(self.growing, self.hot)
        return self.pace.hot(self.hot)

    def put(self, track: LogFile, now: float, *, soon: bool = False) -> None:
        """Look at the log again when its time comes, or at the next look if `soon`."""
        track.due = now if soon else now + self.wait(track, now)
        heapq.heappush(self._heap, (track.due, next(self._count), track))

    def take(self, now: float) -> LogFile | None:
        """A log whose time has come, off the agenda; None when there is none."""
        while self._heap and self._heap[0][0] <= now:
            due, _, track = heapq.heappop(self._heap)
            if track.due == due and not track.stuck:
                track.due = float("inf")
                return track
        return None

    def next_due(self) -> float:
        """When the first log is due; infinity when none is."""
        return self._heap[0][0] if self._heap else float("inf")
