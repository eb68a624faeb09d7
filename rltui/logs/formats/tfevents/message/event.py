"""One Event message: wall time, step, and its values that are scalars, texts, hparams or histograms.

Field numbers are those of TensorFlow's event.proto and summary.proto. For histograms, only their position is
returned. Everything else (graphs, images, audio) is skipped.
"""

from __future__ import annotations

import struct

from rltui.common.named_tuple import NamedTuple
from rltui.logs.formats import protobuf
from rltui.logs.formats.tfevents.message import tensor
from rltui.logs.formats.tfevents.message.tensor import Number

SESSION_START = 1

_double = struct.Struct("<d").unpack_from
_float = struct.Struct("<f").unpack_from


class Value(NamedTuple):
    """One value of a summary.

    plugin: the plugin in the metadata of the value; None without metadata (then the first metadata of the tag
    in the file apply). content: position of the plugin's data. simple: it is a `simple_value`, which is a
    scalar whatever the metadata are. histogram: position of a HistogramProto. doubles: position of the
    elements of a tensor of several float64, as TensorFlow 2 writes histograms.
    """

    tag: bytes
    number: Number | None
    simple: bool
    strings: tuple[tuple[int, int], ...]
    plugin: bytes | None
    content: tuple[int, int]
    histogram: tuple[int, int] | None = None
    doubles: tuple[int, int] | None = None


class Event(NamedTuple):
    """One event.

    starts_session: a restarted writer declares that it continues from `step`. in_order: the event consists of
    wall time, step and one summary, in this order. body: offset of the summary.
    """

    wall_time: float
    step: int
    values: list[Value]
    starts_session: bool
    in_order: bool
    body: int

    @property
    def has_content(self) -> bool:
        """Whether it may contain scalars, texts, hyperparameters or histograms."""
        return self.starts_session or any(
            value.number or value.strings or value.histogram or value.doubles or value.plugin == b"hparams"
            for value in self.values
        )


def parse(data: bytes) -> Event:
    """Parse an Event. Raises MalformedError."""
    wall_time, step, starts, summaries = 0.0, 0, False, []
    order: list[int] = []
    body = 0
    for number, kind, first, end in protobuf.fields(data, 0, len(data)):
        order.append(number)
        if number == 1 and kind == protobuf.FIXED64:
            (wall_time,) = _double(data, first)
        elif number == 2 and kind == protobuf.VARINT:
            step = protobuf.signed(protobuf.varint(data, first, end)[0])
        elif number == 5 and kind == protobuf.BYTES:
            summaries.append((first, end))
        elif 3 <= number <= 9 and kind == protobuf.BYTES:
            summaries.clear()  # a oneof: the last field counts
            if number == 7:
                starts = protobuf.integers(data, first, end).get(1) == SESSION_START
        if number <= 2:
            body = end
    values: list[Value] = []
    for first, end in summaries:
        for number, kind, low, high in protobuf.fields(data, first, end):
            if number == 1 and kind == protobuf.BYTES:
                values.append(_value(data, low, high))
    return Event(wall_time, step, values, starts, order in ([1, 2, 5], [1, 5]), body)


def _value(data: bytes, at: int, stop: int) -> Value:
    tag = b""
    number: Number | None = None
    simple = False
    plugin: bytes | None = None
    content = (0, 0)
    tensor_at: tuple[int, int] | None = None
    histogram: tuple[int, int] | None = None
    for field, kind, first, end in protobuf.fields(data, at, stop):
        if field == 1 and kind == protobuf.BYTES:
            tag = data[first:end]
        elif field == 2 and kind == protobuf.FIXED32:
            number, simple, tensor_at = Number(_float(data, first)[0], True, first, 4), True, None
            histogram = None
        elif field == 8 and kind == protobuf.BYTES:
            number, simple, tensor_at, histogram = None, False, (first, end), None
        elif 3 <= field <= 6 and kind == protobuf.BYTES:
            number, simple, tensor_at = None, False, None
            histogram = (first, end) if field == 5 else None
        elif field == 9 and kind == protobuf.BYTES:
            plugin, content = _plugin(data, first, end)
    if tensor_at:
        number, strings, doubles = tensor.parse(data, *tensor_at)
        return Value(tag, number, simple, strings, plugin, content, None, doubles)
    return Value(tag, number, simple, (), plugin, content, histogram)


def _plugin(data: bytes, at: int, stop: int) -> tuple[bytes | None, tuple[int, int]]:
    """The plugin name in a SummaryMetadata, and the position of the plugin's data."""
    name: bytes | None = None
    content = (0, 0)
    for number, kind, first, end in protobuf.fields(data, at, stop):
        if number == 1 and kind == protobuf.BYTES:
            for inner, inner_kind, low, high in protobuf.fields(data, first, end):
                if inner == 1 and inner_kind == protobuf.BYTES:
                    name = data[low:high]
                elif inner == 2 and inner_kind == protobuf.BYTES:
                    content = (low, high)
    return name, content
