"""What the following measures of itself: lags, looks, reads, and the troubles that stand."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rltui.batch import Problem, Problems
from rltui.logs.delivery import FollowStatus
from rltui.logs.files import Calls
from rltui.logs.follow.poll_interval import HOT_SECONDS
from rltui.logs.log_file.log_file import LogFile
from rltui.logs.records.sample_statistics import median

if TYPE_CHECKING:
    from rltui.logs.discovery.search import BackgroundSearch
    from rltui.logs.follow.poll_schedule import PollSchedule


class FollowStats:
    """Counters of one follower."""

    def __init__(self) -> None:
        self.bell = "off"
        self._lags: deque[float] = deque(maxlen=64)
        self._looks: deque[float] = deque(maxlen=256)
        self._problems = Problems()
        self._opened = 0
        self._read = 0

    def lagged(self, seconds: float) -> None:
        """So long after a file was written its new points were read."""
        self._lags.append(max(0.0, seconds))

    def looked(self, seconds: float) -> None:
        """A look took so long."""
        self._looks.append(seconds)

    def retired(self, calls: Calls) -> None:
        """Keep the counts of a worker that was given up."""
        self._opened += calls.opened
        self._read += calls.read

    def note(self, problems: Iterable[Problem]) -> None:
        """Troubles told, or withdrawn."""
        self._problems.note(problems)

    def status(
        self,
        tracks: Sequence[LogFile],
        *,
        seeker: BackgroundSearch,
        agenda: PollSchedule,
        calls: Calls,
        caught_up: bool,
        known: int,
    ) -> FollowStatus:
        """All of it as one picture. known: bytes of all logs."""
        pace, search = agenda.pace, seeker.search
        system = pace.system
        poll = pace.growing(agenda.growing, agenda.hot) if agenda.growing else pace.hot(agenda.hot)
        how = "open and read at every look" if not system.hold else "attributes of paths"
        bell = {"on": "; a bell for new files", "off": ""}.get(self.bell, f"; no bell: {self.bell}")
        lags, looks = list(self._lags), list(self._looks)
        newest = max((track.changed for track in tracks), default=0.0)
        return FollowStatus(
            file_systems=tuple(
                (root.given, kind.name) for root, kind in zip(seeker.roots, seeker.systems, strict=False)
            ),
            noticing=f"poll every {poll:.3g} s ({system.name}, {how}){bell}",
            bell=self.bell,
            poll=poll,
            rescan=pace.scan(),
            files=len(tracks),
            hot=sum(newest - track.changed <= HOT_SECONDS for track in tracks),
            twins=sum(track.also_of is not None for track in tracks),
            gone=sum(track.gone for track in tracks),
            folders=search.folders if search else 0,
            pruned=search.pruned if search else 0,
            waiting=search.waiting if search else (),
            lag=median(lags) if lags else None,
            look=looks[-1] if looks else 0.0,
            look_worst=max(looks, default=0.0),
            scan=pace.scan_cost,
            opened=self._opened + calls.opened,
            bytes_read=self._read + calls.read,
            bytes_known=known,
            caught_up=caught_up,
            problems=tuple(self._problems.values()),
        )
