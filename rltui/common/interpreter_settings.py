"""Settings of the interpreter and the C library, each with the measurement that justifies it.

Measured with CPython 3.11 on two cores: medians of interleaved runs, processor time unless said otherwise.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType

_M_ARENA_MAX = -8  # glibc, malloc.h
_NEW_OBJECTS = 20_000  # before a collection, in place of 700
_MAX_COLLECTED_OBJECTS = 1_000_000  # a collection among so many takes 300 ms


def prepare_start() -> None:
    """Disable garbage collection, and of numpy threads, warnings and texts. Call before any other import.

    Imported objects are never garbage. Without collections during imports, `explain` takes 174 instead of
    201 ms and `check` 301 instead of 347 ms. OpenBLAS would start one thread per core, which rltui does not
    use: without them `runs` takes 187 instead of 242 ms.
    """
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    hide_numpy_warnings()
    _omit_numpy_docstrings()


def _omit_numpy_docstrings() -> None:
    """Import numpy without the modules that add docstrings to its compiled functions, and nothing else.

    It takes 312 instead of 364 million instructions, of 984 that `check` of one row took.
    """
    for name in ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars"):
        sys.modules.setdefault(name, ModuleType(name))


def hide_numpy_warnings() -> None:
    """Do not print numpy's warnings of overflow, unless warnings were asked for with `-W`.

    Logs may hold numbers near the largest float. Sums of them are infinite, which rltui shows as such.
    """
    if not sys.warnoptions:
        warnings.simplefilter("ignore", RuntimeWarning)


def finish_imports() -> None:
    """Enable garbage collection again, and exempt all objects that exist now.

    A full collection among the 50,000 objects of the screen would delay keys by 17 ms. The screen calls this
    with its first frame, a command before it runs. Does nothing if collection is enabled.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


@contextlib.contextmanager
def paused_collection() -> Iterator[None]:
    """Disable garbage collection in a block that creates many long-lived objects, and exempt these later.

    The verdicts and the plan of 45,000 runs are read in 1.2 instead of 2.4 s.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.freeze()
            gc.enable()


def skip_last_collection() -> None:
    """Exempt all objects from the garbage collections of the interpreter as it ends. Nothing may follow.

    `check` of one row takes 956 instead of 997 million instructions.
    """
    gc.disable()
    gc.freeze()


def import_asyncio_without_ssl() -> None:
    """Import asyncio as if Python had no OpenSSL: the screen only talks to a terminal.

    The monitor takes 47.3 instead of 51.4 MB. The receivers of alerts can still import `ssl`.
    """
    if "ssl" not in sys.modules:
        sys.modules["ssl"] = None  # type: ignore[assignment]
        try:
            importlib.import_module("asyncio")
        finally:
            del sys.modules["ssl"]


def shorten_switch_interval() -> None:
    """Let the screen interrupt a computing reader thread sooner.

    It waits 1.1 ms (median of 200) instead of 5.1 ms with the interpreter's default.
    """
    sys.setswitchinterval(0.001)


def use_one_memory_arena() -> None:
    """Let all threads allocate from one arena (glibc), since an arena for each of them stays half empty.

    After 1.8 million points of history, 72 instead of 78 MB stay resident (medians of six runs). Only one
    thread computes at a time, so there is no contention.
    """
    import ctypes  # numpy imports it as well; `--version` needs neither

    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def freeze_objects() -> None:
    """Exempt all objects that exist now from garbage collection, until `release_memory`.

    For use while many logs are read: a full collection among 3,000 runs would delay keys by 0.8 s, among
    10,000 by nearly 3 s. The garbage that arises meanwhile is 5 kB per run.
    """
    gc.freeze()


def collect_seldom() -> None:
    """Exempt all objects that exist now from garbage collection, and collect others a thirtieth as often.

    For processes that evaluate shards, whose runs are no garbage until their shard is done: for 300 runs of
    JSONL, 11 instead of 388 collections take 1.5 instead of 5 % of the processor time.
    """
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)


def release_memory() -> None:
    """Collect garbage, exempt the rest from later collections, and return free memory to the system (glibc).

    After 1.8 million points of history, 72 instead of 124 MB stay resident. Exempted objects are not examined
    if there are so many that keys would be delayed.
    """
    import ctypes  # numpy imports it as well; `--version` needs neither

    if gc.get_freeze_count() < _MAX_COLLECTED_OBJECTS:
        gc.unfreeze()
    gc.collect()
    gc.freeze()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
