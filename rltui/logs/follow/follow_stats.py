"""Measurements of the follower: lags, durations, bytes read, present problems."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from rltui.common.arrays import median
from rltui.common.problem import Problem, Problems
from rltui.logs.discovery.log_search import LogSearch
from rltui.logs.file_calls import Calls
from rltui.logs.follow.poll_schedule import PollSchedule
from rltui.logs.log_file.log_file import LogFile


@dataclass(frozen=True, slots=True)
class FollowStatus:
    """The state of the follower for doctor and the status line; immutable."""

    file_systems: tuple[tuple[str, str], ...] = ()  # (LOGDIR as given, name of its file system)
    noticing: str = ""  # how changes are detected, in one line
    events: str = "off"  # of the file system: "on", "off", or why they are not used
    poll: float = 0.0  # present seconds between visits of a growing log
    rescan: float = 0.0  # present seconds between searches for new logs
    files: int = 0
    duplicates: int = 0
    waiting: tuple[str, ...] = ()  # LOGDIRs that do not exist yet
    lag: float | None = None  # median seconds from a write to its reading, of recent ones
    look_worst: float = 0.0  # seconds of the longest recent look
    opened: int = 0  # number of files opened
    bytes_read: int = 0  # including identity checks
    bytes_known: int = 0
    problems: tuple[Problem, ...] = ()  # that are not resolved


class FollowStats:
    """Counters of one follower."""

    def __init__(self) -> None:
        self.events = "off"  # see `FollowStatus`
        self.lags: deque[float] = deque(maxlen=64)  # seconds from a write to the reading of its points
        self.looks: deque[float] = deque(maxlen=256)  # seconds of each
        self.problems = Problems()  # that are not resolved
        self._opened = 0
        self._read = 0

    def given_up(self, calls: Calls) -> None:
        """Add the counts of a worker that was replaced."""
        self._opened += calls.opened
        self._read += calls.read

    def status(
        self,
        logs: Sequence[LogFile],
        *,
        search: LogSearch,
        schedule: PollSchedule,
        calls: Calls,
        known: int,
    ) -> FollowStatus:
        """The present status. known: bytes of all logs."""
        system = search.system
        poll = schedule.poll()
        how = "attributes of paths" if system.attributes else "open and read at every look"
        events = {"on": "; events for new files", "off": ""}.get(self.events, f"; no events: {self.events}")
        lags, looks = list(self.lags), list(self.looks)
        return FollowStatus(
            file_systems=tuple(
                (root.given, kind.name) for root, kind in zip(search.roots, search.systems, strict=False)
            ),
            noticing=f"poll every {poll:.3g} s ({system.name}, {how}){events}",
            events=self.events,
            poll=poll,
            rescan=search.interval(),
            files=len(logs),
            duplicates=sum(log.duplicate_of is not None for log in logs),
            waiting=search.waiting,
            lag=median(lags) if lags else None,
            look_worst=max(looks, default=0.0),
            opened=self._opened + calls.opened,
            bytes_read=self._read + calls.read,
            bytes_known=known,
            problems=tuple(self.problems.values()),
        )
