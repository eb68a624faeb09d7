"""Damage in a file: how long to wait at a place without a record, and its problems, each reported once.

Bytes that are not a record may become one. Network file systems fill pages in any order, so a reader
elsewhere sees zeros where a record will be. A damaged place is therefore read several times before
anything is given up, and its problem is withdrawn when it heals.
"""

from __future__ import annotations

from dataclasses import replace

from rltui.problem import Level, Problem

MOST_CHECKS = 5  # of the same damaged place before reading goes on behind it


class Damage:
    """The damage of one file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._new: list[Problem] = []
        self._standing: Problem | None = None  # problem of the place that is being waited at
        self._stretch: Problem | None = None  # the last run of bad records
        self._stretch_end = -1
        self.place = -1  # that is being waited at; -1 for none
        self.checks = 0
        self.tested = 0  # up to here no good record begins behind `place`

    def recheck(self, at: int) -> bool:
        """One more check of damage at `at`; true when it was waited for long enough."""
        if at != self.place:
            self.place, self.checks, self.tested = at, 0, at + 1
        self.checks += 1
        return self.checks >= MOST_CHECKS

    def report(self, level: Level, code: str, message: str, at: int, count: int = 1) -> None:
        """Report a problem of the place that is being waited at, unless this very report was made."""
        problem = Problem(level, code, self._path, message, at, count)
        if problem != self._standing:
            if self._standing and self._standing.key != problem.key:
                self._new.append(replace(self._standing, healed=True))
            self._new.append(problem)
            self._standing = problem

    def report_apart(self, problem: Problem) -> None:
        """Report a problem that is no matter of a place."""
        self._new.append(problem)

    def report_skipped(self, code: str, message: str, at: int, count: int) -> None:
        """Report bytes that were skipped for good; nothing is waited for any more."""
        self.report("warning", code, message, at, count)
        self._standing, self.place = None, -1

    def resolved(self) -> None:
        """A good record was read where there was damage: withdraw its problem."""
        if self.place >= 0:
            if self._standing:
                self._new.append(replace(self._standing, healed=True))
            self._standing, self.place = None, -1

    def report_bad_record(self, code: str, what: str, at: int, end: int) -> None:
        """Report one record that was skipped, together with those right before it."""
        if self._standing:
            self._new.append(replace(self._standing, healed=True))
        self._standing, self.place = None, -1
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

    def take_problems(self) -> tuple[Problem, ...]:
        """The reports since the last call."""
        new = tuple(self._new)
        self._new.clear()
        return new
