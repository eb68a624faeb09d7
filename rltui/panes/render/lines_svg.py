"""Lines of cells as an SVG picture that does not depend on fonts.

Spans of text are placed by their column; braille, blocks and rules, which many fonts lack or space out, are
drawn as shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rltui.common.display_text import cell_width
from rltui.common.regex import regex
from rltui.draw.cells import Line
from rltui.draw.themes import ANSI, XTERM, Theme, color_of

CELL, ROW, SIZE = 8.43, 18.0, 14.0  # pixels: advance of a cell, height of a line, font size
MARGIN = 12.0
FONTS = "DejaVu Sans Mono, Menlo, Consolas, monospace"
_WORDS = regex(r"\S+(?: \S+)*")  # text without multiple blanks, which viewers would collapse

# Characters that are drawn as shapes.
_DRAWN = regex("[\u2500-\u2502\u2581-\u2588\u2591-\u2593\u2800-\u28ff]")
# Opacity; as dots they cover a quarter, half and three quarters, too dark for an even colour.
_SHADES = {"░": 0.4, "▒": 0.6, "▓": 0.8}
# Column and row of the braille dots by bit.
_DOTS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))


def as_svg(lines: Sequence[Line], width: int, theme: Theme) -> str:
    """A picture of `width` cells by as many lines as there are."""
    background = color_of("background", theme)
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
        if one.back:
            out.append(_ground(one.back, MARGIN / 2, row, width * CELL + MARGIN, theme))
        for text, role in one.spans:
            role, _, back = role.partition("/")
            if back:
                out.append(_ground(back, MARGIN + at * CELL, row, cell_width(text) * CELL, theme))
            if theme.backgrounds.get(back or one.back) == "reverse":
                role = "background"
            shapes = _shapes(text, MARGIN + at * CELL, MARGIN + row * ROW)
            if shapes:
                out.append(f'<path d="{shapes}" fill="{color_of(role, theme)}"/>')
            for shade, opacity in _SHADES.items():
                if boxes := _shaded(text, shade, MARGIN + at * CELL, MARGIN + row * ROW):
                    fill = color_of(role, theme)
                    out.append(f'<path d="{boxes}" fill="{fill}" fill-opacity="{opacity}"/>')
            for words in _WORDS.finditer(_DRAWN.sub(" ", text)):
                x = MARGIN + (at + cell_width(text[: words.start()])) * CELL
                out.append(_text(words.group(), x, y, role, theme))
            at += cell_width(text)
    return "\n".join([*filter(None, out), "</g>", "</svg>", ""])


def _text(text: str, x: float, y: float, role: str, theme: Theme) -> str:
    fill = color_of(role, theme)
    bold = ' font-weight="bold"' if "bold" in theme.styles.get(role, ()) else ""
    # textLength keeps the columns, whatever font the viewer has
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}"{bold} textLength="{cell_width(text) * CELL:.1f}" '
        f'lengthAdjust="spacingAndGlyphs">{escape(text, quote=False)}</text>'
    )


def _shapes(text: str, x: float, y: float) -> str:
    """Braille dots, bars and rules of a text as one path; empty without any."""
    parts = []
    for number, char in enumerate(text):
        left, point = x + number * CELL, ord(char)
        if 0x2800 < point <= 0x28FF:
            for bit, (across, down) in enumerate(_DOTS):
                if point - 0x2800 >> bit & 1:
                    parts.append(_box(left + across * CELL / 2 + 1.1, y + down * ROW / 4 + 1.2, 2.2, 2.2))
        elif 0x2581 <= point <= 0x2588:
            high = (point - 0x2580) * ROW / 8
            parts.append(_box(left, y + ROW - high, CELL, high))
        elif 0x2500 <= point <= 0x2501:  # rules: light and heavy
            parts.append(_box(left, y + ROW / 2 - 0.5, CELL, 1.0 if point == 0x2500 else 2.0))
        elif point == 0x2502:
            parts.append(_box(left + CELL / 2 - 0.5, y, 1.0, ROW))
    return "".join(parts)


def _shaded(text: str, shade: str, x: float, y: float) -> str:
    """The runs of one shade in a text as one path; empty without any."""
    return "".join(
        _box(x + found.start() * CELL, y, len(found.group()) * CELL, ROW)
        for found in regex(f"{shade}+").finditer(text)
    )


def _box(x: float, y: float, wide: float, high: float) -> str:
    return f"M{x:.1f} {y:.1f}h{wide:.1f}v{high:.1f}h-{wide:.1f}z"


def _ground(back: str, x: float, row: int, wide: float, theme: Theme) -> str:
    """A background, as wide as its run or its whole line; empty where it is that of the terminal."""
    color = theme.backgrounds.get(back, "default")
    if color == "default":
        return ""
    fill = (
        color_of("text", theme)
        if color == "reverse"
        else XTERM[ANSI.index(color)]
        if color in ANSI
        else color
    )
    y = MARGIN + row * ROW + 1
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{ROW}" fill="{fill}"/>'
