"""The lines of a console around an offset, for a screen that scrolls through it or follows its end."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from rltui.run_context.console.console_file import PAGE, ConsoleFile
from rltui.run_context.console.lines import TRACEBACK, ConsoleLine, collapsed, console_lines

KEPT = 2000  # lines
MARGIN = 200  # lines on both sides of an offset, if the file has them


def index_at(lines: Sequence[ConsoleLine], offset: int) -> int:
    """The index of the line at an offset; 0 if it is before all lines."""
    return max(bisect_right([line.offset for line in lines], offset) - 1, 0)


class LineWindow:
    """Consecutive lines of one console. All calls raise OSError."""

    def __init__(self, file: ConsoleFile) -> None:
        self.file = file
        self.lines: list[ConsoleLine] = []
        self._size = 0  # of the file when its end was in the window; -1: its end is not in the window

    @property
    def at_start(self) -> bool:
        """Whether the window begins at the start of the file."""
        return not self.lines or self.lines[0].offset == 0

    @property
    def at_end(self) -> bool:
        """Whether the window reaches the end of the file, as of its last look."""
        return self._size == self.file.size

    def show(self, at: int | None) -> None:
        """Read the lines around an offset, or for None the last ones of a file that may have grown."""
        if at is None:
            self._follow()
            return
        if not self.lines or not self.lines[0].offset <= at < max(self.lines[-1].end, 1):
            before, begin = self.file.before(at, MARGIN), at
            if before and TRACEBACK in before[-1].text:  # the line is within a traceback
                begin = before.pop().offset
            self._set([*before, *self.file.after(begin, MARGIN)])
        index = index_at(self.lines, at)
        if index < MARGIN and not self.at_start:
            before = self.file.before(self.lines[0].offset, KEPT // 2)
            self._set([*before, *self.lines][:KEPT])
        if index > len(self.lines) - MARGIN and not self.at_end:
            # The last line may have been incomplete when it was read.
            last = self.lines.pop() if self.lines else None
            after = self.file.after(last.offset if last is not None else at, KEPT // 2)
            self._set([*self.lines, *after][-KEPT:])

    def _follow(self) -> None:
        if self.at_end and self.lines:
            return
        grown = self.file.size - self._size
        if not self.lines or self._size < 0 or not 0 <= grown <= PAGE:
            self._set(self.file.before(self.file.size, MARGIN))
            return
        last = self.lines.pop()
        incomplete = self.file.read(last.end - 1, last.end) != b"\n"
        start = self.file.line_around(last.end - 1)[0] if incomplete else last.end
        if last.text == TRACEBACK or start <= last.offset:
            begin = last.offset  # read it again
        else:
            if (
                incomplete and last.bar is None and last.count > 1
            ):  # the last repetition may become another line
                last = replace(last, end=start, count=last.count - 1)
            begin = last.end
            self.lines.append(last)
        new = console_lines(self.file.read(begin, self.file.size), begin)
        if self.lines and begin == self.lines[-1].end > start and new and not new[0].text:
            self.lines[-1] = replace(last, end=new.pop(0).end)  # the end of a line too long to be read again
        self._set([*self.lines, *new][-KEPT:])

    def _set(self, lines: Sequence[ConsoleLine]) -> None:
        self.lines = list(collapsed(lines))
        at_end = bool(lines) and lines[-1].end >= self.file.size
        self._size = self.file.size if at_end or not lines else -1
