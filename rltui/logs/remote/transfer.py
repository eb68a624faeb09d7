"""The transfer of one object of a store to its copy."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from rltui.common.digest import digest
from rltui.logs import local_file
from rltui.logs.log_file_names import names
from rltui.logs.remote.manifest import Copied
from rltui.logs.remote.object_store import StoredObject

PIECE = 8 << 20  # bytes of one request
BATCH = 32 << 20  # most bytes in memory
MAX_RANGES = 64  # concurrent requests
HEAD = TAIL = 4096  # bytes at the beginning and the end of the copy that are compared with the object
WHOLE = 64 << 10  # bytes up to which a changed object is read as a whole: one request instead of two
NEWEST = 512 << 10  # bytes at the end of a large log that are fetched first


class Transfer:
    """The transfer of one object to its copy.

    A log that grows is written in place, so that it can be followed meanwhile. Other files, and those whose
    content was replaced, replace the copy when they are complete.
    """

    def __init__(self, stored: StoredObject, place: str, known: Copied | None, incoming: Path) -> None:
        self.object = stored
        self.place = place
        self._part = incoming / f"{digest(stored.key, 20)}.part"
        self._in_place = grows(stored.key or place)
        self._at = 0  # bytes written; -1: complete
        self._compare = 0  # bytes of the copy with which the object is expected to begin
        if self._in_place and known is not None and 0 < known.have <= stored.size:
            self._compare = known.have
        elif known is not None and known.have:
            self._in_place = False
        large = stored.size > 2 * PIECE
        self._newest = self._in_place and not self._compare and large

    @property
    def left(self) -> int:
        """Approximate bytes to fetch; 0 if it is complete."""
        if self._at < 0:
            return 0
        return max(1, self.object.size - max(self._at, self._compare))

    def ranges(self) -> list[tuple[int, int]]:
        """The ranges to request now: first byte, byte after the last."""
        size = self.object.size
        if not size:
            return []
        if self._compare:
            if size <= WHOLE:
                return [(0, size)]
            begin = max(0, self._compare - TAIL)
            return [(0, min(HEAD, size)), (begin, min(size, begin + PIECE))]
        asked = [(self._at, min(size, self._at + PIECE))]
        if self._newest:
            asked.append((size - NEWEST, size))
        return asked

    def take(self, data: Sequence[bytes]) -> Copied | None:
        """Write received bytes. Returns the state of the copy, None if it did not change. Raises OSError."""
        if self._compare:
            whole = len(data) == 1
            if not self._continues(data):
                self._in_place, self._compare = False, 0
                return self._write(data[0]) if whole else None
            begin = 0 if whole else max(0, self._compare - TAIL)
            self._at, self._compare = self._compare, 0
            return self._write(data[-1][self._at - begin :])
        if self._newest:
            self._newest = False
            local_file.FETCHED_ENDS[self.place] = (self.object.size - NEWEST, data[1])
        return self._write(data[0] if data else b"")

    def end(self) -> None:
        """End the transfer, keeping what was written to the copy."""
        local_file.FETCHED_ENDS.pop(self.place, None)
        if self._part.exists():
            with contextlib.suppress(OSError):
                self._part.unlink()

    def _continues(self, data: Sequence[bytes]) -> bool:
        """Whether the object has the content of its copy in the requested ranges. Raises OSError."""
        descriptor = os.open(self.place, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if len(data) == 1:
                return os.pread(descriptor, self._compare, 0) == data[0][: self._compare]
            head = os.pread(descriptor, min(HEAD, self._compare), 0)
            begin = max(0, self._compare - TAIL)
            tail = os.pread(descriptor, self._compare - begin, begin)
        finally:
            os.close(descriptor)
        return data[0].startswith(head) and data[1].startswith(tail)

    def _write(self, data: bytes) -> Copied | None:
        target = self.place if self._in_place else str(self._part)
        if self._at + len(data) >= self.object.size:  # before the last byte is written, for its reader
            local_file.FETCHED_ENDS.pop(self.place, None)
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (0 if self._at else os.O_TRUNC)
        descriptor = os.open(target, flags, 0o600)
        try:
            view, at = memoryview(data), self._at
            while view:
                written = os.pwrite(descriptor, view, at)
                view, at = view[written:], at + written
            if at >= self.object.size:
                os.ftruncate(descriptor, at)  # a process that crashed may have written more than it recorded
            if self.object.modified:
                os.utime(descriptor, (self.object.modified, self.object.modified))
        finally:
            os.close(descriptor)
        self._at = at
        complete = at >= self.object.size
        if complete:
            self._at = -1
            if not self._in_place:
                self._part.replace(self.place)
        if self._in_place or complete:
            return Copied(self.object.tag, at, self.object.modified)
        return None


def next_transfers(queue: deque[Transfer], most: int) -> list[tuple[Transfer, list[tuple[int, int]]]]:
    """Remove transfers from the queue that are requested together, with their ranges."""
    batch: list[tuple[Transfer, list[tuple[int, int]]]] = []
    requests = size = 0
    while queue:
        asked = queue[0].ranges()
        requests += len(asked)
        size += sum(end - begin for begin, end in asked)
        if requests > min(MAX_RANGES, most) or (batch and size > BATCH):
            break
        batch.append((queue.popleft(), asked))
    return batch


def grows(path: str) -> bool:
    """Whether a file only grows, by its name: event files and logs of lines."""
    name = path.rpartition("/")[2].lower()
    return "tfevents" in name or name.endswith(names().growing_endings)
