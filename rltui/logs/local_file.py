"""Local files, opened read-only for one visit, without blocking on a FIFO.

No descriptor is kept between visits. On a network file system only `open` requests current attributes, open
descriptors become stale or keep deleted folders, and 2,000 runs would need more descriptors than a process
may have; on a local disk opening takes microseconds.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from types import TracebackType
from typing import Any

from rltui.logs.creation_time import created_at
from rltui.logs.file_calls import Calls, GivenUpError
from rltui.logs.formats.interface import File

PIECE = 4 << 20  # bytes of one system call: a format may request more than the file has
MARKER = 64  # bytes before the offset that are compared at every visit

# The ends of large files that are still being fetched from a store, by absolute path: offset and bytes. They
# allow previews; the bytes between the file on disk and its end read as not written yet.
FETCHED_ENDS: dict[str, tuple[int, bytes]] = {}


class LocalFile:
    """One regular file, opened read-only for the time of a `with` block, or of one call outside of it.

    Raises OSError; ENOTSUP if it is no regular file. A FIFO or device is never read: with O_NONBLOCK `open`
    returns at once, and the type is checked before the first read.
    """

    __slots__ = ("_descriptor", "_place", "_reached", "_shown", "calls", "status")

    def __init__(self, place: str, shown: str, calls: Calls | None = None) -> None:
        self._place = place
        self._shown = shown
        self.calls = calls or Calls()
        self._descriptor = -1
        self._reached = 0
        self.status: os.stat_result | None = None  # of the opened file

    @property
    def path(self) -> str:
        """Relative to LOGDIR, cleaned."""
        return self._shown

    def __enter__(self) -> LocalFile:
        try:
            self.calls.run(self._place, self._open)
        except GivenUpError:
            self._close()
            raise
        self.calls.opened += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _open(self) -> None:
        self._descriptor = os.open(self._place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        try:
            self.status = os.fstat(self._descriptor)
            if not stat.S_ISREG(self.status.st_mode):
                raise OSError(errno.ENOTSUP, "not a regular file", self._place)
        except OSError:
            self._close()
            raise

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def stream(self) -> io.BufferedReader:
        """The opened file as a seekable stream, for libraries that need one."""
        return io.BufferedReader(_Stream(self))

    def stamp(self) -> tuple[int, ...]:
        """The attributes that change with the file, as of the last `size` or `with`."""
        return stamp(self.status) if self.status else ()

    @property
    def modified(self) -> float:
        """Modification time, seconds since 1970; 0 if unknown."""
        return self.status.st_mtime if self.status else 0.0

    def created(self) -> float:
        """When the opened file was created, seconds since 1970; 0 if unknown. One system call."""
        return self.calls.run(self._place, created_at, self._descriptor)

    def size(self) -> int:
        """Bytes known to exist: by `fstat`, or more if more could be read (outdated attributes)."""
        if self._descriptor < 0:
            with self:
                return self.size()
        self.status = self.calls.run(self._place, os.fstat, self._descriptor)
        end = FETCHED_ENDS.get(self._place)
        return max(self.status.st_size, self._reached, 0 if end is None else end[0] + len(end[1]))

    def read_at(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`; short reads are repeated. Raises OSError."""
        if self._descriptor < 0:
            with self:
                return self.read_at(offset, length)
        end = FETCHED_ENDS.get(self._place)
        if end is not None and offset >= end[0]:
            return end[1][offset - end[0] :][:length]
        pieces: list[bytes] = []
        # Not more memory than the known size needs: a megabyte for each of a thousand small files adds up.
        room = max(self.status.st_size - offset, 0) + MARKER if self.status else PIECE
        while length > 0:
            most = min(length, PIECE, room if not pieces else PIECE)
            piece = self.calls.run(self._place, os.pread, self._descriptor, most, offset)
            if not piece:
                break
            offset += len(piece)
            length -= len(piece)
            pieces.append(piece)
            self.calls.read += len(piece)
            self._reached = max(self._reached, offset)
            if len(piece) < most and self.status and offset >= self.status.st_size:
                break  # the end
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class _Stream(io.RawIOBase):
    """The bytes of a file. Its calls are those of the file, which may be given up."""

    def __init__(self, file: LocalFile) -> None:
        super().__init__()
        self._file, self._at = file, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._file.size()}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        data = self._file.read_at(self._at, len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def stamp(status: os.stat_result) -> tuple[int, ...]:
    """The attributes that change with a file."""
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev)


def marker(file: File, offset: int) -> bytes:
    """The bytes before `offset`, by which a file is recognised that was rewritten to a larger size."""
    length = min(MARKER, offset)
    return file.read_at(offset - length, length) if length else b""
