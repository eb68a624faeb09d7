"""Lines of terminal cells: spans of text, each with a role that themes map to a colour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rltui.common.display_text import cell_width, fit, head
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex

_BREAKS = regex(r"\s+(?!%)")
# Roles are meanings, not colours. Every theme knows all of them.
ROLES = (
    "text",  # values and titles
    "strong",  # emphasis
    "dim",  # keys, ranges, hints
    "faint",  # rules, axes, empty cells
    "accent",  # curves, the active tab, keys to press
    "good",
    "warn",
    "bad",
    "info",
    "mark",  # restarts, events, non-finite values on curves
    "band",  # healthy bands, spreads, raw values behind a smoothed curve
)
SERIES = 8  # roles `series0` onwards: curves that are distinguished
BACKS = ("select", "bar", "panel")  # backgrounds of whole lines or boxes

Span = tuple[str, str]  # text, role


class Line(NamedTuple):
    """One line. `back` is its background, up to the right edge of the screen."""

    spans: tuple[Span, ...] = ()
    back: str = ""

    @property
    def text(self) -> str:
        """The text of all spans."""
        return "".join([text for text, _ in self.spans])

    @property
    def width(self) -> int:
        """Its width in terminal cells."""
        return cell_width(self.text)


BLANK = Line()


def line(*spans: Span, back: str = "") -> Line:
    """A line of spans; empty ones are left out, neighbours of the same role joined."""
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
    """Text of narrow characters in a role, with other roles by cell."""
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
    """A line cut to at most `width` cells, with an ellipsis if it was longer."""
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
    """Text cut at its end to at most `width` cells, with an ellipsis if it was longer."""
    if cell_width(text) <= width:
        return text
    return head(text, width - 1).rstrip() + "…" if width > 0 else ""


def cut_sentence(text: str, width: int) -> str:
    """Text cut at the end of the last sentence or clause that fits, or before a final parenthesis.

    Within a clause only if none fits.
    """
    if cell_width(text) <= width:
        return text
    for marks in (".;:", ","):
        ends = _clause_ends(text, marks)
        start = next((text[:at] for at in reversed(ends) if cell_width(text[:at]) <= width), "")
        if cell_width(start) >= min(width // 3, 24):
            if start.endswith(tuple(marks)):
                return start[:-1] + ("." if marks != "," else " …")
            return f"{start}." if text.endswith(".") and cell_width(start) < width else start
    return cut(text, width)


def _clause_ends(text: str, marks: str) -> list[int]:
    """The ends of clauses: after a mark outside parentheses, and before a parenthesis that ends a clause."""
    ends: list[int] = []
    depth = opened = 0
    for at, char in enumerate(text):
        if char == "(":
            opened = at if depth == 0 else opened
            depth += 1
        elif char == ")":
            depth = max(depth - 1, 0)
            if depth == 0 and text[at + 1 : at + 2] in ("", *".;:,") and text[:opened].endswith(" "):
                ends.append(opened - 1)
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
        missing = width - source.width  # 1 if a wide character was cut
        if missing <= 0:
            return source
    return line(*source.spans, (" " * missing, "text"), back=source.back)


def sides(left: Iterable[Span], right: Iterable[Span], width: int, *, back: str = "") -> Line:
    """A left-aligned and a right-aligned group of spans; the left one is cut if both do not fit."""
    first, tail = line(*left, back=back), line(*right)
    room = width - tail.width
    if room < 8 and tail.spans:  # too little for the left side: leave the right one out
        return crop(first, width)
    most = max(room - (1 if tail.spans else 0), 0)
    if first.width > most:
        first = crop(first, most)
    return line(*first.spans, (" " * (room - first.width), "text"), *tail.spans, back=back)


def side_by_side(lefts: list[Line], rights: list[Line], width: int, gap: int = 2) -> list[Line]:
    """Two blocks of lines side by side, the left one exactly `width` cells wide."""
    out = []
    for index in range(max(len(lefts), len(rights))):
        left = fill(lefts[index] if index < len(lefts) else BLANK, width)
        right = rights[index] if index < len(rights) else BLANK
        out.append(line(*left.spans, (" " * gap, "text"), *right.spans) if right.spans else left)
    return out


def hanging(prefix: str, prefix_role: str, text: str, role: str, width: int) -> list[Line]:
    """Text wrapped to `width` cells with a hanging indent: the first line has a prefix, the others blanks."""
    cells = cell_width(prefix)
    parts = wrap(text, width - cells)
    return [line((" " * cells if at else prefix, prefix_role), (part, role)) for at, part in enumerate(parts)]


def wrap(text: str, width: int, *, cut_words: bool = True) -> list[str]:
    """Text broken at blanks into lines of at most `width` cells; `%` stays with its number.

    A longer word is cut in the middle; without `cut_words` it gets a line of its own, uncut.
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


def empty_lines(text: str, width: int) -> list[Line]:
    """The text of a pane or list without content."""
    return [line(("   " + part, "dim")) for part in wrap(text, width - 4)]
