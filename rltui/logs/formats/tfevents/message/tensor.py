"""Scalars written as tensors: every numeric dtype, in both encodings of TensorProto.

A TensorProto has a dtype, a shape, and its elements either as little-endian bytes in `tensor_content` or in a
repeated field of the dtype. Field and dtype numbers are those of TensorFlow's tensor.proto and types.proto.
"""

from __future__ import annotations

import struct

from rltui.common.named_tuple import NamedTuple
from rltui.logs.formats import protobuf

STRING = 7

_FLOAT, _DOUBLE, _BOOL, _BFLOAT16, _HALF = 1, 2, 10, 14, 19

# dtype -> (struct format of one element in tensor_content, field of its repeated values)
_NUMBERS: dict[int, tuple[str, int]] = {
    _FLOAT: ("<f", 5),
    _DOUBLE: ("<d", 6),
    3: ("<i", 7),  # int32
    4: ("<B", 7),  # uint8
    5: ("<h", 7),  # int16
    6: ("<b", 7),  # int8
    9: ("<q", 10),  # int64
    _BOOL: ("<?", 11),
    _BFLOAT16: ("<H", 13),
    17: ("<H", 7),  # uint16
    _HALF: ("<e", 13),
    22: ("<I", 16),  # uint32
    23: ("<Q", 17),  # uint64
}


class Number(NamedTuple):
    """A scalar. single: it was a float32. at, width: position of its bytes; width 0 if that varies."""

    value: float
    single: bool
    at: int
    width: int


class Tensor(NamedTuple):
    """The content of a tensor. number: of one element. strings: positions of the elements of a string tensor.

    doubles: position of the elements of a tensor of several float64.
    """

    number: Number | None
    strings: tuple[tuple[int, int], ...]
    doubles: tuple[int, int] | None = None


def parse(data: bytes, at: int, stop: int) -> Tensor:
    """Parse the TensorProto in ``data[at:stop]``. Raises MalformedError."""
    dtype = 0
    elements = 1
    content = (0, 0)
    repeated: dict[int, tuple[int, int, int]] = {}
    strings: list[tuple[int, int]] = []
    for number, kind, first, end in protobuf.fields(data, at, stop):
        if number == 1 and kind == protobuf.VARINT:
            dtype = protobuf.varint(data, first, end)[0]
        elif number == 2 and kind == protobuf.BYTES:
            elements = _elements(data, first, end)
        elif number == 4 and kind == protobuf.BYTES:
            content = (first, end)
        elif number == 8 and kind == protobuf.BYTES:
            strings.append((first, end))
        elif number > 4 and end > first:
            repeated.setdefault(number, (kind, first, end))
    if dtype == STRING:
        return Tensor(None, tuple(strings))
    if elements != 1 or dtype not in _NUMBERS:
        kind, *packed = repeated.get(_NUMBERS[_DOUBLE][1], (protobuf.BYTES, *content))
        first, end = packed if content[0] == content[1] and kind == protobuf.BYTES else content
        return Tensor(None, (), (first, end) if dtype == _DOUBLE and end > first else None)
    form, field = _NUMBERS[dtype]
    width = struct.calcsize(form)
    if content[1] > content[0]:
        if content[1] - content[0] != width:
            return Tensor(None, ())
        return Tensor(_number(data, content[0], form, dtype), ())
    if field not in repeated:
        # Omitted elements repeat the last one, and are zero if there is none.
        return Tensor(Number(0.0, dtype == _FLOAT, 0, 0), ())
    kind, first, end = repeated[field]
    if dtype in (_FLOAT, _DOUBLE):
        if kind == protobuf.VARINT or (end - first) != width:
            return Tensor(None, ())
        return Tensor(_number(data, first, form, dtype), ())
    if kind in (protobuf.FIXED32, protobuf.FIXED64):
        return Tensor(None, ())
    return Tensor(_integer(protobuf.varint(data, first, end)[0], dtype, form), ())


def _number(data: bytes, at: int, form: str, dtype: int) -> Number:
    (value,) = struct.unpack_from(form, data, at)
    if dtype == _BFLOAT16:
        (value,) = struct.unpack("<f", struct.pack("<I", value << 16))
    fixed = dtype in (_FLOAT, _DOUBLE)
    return Number(float(value), dtype == _FLOAT, at, struct.calcsize(form) if fixed else 0)


def _integer(bits: int, dtype: int, form: str) -> Number:
    """A value of a repeated integer field, which is wider than the dtype; halves are bit patterns."""
    if dtype == _BOOL:
        return Number(float(bits != 0), False, 0, 0)
    width = struct.calcsize(form)
    return _number((bits & (1 << 8 * width) - 1).to_bytes(width, "little"), 0, form, dtype)._replace(at=0)


def _elements(data: bytes, at: int, stop: int) -> int:
    """The number of elements of a TensorShapeProto; 0 if its rank is unknown."""
    elements = 1
    for number, kind, first, end in protobuf.fields(data, at, stop):
        if number == 2 and kind == protobuf.BYTES:
            size = 0
            for inner, inner_kind, low, high in protobuf.fields(data, first, end):
                if inner == 1 and inner_kind == protobuf.VARINT:
                    size = protobuf.varint(data, low, high)[0]
            elements *= size
        elif number == 3 and kind == protobuf.VARINT and protobuf.varint(data, first, end)[0]:
            return 0
    return elements
