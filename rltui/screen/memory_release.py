"""Memory given back: what reading history needed is of no use afterwards."""

from __future__ import annotations

import contextlib
import ctypes
import gc

_M_ARENA_MAX = -8  # glibc, malloc.h


def share() -> None:
    """Let all threads take memory from one pool (glibc): one of their own for each would stay half empty.

    Only one of our threads computes at a time, so they do not wait for each other.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Return free pages to the system, where the C library can (glibc); elsewhere nothing happens."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
