"""The lines of a console round a place, for a screen that moves through it or follows its end."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from rltui.run_context.console.console_file import PAGE, ConsoleFile
from rltui.run_context.console.lines import TRACEBACK, ConsoleLine, collapsed, console_lines

KEPT = 2000  # lines
MARGIN = 200  # lines that there are on both sides of a place, where the file has them


def index_at(lines: Sequence[ConsoleLine], offset: int) -> int:
    """The index of the line that holds a place; 0 where it lies before them all."""
    return max(bisect_right([line.offset for line in lines], offset) - 1, 0)


class LineWindow:
    """Some lines of one console, in their order, without a gap. All calls raise OSError."""

    def __init__(self, file: ConsoleFile) -> None:
        self.file = file
        self.lines: list[ConsoleLine] = []
        self._size = 0  # of the file when its end was in the window; -1: it is not

    @property
    def at_start(self) -> bool:
        """Whether there is nothing before the lines."""
        return not self.lines or self.lines[0].offset == 0

    @property
    def at_end(self) -> bool:
        """Whether there was nothing behind the lines when the file was looked at last."""
        return self._size == self.file.size

    def show(self, at: int | None) -> None:
        """Have the lines round a place, or for None the last ones of a file that may have grown."""
        if at is None:
            self._follow()
            return
        if not self.lines or not self.lines[0].offset <= at < max(self.lines[-1].end, 1):
            self._set([*self.file.before(at, MARGIN), *self.file.after(at, MARGIN)])
        index = index_at(self.lines, at)
        if index < MARGIN and not self.at_start:
            before = self.file.before(self.lines[0].offset, KEPT // 2)
            self._set([*before, *self.lines][:KEPT])
        if index > len(self.lines) - MARGIN and not self.at_end:
            # The last line may have been open when it was read.
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
        cut = self.file.read(last.end - 1, last.end) != b"\n"  # it is open
        start = self.file.line_around(last.end - 1)[0] if cut else last.end
        if last.text == TRACEBACK or start <= last.offset:
            begin = last.offset  # read again
        else:
            if cut and last.bar is None and last.count > 1:  # what repeats others may become another line
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
