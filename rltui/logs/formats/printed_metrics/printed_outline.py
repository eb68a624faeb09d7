"""Nested metrics below a counter, as YAML prints them (hiyouga/EasyR1 verl/utils/logger/logger.py @ b44b311).

    Step 12
    actor:
      pg_loss: 0.01
    reward:
      overall: 0.5

The names of the lines above an entry that are indented less are its folders: `actor/pg_loss`.
"""

from __future__ import annotations

from rltui.common.regex import regex
from rltui.logs.formats.printed_metrics.line_items import PLAIN_NUMBER
from rltui.logs.records.record_keys import compared, log_keys

_LINE = regex(rf"( *)([^\W\d][\w.@-]*(?:/[\w.@-]+)*): *({PLAIN_NUMBER})?")


class PrintedOutline:
    """Follows the indentation of lines, fed in order."""

    def __init__(self) -> None:
        self._within = False  # the lines so far belong to an outline, or the latest one was its counter
        self._above: list[tuple[int, str]] = []  # indentation and name of the lines above

    def begin(self) -> None:
        """Expect an outline with the next line, after a counter that was alone on its line."""
        self._within, self._above = True, []

    def feed(self, line: str) -> str:
        """A line, with the names of those above it in front of the name of an entry."""
        if not self._within:
            return line
        found = _LINE.fullmatch(line.rstrip())
        if found is None:
            self._within = False
            return line
        indent, name = len(found[1]), found[2]
        while self._above and self._above[-1][0] >= indent:
            self._above.pop()
        if found[3] is None:
            self._above.append((indent, name))
            return line
        above = [each for _, each in self._above if compared(each) not in log_keys().history_words]
        return f"{'/'.join((*above, name))}: {found[3]}"
