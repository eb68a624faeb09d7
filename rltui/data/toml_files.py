"""Folders of TOML that ship with the program, read through a compiled cache of the user's own.

Parsing some sixty TOML files costs a few hundred milliseconds; reading what was made of them last time
costs a few. The cache holds nothing that cannot be made again: when it is missing, stale, damaged,
unwritable or somebody else's, the files are parsed.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from rltui import __version__
from rltui.batch import Problem
from rltui.paths import cache, mark
from rltui.text import clean

Table = dict[str, Any]  # one parsed TOML file, or one of its tables
Build = Callable[[Mapping[str, Table], list[Problem]], Any]

_CAP = 64 << 20  # bytes; a larger cache file is not ours
_SEP = b"\n"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a folder says. `data` is what `build` made of it: dicts, lists, strings, numbers, None."""

    data: Any
    problems: tuple[Problem, ...] = ()
    cached: bool = False  # whether it came from the cache


def load(folder: Path, name: str, build: Build, *, version: int = 1) -> Loaded:
    """`build(tables by file stem, problems)` of all `*.toml` in `folder`, cached as `name`.

    `build` appends what is wrong to the list it is given and leaves the faulty part out; a result with
    problems is not cached, so that they are told every time. Raise `version` when `build` changes its
    mind about the same files. The data must survive JSON (no dates, no infinities); data that does not
    are given, not cached. Never raises for the content of files; a missing folder has no files.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".toml")
        stats = [path.stat() for path in (*paths, *_makers(build))]
    except OSError as error:
        trouble = Problem(
            "error", "data-unreadable", clean(str(folder)), f"cannot be listed: {error.strerror}"
        )
        problems = [trouble]
        return Loaded(build({}, problems), tuple(problems))
    written = [(it.st_size, it.st_mtime_ns) for it in stats]
    key = mark(repr((__version__, version, [path.name for path in paths], written)))
    place = _place(folder, name)
    if place is not None:
        found, data = _recall(place, key)
        if found:
            return Loaded(data, cached=True)
    problems = []
    data = build(_parse(paths, problems), problems)
    if place is not None and not problems:
        _keep(place, key, data)
    return Loaded(data, tuple(problems))


def _makers(build: Build) -> list[Path]:
    """The program's own files beside the one that `build` stands in: when they change, so may its results."""
    made_by = sys.modules.get(build.__module__)
    place = getattr(made_by, "__file__", None)
    return sorted(Path(place).parent.glob("*.py")) if place else []


def parse(path: Path, problems: list[Problem]) -> Table | None:
    """One TOML file, or None and a problem that names its line."""
    import tomllib  # not needed while what was made of the files is remembered

    shown = clean(path.name)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        return tomllib.loads(text.replace("\r\n", "\n"))
    except OSError as error:
        problems.append(Problem("error", "data-unreadable", shown, f"cannot be read: {error.strerror}"))
    except UnicodeDecodeError as error:
        problems.append(Problem("error", "data-not-toml", shown, f"is not UTF-8 at byte {error.start}"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        problems.append(
            Problem("error", "data-not-toml", shown, clean(str(error) or "nested too deeply", 200))
        )
    return None


def _parse(paths: list[Path], problems: list[Problem]) -> dict[str, Table]:
    tables = {}
    for path in paths:
        table = parse(path, problems)
        if table is not None:
            tables[path.stem] = table
    return tables


def _place(folder: Path, name: str) -> Path | None:
    """Where the compiled data of `folder` lie: one file per installation. None without a usable home."""
    folder_of_caches = cache()
    if folder_of_caches is None:
        return None
    return folder_of_caches / f"{name}-{mark(str(folder.absolute()), 12)}.json"


def _ours(status: os.stat_result) -> bool:
    """Whether only this user can have written it."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _recall(place: Path, key: str) -> tuple[bool, Any]:
    try:
        if not _ours(place.parent.lstat()):
            return False, None
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return False, None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not (stat.S_ISREG(status.st_mode) and _ours(status) and status.st_size <= _CAP):
            return False, None
        try:
            head, _, body = file.read(status.st_size).partition(_SEP)
            if head.decode("ascii", "replace") != key:
                return False, None
            return True, orjson.loads(body)
        except (OSError, orjson.JSONDecodeError):
            return False, None


def _keep(place: Path, key: str, data: Any) -> None:
    """Write the cache in one move; whatever is in the way, there is just no cache."""
    try:
        body = orjson.dumps(data)
        if orjson.loads(body) != data:
            return
    except (TypeError, ValueError):
        return
    with contextlib.suppress(OSError, ValueError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _ours(place.parent.lstat()):
            return
        import tempfile  # rarely needed, and it loads much

        descriptor, made = tempfile.mkstemp(dir=place.parent, prefix=f".{place.stem}-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(key.encode() + _SEP + body)
            Path(made).replace(place)
        except OSError:
            Path(made).unlink(missing_ok=True)
            raise
