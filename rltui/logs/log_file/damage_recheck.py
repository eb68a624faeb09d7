"""Places that a reader skipped as damaged, looked at again: a late page may arrive after all."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import replace

from rltui.batch import Problem
from rltui.logs.formats.interface import File

SPAN = 4096  # bytes from the damage on that are compared: a page
MOST = 16  # places remembered
_FIRST, _LAST = 15.0, 900.0  # seconds until the first look back; none is made after the last


class DamageRecheck:
    """Damage of one file that reading has left behind."""

    __slots__ = ("_due", "_marks", "_since")

    def __init__(self) -> None:
        self._marks: dict[Problem, tuple[int, int]] = {}  # length and checksum of what is there
        self._since = 0.0
        self._due = 0.0

    def __bool__(self) -> bool:
        return bool(self._marks)

    def due(self, now: float) -> bool:
        """Whether it is time to look back."""
        return bool(self._marks) and now >= self._due

    def note(self, problems: Iterable[Problem], file: File, settled: int, now: float) -> None:
        """Remember the damage that lies before `settled`. Raises OSError."""
        for problem in problems:
            if problem.offset is None:
                continue
            if problem.healed:
                self._marks = {each: mark for each, mark in self._marks.items() if each.key != problem.key}
            elif problem.level != "info" and problem.offset < settled and len(self._marks) < MOST:
                if not self._marks:
                    self._since, self._due = now, now + _FIRST
                length = min(SPAN, settled - problem.offset)
                self._marks[problem] = (length, _sum(file, problem.offset, length))

    def healed(self, file: File, now: float) -> list[Problem]:
        """The troubles to withdraw, all of them, if any of the places changed. Raises OSError."""
        if now - self._since > _LAST:
            self._marks.clear()
        self._due = now + max(_FIRST, (now - self._since) / 2)
        marks = self._marks.items()
        if all(_sum(file, problem.offset or 0, length) == crc for problem, (length, crc) in marks):
            return []
        return [replace(problem, healed=True) for problem in self._marks]


def _sum(file: File, offset: int, length: int) -> int:
    return zlib.crc32(file.read_at(offset, length))
