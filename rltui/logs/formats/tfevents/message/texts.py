"""Text summaries and hyperparameters in event files, as far as they are shown."""

from __future__ import annotations

import json
import math
import struct

from rltui.common.display_text import clean
from rltui.common.json_value import json_value
from rltui.logs.formats import protobuf

TEXT_LIMIT = 32 << 10  # characters of one text; tables of completions have up to 100 KB per step
_TAB = " " * 4
_DEPTH = 16  # nested lists and structs of a hyperparameter


def text_body(data: bytes, strings: tuple[tuple[int, int], ...]) -> str:
    """The strings of a text summary as cleaned lines, truncated at TEXT_LIMIT characters."""
    room = TEXT_LIMIT
    lines: list[str] = []
    for first, end in strings:
        taken = data[first : min(end, first + 4 * room)].decode("utf-8", "replace")
        for line in taken.replace("\t", _TAB).splitlines():
            lines.append(clean(line)[:room])
            room -= len(lines[-1]) + 1
            if room <= 0:
                return "\n".join(lines) + "…"
    return "\n".join(lines)


def hparams_body(data: bytes, content: tuple[int, int]) -> str:
    """The hyperparameters of a session as a JSON object; empty if the record has none or is malformed.

    Field 3 of HParamsPluginData is the start of the session, whose field 1 maps names to protobuf Values.
    """
    found: dict[str, object] | None = None
    try:
        for number, kind, first, end in protobuf.fields(data, *content):
            if number != 3 or kind != protobuf.BYTES:
                continue
            found = {} if found is None else found
            for inner, inner_kind, low, high in protobuf.fields(data, first, end):
                if inner == 1 and inner_kind == protobuf.BYTES:
                    name, value = _entry(data, low, high, 0)
                    found[name] = value
    except protobuf.MalformedError:
        return ""
    return "" if found is None else json.dumps(found)


def _entry(data: bytes, at: int, stop: int, depth: int) -> tuple[str, object]:
    """One entry of a map from string to Value."""
    name = ""
    value: object = None
    for number, kind, first, end in protobuf.fields(data, at, stop):
        if number == 1 and kind == protobuf.BYTES:
            name = clean(data[first:end].decode("utf-8", "replace"))
        elif number == 2 and kind == protobuf.BYTES:
            value = _value(data, first, end, depth)
    return name, value


def _value(data: bytes, at: int, stop: int, depth: int) -> object:
    """A google.protobuf.Value; non-finite numbers become strings."""
    value: object = None
    for number, kind, first, end in protobuf.fields(data, at, stop):
        if number == 2 and kind == protobuf.FIXED64:
            (number_value,) = struct.unpack_from("<d", data, first)
            value = _json_number(number_value)
        elif number == 3 and kind == protobuf.BYTES:
            value = clean(data[first:end].decode("utf-8", "replace"))
        elif number == 4 and kind == protobuf.VARINT:
            value = protobuf.varint(data, first, end)[0] != 0
        elif number in (5, 6) and kind == protobuf.BYTES and depth < _DEPTH:
            inner = [
                (low, high)
                for field, form, low, high in protobuf.fields(data, first, end)
                if (field, form) == (1, protobuf.BYTES)
            ]
            if number == 5:
                value = dict(_entry(data, low, high, depth + 1) for low, high in inner)
            else:
                value = [_value(data, low, high, depth + 1) for low, high in inner]
    return value


def _json_number(value: float) -> object:
    if math.isfinite(value):
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return json_value(value)
