"""Marks: glyph, role and word of every severity, health and state, and what stands for glyphs in ASCII."""

from __future__ import annotations

from functools import cache

from rltui.common.text import cell_width

# Of findings; empty is none.
SEVERITY_GLYPH = {"critical": "✖", "warning": "▲", "info": "·", "": " "}
SEVERITY_ROLE = {"critical": "bad", "warning": "warn", "info": "info", "": "text"}
# Of problems with files and data.
LEVEL_GLYPH = {"error": SEVERITY_GLYPH["critical"], "warning": SEVERITY_GLYPH["warning"], "info": "·"}
LEVEL_ROLE = {"error": "bad", "warning": "warn", "info": "dim"}
# Of a run as it trains.
HEALTH_GLYPH = {
    "ok": "✓",
    "unjudged": "?",
    "warning": SEVERITY_GLYPH["warning"],
    "critical": SEVERITY_GLYPH["critical"],
}
HEALTH_WORD = {"ok": "healthy", "unjudged": "not judged", "warning": "warning", "critical": "critical"}
HEALTH_ROLE = {"ok": "good", "unjudged": "dim", "warning": "warn", "critical": "bad"}
# Of a run as it is written; `paused` and `past` of a screen that does not show what is.
STATE_GLYPH = {"live": "●", "stalled": "◌", "ended": "■", "paused": "‖", "past": "◂"}
STATE_ROLE = {"live": "good", "stalled": "warn", "ended": "dim", "paused": "warn", "past": "warn"}

# Of amounts, darker for more; of the segments of a bar, whose neighbours differ without colours, too.
SHADES = " ░▒▓█"
_FILLS = "█▓▒░"
_COLORS = 7  # roles `series0` onwards
BAND_DOTS = 0x50  # of a cell in braille, where a band is seen: two of eight, clearly no line


def segment_look(number: int) -> tuple[str, str]:
    """Glyph and role of a segment of a bar by its number."""
    return (_FILLS[number % len(_FILLS)], f"series{number % _COLORS}")


@cache
def _ascii() -> dict[int, int]:
    """What stands for our glyphs where only ASCII can be shown; one cell for one cell.

    For the cells of a curve its height in the cell or, where it is steep, its direction; a band is dots.
    """
    columns = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))  # bits of the dots, from the bottom
    found = str.maketrans(
        "▲✖✓●◌■◆▼★✚○─━│╭╮╰╯└┤├┬┴┼·–…‥→←↑↓‹›▏×≈±²↻⡐┈┊◂▸▾‖█▓▒░▁▂▃▄▅▆▇µλà",
        "!X+*o#%v&+o-=|++++`||+++.--:><^v<>|x~+2@.::<>v=#%=._.-:=+*ula",
    )
    for bits in range(1, 256):
        left, right = ([at for at, bit in enumerate(column) if bits & bit] for column in columns)
        dots = left + right
        rise = sum(right) / len(right) - sum(left) / len(left) if left and right else 0.0
        if max(dots) - min(dots) >= 2:
            sign = "|" if abs(rise) < 1 else "/" if rise > 0 else "\\"
        else:
            sign = "_" if min(dots) == 0 else "'" if max(dots) == 3 else "-"
        found[0x2800 + bits] = ord("." if bits & BAND_DOTS == bits else sign)
    return found


def to_ascii(text: str) -> str:
    """Text in ASCII: our glyphs by likeness, everything else as question marks of the same width.

    `±` takes the blank before it for its second character, an arrow between two values, too.
    """
    text = text.replace(" ±", "+-").replace(" → ", "-> ").translate(_ascii())
    return "".join(char if char.isascii() else "?" * cell_width(char) for char in text)
