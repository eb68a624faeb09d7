"""Colour of what commands print on a terminal: the terminal's own sixteen colours, switched as usual.

NO_COLOR (https://no-color.org) switches colour off, FORCE_COLOR and CLICOLOR_FORCE switch it on, CLICOLOR=0
switches it off (https://bixense.com/clicolors); without them a terminal gets colour, a file or pipe none.
"""

from __future__ import annotations

import os
import sys

_CODES = {"good": "32", "warn": "33", "bad": "31", "info": "36", "dim": "2", "strong": "1"}  # SGR, by role


def wants_color() -> bool:
    """Whether standard output is to be coloured."""
    value = os.environ.get
    if value("NO_COLOR"):
        return False
    if value("FORCE_COLOR", "0") not in ("", "0") or value("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    if value("CLICOLOR") == "0" or value("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def colored(text: str, role: str) -> str:
    """Text in the colour of a role (good, warn, bad, info, dim, strong) where colour is wanted."""
    code = _CODES.get(role)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text.strip() and wants_color() else text
