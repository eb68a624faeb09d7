"""Marks of files and folders: what tells that one has not changed since it was read."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable

from rltui.common import paths
from rltui.common.named_tuple import NamedTuple

COMPARED_BYTES = 512  # first and last bytes of a file that are compared
MIN_AGE_SECONDS = 3.0  # seconds after a write in which another one may bear the same time (2 s on FAT)


class Mark(NamedTuple):
    """What changes with some files. changed: when the last of them did, seconds since 1970."""

    digest: str
    changed: float

    def is_before(self, moment: float) -> bool:
        """Whether all changed so long before a moment that what is written after it bears another time."""
        return self.changed < moment - MIN_AGE_SECONDS


def mark_of(places: Iterable[str], about: str = "") -> Mark | None:
    """A mark of attributes and some bytes of files, and of attributes of folders; None where it is in doubt.

    That is where one was written so shortly before now that a later write could bear the same time, where one
    cannot be read, and where one is neither a file nor a folder. about: what else the mark changes with.
    """
    parts, changed = [os.fsencode(about)], 0.0
    for place in places:
        try:
            status, ends = _status_and_ends(place)
        except OSError:
            return None
        times = status.st_mtime_ns, status.st_ctime_ns
        parts += os.fsencode(repr((place, status.st_size, *times, status.st_ino, status.st_dev))), ends
        changed = max(changed, status.st_mtime, status.st_ctime)
    mark = Mark(paths.digest(b"".join(parts), 40), changed)
    return mark if mark.is_before(time.time()) else None


def _status_and_ends(place: str) -> tuple[os.stat_result, bytes]:
    """Attributes of a file or folder, first and last bytes of a file. Raises OSError, for others, too."""
    descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            return status, b""
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.ENOTSUP, "neither a file nor a folder", place)
        ends = os.pread(descriptor, COMPARED_BYTES, 0)
        if status.st_size > COMPARED_BYTES:
            ends += os.pread(descriptor, COMPARED_BYTES, status.st_size - COMPARED_BYTES)
        return status, ends
    finally:
        os.close(descriptor)


def folder_mark(place: str, now: float) -> tuple[int, int, int, int] | None:
    """The attributes of a folder, in a third of the time; None where they are in doubt, and for a file.

    now: when the folder was searched or later, seconds since 1970.
    """
    try:
        status = os.stat(place)  # noqa: PTH116 - a string is what is kept
    except OSError:
        return None
    if not stat.S_ISDIR(status.st_mode) or not max(status.st_mtime, status.st_ctime) < now - MIN_AGE_SECONDS:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev
