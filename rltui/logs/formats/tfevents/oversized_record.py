"""Records larger than a block, such as images, graphs and long tables, of which only the scalars are read.

The record is walked with ranged reads and reduced to a small one: short fields are kept, long texts
truncated, and all other long fields omitted.
"""

from __future__ import annotations

from rltui.logs.formats import protobuf
from rltui.logs.formats.interface import File
from rltui.logs.formats.tfevents.message.texts import TEXT_LIMIT

_MAX_KEPT = 64 << 10  # bytes of a field that is kept unchanged
_READ_SIZE = 64 << 10  # bytes of one ranged read

# Fields that are entered, by number: Event.summary, Summary.value, Value.tensor, TensorProto.string_val.
_EVENT: dict[int, object] = {5: {1: {8: {8: "text"}}}}


class _ReadBuffer:
    """Buffered ranged reads of a file."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._at, self._data = 0, b""

    def get(self, at: int, size: int) -> bytes:
        """Up to `size` bytes; fewer only at the end of the file."""
        if not (self._at <= at and at + size <= self._at + len(self._data)):
            self._at, self._data = at, self._file.read_at(at, max(size, _READ_SIZE))
        return self._data[at - self._at : at - self._at + size]


def prune(file: File, at: int, stop: int) -> bytes:
    """The reduced Event at ``[at, stop)`` of the file. Raises MalformedError, OSError."""
    return _message(_ReadBuffer(file), at, stop, _EVENT)


def _message(buffer: _ReadBuffer, at: int, stop: int, inside: object) -> bytes:
    kept = []
    paths = inside if isinstance(inside, dict) else {}
    while at < stop:
        head = buffer.get(at, min(20, stop - at))
        key, after = protobuf.varint(head, 0, len(head))
        kind = key & 7
        if kind == protobuf.BYTES:
            size, after = protobuf.varint(head, after, len(head))
        elif kind == protobuf.VARINT:
            size = protobuf.varint(head, after, len(head))[1] - after
        elif kind in (protobuf.FIXED32, protobuf.FIXED64):
            size = 4 if kind == protobuf.FIXED32 else 8
        else:
            raise protobuf.MalformedError("wire type")
        first, end = at + after, at + after + size
        if end > stop or key < 8:
            raise protobuf.MalformedError("field")
        path = paths.get(key >> 3)
        if size <= _MAX_KEPT:
            kept.append(buffer.get(at, end - at))
        elif path == "text":
            kept.append(protobuf.field(key, buffer.get(first, 4 * TEXT_LIMIT)))
        elif path is not None:
            kept.append(protobuf.field(key, _message(buffer, first, end, path)))
        elif key >> 3 in (3, 4, 5, 6):
            # A long graph, image or histogram: its content is not used.
            kept.append(protobuf.field(key, b""))
        at = end
    return b"".join(kept)
