"""Marks of files and folders, which differ when a file or folder has changed since it was read."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable

from rltui.common.digest import digest
from rltui.common.named_tuple import NamedTuple

COMPARED_BYTES = 512  # at each end of a file
MIN_AGE_SECONDS = 3.0  # after a write, within which another one may have the same time stamp (2 s on FAT)


class Mark(NamedTuple):
    """A digest that changes with some files. changed: their latest change, seconds since 1970."""

    digest: str
    changed: float

    def is_before(self, moment: float) -> bool:
        """Whether any write after a moment, in seconds since 1970, gets a later time stamp."""
        return self.changed < moment - MIN_AGE_SECONDS


def mark_of(places: Iterable[str], about: str = "") -> Mark | None:
    """A mark of attributes and some bytes of files, and of attributes of folders; None if it is unreliable.

    It is unreliable if one was written so recently that a later write could have the same time stamp, cannot
    be read, or is neither a file nor a folder. about: text that the mark depends on, too.
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
    mark = Mark(digest(b"".join(parts), 40), changed)
    return mark if mark.is_before(time.time()) else None


def _status_and_ends(place: str) -> tuple[os.stat_result, bytes]:
    """Attributes of a file or folder, first and last bytes of a file. Raises OSError, also for devices."""
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
    """The attributes of a folder, in a third of the time; None if they are unreliable, and for a file.

    now: when the folder was searched or later, seconds since 1970.
    """
    try:
        status = os.stat(place)  # noqa: PTH116 - a string is what is kept
    except OSError:
        return None
    if not stat.S_ISDIR(status.st_mode) or not max(status.st_mtime, status.st_ctime) < now - MIN_AGE_SECONDS:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev
