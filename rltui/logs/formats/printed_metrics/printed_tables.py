"""Tables that programs draw on a console: rows of a name and its number, and columns below their names.

Rows stand between sides (`│ loss  0.3   entropy  1.2 │`, as rich and tabulate draw them) or below a line of
dashes (`loss   0.3`, the logger of rllab, garage and rlkit), or are the entries of a dictionary over several
lines. A row that is nothing but `train/` begins the names of the rows indented below it (Stable-Baselines3).
One such table is one record, wherever in it the counter stands. A heading of names, one of them a counter, is
followed by lines of as many numbers, or of as many cells, the first of which says whose they are: the trials
of Ray Tune, printed again and again (ray/tune/progress_reporter.py @ 2.9).
"""

from __future__ import annotations

from itertools import pairwise

from rltui.common.regex import regex
from rltui.logs.formats.printed_metrics.line_items import (
    NOTHING,
    PLAIN_NUMBER,
    LabelledLine,
    counter_of,
    line_of,
    scaled,
    words,
)
from rltui.logs.records.record_keys import compared, is_rounded_away, log_keys

_SIDES = "│┃║|"
_OPENED = "╭┌╔┏╒├╞╟╠┡┢┣┠"  # first of a line within a box, or above one
_CLOSED = "╰└╚┗╘"
_ENDS = "╮┐╗┓╕┤╢╡╣┨┩┪┫╯┘╝┛╛─═━"  # last of such lines
_BRANCHES = "├└│╰─ "  # before what a tree holds
_STARTS = frozenset(_SIDES + _OPENED + _CLOSED + "{-")
_CELLS = regex(r"[│┃║|]|\s{2,}")
_RULE = regex(r"-{3,}(?: +-{3,})*")
_CELL = regex(rf"({PLAIN_NUMBER}) ?(?:%|([kKmMbBtT]))?")
_CELL_NAME = regex(r"(?:[^\W\d]|% )[^:=]{0,99}")  # "% time spent exploring"
_INDENT = "    "  # before the names that a heading holds
_ROW = regex(rf"(?:{PLAIN_NUMBER})(?:[\s|│,%]+(?:{PLAIN_NUMBER}))*[\s|│,%]*")
_BETWEEN = regex(r"[\s|│,%]+")
_WIDE = regex(r"\s*[|│,]\s*|\s{2,}")
_ENTRY = regex(rf"""\{{?\s*(['"])([^'"{{}}]{{1,80}})\1\s*:\s*(['"]?)({PLAIN_NUMBER})\3,?\s*\}}?,?""")
_HEADING = 400  # characters of a line of names
_COLUMNS = range(3, 65)
_THINGS = 256  # rows with a name that are told apart
_MOST = 1000  # numbers of one table


