"""Lines that a format cannot use, counted in one diagnostic instead of one each."""

from __future__ import annotations

from rltui.batch import Problem
from rltui.text import quote


class SkippedLines:
    """Counts unusable lines of one log; `what` names them after their number."""

    def __init__(self, path: str, code: str, what: str) -> None:
        self._path, self._code, self._what = path, code, what
        self._count = self._told = 0
        self._offset = 0
        self._first = ""

    def add(self, line: bytes, offset: int) -> None:
        """One more such line, which starts at `offset`."""
        if not self._count:
            self._offset = offset
            self._first = quote(line[:1024].decode("utf-8", "replace"))
        self._count += 1

    def problems(self) -> list[Problem]:
        """The diagnostic with its newest count, when it grew since the last call."""
        if self._count == self._told:
            return []
        self._told = self._count
        message = f"{self._count:,} {self._what}, the first: {self._first}"
        return [Problem("warning", self._code, self._path, message, self._offset, self._count)]
