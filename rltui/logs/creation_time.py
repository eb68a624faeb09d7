"""When a file was created, which Python's `stat` tells on few systems."""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_EMPTY_PATH, _CREATION = 0x1000, 0x800  # AT_EMPTY_PATH, STATX_BTIME: linux/fcntl.h, linux/stat.h
_STATX_BYTES = 256  # of `struct statx`, statx(2): its mask is at byte 0, seconds and nanoseconds at 80
_MASK, _TIME = struct.Struct("=I"), struct.Struct("=qI")
_TIME_AT = 80


def created_at(descriptor: int) -> float:
    """When an open file was created, seconds since 1970; 0 where system or file system do not tell.

    Raises OSError.
    """
    if not sys.platform.startswith("linux"):
        return float(getattr(os.fstat(descriptor), "st_birthtime", 0.0))
    try:
        statx = ctypes.CDLL(None, use_errno=True).statx
    except (OSError, AttributeError):  # a C library without it
        return 0.0
    found = ctypes.create_string_buffer(_STATX_BYTES)
    if statx(descriptor, b"", _EMPTY_PATH, _CREATION, found) != 0:
        return 0.0
    (mask,) = _MASK.unpack_from(found.raw)
    seconds, nanoseconds = _TIME.unpack_from(found.raw, _TIME_AT)
    return float(seconds + 1e-9 * nanoseconds) if mask & _CREATION else 0.0
