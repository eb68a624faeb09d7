"""The file system of a path, and how changes are detected on it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from rltui.common.named_tuple import NamedTuple


class FileSystem(NamedTuple):
    """Properties of a file system."""

    name: str  # the kernel's name
    remote: bool = True  # other hosts may write to it, attributes may be outdated, calls may be slow
    events: bool = False  # inotify reports changes by local processes
    attributes: bool = False  # `stat` is up to date: a file need not be opened to see that it grew


UNKNOWN = FileSystem("unknown")
_LOCAL = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "tmpfs", "ramfs", "f2fs", "bcachefs", "jfs", "reiserfs"}
)
_MOUNTS = Path("/proc/self/mountinfo")


def named(name: str) -> FileSystem:
    """The file system with this name; unknown ones are treated as remote."""
    if name in _LOCAL:
        return FileSystem(name, remote=False, events=True, attributes=True)
    # The first write copies a file to another inode; the underlying disk is usually local.
    overlay = name == "overlay"
    return FileSystem(name, remote=not overlay, events=overlay)


def kind_of(path: str | os.PathLike[str]) -> FileSystem:
    """The file system of `path`, which need not exist yet. Never raises; may block."""
    if not sys.platform.startswith("linux"):
        return UNKNOWN
    try:
        return kind_in(_MOUNTS.read_bytes(), os.path.realpath(path))
    except OSError:
        return UNKNOWN


def kind_in(mounts: bytes, path: str) -> FileSystem:
    """The file system of a path without links, by `/proc/self/mountinfo` (proc_pid_mountinfo(5))."""
    longest, name = -1, ""
    for line in mounts.splitlines():
        before, separator, after = line.partition(b" - ")
        fields = before.split(b" ")
        if not separator or len(fields) < 5:
            continue
        place = os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), fields[4]))
        inside = path == place or path.startswith(place.rstrip("/") + "/")
        if inside and len(place) >= longest:  # of two mounts at one path the later one is visible
            longest, name = len(place), os.fsdecode(after.split(b" ")[0])
    return named(name) if name else UNKNOWN
