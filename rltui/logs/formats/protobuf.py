"""The protobuf wire format by hand: keys, varints and length-delimited fields, nothing generated.

Reading by hand costs no import, no copies of the 99 % of bytes that are not scalars, and tells where
in the record a value stands, which the bulk reader needs.
"""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, GROUP, GROUP_END, FIXED32 = range(6)

_DEPTH = 64  # of nested unknown groups; real messages have none


class MalformedError(ValueError):
    """The bytes are not a protobuf message."""


def varint(data: bytes, at: int, stop: int) -> tuple[int, int]:
    """An unsigned 64-bit varint at `at`, and where it ends. Raises MalformedError."""
    value = shift = 0
    while at < stop:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
        if shift > 63:
            break
    raise MalformedError("varint")


def signed(value: int) -> int:
    """A varint as int64: negative numbers are written as their two's complement."""
    return value - (1 << 64) if value >> 63 else value


def fields(data: bytes, at: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
    """The fields of the message in ``data[at:stop]`` as ``(number, wire type, first byte, end)``.

    A varint's payload is its own bytes. Unknown groups are stepped over. Raises MalformedError.
    """
    while at < stop:
        key = data[at]
        if key < 0x80:
            at += 1
        else:
            key, at = varint(data, at, stop)
        kind = key & 7
        if kind == BYTES:
            if at < stop and data[at] < 0x80:
                size = data[at]
                at += 1
            else:
                size, at = varint(data, at, stop)
            end = at + size
        elif kind == VARINT:
            end = varint(data, at, stop)[1]
        elif kind == FIXED32:
            end = at + 4
        elif kind == FIXED64:
            end = at + 8
        elif kind == GROUP:
            end = _group_end(data, at, stop, key >> 3, 0)
        else:
            raise MalformedError("wire type")
        if end > stop or key < 8:
            raise MalformedError("field")
        yield key >> 3, kind, at, end
        at = end


def integers(data: bytes, at: int, stop: int) -> dict[int, int]:
    """The varints of a message as int64, by field; of a repeated one the last. Raises MalformedError."""
    return {
        number: signed(varint(data, first, last)[0])
        for number, kind, first, last in fields(data, at, stop)
        if kind == VARINT
    }


def texts(data: bytes, at: int, stop: int) -> dict[int, str]:
    """The same of the fields of bytes, as text."""
    return {
        number: data[first:last].decode("utf-8", "replace")
        for number, kind, first, last in fields(data, at, stop)
        if kind == BYTES
    }


def timestamp(data: bytes, at: int, stop: int) -> float:
    """Seconds since 1970 of a protobuf Timestamp {1 seconds, 2 nanoseconds}. Raises MalformedError."""
    found = integers(data, at, stop)
    return found.get(1, 0) + found.get(2, 0) / 1e9


def _group_end(data: bytes, at: int, stop: int, number: int, depth: int) -> int:
    """Where the group that began before `at` ends, its end key included."""
    while depth < _DEPTH and at < stop:
        key, at = varint(data, at, stop)
        kind = key & 7
        if kind == GROUP_END:
            if key >> 3 != number:
                break
            return at
        if kind == BYTES:
            size, at = varint(data, at, stop)
            at += size
        elif kind == VARINT:
            at = varint(data, at, stop)[1]
        elif kind in (FIXED32, FIXED64):
            at += 4 if kind == FIXED32 else 8
        elif kind == GROUP:
            at = _group_end(data, at, stop, key >> 3, depth + 1)
        else:
            break
    raise MalformedError("group")


def encode(value: int) -> bytes:
    """An unsigned varint."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(key: int, content: bytes) -> bytes:
    """A length-delimited field. key: number and wire type, as they stand in the record."""
    return encode(key) + encode(len(content)) + content
