"""Glyph, role and word of each severity, health and state; glyphs of bars; their replacements in ASCII."""

from __future__ import annotations

from functools import cache

from rltui.common.display_text import cell_width

# Of findings; "" is the absence of one.
SEVERITY_GLYPH = {"critical": "✖", "warning": "▲", "info": "·", "": " "}
SEVERITY_ROLE = {"critical": "bad", "warning": "warn", "info": "info", "": "text"}
# Of problems with files and data.
LEVEL_GLYPH = {"error": SEVERITY_GLYPH["critical"], "warning": SEVERITY_GLYPH["warning"], "info": "·"}
LEVEL_ROLE = {"error": "bad", "warning": "warn", "info": "dim"}
# Of a run's training.
HEALTH_GLYPH = {
    "ok": "✓",
    "unjudged": "?",
    "warning": SEVERITY_GLYPH["warning"],
    "critical": SEVERITY_GLYPH["critical"],
}
HEALTH_WORD = {"ok": "healthy", "unjudged": "not judged", "warning": "warning", "critical": "critical"}
HEALTH_ROLE = {"ok": "good", "unjudged": "dim", "warning": "warn", "critical": "bad"}
# Of a run's log; `reading` while it is not known yet. `paused` and `past` are states of a screen that does
# not show the present.
STATE_GLYPH = {"live": "●", "stalled": "◌", "ended": "■", "reading": "○", "paused": "‖", "past": "◂"}
STATE_ROLE = {
    "live": "good", "stalled": "warn", "ended": "dim", "reading": "dim", "paused": "warn", "past": "warn",
}  # fmt: skip

SHADES = " ░▒▓█"  # of amounts, darker for more
_FILLS = "█▓▒░"  # of the segments of a bar, so that neighbours differ without colours
_COLORS = 7  # roles `series0` onwards
BAND_DOTS = 0x50  # of a braille cell in a band: two of eight, which are no line


def segment_look(number: int) -> tuple[str, str]:
    """Glyph and role of the `number`-th segment of a bar."""
    return (_FILLS[number % len(_FILLS)], f"series{number % _COLORS}")


@cache
def _ascii() -> dict[int, int]:
    """The replacements of glyphs for terminals with ASCII only; each is one cell wide.

    A cell of a curve becomes its height or, if it is steep, its direction; a cell of a band a dot. The
    ellipsis is `~`: a minus would change numbers.
    """
    columns = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))  # bits of the dots, from the bottom
    replacements = str.maketrans(
        "▲✖✓●◌■◆▼★✚○─━│╭╮╰╯└┤├┬┴┼·–…‥→←↑↓‹›▏×≈±²↻⡐┈┊◂▸▾‖█▓▒░▁▂▃▄▅▆▇µλà",
        "!X+*o#%v&+o-=|++++`||+++.-~:><^v<>|x~+2@.::<>v=#%=._.-:=+*ula",
    )
    for bits in range(1, 256):
        left, right = ([at for at, bit in enumerate(column) if bits & bit] for column in columns)
        dots = left + right
        rise = sum(right) / len(right) - sum(left) / len(left) if left and right else 0.0
        if max(dots) - min(dots) >= 2:
            sign = "|" if abs(rise) < 1 else "/" if rise > 0 else "\\"
        else:
            sign = "_" if min(dots) == 0 else "'" if max(dots) == 3 else "-"
        replacements[0x2800 + bits] = ord("." if bits & BAND_DOTS == bits else sign)
    return replacements


def to_ascii(text: str) -> str:
    """Text in ASCII of the same width: glyphs by similar characters, everything else as question marks.

    `±` and an arrow between two values use the blank before them for their first character.
    """
    text = text.replace(" ±", "+-").replace(" → ", "-> ").translate(_ascii())
    return "".join(char if char.isascii() else "?" * cell_width(char) for char in text)
