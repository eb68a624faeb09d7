"""Crash reports: the traceback of an internal error goes to a file, the user sees one line."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from rltui import __version__
from rltui.common import writable_paths
from rltui.common.display_text import clean

EXIT = 70  # EX_SOFTWARE of sysexits.h


def report(error: BaseException) -> str:
    """Write a traceback to a file in the user's state folder; returns the message to show. Never raises."""
    text = f"rltui {__version__}\n{''.join(traceback.format_exception(error))}"
    name = f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    folders: tuple[Callable[[], Path | None], ...] = (writable_paths.state, _temporary_folder)
    for find_folder in folders:
        try:
            folder = find_folder()
            if folder is None:
                continue
            path = folder / name
            writable_paths.write_atomically(path, text.encode(errors="replace"))
        except OSError:
            continue
        return f"internal error ({type(error).__name__}); please report it with {clean(str(path))}"
    words = clean(" ".join(str(error).split()), 120)
    return f"internal error ({type(error).__name__}: {words}); no file could be written"


def _temporary_folder() -> Path:
    import tempfile  # takes 1 MB and is rarely needed

    return Path(tempfile.mkdtemp(prefix="rltui-"))
