"""Where a rotated log went: the file beside it that begins and goes on as the log did."""

from __future__ import annotations

import os

from rltui.logs import log_file_names
from rltui.logs.local_file import Calls, LocalFile
from rltui.logs.log_file.file_identity import Past


def moved_to(place: str, past: Past, calls: Calls) -> str | None:
    """The path of the file that holds what was read from `place` (renamed or copied away), or None.

    Raises OSError of the folder.
    """
    folder, _, name = place.rpartition("/")
    with calls.run(folder, os.scandir, folder or "/") as entries:
        names = [entry.name for entry in entries if entry.name.startswith(name) and entry.name != name]
    known = log_file_names.names()
    for candidate in sorted(names):
        if candidate[len(name)] not in known.rotated_joints or candidate.endswith(known.compressed):
            continue
        path = f"{folder}/{candidate}"
        if holds(path, past, calls):
            return path
    return None


def holds(path: str, past: Past, calls: Calls) -> bool:
    """Whether the file begins and goes on as what was read. Raises OSError, unless there is no file."""
    try:
        with LocalFile(path, path, calls) as file:
            return past.is_in(file)
    except FileNotFoundError:
        return False
