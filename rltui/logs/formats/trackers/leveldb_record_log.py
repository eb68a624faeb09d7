"""Logs of Weights & Biases and SwanLab: messages in the log format of LevelDB.

A file is a header of 7 bytes, followed by blocks of 32 KiB, counted from the start of the file. A block
consists of chunks: CRC-32 of type and data (4 bytes, not masked as in LevelDB), length (2), type (1),
data. A payload is one chunk (FULL) or several (FIRST, MIDDLE ..., LAST). Fewer than 7 bytes at the end of
a block are padding. See https://github.com/google/leveldb/blob/main/doc/log_format.md.
"""

from __future__ import annotations

import struct
import zlib
from abc import ABC, abstractmethod
from dataclasses import replace

from rltui.common.display_text import count_of
from rltui.common.problem import CountedProblem, Problem
from rltui.logs.batch import Batch, Histogram
from rltui.logs.formats.interface import BLOCK, RECORD_CAP, File, ReadFromStart, read_to_end, torn_tail
from rltui.logs.records.record_batcher import RecordBatcher

HEADER = 7  # bytes of the file's header
_BLOCK = 32768
_CHUNK = struct.Struct("<IHB")  # checksum, length, type
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4


class RecordLog:
    """The payloads of one growing file, in order. offset: of the first byte that has not been read.

    malformed: payloads that the tracker cannot have written. foreign: how they are described.
    """

    def __init__(self, path: str, foreign: str) -> None:
        self._path = path
        self._foreign = foreign
        self.offset = 0
        self.malformed = CountedProblem(
            "malformed-record", path, lambda count: f"{count_of(count, 'record')} skipped: {foreign}"
        )
        # Chunks with a wrong checksum, and skipped blocks.
        self._damaged = CountedProblem("corrupt-record", path, _damage)
        self._skip_until = 0  # end of a damaged block, which may not have been written yet

    def take(self, file: File, budget: int = BLOCK, *, final: bool = False) -> list[bytes]:
        """Payloads from `offset` on, about `budget` bytes, without a torn one at the end.

        final: the file will not grow, so there is no waiting for zeros to be filled in.
        """
        size = file.size()
        if self.offset == 0:
            if size < HEADER:
                return []
            self.offset = HEADER
        while True:
            data = file.read_at(self.offset, budget)
            at_end = self.offset + len(data) >= size
            payloads, consumed = self._split(data, self.offset, at_end, final)
            self.offset += consumed
            if consumed or at_end or budget >= RECORD_CAP:
                return payloads
            budget *= 4  # the payload is longer than the bytes read

    def rest(self, file: File) -> list[bytes]:
        """All payloads from `offset` on, of a file that will not grow."""
        return [each for some in read_to_end(self, lambda: self.take(file, final=True)) for each in some]

    def newest(self, file: File, length: int) -> list[bytes]:
        """Payloads of the last `length` bytes, from the first block that starts there; `offset` stays."""
        size = file.size()
        start = max(HEADER, -(-(size - length) // _BLOCK) * _BLOCK)
        if start >= size:
            start = max(HEADER, (size - 1) // _BLOCK * _BLOCK)
        peek = RecordLog(self._path, self._foreign)
        return peek._split(file.read_at(start, size - start), start, True, False)[0]

    def problems(self, end: File | None = None) -> list[Problem]:
        """Problems since the last call, each kind as one problem with its current count.

        end: the file, if it will not grow, so that bytes after `offset` are torn.
        """
        found = self._damaged.problems()
        if end is not None and (left := end.size() - self.offset) > 0:
            found.append(torn_tail(self._path, self.offset, left))
        return [*found, *self.malformed.problems()]

    def _split(self, data: bytes, start: int, at_end: bool, final: bool) -> tuple[list[bytes], int]:
        """Payloads of ``data``, the bytes at ``start`` of the file, and the number of bytes read."""
        payloads: list[bytes] = []
        parts: list[bytes] | None = None  # of an incomplete payload
        stop = len(data)
        at = consumed = min(max(self._skip_until - start, 0), stop)
        unpack, crc32 = _CHUNK.unpack_from, zlib.crc32
        while True:
            room = _BLOCK - (start + at) % _BLOCK
            if room < HEADER:
                if at + room > stop:
                    break
                at += room
                if parts is None:
                    consumed = at
                continue
            if at + HEADER > stop:
                break
            checksum, length, kind = unpack(data, at)
            end = at + HEADER + length
            if HEADER + length > room or not _FULL <= kind <= _LAST:
                after = self._after_block(data, at, start, at_end, final)
                if after is None:
                    break
                at, parts = after, None
                consumed = at
                continue
            if end > stop:
                break
            if crc32(data[at + 6 : end]) != checksum:
                self._damaged.add(start + at)
                parts = None
                at = consumed = end
                continue
            chunk = data[at + HEADER : end]
            at = end
            if kind == _FULL:
                payloads.append(chunk)
                parts, consumed = None, at
            elif kind == _FIRST:
                parts = [chunk]
            elif parts is None:  # its first chunk is damaged, or before the start of reading
                consumed = at
            else:
                parts.append(chunk)
                if kind == _LAST:
                    payloads.append(b"".join(parts))
                    parts, consumed = None, at
        return payloads, consumed

    def _after_block(self, data: bytes, at: int, start: int, at_end: bool, final: bool) -> int | None:
        """The end of a block in `data` that is no chunk from `at` on; None if the rest may still arrive."""
        end = at + _BLOCK - (start + at) % _BLOCK
        if at_end and not final and not data[at:].strip(b"\0"):
            return None  # zeros that a file system may still fill in
        if end > len(data) and not at_end:
            return None
        if data[at:end].strip(b"\0"):
            self._damaged.add(start + at)
        if end > len(data) and not final:
            self._skip_until = start + end
        return min(end, len(data))


def _damage(count: int) -> str:
    which = "its" if count == 1 else "a"
    return f"{count_of(count, 'damaged record')} skipped ({which} checksum fails)"


class MessageReader(ReadFromStart, ABC):
    """A `LogReader` of the messages of a tracker. foreign: how payloads that are none are described."""

    foreign: str

    def __init__(self, path: str) -> None:
        self._path = path
        self._log = RecordLog(path, self.foreign)
        self._records = RecordBatcher(path)
        self._step = 0  # of the latest point
        self._histograms: list[Histogram] = []
        self._problems: list[Problem] = []

    @property
    def offset(self) -> int:
        """Bytes that have been read."""
        return self._log.offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode on from `offset`."""
        self._begin(file)
        return self._decode(self._log.take(file, budget))

    def newest(self, file: File, length: int) -> Batch:
        """Points of the last `length` bytes."""
        self._begin(file)
        peek = self._fork(type(self)(self._path))
        peek._records = self._records.preview()
        return peek._decode(self._log.newest(file, length), file).points()

    def finish(self, file: File) -> Batch:
        """Read the rest, and report a torn last record."""
        self._begin(file)
        return self._decode(self._log.rest(file), file)

    @abstractmethod
    def _take(self, payload: bytes) -> None:
        """Read one message. Raises ValueError, KeyError, TypeError, IndexError or struct.error for others."""

    @abstractmethod
    def _fork(self, peek: MessageReader) -> MessageReader:
        """Another reader with copies of what earlier messages declared."""

    def _begin(self, file: File) -> None:
        """Read the header of the file."""

    def _end(self) -> None:
        """Add what was waiting for later messages."""

    def _decode(self, payloads: list[bytes], end: File | None = None) -> Batch:
        take = self._take
        for payload in payloads:
            try:
                take(payload)
            except (ValueError, KeyError, TypeError, IndexError, struct.error):
                self._log.malformed.add()
        if end is not None:
            self._end()
        batch = self._records.batch([*self._problems, *self._log.problems(end)])
        batch = replace(batch, histograms=tuple(self._histograms))
        self._histograms, self._problems = [], []
        return batch

    def _add(self, values: dict[str, float], step: int, wall: float) -> None:
        if values:
            self._records.add(values, (step, wall))