class PrintedTables:
    """Takes lines in order, gives what each table says once it has ended."""

    def __init__(self) -> None:
        self.ruled = False  # the line above was one of dashes, or a row below one
        self._numbers: dict[str, float] = {}  # of the rows so far
        self._heading = ""  # the row above those that are indented
        self._braced = False  # within a dictionary
        self._headings: list[list[str]] = []  # names above columns, in each way that they may be cut apart
        self._things: dict[str, str] = {}  # the last row of each thing that rows are about

    def feed(self, text: str) -> tuple[dict[str, float], str]:
        """The numbers of the table that ends before or with a line, and what of the line is still to be read.

        text: without blanks around it, not empty.
        """
        first = text[0]
        if first not in _STARTS and not (self._numbers or self.ruled or self._braced):
            return {}, text
        if first in _SIDES and text[-1] in _SIDES:
            return self._of_box(text)
        if first in _OPENED or first in _CLOSED:
            if text[-1] not in _ENDS:
                return self._end(), text.lstrip(_BRANCHES)
            return (self._end() if first in _CLOSED else {}), ""
        if first == "{" and "}" not in text:
            ended = self._end()
            self._braced = True
            self._of_entry(text)
            return ended, ""
        if self._braced:
            if first in "'\"" and self._of_entry(text):
                return (self._end() if text[-1] == "}" else {}), ""
            if first == "}":
                return self._end(), ""
        if first == "-" and _RULE.fullmatch(text):
            ended = self._end()
            self.ruled = True
            return ended, ""
        if self.ruled and self._of_row(text):
            return {}, ""
        return self._end(), text

    def of_columns(self, text: str) -> LabelledLine | None:
        """What a line of numbers says below a heading; None of any other line."""
        if not self._headings:
            return None
        if _ROW.fullmatch(text) is None:
            return self._of_thing(text) if "|" in text else None
        values = [float(value) for value in _BETWEEN.split(text.rstrip("|│,% ")) if value]
        for names in self._headings:
            if len(names) == len(values) or (names[-1] == "etc." and len(names) <= len(values)):
                known = log_keys().samples.names
                pairs = zip(names, values, strict=False)
                return line_of({name: value for name, value in pairs if compared(name) not in known})
        return None

    def _of_thing(self, text: str) -> LabelledLine | None:
        """What a row below a heading says of the thing that it names; nothing where it says no more.

        The first thing keeps the names of the columns, those of all others begin with the thing.
        """
        cells = _WIDE.split(text.strip(_SIDES + " "))
        names = next((each for each in self._headings if len(each) == len(cells)), None)
        thing = cells[0]
        if names is None or _CELL_NAME.fullmatch(thing) is None:
            return None
        if self._things.get(thing) == text or (thing not in self._things and len(self._things) >= _THINGS):
            return NOTHING
        said = line_of(_pairs([part for pair in zip(names[1:], cells[1:], strict=True) for part in pair]))
        if not (said.counters and said.numbers):
            return None
        self._things[thing] = text
        if thing == next(iter(self._things)):
            return said
        return said._replace(
            numbers={f"{thing}/{name}": value for name, value in said.numbers.items()}, role=f"{thing}/"
        )

    def note_heading(self, text: str) -> None:
        """Keep the names of a line without digits if numbers may follow below them, one of them a counter."""
        apart = "  " in text or "|" in text or "\t" in text or ("," in text and " " not in text)
        if not apart or ":" in text or len(text) > _HEADING:
            return
        ways = [names for names in (_WIDE.split(text), text.replace("|", " ").split()) if _is_heading(names)]
        if ways and words().telling.search(text):
            self._headings = ways

    def _of_box(self, text: str) -> tuple[dict[str, float], str]:
        cells = [cell for each in _CELLS.split(text) if (cell := each.strip())]
        if len(cells) == 1 and cells[0].endswith("/"):
            self._heading = cells[0]
        numbers = _pairs(cells)
        if not numbers and not self._numbers:
            return {}, text.strip(_SIDES + " ")
        heading = self._heading if text.startswith(_INDENT, 1) else ""
        self._add({heading + name: number for name, number in numbers.items()})
        return {}, ""

    def _of_entry(self, text: str) -> bool:
        """Whether a line within a dictionary is an entry; those that are no numbers are left out."""
        found = _ENTRY.fullmatch(text)
        if found is not None:
            self._add({found[2]: float(found[4])})
        return found is not None or "{" not in text

    def _of_row(self, text: str) -> bool:
        """Whether a line below dashes is a row: a name, blanks and a number."""
        name, blanks, cell = text.rpartition("  ")
        numbers = _pairs([name.strip(), cell]) if blanks else {}
        self._add(numbers)
        return bool(numbers)

    def _add(self, numbers: dict[str, float]) -> None:
        if len(self._numbers) < _MOST:
            for name, number in numbers.items():
                self._numbers.setdefault(name, number)

    def _end(self) -> dict[str, float]:
        numbers, self._numbers, self._heading, self.ruled, self._braced = self._numbers, {}, "", False, False
        return numbers


def _is_heading(names: list[str]) -> bool:
    return (
        len(names) in _COLUMNS
        and len(set(names)) == len(names)
        and all(map(_CELL_NAME.fullmatch, names))
        and any(counter_of(name) is not None for name in names)
    )


def _pairs(cells: list[str]) -> dict[str, float]:
    """The numbers among cells that stand behind a name, by it."""
    numbers: dict[str, float] = {}
    for name, cell in pairwise(cells):
        found = _CELL.fullmatch(cell) if _CELL_NAME.fullmatch(name) else None
        if found is not None and not is_rounded_away(name, found[1]):
            numbers.setdefault(name, scaled(found[1], found[2]))
    return numbers
