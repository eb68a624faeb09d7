"""Containers: files and folders with the logs of several runs, or with one log in many files.

A `Container` (the database of a tracker, its folder of metric files) lists its parts, one for each run. Each
part is followed like a log file: it has a size, and a stamp that changes with it. In place of reading bytes,
its reader asks for the rows after those it has.
"""

from __future__ import annotations

import contextlib
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, ParamSpec, TypeVar

from rltui.common.display_text import count_of
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import CountedProblem, Problem, ProblemLevel
from rltui.logs.batch import EMPTY, Batch
from rltui.logs.file_calls import Calls
from rltui.logs.formats.interface import BLOCK, File, Format, ReadFromStart
from rltui.logs.records.record_batcher import RecordBatcher

C = TypeVar("C")  # position at which the next read continues
P = ParamSpec("P")
T = TypeVar("T")


class TrackerAlert(NamedTuple):
    """An alert that the training sent through its tracker. number: of its row in the database."""

    number: int
    level: ProblemLevel
    text: str


@dataclass(slots=True)
class NewRows(Generic[C]):
    """The result of reading a part once: records of several values, or single ones."""

    records: list[tuple[int, float, dict[str, object]]] = field(default_factory=list)  # step, wall, values
    values: list[tuple[str, float, tuple[int, float]]] = field(
        default_factory=list
    )  # key, value, step and wall
    cursor: C | None = None  # where the next read continues
    bytes_read: int = 0
    hparams: dict[str, object] = field(default_factory=dict)
    exit_code: str = ""  # empty until the tracker has stored one
    alerts: Sequence[TrackerAlert] = ()  # the newest
    problems: list[Problem] = field(default_factory=list)
    skipped: int = 0  # rows without points


class Part(ABC, Generic[C]):
    """One run of a container, read from a cursor on. By default its files are read as they are.

    place: the path of the container. key: unique within the container, and never reused for another run.
    run: its name relative to the folder of the container, with `/`; empty for the run of that folder.
    moves: whether its rows move to the part of the same key in another container when it vanishes.
    format: it matches no file, since the container finds the part.

    All calls raise OSError.
    """

    moves = False

    def __init__(self, format_name: str, paths: Sequence[str], key: str = "", run: str = "") -> None:
        self._paths = tuple(paths)
        self.place, self.key, self.run = paths[0], key, run
        self.format = Format(format_name, lambda _name, _head: False, lambda path, _: PartReader(path))

    def size(self) -> int:
        """Bytes of its rows or files."""
        return sum(os.stat(path).st_size for path in self._paths)  # noqa: PTH116 - 2.5 us, with a Path 8.9

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

    @abstractmethod
    def read(self, cursor: C | None, budget: int) -> NewRows[C] | None:
        """Read about `budget` bytes after `cursor` (None at first); None if it cannot be read now."""


class Parts(NamedTuple):
    """The content of a container."""

    parts: tuple[Part[Any], ...] = ()
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

    part: Part[Any]
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


class PartReader(ReadFromStart):
    """A `LogReader` of a part: new rows, hparams and the exit code of the run."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._records = RecordBatcher(path)
        self._cursor: Any = None
        self.offset = 0  # bytes of rows that have been read
        self._reported_exit_code = ""
        self._reported_alert = 0  # the number of the last one
        self._skipped = CountedProblem(
            "bad-row", path, lambda rows: f"{count_of(rows, 'row')} skipped for holding no numbers of a step"
        )

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Read new rows."""
        assert isinstance(file, PartFile)
        new = file.ask(file.part.read, self._cursor, budget)
        if new is None:
            return EMPTY
        self._cursor = new.cursor
        self.offset += new.bytes_read
        for step, wall, values in new.records:
            self._records.add(values, (step, wall))
        for key, value, at in new.values:
            self._records.add_value(key, value, at)
        if new.hparams:
            self._records.add_hparams(new.hparams)
        if new.exit_code != self._reported_exit_code:
            self._reported_exit_code = new.exit_code
            self._records.add_exit_code(new.exit_code)
        self._skipped.count += new.skipped
        return self._records.batch([*new.problems, *self._skipped.problems(), *self._alerts(new)])

    def finish(self, file: File) -> Batch:
        """Read the rest; rows are never torn."""
        return self.read(file)

    def _alerts(self, rows: NewRows[Any]) -> list[Problem]:
        new = [one for one in rows.alerts if one.number > self._reported_alert]
        self._reported_alert = max([self._reported_alert, *(one.number for one in new)])
        return [Problem(one.level, "tracker-alert", self._path, one.text, one.number) for one in new]


def whole_lines(place: str, offset: int, most: int) -> bytes:
    """Complete lines after an offset, at most `most` bytes; the start of a longer line. Raises OSError."""
    with open(place, "rb") as file:  # noqa: PTH123
        file.seek(offset)
        data = file.read(most)
    end = data.rfind(b"\n") + 1
    return data[:end] if end or len(data) < most else data
