"""The only widget of the screen: it shows lines of cells and repaints those that changed."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from rltui.draw.cells import BLANK, Line
from rltui.screen.terminal.themed_strips import StripPalette


class LineWidget(Widget, can_focus=True):
    """All cells of the terminal. `clicked`, `wheeled` and `dragged` are called for the mouse."""

    DEFAULT_CSS = "LineWidget { width: 100%; height: 100%; }"

    def __init__(self, palette: StripPalette) -> None:
        super().__init__()
        self._palette = palette
        self._strips: dict[int, Strip] = {}
        self._shown: list[Line] = []
        self.draws: Callable[[list[tuple[int, list[Segment]]]], bool] = lambda lines: False
        self.clicked: Callable[[int, int], None] = lambda x, y: None
        self.wheeled: Callable[[int, int, int], None] = lambda direction, x, y: None
        self.dragged: Callable[[int], bool] = lambda cells: False
        self._grip: int | None = None  # the column of the mouse while its button is down
        self._moved = False
        self.resized: Callable[[], None] = lambda: None

    def show(self, lines: list[Line]) -> int:
        """Show lines from the top; returns how many are repainted."""
        before = self._shown
        width, height = self.size
        after = (lines + [BLANK] * height)[:height]
        changed = [y for y in range(height) if y >= len(before) or before[y] != after[y]]
        self._shown = after
        for y in changed:
            self._strips.pop(y, None)
        # There are no other widgets to compose; only after a resize Textual draws.
        drawn = [(y, self._palette.segments(after[y], width)) for y in changed] if before else []
        if changed and not (drawn and self.draws(drawn)):
            self.refresh(*(Region(0, y, width, 1) for y in changed))
        return len(changed)

    def recolor(self, palette: StripPalette) -> None:
        """Repaint all lines in another theme."""
        self._palette = palette
        self._strips.clear()
        self.refresh()

    def repaint(self) -> None:
        """Send every line again."""
        self._strips.clear()
        self.refresh()

    def on_resize(self) -> None:
        """Forget all painted lines, which have the old size."""
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

    def render_lines(self, crop: Region) -> list[Strip]:
        """Some lines for Textual's compositor, in their own colours."""
        strips = [self.render_line(y) for y in crop.line_range]
        whole = crop.x == 0 and crop.width == self.size.width
        return strips if whole else [strip.crop(crop.x, crop.right) for strip in strips]

    def on_click(self, event: events.Click) -> None:
        """Handle a click, unless something was dragged."""
        if not self._moved:
            self.clicked(event.x, event.y)
        self._moved = False

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Remember where a drag begins."""
        self._grip, self._moved = event.x, False

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Handle a drag, with the button down."""
        if self._grip is None or not event.button:
            self._grip = None
        elif event.x != self._grip:
            by, self._grip = event.x - self._grip, event.x
            self._moved = self.dragged(by) or self._moved

    def on_mouse_up(self) -> None:
        """End a drag."""
        self._grip = None

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Handle the wheel."""
        event.stop()
        self.wheeled(-1, event.x, event.y)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Handle the wheel."""
        event.stop()
        self.wheeled(1, event.x, event.y)
