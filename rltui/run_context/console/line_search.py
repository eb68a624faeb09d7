"""Searches a console for a text, or for errors and warnings: the last lines first, block by block."""

from __future__ import annotations

from rltui.run_context.console.console_file import PAGE, ConsoleFile
from rltui.run_context.console.failures import console_facts
from rltui.run_context.console.lines import (
    TRACEBACK,
    ConsoleLine,
    LineLevel,
    collapsed,
    console_lines,
    level_of,
    plain_text,
)

BLOCK = 1 << 20  # bytes that are searched at a time: they fit into the processor's cache
MAX_LINES = 1000  # the last ones are kept


class LineSearch:
    """A search in a console that may grow. `lines` are in order; bytes [begin, end) have been searched.

    Without a text, it finds warnings and errors, or errors alone with `level` "error".
    """

    def __init__(self, file: ConsoleFile, text: str = "", level: LineLevel = "") -> None:
        self.text = text
        self.level = level
        self.lines: list[ConsoleLine] = []
        self.begin = self.end = file.size
        self._file = file
        facts = console_facts()
        words = facts.error_words if level == "error" else (*facts.error_words, *facts.warning_words)
        self._words = (text,) if text else words

    @property
    def full(self) -> bool:
        """Whether there may be more lines than are kept."""
        return len(self.lines) >= MAX_LINES

    def search(self, least: int = 0) -> bool:
        """Search one block: what was appended first, then what is before, down to the byte `least`.

        True when there is more to search. Raises OSError.
        """
        if self.end < self._file.size:
            begin = self._file.line_around(self.end)[0]  # a line may have been open
            end = min(self._file.size, self.end + BLOCK)
            self.lines = [line for line in self.lines if line.offset < begin]
            self.lines = list(collapsed([*self.lines, *self._block(begin, end)]))[-MAX_LINES:]
            self.end = end
        elif self.begin > least and not self.full:
            begin = max(self.begin - BLOCK, 0)
            # A word or a traceback may span two blocks.
            found = self._block(begin, self.begin + max(map(len, self._words)))
            reach = found[-1].end if found else 0
            kept = [line for line in self.lines if line.offset >= reach]
            self.lines = list(collapsed([*found, *kept]))[-MAX_LINES:]
            self.begin = begin
        return self.end < self._file.size or (self.begin > least and not self.full)

    def _block(self, begin: int, end: int) -> list[ConsoleLine]:
        found: list[ConsoleLine] = []
        reach = -1  # what lies before it has been seen
        wanted = self.text.lower()
        positions = self._file.occurrences(self._words, begin, end, ignore_case=bool(self.text))
        for position in positions[-2 * MAX_LINES :]:  # more of them are more lines than are kept
            if position < reach:
                continue
            first, raw, last = self._file.line_around(position)
            reach = last
            shown = plain_text(raw)
            line = ConsoleLine(shown, first, last + 1, level_of(shown))
            if self.text:
                if wanted in shown.lower():
                    found.append(line)
                continue
            if TRACEBACK in shown:
                line = console_lines(self._file.read(first, first + PAGE), first)[0]
                reach = line.end
            if line.level and (self.level != "error" or line.level == "error"):
                found.append(line)
        return found
