"""What surrounds the screen: the terminal's abilities and the user's own folders."""

from __future__ import annotations

import os
from pathlib import Path

from rltui.config.files import own_path
from rltui.themes import shipped_folder


def ascii_needed() -> bool:
    """Whether the terminal or the locale cannot show more than ASCII."""
    if os.environ.get("TERM") == "linux":
        return True
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    return bool(locale) and "utf" not in locale.lower()


def theme_folders() -> list[Path]:
    """Where themes are looked for: shipped ones, then the user's own."""
    own = own_path()
    return [shipped_folder(), *([own.parent / "themes"] if own is not None else [])]
