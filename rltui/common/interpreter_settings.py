"""Settings of the interpreter and the C library, each with the measurement that justifies it.

Measured with CPython 3.11 on two cores: medians of interleaved runs, processor time unless said otherwise.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Iterator

_M_ARENA_MAX = -8  # glibc, malloc.h
_MOST_LOOKED_THROUGH = 1_000_000  # objects; 300 ms


def prepare_start() -> None:
    """Call before anything is imported.

    Imported objects stay, so looking for garbage among them is lost time: without it `explain` takes 174
    instead of 201 ms, `check` 301 instead of 347 ms. OpenBLAS would start a thread per core that rltui does
    not use: `runs` takes 187 instead of 242 ms without them, and a shared login node is spared.
    """
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def finish_imports() -> None:
    """Collect garbage from now on, but not among what was imported.

    A full collection among the 50,000 objects of the screen takes 17 ms, in which no key is answered;
    after this it takes none. The screen calls this with its first frame, a command before it runs. Nothing
    happens where collections were not switched off.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def collect_seldom() -> None:
    """Look for garbage after 10,000 new objects instead of 700. The commands call this, the screen does not.

    Modules and tables that a command loads while it runs stay, too: `check` of a short log takes 991 instead
    of 1,000 million instructions. Later collections look at more at once, which keys would have to wait for.
    """
    gc.set_threshold(10_000)


@contextlib.contextmanager
def all_stays() -> Iterator[None]:
    """Look for no garbage in a block that makes much that stays, nor among that later.

    Verdicts and plan of 45,000 runs are read in 1.2 instead of 2.4 s.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.freeze()
            gc.enable()


def import_asyncio_without_ssl() -> None:
    """Load asyncio as where Python lacks OpenSSL: the screen talks to a terminal only.

    The monitor holds 47.3 instead of 51.4 MB. `ssl` itself can still be imported by what sends alerts.
    """
    if "ssl" not in sys.modules:
        sys.modules["ssl"] = None  # type: ignore[assignment]
        try:
            importlib.import_module("asyncio")
        finally:
            del sys.modules["ssl"]


def switch_threads_often() -> None:
    """Give the screen its turn beside a reader thread that computes.

    It waits 1.1 ms (median of 200) instead of 5.1 ms with the interpreter's default.
    """
    sys.setswitchinterval(0.001)


def share_memory_arena() -> None:
    """Let all threads take memory from one pool (glibc): a pool for each of them stays half empty.

    After 1.8 million points of history, 72 instead of 78 MB stay resident (medians of six runs). Only one
    thread computes at a time, so they do not wait for each other.
    """
    import ctypes

    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def keep_what_is_there() -> None:
    """Look for no garbage among what there is, until `release_memory`. Call while much is read that stays.

    A full collection among 3,000 runs takes 0.8 s in which no key is answered, among 10,000 nearly 3 s. What
    becomes garbage while they are read are 5 kB a run.
    """
    gc.freeze()


def release_memory() -> None:
    """Return free memory to the system (glibc; elsewhere nothing happens).

    After 1.8 million points of history, 72 instead of 124 MB stay resident. Later collections spare what is
    left, and this one does where there is so much that keys would wait.
    """
    import ctypes

    if gc.get_freeze_count() < _MOST_LOOKED_THROUGH:
        gc.unfreeze()
    gc.collect()
    gc.freeze()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
