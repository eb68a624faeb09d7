"""An error of our own: its traceback goes into a file, people see one line."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from rltui import __version__
from rltui.common import paths
from rltui.common.text import clean

EXIT = 70  # EX_SOFTWARE of sysexits.h


def report(error: BaseException) -> str:
    """Write a traceback to a file of the user's own; returns the one line that people see. Never raises."""
    text = f"rltui {__version__}\n{''.join(traceback.format_exception(error))}"
    name = f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    folders: tuple[Callable[[], Path | None], ...] = (paths.state, _temporary)
    for folder in folders:
        try:
            place = folder()
            if place is None:
                continue
            path = place / name
            paths.write_atomically(path, text.encode(errors="replace"))
        except OSError:
            continue
        where = clean(str(path))
        return f"internal error ({type(error).__name__}); please report it with {where}"
    words = clean(" ".join(str(error).split()), 120)
    return f"internal error ({type(error).__name__}: {words}); no file could be written"


def _temporary() -> Path:
    import tempfile  # loads a megabyte, and is hardly ever needed

    return Path(tempfile.mkdtemp(prefix="rltui-"))
