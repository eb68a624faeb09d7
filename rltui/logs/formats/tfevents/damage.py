"""Trouble in a file: what to wait for, what to give up, and what to say about it, once.

Bytes that are not a record may become one. Network file systems fill pages in any order, so a reader
elsewhere sees zeros where a record will be. Trouble is therefore looked at several times before
anything is given up, and what was said of it is withdrawn when it heals.
"""

from __future__ import annotations

from dataclasses import replace

from rltui.batch import Level, Problem

PATIENCE = 5  # looks at the same trouble before reading goes on behind it


class Damage:
    """The troubles of one file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._new: list[Problem] = []
        self._told: Problem | None = None  # of the place that is being watched
        self._stretch: Problem | None = None  # the last run of bad records
        self._stretch_end = -1
        self.place = -1  # where the trouble is that is being watched
        self.looks = 0
        self.tested = 0  # up to here no good record begins behind `place`

    def watch(self, at: int) -> bool:
        """One more look at trouble at `at`; true when patience is at its end."""
        if at != self.place:
            self.place, self.looks, self.tested = at, 0, at + 1
        self.looks += 1
        return self.looks >= PATIENCE

    def tell(self, level: Level, code: str, message: str, at: int, count: int = 1) -> None:
        """Report a trouble of the place that is being watched, unless this very report was made."""
        problem = Problem(level, code, self._path, message, at, count)
        if problem != self._told:
            if self._told and self._told.key != problem.key:
                self._new.append(replace(self._told, healed=True))
            self._new.append(problem)
            self._told = problem

    def say(self, problem: Problem) -> None:
        """Report something that is no matter of a place."""
        self._new.append(problem)

    def give_up(self, code: str, message: str, at: int, count: int) -> None:
        """Report bytes that were skipped for good; nothing is watched any more."""
        self.tell("warning", code, message, at, count)
        self._told, self.place = None, -1

    def went_on(self) -> None:
        """A good record was read where there was trouble: withdraw what was said of it."""
        if self.place >= 0:
            if self._told:
                self._new.append(replace(self._told, healed=True))
            self._told, self.place = None, -1

    def bad_record(self, code: str, what: str, at: int, end: int) -> None:
        """Report one record that was skipped, together with those right before it."""
        if self._told:
            self._new.append(replace(self._told, healed=True))
        self._told, self.place = None, -1
        stretch = self._stretch
        if stretch and self._stretch_end == at and stretch.code == code and stretch.offset is not None:
            start, count = stretch.offset, stretch.count + 1
            self._new = [problem for problem in self._new if problem != stretch]
        else:
            start, count = at, 1
        records = "one record" if count == 1 else f"{count} records"
        message = f"skipped {records} ({end - start} bytes) at byte {start}: {what}"
        self._stretch = Problem("warning", code, self._path, message, start, count)
        self._stretch_end = end
        self._new.append(self._stretch)

    def take(self) -> tuple[Problem, ...]:
        """The reports since the last call."""
        new = tuple(self._new)
        self._new.clear()
        return new
