"""Tables printed on a console: rows of a name and a number, and columns below their names.

Rows are enclosed in borders (`│ loss  0.3   entropy  1.2 │`, as drawn by rich and tabulate), follow a line of
dashes (`loss   0.3`, the logger of rllab, garage and rlkit), or are entries of a dictionary over several
lines. A row of names may have its numbers in the row below it (`| Name | loss |`, `| Value | 0.3 |`,
DI-engine). A row that consists of `train/` is the prefix of the rows indented below it (Stable-Baselines3).
Such a table is one record, wherever its counter is. A heading of names, one of them a counter, is followed by
lines of as many numbers, or of as many cells of which the first is a row label: the trials of Ray Tune,
printed repeatedly (ray/tune/progress_reporter.py @ 2.9).
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
_OPENED = "╭┌╔┏╒├╞╟╠┡┢┣┠"  # first character of a line within or above a box
_CLOSED = "╰└╚┗╘"
_ENDS = "╮┐╗┓╕┤╢╡╣┨┩┪┫╯┘╝┛╛─═━"  # last character of such lines
_BRANCHES = "├└│╰─ "  # before the entries of a tree
_APART = regex(r"[│┃║|\t]|  ")
_STARTS = frozenset(_SIDES + _OPENED + _CLOSED + "{-")
_CELLS = regex(r"[│┃║|]|\s{2,}")
_BORDER = regex(r"\+[-=+]+\+")
_RULE = regex(r"-{3,}(?: +-{3,})*")
_CELL = regex(rf"({PLAIN_NUMBER}) ?(?:%|([kKmMbBtT]))?")
_CELL_NAME = regex(r"(?:[^\W\d]|% )[^:=]{0,99}")  # "% time spent exploring"
_INDENT = "    "  # of rows below a prefix
_ROW = regex(rf"(?:{PLAIN_NUMBER})(?:[\s│┃║|,%]+(?:{PLAIN_NUMBER}))*[\s│┃║|,%]*")
_BETWEEN = regex(r"[\s│┃║|,%]+")
_WIDE = regex(r"\s*[│┃║|,]\s*|\s{2,}")
_TUPLE = regex(r"[(\[][^()\[\]]+[)\]]")  # names or numbers in brackets
_ENTRY = regex(rf"""\{{?\s*(['"])([^'"{{}}]{{1,80}})\1\s*:\s*(['"]?)({PLAIN_NUMBER})\3,?\s*\}}?,?""")
_MAX_HEADING = 400  # characters
_FEWEST_COLUMNS, _MOST_COLUMNS = 3, 64  # without bars between them; with bars, two are enough
_MAX_LABELS = 256  # distinct row labels
_NAMES, _VALUES = "name", "value"  # first cells of a row of names, and of the row of their numbers
_MAX_NUMBERS = 1000  # of one table


class PrintedTables:
    """Collects tables from lines, fed in order, and returns each one once it has ended."""

    def __init__(self) -> None:
        self.ruled = False  # the previous line was dashes, or a row below dashes
        self._numbers: dict[str, float] = {}  # of the rows so far
        self._prefix = ""  # of the indented rows
        self._braced = False  # within a dictionary over several lines
        self._names: list[str] = []  # of a row of names
        self._headings: list[list[str]] = []  # column names, split in each possible way
        self._rows: dict[str, str] = {}  # the last row of each label

    def feed(self, text: str) -> tuple[dict[str, float], str]:
        """The numbers of the table that ends before or with a line, and the text that remains to be parsed.

        text: a stripped line, not empty.
        """
        first = text[0]
        if first == "+" and _BORDER.fullmatch(text):
            return {}, ""
        if first not in _STARTS and not (self._numbers or self.ruled or self._braced):
            return {}, text
        if first in _SIDES and text[-1] in _SIDES:
            return self._parse_box_row(text)
        if first in _OPENED or first in _CLOSED:
            if text[-1] not in _ENDS:
                return self.end(), text.lstrip(_BRANCHES)
            return (self.end() if first in _CLOSED else {}), ""
        if first == "{" and "}" not in text:
            ended = self.end()
            self._braced = True
            self._parse_entry(text)
            return ended, ""
        if self._braced:
            if first in "'\"" and self._parse_entry(text):
                return (self.end() if text[-1] == "}" else {}), ""
            if first == "}":
                return self.end(), ""
        if first == "-" and _RULE.fullmatch(text):
            ended = self.end()
            self.ruled = True
            return ended, ""
        if self.ruled and self._parse_row(text):
            return {}, ""
        return self.end(), text

    def parse_columns(self, text: str) -> LabelledLine | None:
        """The numbers of a row below a heading; None for any other line."""
        if not self._headings:
            return None
        if text[0] in "([" and _TUPLE.fullmatch(text):
            text = text[1:-1]
        if _ROW.fullmatch(text) is None:
            return self._parse_labelled_row(text) if "|" in text else None
        values = [float(value) for value in _BETWEEN.split(text.rstrip(_SIDES + ",% ")) if value]
        for names in self._headings:
            if len(names) < _FEWEST_COLUMNS and "|" not in text:
                continue
            if len(names) == len(values) or (names[-1] == "etc." and len(names) <= len(values) + 1):
                known = log_keys().samples.names
                pairs = zip(names, values, strict=False)
                return line_of({name: value for name, value in pairs if compared(name) not in known})
        return None

    def _parse_labelled_row(self, text: str) -> LabelledLine | None:
        """The numbers of a row with a label below a heading; empty if the row is repeated.

        The first label keeps the names of the columns; for all others, the label is a prefix of the names.
        """
        cells = _WIDE.split(text.strip(_SIDES + " "))
        names = next((each for each in self._headings if len(each) == len(cells)), None)
        label = cells[0]
        if names is None or _CELL_NAME.fullmatch(label) is None:
            return None
        if self._rows.get(label) == text or (label not in self._rows and len(self._rows) >= _MAX_LABELS):
            return NOTHING
        line = line_of(_pairs([part for pair in zip(names[1:], cells[1:], strict=True) for part in pair]))
        if not (line.counters and line.numbers):
            return None
        self._rows[label] = text
        if label == next(iter(self._rows)):
            return line
        numbers = {f"{label}/{name}": value for name, value in line.numbers.items()}
        return line._replace(numbers=numbers, role=f"{label}/")

    def note_heading(self, text: str) -> None:
        """Keep the names in a line without digits if they can be column names that include a counter."""
        in_brackets = _TUPLE.fullmatch(text) is not None
        text = text[1:-1] if in_brackets else text
        commas = "," in text and (in_brackets or all(len(each.split()) == 1 for each in text.split(",")))
        if not (commas or _APART.search(text)) or ":" in text or len(text) > _MAX_HEADING:
            return
        fewest = 2 if "|" in text else _FEWEST_COLUMNS
        split = (_WIDE.split(text), text.replace("|", " ").split())
        ways = [names for names in split if _is_heading(names, fewest)]
        if ways and words().telling.search(text):
            self._headings = ways

    def _parse_box_row(self, text: str) -> tuple[dict[str, float], str]:
        cells = [cell for each in _CELLS.split(text) if (cell := each.strip())]
        if len(cells) == 1 and cells[0].endswith("/"):
            self._prefix = cells[0]
        names, self._names = self._names, cells if cells and cells[0].lower() == _NAMES else []
        if self._names:
            return {}, ""
        if cells and cells[0].lower() == _VALUES and len(cells) == len(names):
            cells = [cell for pair in zip(names[1:], cells[1:], strict=True) for cell in pair]
        numbers = _pairs(cells)
        if not numbers and not self._numbers:
            return {}, text.strip(_SIDES + " ")
        prefix = self._prefix if text.startswith(_INDENT, 1) else ""
        numbers = {prefix + name: number for name, number in numbers.items()}
        repeated = [name for name in numbers if name in self._numbers]
        # Another table follows, without other lines between them.
        ended = self.end() if repeated and (names or any(map(counter_of, repeated))) else {}
        self._add(numbers)
        return ended, ""

    def _parse_entry(self, text: str) -> bool:
        """Whether a line within a dictionary is an entry; only numbers are kept."""
        found = _ENTRY.fullmatch(text)
        if found is not None:
            self._add({found[2]: float(found[4])})
        return found is not None or "{" not in text

    def _parse_row(self, text: str) -> bool:
        """Whether a line below dashes is a row: a name, blanks and a number."""
        name, blanks, cell = text.rpartition("  ")
        numbers = _pairs([name.strip(), cell]) if blanks else {}
        self._add(numbers)
        return bool(numbers)

    def _add(self, numbers: dict[str, float]) -> None:
        if len(self._numbers) < _MAX_NUMBERS:
            for name, number in numbers.items():
                self._numbers.setdefault(name, number)

    def end(self) -> dict[str, float]:
        """The numbers of the table so far, which ends."""
        numbers, self._numbers, self._prefix, self.ruled, self._braced = self._numbers, {}, "", False, False
        return numbers


def _is_heading(names: list[str], fewest: int) -> bool:
    return (
        fewest <= len(names) <= _MOST_COLUMNS
        and len(set(names)) == len(names)
        and all(map(_CELL_NAME.fullmatch, names))
        and any(counter_of(name) is not None for name in names)
    )


def _pairs(cells: list[str]) -> dict[str, float]:
    """The numbers that follow a name among cells, by name."""
    numbers: dict[str, float] = {}
    for name, cell in pairwise(cells):
        found = _CELL.fullmatch(cell) if _CELL_NAME.fullmatch(name) else None
        if found is not None and not is_rounded_away(name, found[1]):
            numbers.setdefault(name, scaled(found[1], found[2]))
    return numbers
