"""Records larger than a block: images, graphs, long tables. Their scalars are taken, the rest is not read.

The record is walked in ranged reads and a small one is put together of what matters: all short fields
as they are, long texts cut, long everything else left out.
"""

from __future__ import annotations

from rltui.logs.formats.interface import File
from rltui.logs.formats.tfevents.message import protobuf
from rltui.logs.formats.tfevents.message.texts import TEXT_LIMIT

_SHORT = 64 << 10  # bytes of a field that is kept as it is
_WINDOW = 64 << 10  # bytes of one ranged read

# The way to what matters: number of a field -> what is inside it. Event.summary, Summary.value,
# Value.tensor, TensorProto.string_val.
_EVENT: dict[int, object] = {5: {1: {8: {8: "text"}}}}


class _Window:
    """Bytes of a file, fetched as they are asked for."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._at, self._data = 0, b""

    def get(self, at: int, size: int) -> bytes:
        """Up to `size` bytes; fewer only where the file ends."""
        if not (self._at <= at and at + size <= self._at + len(self._data)):
            self._at, self._data = at, self._file.read_at(at, max(size, _WINDOW))
        return self._data[at - self._at : at - self._at + size]


def prune(file: File, at: int, stop: int) -> bytes:
    """The Event at ``[at, stop)`` of the file without its bulk. Raises MalformedError, OSError."""
    return _message(_Window(file), at, stop, _EVENT)


def _message(window: _Window, at: int, stop: int, inside: object) -> bytes:
    kept = []
    ways = inside if isinstance(inside, dict) else {}
    while at < stop:
        head = window.get(at, min(20, stop - at))
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
        way = ways.get(key >> 3)
        if size <= _SHORT:
            kept.append(window.get(at, end - at))
        elif way == "text":
            kept.append(protobuf.field(key, window.get(first, 4 * TEXT_LIMIT)))
        elif way is not None:
            kept.append(protobuf.field(key, _message(window, first, end, way)))
        elif key >> 3 in (3, 4, 5, 6):
            kept.append(
                protobuf.field(key, b"")
            )  # a long graph, image or histogram: present, and none of our business
        at = end
    return b"".join(kept)
