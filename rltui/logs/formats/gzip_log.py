"""Compressed logs: any other format inside gzip, read once from its beginning and not followed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

from rltui.batch import EMPTY, Batch, Problem, concat
from rltui.logs import log_file_names
from rltui.logs.formats.interface import BLOCK, HEAD, RECORD_CAP, File, Format, LogReader
from rltui.logs.run_names import rotated_from

_WINDOW_CAP = RECORD_CAP + 2 * BLOCK  # decompressed bytes held for a format that needs more to go on
_GZIP = b"\x1f\x8b"
_NOT_READ = (".zst", ".xz", ".bz2")


def inside(head: bytes) -> bytes:
    """The first decompressed bytes of gzip data that begin with `head`; empty when that is damaged."""
    try:
        return zlib.decompressobj(31).decompress(head, HEAD)
    except zlib.error:
        return b""


class _Inflated:
    """The decompressed bytes as a growing file; what was settled is let go."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._start = 0  # decompressed offset of the window
        self._window = bytearray()

    @property
    def path(self) -> str:
        return self._path

    @property
    def held(self) -> int:
        """Bytes in memory."""
        return len(self._window)

    def size(self) -> int:
        return self._start + len(self._window)

    def read_at(self, offset: int, length: int) -> bytes:
        begin = offset - self._start
        return bytes(self._window[begin : begin + length]) if begin >= 0 else b""

    def add(self, data: bytes) -> None:
        self._window += data

    def forget(self, offset: int) -> None:
        """Let go of what stands before `offset`, in large pieces."""
        drop = offset - self._start
        if drop >= BLOCK or drop == len(self._window):
            del self._window[:drop]
            self._start = offset


class GzipLog:
    """One compressed log being read."""

    def __init__(self, path: str, choose: Callable[[bytes], Format | None]) -> None:
        self._path = path
        self._choose = choose
        self._inside = _Inflated(path)
        self._inner: LogReader | None = None
        self._whole = False  # the format wants everything at once
        self._engine = zlib.decompressobj(31)
        self._offset = 0
        self._fresh = True  # the present gzip member has not begun
        self._over = False  # nothing more will be read

    @property
    def offset(self) -> int:
        """Compressed bytes taken."""
        return self._offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decompress on and decode what is whole; all of it once the compressed data are complete."""
        if self._over:
            return EMPTY
        trouble = self._inflate(file, max(budget, 1))
        complete = self._fresh and self._offset >= file.size() > 0
        batch = self._decode(budget, final=complete or trouble is not None)
        if complete or trouble:
            self._over = True
            self._offset = file.size()
        return concat([batch, Batch(problems=(trouble,))]) if trouble else batch

    def newest(self, file: File, length: int) -> Batch:
        """Nothing: compressed data have to be read from the beginning."""
        return EMPTY if self._inner is None else self._inner.newest(self._inside, 0)

    def finish(self, file: File) -> Batch:
        """Read to the end; what a cut file holds is taken, and the cut is said."""
        batches = []
        while not self._over:
            before, held = self._offset, self._inside.size()
            batches.append(self.read(file))
            if self._offset == before and self._inside.size() == held:
                break
        if not self._over:
            self._over = True
            batches.append(self._decode(BLOCK, final=True))
            message = "the compressed data are cut; what is whole was read"
            batches.append(
                Batch(problems=(Problem("warning", "torn-tail", self._path, message, self._offset),))
            )
        return concat(batches)

    def close(self) -> None:
        """Let go of the decompressed bytes."""
        self._inside = _Inflated(self._path)
        if self._inner is not None:
            self._inner.close()

    def _inflate(self, file: File, budget: int) -> Problem | None:
        """Decompress about `budget` bytes more; a trouble ends the reading."""
        if self._inside.held > _WINDOW_CAP:
            message = f"a record of more than {RECORD_CAP >> 20} MiB; the rest of the file was not read"
            return Problem("error", "too-large", self._path, message, self._offset)
        data = file.read_at(self._offset, max(budget // 4, 64))
        if self._fresh and not data.strip(b"\0"):
            self._offset += len(data)  # padding after the last member
            return None
        try:
            self._inside.add(self._engine.decompress(data, budget))
        except zlib.error:
            message = "damaged compressed data; the rest of the file was not read"
            return Problem("error", "corrupt-gzip", self._path, message, self._offset)
        self._fresh = self._fresh and not data
        self._offset += len(data) - len(self._engine.unconsumed_tail) - len(self._engine.unused_data)
        if self._engine.eof:
            self._engine = zlib.decompressobj(31)
            self._fresh = True
        return None

    def _decode(self, budget: int, *, final: bool) -> Batch:
        if self._inner is None:
            if self._inside.size() < HEAD and not final:
                return EMPTY
            form = self._choose(self._inside.read_at(0, HEAD))
            if form is None:
                self._inside.forget(self._inside.size())
                return EMPTY
            self._inner = form.open(self._path)
            self._whole = form.name == "document"
        inner, batches = self._inner, []
        while not self._whole or final:
            before = inner.offset
            batches.append(inner.read(self._inside, budget))
            self._inside.forget(inner.offset)
            if inner.offset == before:
                break
        if final:
            batches.append(inner.finish(self._inside))
        return concat(batches)


class _UnreadLog:
    """A log in a compression that is not read: it says so once."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.offset = 0

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        if self.offset:
            return EMPTY
        self.offset = file.size()
        ending = self._path.rpartition(".")[2]
        message = f"compressed logs are read as gzip only; unpack the .{ending} file"
        return Batch(problems=(Problem("info", "not-read", self._path, message),))

    def newest(self, file: File, length: int) -> Batch:
        return EMPTY

    def finish(self, file: File) -> Batch:
        return self.read(file)

    def close(self) -> None:
        pass


class GzipFormat:
    """Any of `formats` inside gzip."""

    name = "gzip"
    rewrites = False

    def __init__(self, formats: Sequence[Format]) -> None:
        self._formats = tuple(formats)

    def matches(self, name: str, head: bytes) -> bool:
        """By the name without its ending and by the first bytes inside."""
        inner, _, ending = name.rpartition(".")
        if ending != "gz":
            return False
        if not head:
            return self._inner(inner, b"") is not None
        content = inside(head) if head.startswith(_GZIP) else b""
        return bool(content) and self._inner(inner, content) is not None

    def open(self, path: str) -> LogReader:
        """A log at its beginning; its inner format is chosen by the first bytes inside."""
        name = path.rpartition("/")[2].removesuffix(".gz")
        name = rotated_from(name) or name
        return GzipLog(path, lambda head: self._inner(name, head))

    def _inner(self, name: str, head: bytes) -> Format | None:
        return next((form for form in self._formats if form.matches(name, head)), None)


class UnreadableFormat:
    """What is plainly one of `formats`, in a compression that is not read. It makes no run."""

    name = ""
    rewrites = False

    def __init__(self, formats: Sequence[Format]) -> None:
        self._formats = tuple(formats)

    def matches(self, name: str, head: bytes) -> bool:
        """By the name alone."""
        inner, dot, ending = name.rpartition(".")
        if dot + ending not in _NOT_READ or not ("tfevents" in inner or log_file_names.is_telling(inner)):
            return False
        return any(form.matches(inner, b"") for form in self._formats)

    def open(self, path: str) -> LogReader:
        """A log that says why it says nothing."""
        return _UnreadLog(path)
