"""Checks damaged parts of a log again that its reader skipped: late pages may arrive after all."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import replace

from rltui.common.problem import Problem
from rltui.logs.formats.interface import File

SPAN = 4096  # bytes that are compared, from the damage on: a page
MAX_DAMAGED = 16  # that are remembered
_FIRST, _LAST = 15.0, 900.0  # seconds after which the first and the last check is made


class DamageRecheck:
    """The damage in one file that was skipped."""

    __slots__ = ("_damaged", "_due", "_since")

    def __init__(self) -> None:
        self._damaged: dict[Problem, tuple[int, int]] = {}  # length and checksum of the content
        self._since = 0.0
        self._due = 0.0

    def due(self, now: float) -> bool:
        """Whether the next check is due."""
        return bool(self._damaged) and now >= self._due

    def note(self, problems: Iterable[Problem], file: File, consumed: int, now: float) -> None:
        """Remember damage before `consumed`. Raises OSError."""
        for problem in problems:
            if problem.offset is None:
                continue
            if problem.healed:
                self._damaged = {
                    each: seen for each, seen in self._damaged.items() if each.key != problem.key
                }
            elif problem.level != "info" and problem.offset < consumed and len(self._damaged) < MAX_DAMAGED:
                if not self._damaged:
                    self._since, self._due = now, now + _FIRST
                length = min(SPAN, consumed - problem.offset)
                self._damaged[problem] = (length, _checksum(file, problem.offset, length))

    def healed(self, file: File, now: float) -> list[Problem]:
        """All problems, to be withdrawn, if the content at any of them changed. Raises OSError."""
        if now - self._since > _LAST:
            self._damaged.clear()
        self._due = now + max(_FIRST, (now - self._since) / 2)
        damaged = self._damaged.items()
        if all(_checksum(file, each.offset or 0, length) == seen for each, (length, seen) in damaged):
            return []
        return [replace(problem, healed=True) for problem in self._damaged]


def _checksum(file: File, offset: int, length: int) -> int:
    return zlib.crc32(file.read_at(offset, length))
