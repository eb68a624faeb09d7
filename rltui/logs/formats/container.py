"""Containers: what holds the logs of several runs, or one log in many files, so that no file is one log.

A `Container` (a tracker's database, its folder of metric files) lists its parts, one for each run. The search
makes one log of each part, and a part is then followed like a file: it has a size, a stamp that changes when
it does, and a format of its own whose reader asks the part instead of reading bytes.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import ParamSpec, Protocol, TypeVar

from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.logs.file_calls import Calls
from rltui.logs.formats.interface import File, Format

P = ParamSpec("P")
T = TypeVar("T")


class Part(Protocol):
    """One run of a container. Every method touches the file system and raises OSError."""

    @property
    def place(self) -> str:
        """The path of the container."""
        ...

    @property
    def key(self) -> str:
        """Tells it from the other parts of the container; never given to another run."""
        ...

    @property
    def run(self) -> str:
        """Its run, below the folder of the container, with `/`; empty for the run of that folder."""
        ...

    @property
    def moves(self) -> bool:
        """Whether its rows move into the part of the same key of another container when it vanishes."""
        ...

    @property
    def format(self) -> Format:
        """Opens readers for this part."""
        ...

    def size(self) -> int:
        """Bytes of its rows or files."""
        ...

    def stamp(self) -> tuple[int, ...]:
        """What changes when the part may have changed."""
        ...

    def modified(self) -> float:
        """When it was written last, seconds since 1970."""
        ...

    def files(self) -> tuple[str, ...]:
        """Paths of the files that it is read from, and of folders in which others may appear."""
        ...


class Parts(NamedTuple):
    """What a container holds."""

    parts: tuple[Part, ...] = ()
    folders: tuple[str, ...] = ()  # beside it, that belong to the container: not searched for logs
    beside: bool = False  # files beside it belong to it: of no account for one that the user named


class Container(NamedTuple):
    """A kind of container.

    could_be: whether a path is worth opening; touches no file. parts: what is in it, None when it is no such
    container; raises OSError.
    """

    could_be: Callable[[str], bool]
    parts: Callable[[str], Parts | None]


class _Held(threading.local):
    closers: list[Callable[[], None]] | None = None


_HELD = _Held()


@contextlib.contextmanager
def one_look() -> Iterator[None]:
    """Within the block, parts of one container may share what this thread has opened; then it is closed.

    Nothing is held between looks: see `rltui.logs.local_file`.
    """
    closers: list[Callable[[], None]] = []
    _HELD.closers = closers
    try:
        yield
    finally:
        _HELD.closers = None
        for close in closers:
            close()


def close_after_look(close: Callable[[], None]) -> bool:
    """Have something closed when the look ends; False where no look is under way in this thread."""
    if _HELD.closers is None:
        return False
    _HELD.closers.append(close)
    return True


@dataclass(slots=True)
class PartFile:
    """A part of a container as a `File`. It has no bytes: its reader asks `part` by means of `ask`."""

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
        """What a call about the part returns. Raises OSError."""
        return self.calls.run(self.part.place, call, *arguments, **options)

    def size(self) -> int:
        """Bytes of its rows or files."""
        return self.ask(self.part.size)

    def read_at(self, offset: int, length: int) -> bytes:
        """Nothing: there is no row of bytes."""
        return b""

    def stamp(self) -> tuple[int, ...]:
        """What changes when the part may have changed."""
        return self.ask(self.part.stamp)


def part_file(file: File) -> PartFile:
    """The file that a reader of a part was given. Raises TypeError for any other."""
    if not isinstance(file, PartFile):
        raise TypeError(f"{file.path} is no part of a container")
    return file
