"""A list in a box over the screen: the common part of help, explanations and palette."""

from __future__ import annotations

from dataclasses import dataclass, field

from rltui.common.text import count_of
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
    """The box over the screen, with the selected item highlighted and visible."""
    lines, items = list(content.lines), content.items
    found = _found(lines, overlay.query) if overlay.searches else ()
    for index in found:
        lines[index] = _with_marks(lines[index], overlay.query)
    room = max(height - 4, 1)
    count = len(items) or max(len(lines) - room + 1, 1)
    match = overlay.match if overlay.match is not None else found[0] if found else None
    at = min(max(overlay.at, 0), count - 1)
    if overlay.typing and found and not items and not at <= found[0] < at + room:
        at = min(found[0], count - 1)
    top, first_reach = at, overlay.drawn.first_reach
    if items:
        marked = items[at][0]
        lines[marked] = Line(lines[marked].spans, "select")
        if at:
            top = scrolled(overlay.top, marked - 1, marked, len(lines), room)
        else:
            first_reach = max(marked - room + 1, 0)
            top = min(max(overlay.top, 0), first_reach)
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
    for index, (place, _) in enumerate(items):
        y = place - top
        if 0 <= y < room:
            page.spots.append(Spot(frame.x + 1, frame.y + 1 + y, frame.width - 2, 1, "item", str(index)))
    page.drawn = ListDrawn(
        at, top, first_reach, room, count, tuple(items), found, top if match is None else match,
        list_size(width, height), content.tall,
    )  # fmt: skip
    return page


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
    place = found.index(match) + 1 if match in found else 0
    count = f"{place} of {len(found)}" if place else count_of(len(found), "line")
    cursor = "▏" if overlay.typing else ""
    return [(f"/{overlay.query}{cursor}", "strong"), (f"  {count}{'' if overlay.typing else '   '}", "dim")]
