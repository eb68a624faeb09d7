"""Conversion of lines of cells to Textual strips in the colours of a theme."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip
from textual.theme import Theme as TextualTheme
from textual.widget import Widget

from rltui.common.display_text import cell_width, head
from rltui.draw.cells import Line
from rltui.draw.symbols import to_ascii
from rltui.draw.themes import Theme


class StripPalette:
    """Rich styles by role and background. `role/back` is a role with its own background.

    seen: converts a style to the one that is sent to the terminal.
    """

    def __init__(
        self, theme: Theme, *, ascii_only: bool = False, seen: Callable[[Style], Style] = lambda style: style
    ) -> None:
        self.theme = theme
        self._ascii = ascii_only
        self._seen = seen
        self._styles: dict[tuple[str, str], Style] = {}

    def style(self, role: str, back: str = "") -> Style:
        """The style of a role on a background."""
        if "/" in role:
            role, back = role.split("/", 1)
        found = self._styles.get((role, back))
        if found is None:
            found = self._styles[role, back] = self._seen(self._make(role, back))
        return found

    def _make(self, role: str, back: str) -> Style:
        theme = self.theme
        words = theme.styles.get(role, frozenset())
        ground = theme.backgrounds.get(back, "") if back else theme.colors["background"]
        reverse = ground == "reverse"
        if reverse:  # reversed text has one colour for the whole line
            words -= {"dim"}
            role = "text"
        return Style(
            color=theme.colors.get(role, theme.colors["text"]),
            bgcolor=theme.colors["background"] if reverse or not ground else ground,
            bold="bold" in words or None,
            dim="dim" in words or None,
            italic="italic" in words or None,
            underline="underline" in words or None,
            reverse=reverse or "reverse" in words or None,
        )

    def strip(self, source: Line, width: int) -> Strip:
        """A line as a strip of exactly `width` cells, every cell with a background."""
        return Strip(self.segments(source, width), width)

    def segments(self, source: Line, width: int) -> list[Segment]:
        """The segments of that strip; cheaper than a strip, which has caches."""
        segments = []
        used = 0
        for text, role in source.spans:
            if self._ascii and not text.isascii():
                text = to_ascii(text)
            cells = cell_width(text)
            if used + cells > width:
                text = head(text, width - used)
                cells = cell_width(text)
            if text:
                segments.append(Segment(text, self.style(role, source.back)))
                used += cells
            if used >= width:
                break
        if used < width:
            segments.append(Segment(" " * (width - used), self.style("text", source.back)))
        return segments


def filtered(style: Style, widget: Widget) -> Style:
    """A style as Textual would send it for a widget: without colours, or with those of its ANSI theme."""
    _, background = widget.background_colors
    for each in widget.get_line_filters():
        style = each.apply([Segment("x", style)], background)[0].style or style
    return style


def textual_theme(theme: Theme) -> TextualTheme:
    """A Textual theme with the same background and base colours."""
    background = theme.colors["background"]
    known = background if background.startswith("#") else "ansi_default"
    return TextualTheme(
        name=f"rltui-{theme.id}",
        primary=_known(theme.colors["accent"]),
        background=known,
        surface=known,
        panel=known,
        foreground=_known(theme.colors["text"]),
        dark=theme.dark,
        ansi=theme.ansi,
        variables={"ansi-background": "ansi_black"} if theme.ansi else {},
    )


def _known(color: str) -> str:
    if color.startswith("#"):
        Color.parse(color)
        return color
    return f"ansi_{color}"
