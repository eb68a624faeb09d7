"""A cache, in `__pycache__`, of values computed from shipped files: `cached_value`.

It works as for Python's modules: nothing is written with `-B` or without write permission, and the files may
be deleted. Parsing and checking the glossary, the frameworks and the rules takes 85 ms of processor time,
reading the cached values 10 ms.
"""

from __future__ import annotations

import contextlib
import copyreg
import os
import pickle
import re
import sys
import time
from collections.abc import Callable, Iterable
from importlib.util import cache_from_source
from pathlib import Path
from typing import TypeVar

from rltui.common.interpreter_settings import paused_collection
from rltui.common.regex import regex
from rltui.common.writable_paths import atomic_file

T = TypeVar("T")
Stamp = tuple[tuple[str, int, int], ...]  # name, size and modification time of each file
_STARTED = time.time_ns()
# Raised by unpickling for truncated and foreign files, and for classes that have changed.
_UNUSABLE = (OSError, pickle.UnpicklingError, EOFError, ImportError, LookupError, AttributeError, TypeError)


def cached_value(place: Path, sources: Iterable[Path], make: Callable[[], T]) -> T:
    """The result of `make`, from the cache if the sources are unchanged. Raises what `make` raises.

    place: the file or folder that the value is read from. The cache is in `__pycache__` next to it and is
    trusted like compiled modules, so never use this for files of the user. None is not cached. sources:
    files, and folders whose TOML and Python files count, including the modules of the value's classes.
    Modules of this folder are added. Regular expressions are cached as lazy ones (`rltui.common.regex`).
    """
    sources = (*sources, Path(__file__).parent)
    cache = Path(cache_from_source(f"{place}.py")).with_suffix(".pickle")
    stamp = tuple(file for source in sources for file in file_stamps(source))
    with contextlib.suppress(*_UNUSABLE, ValueError), paused_collection():
        cached_stamp, value = pickle.loads(cache.read_bytes())
        if cached_stamp == stamp:
            cached: T = value
            return cached
    made = make()
    # If files are newer than this process, rltui was updated, and the classes in memory may be outdated.
    if made is not None and not sys.dont_write_bytecode and _last_change(sources) < _STARTED:
        with contextlib.suppress(OSError):
            cache.parent.mkdir(exist_ok=True)
            with atomic_file(cache, mode=0o644, sync=False) as file:
                _Pickler(file, pickle.HIGHEST_PROTOCOL).dump((stamp, made))
    return made


class _Pickler(pickle.Pickler):
    dispatch_table = copyreg.dispatch_table | {re.Pattern: lambda made: (regex, (made.pattern, made.flags))}


def file_stamps(source: Path) -> Stamp:
    """Name, size and modification time of a file, or of the TOML and Python files in a folder, sorted."""
    return tuple(sorted((name, status.st_size, status.st_mtime_ns) for name, status in _states(source)))


def _last_change(sources: Iterable[Path]) -> int:
    """The latest change or renaming of a file, in nanoseconds since 1970."""
    return max((status.st_ctime_ns for source in sources for _, status in _states(source)), default=0)


def _states(source: Path) -> list[tuple[str, os.stat_result]]:
    paths: Iterable[Path | os.DirEntry[str]] = (source,)
    with contextlib.suppress(NotADirectoryError), os.scandir(source) as found:
        paths = [entry for entry in found if entry.name.endswith((".toml", ".py"))]
    return [(path.name, path.stat()) for path in paths]
