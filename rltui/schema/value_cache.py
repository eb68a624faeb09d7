"""Values made of shipped files, kept in `__pycache__` until one of the files changes: `kept_value`.

They are kept as Python keeps its modules: not where modules are not written (`-B`, a folder without the right
to write), and they may be deleted at will. Parsing and checking the glossary, the frameworks and the rules
takes 85 ms of processor time, reading what was kept of them 10.
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

from rltui.common.paths import atomic_file
from rltui.common.regex import regex

T = TypeVar("T")
Stamp = tuple[tuple[str, int, int], ...]  # name, size and time of each file
_STARTED = time.time_ns()
# What unpickling raises for a truncated or foreign file, and for classes that have changed.
_UNUSABLE = (OSError, pickle.UnpicklingError, EOFError, ImportError, LookupError, AttributeError, TypeError)


def kept_value(place: Path, sources: Iterable[Path], make: Callable[[], T]) -> T:
    """What `make` made of the sources when they were as they are now. Raises what `make` raises.

    place: the file or folder that the value is read from; it is kept in `__pycache__` beside it, where it is
    trusted as modules are: never for files of users. None is not kept.
    sources: folders, for the TOML and Python files in them, and files. The modules of the classes that the
    value consists of belong to them; those of this folder are added. Regular expressions in the value are
    kept as `rltui.common.regex.regex` makes them.
    """
    sources = (*sources, Path(__file__).parent)
    kept = Path(cache_from_source(f"{place}.py")).with_suffix(".pickle")
    stamp = tuple(each for source in sources for each in stamp_of(source))
    with contextlib.suppress(*_UNUSABLE, ValueError):
        made_of, value = pickle.loads(kept.read_bytes())
        if made_of == stamp:
            found: T = value
            return found
    made = make()
    # Files newer than this process: an update while it runs, whose classes are not those that made the value.
    if made is not None and not sys.dont_write_bytecode and _newest(sources) < _STARTED:
        with contextlib.suppress(OSError):
            kept.parent.mkdir(exist_ok=True)
            with atomic_file(kept, mode=0o644, sync=False) as file:
                _Pickler(file, pickle.HIGHEST_PROTOCOL).dump((stamp, made))
    return made


class _Pickler(pickle.Pickler):
    dispatch_table = copyreg.dispatch_table | {re.Pattern: lambda made: (regex, (made.pattern, made.flags))}


def stamp_of(source: Path) -> Stamp:
    """Name, size and time of a file, or of each TOML and Python file in a folder, in the order of names."""
    return tuple(sorted((name, status.st_size, status.st_mtime_ns) for name, status in _states(source)))


def _newest(sources: Iterable[Path]) -> int:
    """When one of the files came to its place or was changed last, nanoseconds since 1970."""
    return max((status.st_ctime_ns for source in sources for _, status in _states(source)), default=0)


def _states(source: Path) -> list[tuple[str, os.stat_result]]:
    paths: Iterable[Path | os.DirEntry[str]] = (source,)
    with contextlib.suppress(NotADirectoryError), os.scandir(source) as found:
        paths = [each for each in found if each.name.endswith((".toml", ".py"))]
    return [(each.name, each.stat()) for each in paths]
