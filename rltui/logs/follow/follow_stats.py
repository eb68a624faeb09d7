"""What following measures of itself: lags, looks, reads, and the problems that stand."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import field

from rltui.common.arrays import median
from rltui.common.data_class import dataclass
from rltui.common.problem import Problem, Problems
from rltui.logs.discovery.search import LogSearch
from rltui.logs.file_calls import Calls
from rltui.logs.follow.poll_schedule import PollSchedule
from rltui.logs.log_file.log_file import LogFile


@dataclass(frozen=True, slots=True)
class FollowStatus:
    """How the following goes, for doctor and the status line. An immutable picture of one moment."""

    file_systems: tuple[tuple[str, str], ...] = ()  # (LOGDIR as given, name of its file system)
    noticing: str = ""  # one line for people: how changes are noticed
    events: str = "off"  # of the file system: "on", "off", or why they are not used
    poll: float = 0.0  # seconds between looks at a log that grows, as it is now
    rescan: float = 0.0  # seconds between searches for new logs, as it is now
    files: int = 0
    duplicates: int = 0
    waiting: tuple[str, ...] = ()  # LOGDIRs that do not exist yet
    lag: float | None = None  # seconds from a write to its reading, median of the recent ones
    look_worst: float = 0.0
    opened: int = 0  # files opened so far
    bytes_read: int = 0  # bytes read from files so far, identity checks included
    bytes_known: int = 0
    problems: tuple[Problem, ...] = field(default=())  # that stand now


class FollowStats:
    """Counters of one follower."""

    def __init__(self) -> None:
        self.events = "off"  # see `FollowStatus`
        self.lags: deque[float] = deque(maxlen=64)  # seconds from a write to the reading of its points
        self.looks: deque[float] = deque(maxlen=256)  # seconds that each took
        self.problems = Problems()  # that stand
        self._opened = 0
        self._read = 0

    def given_up(self, calls: Calls) -> None:
        """Keep the counts of a worker that was given up."""
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
        """All of it as one picture. known: bytes of all logs."""
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
