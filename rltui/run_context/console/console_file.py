"""One console file: lines by offset, line numbers, search. The file may be large; its end is read first."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rltui.logs.local_file import LocalFile
from rltui.run_context.console.lines import MAX_BYTES, ConsoleLine, console_lines

PIECE = 1 << 20  # bytes between two entries of the line index
PAGE = 128 << 10  # bytes that are read for a page of lines
MAX_PAGE_BYTES = 512 << 10  # bytes, if progress bars and repeats collapse to few lines
MAX_LINE_BYTES = 4 << 20  # bytes in which the beginning of a line is searched for


class ConsoleFile:
    """A console that may grow. Each call opens the file anew; all raise OSError.

    Offsets are in bytes. The line index has the number of newlines before each PIECE, and is built in slices.
    """

    def __init__(self, place: str, path: str) -> None:
        self.place = place
        self.path = path  # relative to LOGDIR, cleaned
        self.size = 0
        self.modified = 0.0  # seconds since 1970
        self._identity = (0, 0)
        self._newlines: list[int] = [0]  # before each PIECE

    def look(self, *, attributes: bool = False) -> bool:
        """Whether the file changed since the last call; a replaced or truncated file is indexed again.

        attributes: whether `stat` of its path is reliable, so that it need not be opened.
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
        """The bytes from `begin` to `end`, fewer at the end of the file."""
        begin = max(begin, 0)
        with LocalFile(self.place, self.path) as file:
            return file.read_at(begin, max(min(end, self.size) - begin, 0))

    def tail(self, size: int) -> tuple[int, bytes]:
        """Offset and content of about the last `size` bytes, from the beginning of a line."""
        return self._from_line_start(max(self.size - size, 0), self.size, MAX_LINE_BYTES)

    def _from_line_start(self, begin: int, end: int, longest: int | None = None) -> tuple[int, bytes]:
        """Offset and content from the first start of a line; from `begin` in a line over `longest`."""
        data = self.read(begin, end)
        start = data.find(b"\n", 0, longest) + 1 if begin else 0
        return begin + start, data[start:]

    def before(self, offset: int, count: int) -> list[ConsoleLine]:
        """The last lines that end at or before an offset, at most `count`, in order."""
        size = PAGE
        while True:
            begin, data = self._from_line_start(max(offset - size, 0), offset)
            lines = console_lines(data, begin)
            if len(lines) >= count or size >= MAX_PAGE_BYTES or offset <= size:
                return lines[-count:]
            size *= 4

    def after(self, offset: int, count: int) -> list[ConsoleLine]:
        """At most `count` lines from the line that begins at an offset."""
        size = PAGE
        while True:
            data = self.read(offset, offset + size)
            if offset + len(data) < self.size:
                data = data[: data.rfind(b"\n") + 1] or data
            lines = console_lines(data, offset)
            if len(lines) > count or size >= MAX_PAGE_BYTES or offset + size >= self.size:
                return lines[:count]
            size *= 4

    def index(self, budget: int = 16 * PIECE) -> bool:
        """Count the newlines in the next `budget` bytes. True if the whole file is indexed."""
        while budget > 0 and len(self._newlines) * PIECE <= self.size:
            begin = (len(self._newlines) - 1) * PIECE
            self._newlines.append(self._newlines[-1] + self.read(begin, begin + PIECE).count(b"\n"))
            budget -= PIECE
        return len(self._newlines) * PIECE > self.size

    def line_number(self, offset: int) -> int | None:
        """The number, from 1, of the line at an offset; None if it is not indexed yet."""
        piece = offset // PIECE
        if piece >= len(self._newlines):
            return None
        return self._newlines[piece] + self.read(piece * PIECE, offset).count(b"\n") + 1

    def occurrences(self, words: Sequence[str], begin: int, end: int, *, ignore_case: bool) -> list[int]:
        """Offsets of the first occurrence of each word in each line between two offsets, rising.

        ignore_case: of ASCII letters.
        """
        data = self.read(begin, end)
        text = data.lower() if ignore_case else data
        found = set()
        for word in filter(None, words):
            needle = word.encode("utf-8", "surrogateescape")
            needle = needle.lower() if ignore_case else needle
            at = text.find(needle)
            while at >= 0:
                found.add(begin + at)
                line = data.find(b"\n", at)
                at = text.find(needle, line) if line >= 0 else -1
        return sorted(found)

    def line_around(self, offset: int) -> tuple[int, bytes, int]:
        """Begin, content (its state at the offset, up to MAX_BYTES) and end of the line at an offset."""
        low = max(offset - MAX_BYTES, 0)
        data = self.read(low, offset + MAX_BYTES)
        at = offset - low
        first = data.rfind(b"\n", 0, at) + 1
        last = data.find(b"\n", at)
        last = len(data) if last < 0 else last
        begin = data.rfind(b"\r", first, at) + 1 or first
        end = data.find(b"\r", at, last)
        return low + first, data[begin : end if end >= 0 else last], low + last
