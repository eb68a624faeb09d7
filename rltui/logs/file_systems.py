"""Which file system a path lies on, and what that means for noticing changes."""

from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FileSystem:
    """What may be expected of a file system."""

    name: str
    remote: bool  # other hosts may write to it; attributes may be late, calls may be slow
    events: bool  # inotify reports what local processes write
    hold: bool  # a held descriptor or a plain `stat` tells the truth


def _local(name: str) -> FileSystem:
    return FileSystem(name, remote=False, events=True, hold=True)


def _remote(name: str) -> FileSystem:
    return FileSystem(name, remote=True, events=False, hold=False)


# Values of statfs(2) f_type, as in Linux's magic.h and the manuals of the file systems.
# A writer on another node rings no bell here, whatever the file system, so a bell is never relied on.
_KINDS = {
    0xEF53: _local("ext4"),
    0x58465342: _local("xfs"),
    0x9123683E: _local("btrfs"),
    0x2FC12FC1: _local("zfs"),
    0x01021994: _local("tmpfs"),
    0x858458F6: _local("ramfs"),
    0xF2F52010: _local("f2fs"),
    0xCA451A4E: _local("bcachefs"),
    # Copy-up gives a file another inode, so descriptors go stale; the disk below is local as a rule.
    0x794C7630: FileSystem("overlayfs", remote=False, events=True, hold=False),
    0x6969: _remote("nfs"),
    0xFF534D42: _remote("cifs"),
    0xFE534D42: _remote("smb2"),
    0x517B: _remote("smb"),
    0x0BD00BD0: _remote("lustre"),
    0x47504653: _remote("gpfs"),
    0x19830326: _remote("beegfs"),
    0x00C36400: _remote("cephfs"),
    0xAAD7AAEA: _remote("panfs"),
    0x7461636F: _remote("ocfs2"),
    0x01161970: _remote("gfs2"),
    0x5346414F: _remote("afs"),
    0x6B414653: _remote("afs"),
    0x65735546: _remote("fuse"),
    0x01021997: _remote("9p"),
    0x786F4256: _remote("vboxsf"),
    0xBACBACBC: _remote("vmhgfs"),
    0x7C7C6673: _remote("prl_fs"),
}


def of_magic(magic: int) -> FileSystem:
    """What a value of `f_type` stands for; an unknown one is treated as remote."""
    return _KINDS.get(magic & 0xFFFFFFFF) or _remote(f"unknown (0x{magic & 0xFFFFFFFF:x})")


def kind_of(path: str | os.PathLike[str]) -> FileSystem:
    """The file system of `path`, or of its nearest folder that exists. Never raises; may block."""
    if not sys.platform.startswith("linux"):
        return _remote(f"unknown ({sys.platform})")
    try:
        statfs = ctypes.CDLL(None, use_errno=True).statfs
    except (OSError, AttributeError):
        return _remote("unknown")
    # struct statfs begins with f_type, a long on the common 64-bit ABIs; 512 bytes hold any of them.
    buffer = (ctypes.c_long * 64)()
    place = Path(path).absolute()
    for candidate in (place, *place.parents):
        if statfs(os.fsencode(candidate), ctypes.byref(buffer)) == 0:
            return of_magic(int(buffer[0]))
    return _remote("unknown")
