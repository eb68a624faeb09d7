"""A list in a box over the screen: the common part of help, explanations, runs and palette."""

from __future__ import annotations

from dataclasses import dataclass, field

from rltui.draw.cells import Line, Span
from rltui.screen.pages.page import Page, Spot, box, scrolled
from rltui.screen.state import ListDrawn, ListOverlay

BACK: tuple[Span, ...] = (("Esc", "accent"), (" back", "dim"))


@dataclass(slots=True)
class ListContent:
    """What a list shows: lines, which of them can be chosen with which argument, words at the lower edge."""

    lines: list[Line]
    items: list[tuple[int, str]] = field(default_factory=list)
    title: str = ""
    foot: list[Span] = field(default_factory=lambda: [*BACK])
    fixed: int = 0  # first lines that stay when the others scroll
    heads: list[tuple[int, int, str]] = field(default_factory=list)  # first cell, cells, column to sort by
    at: int | None = None  # the selected item, where that is not the one of the overlay
    tall: int = 0  # lines that it keeps while the user types


def list_size(width: int, height: int) -> tuple[int, int]:
    """The cells that the content of a list has on a screen of some size; small screens have no margins."""
    return max(width - (8 if width >= 60 else 4), 12), height


def list_page(overlay: ListOverlay, content: ListContent, under: Page, width: int, height: int) -> Page:
    """The box over the screen, the selected item marked and in sight."""
    head, lines, items = content.lines[: content.fixed], content.lines[content.fixed :], content.items
    room = max(height - 4 - len(head), 1)
    count = len(items) or max(len(lines) - room + 1, 1)
    at = min(max(overlay.at if content.at is None else content.at, 0), count - 1)
    top, first_reach = at, overlay.drawn.first_reach
    if items:
        marked = items[at][0] - len(head)
        lines[marked] = Line(lines[marked].spans, "select")
        if at:
            top = scrolled(overlay.top, marked - (not head), marked, len(lines), room)
        else:
            first_reach = max(marked - room + 1, 0)
            top = min(max(overlay.top, 0), first_reach)
    widest = min(max((one.width for one in (*head, *lines)), default=10), width - 4)
    visible = lines[top : top + room]
    if visible and len(lines) > room:  # the box keeps its width while it scrolls
        first = visible[0]
        padding = " " * max(widest - first.width, 0)
        visible[0] = Line((*first.spans, (padding, "text")), first.back)
    more = f" {top + len(visible)}/{len(lines)} " if len(lines) > room else ""
    page = box(under, [*head, *visible], width, height, content.title, [(more, "dim"), *content.foot])
    frame = page.spots[-1]
    for index, (place, _) in enumerate(items):
        y = place - len(head) - top
        if 0 <= y < room:
            page.spots.append(
                Spot(frame.x + 1, frame.y + 1 + len(head) + y, frame.width - 2, 1, "item", str(index))
            )
    page.spots += [
        Spot(frame.x + 2 + x, frame.y + 1, cells, 1, "sort-by", column) for x, cells, column in content.heads
    ]
    page.drawn = ListDrawn(
        at, top, first_reach, room, count, tuple(items), list_size(width, height), content.tall
    )
    return page
