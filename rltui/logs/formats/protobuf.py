"""The protobuf wire format, without generated code.

This avoids an import and copies of the 99 % of bytes that are not scalars, and it gives the positions of
values in a record, which the bulk reader needs.
"""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types; none of the messages has groups, types 3 and 4


class MalformedError(ValueError):
    """The bytes are not a protobuf message."""


def varint(data: bytes, at: int, stop: int) -> tuple[int, int]:
    """An unsigned 64-bit varint at `at`, and its end. Raises MalformedError."""
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
    """A varint as int64: negative numbers are encoded as two's complement."""
    return value - (1 << 64) if value >> 63 else value


def fields(data: bytes, at: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
    """The fields of the message in ``data[at:stop]`` as ``(number, wire type, start, end)``.

    The payload of a varint is its own bytes. Raises MalformedError.
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
        else:
            raise MalformedError("wire type")
        if end > stop or key < 8:
            raise MalformedError("field")
        yield key >> 3, kind, at, end
        at = end


def integers(data: bytes, at: int, stop: int) -> dict[int, int]:
    """The varints of a message as int64, by field; the last of repeated ones. Raises MalformedError."""
    return {
        number: signed(varint(data, first, last)[0])
        for number, kind, first, last in fields(data, at, stop)
        if kind == VARINT
    }


def texts(data: bytes, at: int, stop: int) -> dict[int, str]:
    """The same for length-delimited fields, as text."""
    return {
        number: data[first:last].decode("utf-8", "replace")
        for number, kind, first, last in fields(data, at, stop)
        if kind == BYTES
    }


def timestamp(data: bytes, at: int, stop: int) -> float:
    """Seconds since 1970 of a protobuf Timestamp {1 seconds, 2 nanoseconds}. Raises MalformedError."""
    found = integers(data, at, stop)
    return found.get(1, 0) + found.get(2, 0) / 1e9


def encode(value: int) -> bytes:
    """An unsigned varint."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(key: int, content: bytes) -> bytes:
    """A length-delimited field. key: number and wire type, as encoded in a message."""
    return encode(key) + encode(len(content)) + content
