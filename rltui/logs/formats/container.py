"""Containers: files and folders with the logs of several runs, or with one log in many files.

A `Container` (the database of a tracker, its folder of metric files) lists its parts, one for each run. Each
part is followed like a log file: it has a size, a stamp that changes with it, and a format of its own, whose
reader calls the part instead of reading bytes.
"""

from __future__ import annotations

import contextlib
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from rltui.common.named_tuple import NamedTuple
from rltui.logs.file_calls import Calls
from rltui.logs.formats.interface import File, Format

P = ParamSpec("P")
T = TypeVar("T")


class Part(ABC):
    """One run of a container, by default one that is read from files as they are.

    place: the path of the container. key: unique within the container, and never reused for another run.
    run: its name relative to the folder of the container, with `/`; empty for the run of that folder.
    moves: whether its rows move to the part of the same key in another container when it vanishes.

    All calls raise OSError.
    """

    moves = False

    def __init__(self, paths: Sequence[str], key: str = "", run: str = "") -> None:
        self._paths = tuple(paths)
        self.place, self.key, self.run = paths[0], key, run

    @property
    @abstractmethod
    def format(self) -> Format:
        """Opens readers for this part."""

    def size(self) -> int:
        """Bytes of its rows or files."""
        return sum(os.stat(path).st_size for path in self._paths)  # noqa: PTH116 - a Path for each is slow

    def stamp(self) -> tuple[int, ...]:
        """Changes whenever the part may have changed: by default size, time and inode of each file."""
        statuses = [os.stat(path) for path in self._paths]  # noqa: PTH116
        return tuple(part for each in statuses for part in (each.st_size, each.st_mtime_ns, each.st_ino))

    def modified(self) -> float:
        """When it was last written, seconds since 1970."""
        return max(os.stat(path).st_mtime for path in self._paths)  # noqa: PTH116

    def files(self) -> tuple[str, ...]:
        """Paths of the files that it is read from, and of folders in which more may appear."""
        return self._paths


class Parts(NamedTuple):
    """The content of a container."""

    parts: tuple[Part, ...] = ()
    folders: tuple[str, ...] = ()  # next to the container and part of it: not searched for logs
    includes_neighbours: bool = False  # files next to it belong to it; ignored if the user named it


class Container(NamedTuple):
    """A kind of container.

    could_be: whether a path may be one, by name only. parts: its parts, None if it is no such container;
    raises OSError.
    """

    could_be: Callable[[str], bool]
    parts: Callable[[str], Parts | None]


class _Visit(threading.local):
    resources: contextlib.ExitStack | None = None


_VISIT = _Visit()


@contextlib.contextmanager
def shared_resources() -> Iterator[None]:
    """Within the block, parts of a container may share what this thread has opened; then it is closed.

    Nothing stays open between visits: see `rltui.logs.local_file`.
    """
    with contextlib.ExitStack() as resources:
        _VISIT.resources = resources
        try:
            yield
        finally:
            _VISIT.resources = None


def close_after_visit(close: Callable[[], None]) -> bool:
    """Register a call for the end of `shared_resources`; False outside of such a block in this thread."""
    if _VISIT.resources is None:
        return False
    _VISIT.resources.callback(close)
    return True


@dataclass(slots=True)
class PartFile:
    """A part of a container as a `File` without bytes: its reader calls methods of the part with `ask`."""

    part: Part
    path: str  # relative to LOGDIR, cleaned
    calls: Calls
    modified: float = 0.0

    def __enter__(self) -> PartFile:
        self.modified = self.ask(self.part.modified)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def ask(self, call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Call a method of the part, bounded in time like file calls. Raises OSError."""
        return self.calls.run(self.part.place, call, *arguments, **options)

    def size(self) -> int:
        """Bytes of its rows or files."""
        return self.ask(self.part.size)

    def read_at(self, offset: int, length: int) -> bytes:
        """Nothing: a part has no bytes."""
        return b""

    def stamp(self) -> tuple[int, ...]:
        """Changes whenever the part may have changed."""
        return self.ask(self.part.stamp)


def part_file(file: File) -> PartFile:
    """The file as a `PartFile`. Raises TypeError for any other."""
    if not isinstance(file, PartFile):
        raise TypeError(f"{file.path} is no part of a container")
    return file
