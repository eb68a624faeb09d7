"""How often to look: as often as asked while looking is cheap, less often where it is not."""

from __future__ import annotations

from rltui.logs.file_systems import FileSystem

HOT_SECONDS = 600.0  # a log counts as growing for so long after a change; RL steps may take minutes
HOT_MODIFIED = 3600.0  # the same for logs that are found, by their time of modification
IDLE_LONGEST = 30.0
REMOTE_SHORTEST = 2.0
_HOT_SHARE = 0.007  # of a core, for looking at all growing local files
_GROWING_SHARE = 0.02  # for those among them that were seen to grow
_IDLE_SHARE = 0.003  # of a core, for looking at all others
_WITHIN = 0.85  # of the poll: what is left is for the look itself, so that a line is shown within the poll
_REMOTE_SHARE = 0.1  # of the time, waiting for a network file system
SCAN_SHORTEST, SCAN_LONGEST = 5.0, 30.0
_SCAN_SHARE = 0.003


class PollInterval:
    """Intervals from what looks were measured to cost. Times in seconds."""

    def __init__(self, poll: float, system: FileSystem) -> None:
        self.poll = poll
        self.system = system
        self.look_cost = 1e-5  # of one look at an unchanged file, a moving mean
        self.scan_cost = 0.0

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

    def scan(self) -> float:
        """Between two searches for new logs. A search of local folders asks only their time stamps."""
        shortest = SCAN_SHORTEST if self.system.remote else min(SCAN_SHORTEST, max(self.poll, 1.0))
        return min(SCAN_LONGEST, max(shortest, self.scan_cost / _SCAN_SHARE))
