"""Marks: glyph, role and word of every severity, health and state, and what stands for glyphs in ASCII."""

from __future__ import annotations

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


def segment_look(number: int) -> tuple[str, str]:
    """Glyph and role of a segment of a bar by its number."""
    return (_FILLS[number % len(_FILLS)], f"series{number % _COLORS}")


# What stands for our glyphs where only ASCII can be shown; one cell for one cell.
_ASCII = str.maketrans(
    "▲✖✓●◌■◆▼★✚○─━│╭╮╰╯└┤├┬┴┼·–…‥→←↑↓‹›▏×≈±²↻⡐┈┊◂▸▾‖█▓▒░▁▂▃▄▅▆▇µλà",
    "!X+*o#%v&+o-=|++++`||+++.--:><^v<>|x~+2@.::<>v=#%=._..-=+*ula",
)


def to_ascii(text: str) -> str:
    """Text in ASCII: our glyphs by likeness, everything else as question marks of the same width.

    `±` takes the blank before it for its second character, an arrow between two values, too.
    """
    text = text.replace(" ±", "+-").replace(" → ", "-> ").translate(_ASCII)
    return "".join(char if char.isascii() else "?" * cell_width(char) for char in text)
