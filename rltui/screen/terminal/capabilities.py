"""What surrounds the screen: the terminal's abilities."""

from __future__ import annotations

import os


def ascii_needed() -> bool:
    """Whether the terminal or the locale cannot show more than ASCII."""
    if os.environ.get("TERM") == "linux":
        return True
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    return bool(locale) and "utf" not in locale.lower()
