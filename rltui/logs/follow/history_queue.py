"""Whose history is read next: the focused run, then the most recently written ones, each in file order."""

from __future__ import annotations

from rltui.logs.log_file.log_file import LogFile
from rltui.logs.run_names import file_order


class HistoryQueue:
    """Logs with history left to read."""

    def __init__(self) -> None:
        self._logs: list[LogFile] = []  # the last comes first
        self._sorted = True
        self._focus: str | None = None

    def __len__(self) -> int:
        return len(self._logs)

    def focus(self, run: str | None) -> None:
        """Read this run first. Said with every message of the screen: the same word changes nothing."""
        if run != self._focus:
            self._focus, self._sorted = run, False

    def add(self, track: LogFile) -> None:
        """The log has history left. Adding it twice does nothing."""
        if not track.queued:
            track.queued = True
            self._logs.append(track)
            self._sorted = False

    def take(self) -> LogFile | None:
        """The log to read on in, off the list; None when nothing is left."""
        if not self._sorted:
            self._sorted = True
            newest: dict[str, float] = {}
            for track in self._logs:
                newest[track.run] = max(track.modified, newest.get(track.run, track.modified))
            focus = self._focus

            def precedence(track: LogFile) -> tuple[bool, float, str, str, tuple[str, int, int]]:
                found, run = track.found, track.run
                return (run != focus, -newest[run], run, found.folder, file_order(found.name))

            self._logs.sort(key=precedence, reverse=True)
        if not self._logs:
            return None
        track = self._logs.pop()
        track.queued = False
        return track

    def put_back(self, track: LogFile) -> None:
        """Not finished: it stays the first, unless the order changed."""
        if not track.queued:
            track.queued = True
            self._logs.append(track)
