"""What a format asks of a file and what it gives. Start here to add a format.

A format is one module with a reader and a `Format`:

- the `Format` tells its files from others and opens a reader for one file;
- a `LogReader` turns the bytes of one growing file into batches of points (`rltui.logs.batch.Batch`).

The module is entered in `registry.py`; nothing else knows it. A format of lines writes a `LineParser`
(`line_reader.py`), which leaves it no more to do than to make records of lines; `trackers/clearml.py` is an
example. Records become points in `records/record_batcher.py`, which knows steps, times and nested values.

A format never opens, stats or seeks by itself. It asks a `File` for its size and for bytes at an offset, so
that compressed files and files in memory (tests) are read by the same code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rltui.common.named_tuple import NamedTuple
from rltui.logs.batch import EMPTY, Batch

BLOCK = 1 << 20  # bytes of one read: large enough for numpy, small enough to keep keys answering
RECORD_CAP = 64 << 20  # a length is not a promise: nothing larger is ever allocated
LINE_CAP = 16 << 20  # longer lines are skipped in constant memory
HEAD = 4096  # bytes that `Format.matches` sees, and of which a file's identity is made


class File(Protocol):
    """One file as a format sees it: a growing row of bytes."""

    @property
    def path(self) -> str:
        """Relative to LOGDIR, cleaned, for messages."""
        ...

    def size(self) -> int:
        """Bytes known to be there now. Raises OSError."""
        ...

    def read_at(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`; fewer only at the end of the file. Raises OSError."""
        ...


class LogReader(Protocol):
    """Reads one log. `offset` moves only past what was decoded or deliberately skipped.

    A torn tail stays unread and is asked for again with the next `read`, so bytes that arrive late (zeros
    that a network file system fills in) heal by themselves. What is wrong with the content is never raised:
    it is said in `Batch.problems`, once, and reading goes on behind it.
    """

    @property
    def offset(self) -> int:
        """Bytes that are done with. Equal to the size when nothing is left; less with a torn tail."""
        ...

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode on from `offset`, about `budget` bytes, and move it. Raises OSError of the file.

        Called until the offset stays where it is and the batch is empty. Points come in the order of the
        file; `Batch.tags` is the reader's own table, which only grows.
        """
        ...

    def newest(self, file: File, length: int) -> Batch:
        """Points of the last `length` bytes, found without reading what lies before. Moves nothing.

        A preview while the history of a long log is still being read: `read` gives these points again.
        Empty where the format cannot start in the middle. Raises OSError.
        """
        ...

    def finish(self, file: File) -> Batch:
        """Read what is left of a file that will not grow: report a torn tail. Raises OSError."""
        ...

    def close(self) -> None:
        """Let go of buffers; `read` may still be called, and makes new ones. Never raises."""
        ...


class ReadFromStart:
    """What readers have in common that begin at the first byte of a log, and hold nothing between calls."""

    def newest(self, file: File, length: int) -> Batch:
        """Nothing: see `LogReader`."""
        return EMPTY

    def close(self) -> None:
        """Nothing: see `LogReader`."""


class Format(NamedTuple):
    """A kind of log file.

    name: such as `tfevents`, `jsonl`, `csv`; shown by doctor and runs. reader: makes a reader at offset 0 for
    a path (for messages), and whether to check checksums, where the format has any. rewrites: writers replace
    the whole file with its continuation (progress.csv, trainer_state.json): a replaced file repeats what it
    said before; of any other format, it is a restarted run.

    matches: whether a file of a base name that starts with some bytes is of this format. Asked without bytes
    first, to tell by the name alone which files are worth opening (true means perhaps), then with the first
    HEAD bytes at most. Formats are asked in the order of the registry; the first that matches has the file.
    """

    name: str
    matches: Callable[[str, bytes], bool]
    reader: Callable[[str, bool], LogReader]
    rewrites: bool = False

    def open(self, path: str, *, verify: bool = False) -> LogReader:
        """A reader at the beginning of a file."""
        return self.reader(path, verify)
