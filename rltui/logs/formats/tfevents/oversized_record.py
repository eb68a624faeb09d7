"""Records larger than a block: images, graphs, long tables. Their scalars are taken, the rest is not read.

The record is walked in ranged reads and a small one is put together of what matters: all short fields
as they are, long texts cut, long everything else left out.
"""

from __future__ import annotations

from rltui.logs.formats import protobuf
from rltui.logs.formats.interface import File
from rltui.logs.formats.tfevents.message.texts import TEXT_LIMIT

_KEPT_SIZE = 64 << 10  # bytes of a field that is kept as it is
_READ_SIZE = 64 << 10  # bytes of one ranged read

# The path to what matters: number of a field -> what is inside it. Event.summary, Summary.value,
# Value.tensor, TensorProto.string_val.
_EVENT: dict[int, object] = {5: {1: {8: {8: "text"}}}}


class _ReadBuffer:
    """Bytes of a file, fetched as they are asked for."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._at, self._data = 0, b""

    def get(self, at: int, size: int) -> bytes:
        """Up to `size` bytes; fewer only where the file ends."""
        if not (self._at <= at and at + size <= self._at + len(self._data)):
            self._at, self._data = at, self._file.read_at(at, max(size, _READ_SIZE))
        return self._data[at - self._at : at - self._at + size]


def prune(file: File, at: int, stop: int) -> bytes:
    """The Event at ``[at, stop)`` of the file without its bulk. Raises MalformedError, OSError."""
    return _message(_ReadBuffer(file), at, stop, _EVENT)


def _message(buffer: _ReadBuffer, at: int, stop: int, inside: object) -> bytes:
    kept = []
    paths = inside if isinstance(inside, dict) else {}
    while at < stop:
        head = buffer.get(at, min(20, stop - at))
        key, behind = protobuf.varint(head, 0, len(head))
        kind = key & 7
        if kind == protobuf.BYTES:
            size, behind = protobuf.varint(head, behind, len(head))
        elif kind == protobuf.VARINT:
            size = protobuf.varint(head, behind, len(head))[1] - behind
        elif kind in (protobuf.FIXED32, protobuf.FIXED64):
            size = 4 if kind == protobuf.FIXED32 else 8
        else:
            raise protobuf.MalformedError("wire type")
        first, end = at + behind, at + behind + size
        if end > stop or key < 8:
            raise protobuf.MalformedError("field")
        path = paths.get(key >> 3)
        if size <= _KEPT_SIZE:
            kept.append(buffer.get(at, end - at))
        elif path == "text":
            kept.append(protobuf.field(key, buffer.get(first, 4 * TEXT_LIMIT)))
        elif path is not None:
            kept.append(protobuf.field(key, _message(buffer, first, end, path)))
        elif key >> 3 in (3, 4, 5, 6):
            # A long graph, image or histogram: present, but its content says nothing here.
            kept.append(protobuf.field(key, b""))
        at = end
    return b"".join(kept)
