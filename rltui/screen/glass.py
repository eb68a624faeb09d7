"""The one widget of the screen: it shows lines of cells and repaints only those that changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from rltui.draw.line import BLANK, Line
from rltui.screen.paint import Palette
from rltui.screen.view import Page

if TYPE_CHECKING:
    from textual import events


class Glass(Widget, can_focus=True):
    """All cells of the terminal. `show` takes a page; `on_click` and `on_wheel` are told about the mouse."""

    DEFAULT_CSS = "Glass { width: 100%; height: 100%; }"

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.page = Page()
        self._palette = palette
        self._strips: dict[int, Strip] = {}
        self._shown: list[Line] = []
        self.clicked: Callable[[int, int], None] = lambda x, y: None
        self.wheeled: Callable[[int], None] = lambda direction: None
        self.resized: Callable[[], None] = lambda: None

    def show(self, page: Page) -> int:
        """Show a page; returns how many lines are repainted."""
        self.page = page
        before = self._shown
        width, height = self.size
        after = (page.lines + [BLANK] * height)[:height]
        changed = [y for y in range(height) if y >= len(before) or before[y] != after[y]]
        self._shown = after
        for y in changed:
            self._strips.pop(y, None)
        if len(changed) == height:
            self.refresh()
        elif changed:
            self.refresh(*(Region(0, y, width, 1) for y in changed))
        return len(changed)

    def recolor(self, palette: Palette) -> None:
        """Another theme: every line is painted anew."""
        self._palette = palette
        self._strips.clear()
        self.refresh()

    def repaint(self) -> None:
        """Send every line again."""
        self._strips.clear()
        self.refresh()

    def on_resize(self) -> None:
        """The size changed: nothing that was painted fits."""
        self._strips.clear()
        self._shown = []
        self.resized()

    def render_line(self, y: int) -> Strip:
        """One line as Textual asks for it."""
        strip = self._strips.get(y)
        width = self.size.width
        if strip is None or strip.cell_length != width:
            source = self._shown[y] if y < len(self._shown) else BLANK
            strip = self._strips[y] = self._palette.strip(source, width)
        return strip

    def on_click(self, event: events.Click) -> None:
        """A click acts at its cell."""
        self.clicked(event.x, event.y)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves the selection."""
        event.stop()
        self.wheeled(-1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the selection."""
        event.stop()
        self.wheeled(1)
