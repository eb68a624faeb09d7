"""A list in a box over the screen: the common part of help, explanations and palette.

Lists are lines as all pages are, not widgets: a key in the palette takes 7 ms of processor time, and 11 ms in
an `OptionList` of 60 items of Textual 8.2.8 (100x30, headless), which draws no pane behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rltui.common.display_text import count_of
from rltui.draw.cells import Line, Span, line
from rltui.screen.input.key_table import Keys, key_table, shown
from rltui.screen.pages.page import Hint, Page, Spot, box, hints_for, scrolled
from rltui.screen.state import ListDrawn, ListOverlay


@dataclass(slots=True)
class ListContent:
    """The content of a list: lines, items by line and argument."""

    lines: list[Line]
    items: list[tuple[int, str]] = field(default_factory=list)
    title: str = ""
    tall: int = 0  # height that it keeps while the user types


def list_size(width: int, height: int) -> tuple[int, int]:
    """The size of the content of a list on a screen; small screens have no margins."""
    return max(width - (8 if width >= 60 else 4), 12), height


def list_page(
    keys: Keys, overlay: ListOverlay, content: ListContent, under: Page, width: int, height: int
) -> Page:
    """The box over the screen, with the selected item highlighted.

    A list that is read scrolls freely, to a new match by itself; any other one keeps its item in sight.
    """
    lines, items = list(content.lines), content.items
    found = _found(lines, overlay.query) if overlay.searches else ()
    for index in found:
        lines[index] = _with_marks(lines[index], overlay.query)
    room = max(height - 4, 1)
    at = min(max(overlay.at, 0), max(len(items) - 1, 0))
    match = overlay.match if overlay.match is not None else found[0] if found else None
    if overlay.searches:
        top = min(max(overlay.top, 0), max(len(lines) - room, 0))
        if match is not None and overlay.match is None:
            top = scrolled(top, match, match, len(lines), room)
            at = nearest_item(items, match) if items else at
    elif items:
        top = scrolled(overlay.top, items[at][0] - 1 if at else 0, items[at][0], len(lines), room)
    else:
        top = 0
    if items:
        lines[items[at][0]] = Line(lines[items[at][0]].spans, "select")
    widest = min(max((one.width for one in lines), default=10), width - 4)
    visible = lines[top : top + room]
    if visible and len(lines) > room:  # keeps the width of the box while it scrolls
        first = visible[0]
        padding = " " * max(widest - first.width, 0)
        visible[0] = Line((*first.spans, (padding, "text")), first.back)
    more = f" {top + len(visible)}/{len(lines)} " if len(lines) > room else ""
    note, hints = [(more, "dim")], _hints(keys, overlay, bool(items))
    if overlay.searches and (overlay.typing or overlay.query):
        note += _search_words(overlay, found, match)
    page = box(under, visible, width, height, content.title, note, hints)
    frame = page.spots[1]
    for index, (position, _) in enumerate(items):
        y = position - top
        if 0 <= y < room:
            page.spots.append(Spot(frame.x + 1, frame.y + 1 + y, frame.width - 2, 1, "item", str(index)))
    page.drawn = ListDrawn(
        at, top, room, len(lines), tuple(items), found, match, list_size(width, height), content.tall
    )
    return page


def nearest_item(items: Sequence[tuple[int, str]], position: int) -> int:
    """The index of the item whose line is nearest to a line; of two, the upper one."""
    return min(range(len(items)), key=lambda index: abs(items[index][0] - position))


def _hints(keys: Keys, overlay: ListOverlay, has_items: bool) -> list[Hint]:
    """The hints at the lower edge: of the list, or of a search in it."""
    if overlay.searches and overlay.typing:
        return []
    if overlay.searches and overlay.query:
        return hints_for(keys, {"next-finding": "next"}, {"next-finding": "previous-finding"})
    if overlay.typing:  # printable keys are text
        return [Hint(shown("escape"), "back", "back")]
    contexts = key_table().context
    words = contexts.get(overlay.kind, contexts["list"]).hints
    return hints_for(keys, {one: text for one, text in words.items() if has_items or one != "open"})


def _found(lines: list[Line], query: str) -> tuple[int, ...]:
    """The lines that match a query; case is ignored."""
    words = query.lower()
    return tuple(at for at, one in enumerate(lines) if words in one.text.lower()) if words else ()


def _with_marks(source: Line, query: str) -> Line:
    """A line with highlighted matches."""
    text, words = source.text.lower(), query.lower()
    cells = [char for span, role in source.spans for char in ((one, role) for one in span)]
    at = text.find(words)
    while at >= 0 and len(text) == len(cells):
        cells[at : at + len(words)] = [(char, "mark/select") for char, _ in cells[at : at + len(words)]]
        at = text.find(words, at + len(words))
    return line(*cells, back=source.back)


def _search_words(overlay: ListOverlay, found: tuple[int, ...], match: int | None) -> list[Span]:
    """The query, and the position of the current match."""
    position = found.index(match) + 1 if match in found else 0
    count = f"{position} of {len(found)}" if position else count_of(len(found), "line")
    cursor = "▏" if overlay.typing else ""
    return [(f"/{overlay.query}{cursor}", "strong"), (f"  {count}{'' if overlay.typing else '   '}", "dim")]
