"""Lines of cells as an SVG picture: every run of text placed by its column, so that no font can shift it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

from rltui.draw.line import Line
from rltui.text import cell_width
from rltui.themes import ANSI, Theme

CELL, ROW, SIZE = 8.43, 18.0, 14.0  # pixels: advance of a cell, height of a line, font size
MARGIN = 12.0
FONTS = "DejaVu Sans Mono, Menlo, Consolas, monospace"
_WORDS = re.compile(r"\S+(?: \S+)*")  # text between wider gaps, which viewers would squeeze

# The sixteen colours of xterm, for themes that leave the choice to the terminal.
_XTERM = (
    "#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5",
    "#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff",
)  # fmt: skip


def as_svg(lines: Sequence[Line], width: int, theme: Theme) -> str:
    """A picture of `width` cells by as many lines as there are."""
    background = _color("background", theme, "#101216" if theme.dark else "#ffffff")
    wide, high = width * CELL + 2 * MARGIN, len(lines) * ROW + 2 * MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" '
        f'viewBox="0 0 {wide:.0f} {high:.0f}">',
        f'<rect width="100%" height="100%" rx="6" fill="{background}"/>',
        f'<g font-family="{FONTS}" font-size="{SIZE}">',
    ]
    for row, one in enumerate(lines):
        y = MARGIN + row * ROW + SIZE
        at = 0
        for text, role in one.spans:
            for words in _WORDS.finditer(text):
                x = MARGIN + (at + cell_width(text[: words.start()])) * CELL
                out.append(_text(words.group(), x, y, role, theme))
            at += cell_width(text)
    return "\n".join([*out, "</g>", "</svg>", ""])


def _text(text: str, x: float, y: float, role: str, theme: Theme) -> str:
    fill = _color(role, theme, "#d8dee9" if theme.dark else "#20242c")
    bold = ' font-weight="bold"' if "bold" in theme.styles.get(role, ()) else ""
    # textLength keeps the columns where they are, whatever font the viewer has
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}"{bold} textLength="{cell_width(text) * CELL:.1f}" '
        f'lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
    )


def _color(role: str, theme: Theme, fallback: str) -> str:
    color = theme.colors.get(role, "default")
    if color.startswith("#"):
        return color
    return _XTERM[ANSI.index(color)] if color in ANSI else fallback
