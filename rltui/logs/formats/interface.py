"""The interface between files and formats. Start here to add a format.

A format is one module with a reader and a `Format`:

- the `Format` recognises its files and opens a reader for one file;
- a `LogReader` turns the bytes of one growing file into batches of points (`rltui.logs.batch.Batch`).

The module is added to `registry.py`; no other module imports it. A line-based format provides a `LineParser`
(`lines/line_reader.py`), which turns lines into records; `trackers/clearml.py` is an example. Records become
points in `records/record_batcher.py`, which handles steps, times and nested values.

A format does not open or stat files. It asks a `File` for its size and for bytes at an offset, so that
compressed files and files in memory (tests) are read by the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.logs.batch import EMPTY, Batch

T = TypeVar("T")

BLOCK = 1 << 20  # bytes of one read: large enough for numpy, small enough to stay responsive to keys
RECORD_CAP = 64 << 20  # bytes of a record; nothing larger is allocated, whatever length a file declares
LINE_CAP = 16 << 20  # bytes; longer lines are skipped in constant memory
HEAD = 4096  # bytes that are passed to `Format.matches`, and that identify a file


class File(Protocol):
    """A growing file."""

    @property
    def path(self) -> str:
        """Relative to LOGDIR, cleaned, for messages."""
        ...

    def size(self) -> int:
        """Current size in bytes. Raises OSError."""
        ...

    def read_at(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`; fewer only at the end of the file. Raises OSError."""
        ...


class LogReader(Protocol):
    """Reads one log. `offset` only moves past bytes that were decoded or deliberately skipped.

    A torn tail stays unread and is read again by the next `read`, so late bytes (zeros that a network file
    system fills in) need no special handling. Errors in the content are not raised: they are reported once,
    in `Batch.problems`, and reading continues after them.
    """

    @property
    def offset(self) -> int:
        """Bytes that have been read. Equal to the size at the end of the file; less with a torn tail."""
        ...

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode about `budget` bytes from `offset` on, and advance it. Raises OSError of the file.

        Called until the offset no longer changes and the batch is empty. Points are in the order of the file;
        `Batch.tags` is the reader's own table, which only grows.
        """
        ...

    def newest(self, file: File, length: int) -> Batch:
        """Points of the last `length` bytes, without reading the bytes before and without changing `offset`.

        A preview while the history of a long log is still being read: `read` returns these points again.
        Empty if the format cannot start in the middle of a file. Raises OSError.
        """
        ...

    def finish(self, file: File) -> Batch:
        """Read the rest of a file that will not grow, and report a torn tail. Raises OSError."""
        ...

    def close(self) -> None:
        """Free buffers; a later `read` allocates them again. Never raises."""
        ...


class ReadFromStart:
    """Defaults for readers that start at the first byte of a log and keep no buffers."""

    def newest(self, file: File, length: int) -> Batch:
        """No points: see `LogReader`."""
        return EMPTY

    def close(self) -> None:
        """Nothing: see `LogReader`."""


class _Positioned(Protocol):
    @property
    def offset(self) -> int: ...


def read_to_end(reader: _Positioned, read: Callable[[], T]) -> Iterator[T]:
    """The results of a call that moves the reader's offset, until it no longer does."""
    before = -1
    while before != reader.offset:
        before = reader.offset
        yield read()


def torn_tail(
    path: str, offset: int, length: int, what: str = "record", why: str = "is incomplete"
) -> Problem:
    """That the end of a file that will not grow was not read."""
    message = f"the last {what} ({length:,} bytes) {why} and was not read"
    return Problem("info", "torn-tail", path, message, offset, length)


class Format(NamedTuple):
    """A kind of log file.

    name: such as `tfevents`, `jsonl`, `csv`; shown by doctor and runs. reader: opens a reader at offset 0 for
    a path (for messages) and a flag that asks for all checksums to be verified. rewrites: writers replace the
    whole file with its continuation (progress.csv, trainer_state.json), so a replaced file repeats its
    earlier points; in all other formats, a replaced file is a restarted run.

    matches: whether a file with a base name and first bytes is of this format. It is called without bytes
    first, to decide by name which files to open (true means perhaps), then with at most the first HEAD bytes.
    Formats are tried in the order of the registry; the first match wins.
    """

    name: str
    matches: Callable[[str, bytes], bool]
    reader: Callable[[str, bool], LogReader]
    rewrites: bool = False

    def open(self, path: str, *, verify: bool = False) -> LogReader:
        """A reader at the start of a file."""
        return self.reader(path, verify)
