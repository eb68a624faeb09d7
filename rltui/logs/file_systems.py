"""Which file system a path lies on, and what that means for noticing changes."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from rltui.common.named_tuple import NamedTuple


class FileSystem(NamedTuple):
    """What may be expected of a file system."""

    name: str  # as the kernel calls it
    remote: bool  # other hosts may write to it; attributes may be late, calls may be slow
    events: bool  # inotify reports what local processes write
    attributes: bool  # a plain `stat` tells the truth, a file need not be opened to see that it grew


UNKNOWN = FileSystem("unknown", remote=True, events=False, attributes=False)
_LOCAL = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "tmpfs", "ramfs", "f2fs", "bcachefs", "jfs", "reiserfs"}
)
_MOUNTS = Path("/proc/self/mountinfo")


def named(name: str) -> FileSystem:
    """The file system of this name; one that is not known is treated as remote."""
    if name in _LOCAL:
        return FileSystem(name, remote=False, events=True, attributes=True)
    # The first write to a file copies it up, as another inode; the disk below is local as a rule.
    overlay = name == "overlay"
    return FileSystem(name, remote=not overlay, events=overlay, attributes=False)


def kind_of(path: str | os.PathLike[str]) -> FileSystem:
    """The file system of `path`, which need not exist yet. Never raises; may block."""
    if not sys.platform.startswith("linux"):
        return UNKNOWN
    try:
        return kind_in(_MOUNTS.read_bytes(), os.path.realpath(path))
    except OSError:
        return UNKNOWN


def kind_in(mounts: bytes, path: str) -> FileSystem:
    """The same by the lines of `/proc/self/mountinfo` (proc_pid_mountinfo(5)), for a path without links."""
    longest, name = -1, ""
    for line in mounts.splitlines():
        before, separator, after = line.partition(b" - ")
        fields = before.split(b" ")
        if not separator or len(fields) < 5:
            continue
        place = os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), fields[4]))
        inside = path == place or path.startswith(place.rstrip("/") + "/")
        if inside and len(place) >= longest:  # of two mounts at one place the later one is seen
            longest, name = len(place), os.fsdecode(after.split(b" ")[0])
    return named(name) if name else UNKNOWN
