"""One console file: pieces of it by place, line numbers, search; the end first, however large it is."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rltui.logs.local_file import LocalFile
from rltui.run_context.console.lines import MOST_BYTES, ConsoleLine, console_lines

PIECE = 1 << 20  # bytes between two entries of the index of lines
PAGE = 128 << 10  # bytes that are read for a page of lines
LARGEST_PAGE = 512 << 10  # bytes, where bars and repeats collapse to few lines: a page may be short
LONGEST = 4 << 20  # bytes in which the beginning of a line is looked for


class ConsoleFile:
    """A console that may grow. Each call opens the file for its own time; all raise OSError.

    A place in it is a byte offset. The index of lines counts the newlines of each PIECE, in slices.
    """

    def __init__(self, place: str, path: str) -> None:
        self.place = place
        self.path = path  # relative to LOGDIR, cleaned
        self.size = 0
        self.modified = 0.0  # seconds since 1970
        self._identity = (0, 0)
        self._newlines: list[int] = [0]  # before each PIECE

    def look(self, *, attributes: bool = False) -> bool:
        """Whether the file changed since the last look; one that was replaced or cut is indexed anew.

        attributes: a plain `stat` of its path tells the truth, so that it need not be opened.
        """
        if attributes:
            status = os.stat(self.place)  # noqa: PTH116 - a string is what is kept
        else:
            with LocalFile(self.place, self.path) as file:
                assert file.status is not None  # of an opened file
                status = file.status
        identity, size = (status.st_dev, status.st_ino), status.st_size
        changed = (identity, size, status.st_mtime) != (self._identity, self.size, self.modified)
        if identity != self._identity or size < self.size:
            self._newlines = [0]
        self._identity, self.size, self.modified = identity, size, status.st_mtime
        return changed

    def read(self, begin: int, end: int) -> bytes:
        """The bytes from `begin` to `end`, fewer where the file ends before."""
        begin = max(begin, 0)
        with LocalFile(self.place, self.path) as file:
            return file.read_at(begin, max(min(end, self.size) - begin, 0))

    def tail(self, size: int) -> tuple[int, bytes]:
        """About the last `size` bytes from the beginning of a line on, and where they begin."""
        begin = max(self.size - size, 0)
        data = self.read(begin, self.size)
        if begin:
            cut = (
                data.find(b"\n", 0, LONGEST) + 1
            )  # a line without a beginning is shown from where it is known
            begin, data = begin + cut, data[cut:]
        return begin, data

    def before(self, offset: int, count: int) -> list[ConsoleLine]:
        """At most `count` lines that end at or before a place, the nearest ones, in their order."""
        size = PAGE
        while True:
            begin = max(offset - size, 0)
            data = self.read(begin, offset)
            if begin:
                cut = data.find(b"\n") + 1
                begin, data = begin + cut, data[cut:]
            lines = console_lines(data, begin)
            if len(lines) >= count or size >= LARGEST_PAGE or offset <= size:
                return lines[-count:]
            size *= 4

    def after(self, offset: int, count: int) -> list[ConsoleLine]:
        """At most `count` lines from a place on, which is the beginning of a line."""
        size = PAGE
        while True:
            data = self.read(offset, offset + size)
            if offset + len(data) < self.size:
                data = data[: data.rfind(b"\n") + 1] or data
            lines = console_lines(data, offset)
            if len(lines) > count or size >= LARGEST_PAGE or offset + size >= self.size:
                return lines[:count]
            size *= 4

    def index(self, budget: int = 16 * PIECE) -> bool:
        """Count the newlines of so many more bytes. True when the whole file is counted."""
        while budget > 0 and len(self._newlines) * PIECE <= self.size:
            begin = (len(self._newlines) - 1) * PIECE
            self._newlines.append(self._newlines[-1] + self.read(begin, begin + PIECE).count(b"\n"))
            budget -= PIECE
        return len(self._newlines) * PIECE > self.size

    def line_number(self, offset: int) -> int | None:
        """The number, from 1, of the line at a place; None where it is not counted yet."""
        piece = offset // PIECE
        if piece >= len(self._newlines):
            return None
        return self._newlines[piece] + self.read(piece * PIECE, offset).count(b"\n") + 1

    def occurrences(self, words: Sequence[str], begin: int, end: int, *, any_case: bool = False) -> list[int]:
        """Where lines between two places first hold one of some words, rising: at most one place of a line.

        any_case: in any case of ASCII letters.
        """
        data = self.read(begin, end)
        text = data.lower() if any_case else data
        needles = [word.encode("utf-8", "surrogateescape") for word in words]
        if any_case:
            needles = [needle.lower() for needle in needles]
        found = set()
        for needle in filter(None, needles):
            at = text.find(needle)
            while at >= 0:
                found.add(begin + at)
                line = data.find(b"\n", at)
                at = text.find(needle, line) if line >= 0 else -1
        return sorted(found)

    def line_around(self, offset: int) -> tuple[int, bytes, int]:
        """Where the line at a place begins, what it says there (the last MOST_BYTES), where it ends."""
        low = max(offset - MOST_BYTES, 0)
        data = self.read(low, offset + MOST_BYTES)
        at = offset - low
        first = data.rfind(b"\n", 0, at) + 1
        last = data.find(b"\n", at)
        last = len(data) if last < 0 else last
        begin = data.rfind(b"\r", first, at) + 1 or first
        end = data.find(b"\r", at, last)
        return low + first, data[begin : end if end >= 0 else last], low + last
