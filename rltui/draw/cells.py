"""A line of cells: runs of text with a role each, which themes turn into colours and text files ignore."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.common.text import cell_width, fit, head

_BREAKS = regex(r"\s+(?!%)")
# Roles are meanings, not colours. Every theme knows all of them.
ROLES = (
    "text",  # values and titles
    "strong",  # what the eye should find first
    "dim",  # keys, ranges, hints
    "faint",  # rules, axes, empty places
    "accent",  # curves, the active tab, keys to press
    "good",
    "warn",
    "bad",
    "info",
    "mark",  # restarts, events, non-finite values on curves
    "band",  # healthy bands, spreads, raw values behind a smoothed curve
)
SERIES = 8  # `series0` and so on: curves that are told apart
BACKS = ("select", "bar", "panel")  # backgrounds of whole lines or boxes

Span = tuple[str, str]  # text, role


class Line(NamedTuple):
    """One line. `back` is the background of all of it, to the right edge as well."""

    spans: tuple[Span, ...] = ()
    back: str = ""

    @property
    def text(self) -> str:
        """The words without their roles, trailing blanks kept."""
        return "".join([text for text, _ in self.spans])

    @property
    def width(self) -> int:
        """Terminal cells."""
        return cell_width(self.text)


BLANK = Line()


def line(*spans: Span, back: str = "") -> Line:
    """A line of runs; empty ones are left out, neighbours of one role joined."""
    joined: list[Span] = []
    for text, role in spans:
        if not text:
            continue
        if joined and joined[-1][1] == role:
            joined[-1] = (joined[-1][0] + text, role)
        else:
            joined.append((text, role))
    return Line(tuple(joined), back)


def colored(text: str, role: str, cells: Mapping[int, str]) -> list[Span]:
    """Text of narrow characters in a role, some of its cells in roles of their own."""
    spans: list[Span] = []
    start = 0
    for at in sorted(cells):
        if start < at:
            spans.append((text[start:at], role))
        if spans and spans[-1][1] == cells[at]:
            spans[-1] = (spans[-1][0] + text[at : at + 1], cells[at])
        else:
            spans.append((text[at : at + 1], cells[at]))
        start = at + 1
    if start < len(text):
        spans.append((text[start:], role))
    return spans


def crop(source: Line, width: int) -> Line:
    """A line cut at `width` cells, with an ellipsis where something was lost."""
    if source.width <= width:
        return source
    spans: list[Span] = []
    left = max(width - 1, 0)
    for text, role in source.spans:
        cells = cell_width(text)
        if cells > left:
            spans.append((head(text, left) + "…" if width > 0 else "", role))
            break
        spans.append((text, role))
        left -= cells
    return line(*spans, back=source.back)


def cut(text: str, width: int) -> str:
    """Text cut at its end to at most `width` cells: for words, whose beginning says most."""
    if cell_width(text) <= width:
        return text
    return head(text, width - 1).rstrip() + "…" if width > 0 else ""


def cut_sentence(text: str, width: int) -> str:
    """Text cut at the end of its last sentence or clause that fits, without an aside at its end.

    Within a clause only when none fits.
    """
    if cell_width(text) <= width:
        return text
    for marks in (".;:", ","):
        ends = _clause_ends(text, marks)
        kept = next((text[:at] for at in reversed(ends) if cell_width(text[:at]) <= width), "")
        if cell_width(kept) >= min(width // 3, 24):
            if kept.endswith(tuple(marks)):
                return kept[:-1] + ("." if marks != "," else " …")
            return f"{kept}." if text.endswith(".") and cell_width(kept) < width else kept
    return cut(text, width)


def _clause_ends(text: str, marks: str) -> list[int]:
    """Where a clause ends: behind a mark outside parentheses, and in front of an aside at its end."""
    ends: list[int] = []
    depth = aside = 0
    for at, char in enumerate(text):
        if char == "(":
            aside = at if depth == 0 else aside
            depth += 1
        elif char == ")":
            depth = max(depth - 1, 0)
            if depth == 0 and text[at + 1 : at + 2] in ("", *".;:,") and text[:aside].endswith(" "):
                ends.append(aside - 1)
        elif depth == 0 and char in marks and text[at + 1 : at + 2] == " ":
            ends.append(at + 1)
    return ends


def fill(source: Line, width: int) -> Line:
    """A line cropped or filled with blanks to exactly `width` cells."""
    missing = width - source.width
    if missing == 0:
        return source
    if missing < 0:
        source = crop(source, width)
        missing = width - source.width  # a wide character may have left a cell free
        if missing <= 0:
            return source
    return line(*source.spans, (" " * missing, "text"), back=source.back)


def sides(left: Iterable[Span], right: Iterable[Span], width: int, *, back: str = "") -> Line:
    """Two groups at the two edges of a line; the left one is cut when both do not fit."""
    first, tail = line(*left, back=back), line(*right)
    room = width - tail.width
    if room < 8 and tail.spans:  # nothing sensible is left for the left side: it goes first
        return crop(first, width)
    most = max(room - (1 if tail.spans else 0), 0)
    if first.width > most:
        first = crop(first, most)
    return line(*first.spans, (" " * (room - first.width), "text"), *tail.spans, back=back)


def side_by_side(lefts: list[Line], rights: list[Line], width: int, gap: int = 2) -> list[Line]:
    """Two blocks of lines next to each other, the left one exactly `width` cells wide."""
    out = []
    for index in range(max(len(lefts), len(rights))):
        left = fill(lefts[index] if index < len(lefts) else BLANK, width)
        right = rights[index] if index < len(rights) else BLANK
        out.append(line(*left.spans, (" " * gap, "text"), *right.spans) if right.spans else left)
    return out


def hanging(prefix: str, prefix_role: str, text: str, role: str, width: int) -> list[Line]:
    """Text wrapped to `width` cells, the first line behind a prefix, the others behind as many blanks."""
    cells = cell_width(prefix)
    parts = wrap(text, width - cells)
    return [line((" " * cells if at else prefix, prefix_role), (part, role)) for at, part in enumerate(parts)]


def wrap(text: str, width: int, *, cut_words: bool = True) -> list[str]:
    """Text broken at blanks into lines of at most `width` cells; `%` stays with its number.

    A word that is longer is cut in the middle; without `cut_words` it stands whole on a line of its own.
    """
    lines: list[str] = []
    current = ""
    for piece in _BREAKS.split(text.strip()) if text.strip() else ():
        raw = " ".join(piece.split())
        word = fit(raw, width) if cut_words else raw
        if not current:
            current = word
        elif cell_width(current) + 1 + cell_width(word) <= width:
            current = f"{current} {word}"
        else:
            lines.append(current)
            current = word
    return [*lines, current] if current else lines


def empty_lines(words: str, width: int) -> list[Line]:
    """What stands where there is nothing to show."""
    return [line(("   " + part, "dim")) for part in wrap(words, width - 4)]
