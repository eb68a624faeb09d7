"""A list over the screen with one selected line: the common part of help, explanations, runs and palette."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from rltui.draw.cells import Line
from rltui.screen.pages.page import Page, Scroll, Spot, box

if TYPE_CHECKING:
    from rltui.draw.cells import Span
    from rltui.screen.state import AppState


_PASSED_ON = ("quit", "interrupt", "theme", "redraw", "palette")  # what the screen does under any list


class ListPage(ABC):
    """Lines in a box; the selected one of `items` is marked. Items are (line index, argument)."""

    where = "list"
    typing = False
    title = ""

    def __init__(self) -> None:
        self.at = 0
        self.reach = 0  # lines to scroll until the first item is in sight: what stands above it is read first
        self.scroll = Scroll()
        self.count = 0
        self.fixed = 0  # first lines that stay when the others scroll
        self.rows = 10
        self._size = (80, 24)

    @abstractmethod
    def content(self, desk: AppState, width: int, height: int) -> tuple[list[Line], list[tuple[int, str]]]:
        """All lines, and which of them can be chosen with which argument."""

    def foot(self, desk: AppState) -> list[Span]:
        """Words at the lower edge."""
        return [("Esc", "accent"), (" back", "dim")]

    def choose(self, desk: AppState, argument: str) -> None:  # noqa: B027 - some lists only show
        """Enter or click on an item."""

    def page(self, desk: AppState, under: Page, width: int, height: int) -> Page:
        """The box over the screen."""
        self._size = (max(width - (8 if width >= 60 else 4), 12), height)  # small screens have no margins
        lines, items = self.content(desk, *self._size)
        head, lines = lines[: self.fixed], lines[self.fixed :]
        room = max(height - 4 - len(head), 1)
        self.rows = room
        self.count = len(items) or max(len(lines) - room + 1, 1)
        self.at = min(max(self.at, 0), self.count - 1)
        if items:
            marked = items[self.at][0] - len(head)
            lines[marked] = Line(lines[marked].spans, "select")
            if self.at:
                top = self.scroll.to(marked - (not head), marked, len(lines), room)
            else:
                self.reach = max(marked - room + 1, 0)
                top = self.scroll.top = min(max(self.scroll.top, 0), self.reach)
        else:
            top = self.scroll.top = self.at
        widest = min(max((one.width for one in (*head, *lines)), default=10), width - 4)
        shown = lines[top : top + room]
        if shown and len(lines) > room:  # the box keeps its width while it scrolls
            shown = [
                Line((*shown[0].spans, (" " * max(widest - shown[0].width, 0), "text")), shown[0].back),
                *shown[1:],
            ]
        more = f" {top + len(shown)}/{len(lines)} " if len(lines) > room else ""
        page = box(under, [*head, *shown], width, height, self.title, [(more, "dim"), *self.foot(desk)])
        frame = page.spots[-1]
        for index, (at, _) in enumerate(items):
            y = at - len(head) - top
            if 0 <= y < room:
                spot = Spot(frame.x + 1, frame.y + 1 + len(head) + y, frame.width - 2, 1, "item", str(index))
                page.spots.append(spot)
        self._items = items
        return page

    def act(self, desk: AppState, action: str, argument: str) -> bool:
        """Moving, choosing, leaving; other panes and programs work as ever."""
        if action in _PASSED_ON:
            return False
        if action.startswith("pane:"):
            desk.overlays.clear()
            return False
        if by := self._distance(action):
            self._move(by)
        elif action == "item":
            self.at = int(argument)
            self._choose_marked(desk, self._items)
        elif action == "open":  # typing may have changed the list since it was drawn
            self._choose_marked(desk, self.content(desk, *self._size)[1])
        elif action == "back":
            desk.close()
        elif action != "nothing":
            return self.more(desk, action, argument)
        return True

    def _distance(self, action: str) -> int:
        """Items that an action moves by; 0 for what moves nothing."""
        far = 10**9
        page = {"page-up": -self.rows, "page-down": self.rows, "home": -far, "end": far}
        return {"up": -1, "down": 1, **page}.get(action, 0)

    def _move(self, by: int) -> None:
        """Go to another item; what stands above the first one is read before."""
        if self.at == 0 and self.reach and (by < 0 or self.scroll.top < self.reach):
            self.scroll.top = min(max(self.scroll.top + by, 0), self.reach)
        else:
            self.at = min(max(self.at + by, 0), max(self.count - 1, 0))

    def _choose_marked(self, desk: AppState, items: list[tuple[int, str]]) -> None:
        if items:
            self.choose(desk, items[min(self.at, len(items) - 1)][1])

    def more(self, desk: AppState, action: str, argument: str) -> bool:
        """Actions of one kind of list; what it does not know is not done behind it either."""
        return True

    def type(self, desk: AppState, key: str) -> bool:
        """Lists take no text unless they say so."""
        return False

    _items: list[tuple[int, str]] = []  # noqa: RUF012 (replaced at each drawing, never changed)
