"""Marks of files and folders: what tells that one has not changed since it was read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from rltui import paths

BYTES = 512  # first and last bytes of a file that are compared
YOUNG = 3.0  # seconds after a write in which another one may bear the same time (2 s on FAT)


def mark_of(place: str, now: float) -> str | None:
    """Attributes and some bytes of a file, attributes of a folder; None where they are in doubt.

    That is where it was written so shortly before `now` (seconds since 1970) that a later write could bear
    the same time, where it cannot be read, and where it is neither a file nor a folder.
    """
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not max(status.st_mtime, status.st_ctime) < now - YOUNG:
            return None
        size, head, tail = status.st_size, b"", b""
        if stat.S_ISREG(status.st_mode):
            head = os.pread(descriptor, BYTES, 0)
            tail = os.pread(descriptor, BYTES, size - BYTES) if size > BYTES else b""
        elif not stat.S_ISDIR(status.st_mode):
            return None
        times = status.st_mtime_ns, status.st_ctime_ns
        return paths.digest(repr((size, *times, status.st_ino, status.st_dev, head, tail)), 40)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def folder_mark(place: str, now: float) -> tuple[int, int, int, int] | None:
    """The attributes of a folder, in a third of the time; None where they are in doubt, and for a file."""
    try:
        status = os.stat(place)  # noqa: PTH116 - a string is what is kept
    except OSError:
        return None
    if not stat.S_ISDIR(status.st_mode) or not max(status.st_mtime, status.st_ctime) < now - YOUNG:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev


def mark_of_all(places: Iterable[str], now: float) -> str | None:
    """One mark of several files and folders; None where one of them is in doubt."""
    marks = []
    for place in places:
        mark = mark_of(place, now)
        if mark is None:
            return None
        marks.append((place, mark))
    return paths.digest(repr(marks), 40)
