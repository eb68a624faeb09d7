"""The files below a folder that this process has open."""

from __future__ import annotations

import os
from pathlib import Path


def open_below(folder: Path) -> int:
    """The number of open descriptors of `folder` and files below it."""
    found = 0
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208
        try:
            place = Path(f"/proc/self/fd/{number}").readlink()
        except FileNotFoundError:  # closed since, as the one of this listing is
            continue
        found += place.is_relative_to(folder)
    return found
