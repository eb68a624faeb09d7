"""The seam between files and formats: what a format may ask of a file, and what it must give.

A format never opens, stats or seeks by itself. It asks a `File` for its size and for bytes at an
offset, so that remote folders can be added without touching a format, and tests can serve bytes in
any pieces they like.
"""

from __future__ import annotations

from typing import Protocol

from rltui.batch import Batch

BLOCK = 1 << 20  # bytes of one look: large enough for numpy, small enough to keep keys answering
RECORD_CAP = 64 << 20  # a length is not a promise: nothing larger is ever allocated
LINE_CAP = 16 << 20  # longer lines are skipped in constant memory
HEAD = 4096  # bytes that `Format.matches` sees, and of which a file's identity is made


class File(Protocol):
    """One file as a format sees it."""

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
    """One log being read. `offset` moves only past what was decoded or deliberately skipped.

    A torn tail stays unread and is asked for again at the next look, so bytes that arrive late (zeros
    that a network file system fills in) heal by themselves. A log is never dead.
    """

    @property
    def offset(self) -> int:
        """Bytes settled. Equal to the size when nothing is left; less with a torn tail."""
        ...

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode on from `offset`, about `budget` bytes. An empty batch, offset unmoved: nothing yet."""
        ...

    def newest(self, file: File, length: int) -> Batch:
        """Scalars of the last `length` bytes, found without reading what lies before. Moves nothing.

        May be empty where the format cannot start in the middle. Points may repeat ones that `read` gives.
        """
        ...

    def finish(self, file: File) -> Batch:
        """The file will not grow: take a complete last line without newline, report a torn tail."""
        ...

    def close(self) -> None:
        """Let go of buffers. Never raises."""
        ...


class Format(Protocol):
    """A kind of log file, one small module each."""

    @property
    def name(self) -> str:
        """Such as `tfevents`, `jsonl`, `csv`, `console`; shown by doctor and runs."""
        ...

    @property
    def rewrites(self) -> bool:
        """True when writers replace the whole file with its continuation (progress.csv, trainer_state.json).

        A replaced file of such a format repeats what it said before; of any other, it is a restarted run.
        """
        ...

    def matches(self, name: str, head: bytes) -> bool:
        """Whether a file named `name` (base name) that starts with `head` is of this format.

        Called first with an empty head to sift names cheaply, then with up to HEAD bytes.
        """
        ...

    def open(self, path: str) -> LogReader:
        """A log at offset 0. `path` is for messages."""
        ...
