"""Lines of cells for a terminal that is not ours to draw on: text with colours, one reset per line."""

from __future__ import annotations

from collections.abc import Iterable

from rltui.draw.cells import Line
from rltui.draw.themes import ANSI, Theme

_STYLE = {"bold": "1", "dim": "2", "italic": "3", "underline": "4", "reverse": "7"}


def as_ansi(lines: Iterable[Line], theme: Theme) -> str:
    """Lines as text with SGR sequences: true colours of a theme, or the terminal's own sixteen."""
    return "".join(_line(one, theme) + "\n" for one in lines)


def _line(one: Line, theme: Theme) -> str:
    words, before = [], ""
    for text, role in one.spans:
        codes = _codes(role, theme)
        if codes != before:
            words.append(f"\x1b[0;{codes}m" if codes else "\x1b[0m")
            before = codes
        words.append(text)
    return "".join(words).rstrip() + ("\x1b[0m" if before else "")


def _codes(role: str, theme: Theme) -> str:
    codes = [_STYLE[style] for style in sorted(theme.styles.get(role, ()))]
    color = theme.colors.get(role, "default")
    if color.startswith("#"):
        codes.append(f"38;2;{int(color[1:3], 16)};{int(color[3:5], 16)};{int(color[5:7], 16)}")
    elif color in ANSI:
        number = ANSI.index(color)
        codes.append(str(30 + number if number < 8 else 90 + number - 8))
    return ";".join(codes)
