"""Record logs of Weights & Biases and SwanLab as their SDKs write them, with rows of our choice."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping

from rltui.logs.formats.protobuf import encode, field

WANDB = b":W&B\xe1\xbe\x00"
SWANLAB = b":SWL\xd6\xe1"
_BLOCK = 32768


def record_log(header: bytes, payloads: Iterable[bytes]) -> bytes:
    """A file: header, then blocks of 32 KiB with each payload in one chunk or several."""
    out = bytearray(header)
    for payload in payloads:
        first = True
        while True:
            room = _BLOCK - len(out) % _BLOCK
            if room < 7:
                out += bytes(room)
                continue
            part, payload = payload[: room - 7], payload[room - 7 :]
            kind = (1 if not payload else 2) if first else (4 if not payload else 3)
            out += struct.pack("<IH", zlib.crc32(bytes([kind]) + part), len(part)) + bytes([kind]) + part
            first = False
            if not payload:
                break
    return bytes(out)


def _of(number: int) -> int:
    return number << 3 | 2


def item(key: str, value: object, *, nested: bool = True) -> bytes:
    """An item of a row: key (nested: one field a part) and value as JSON."""
    parts = key.split("|") if nested else [key]
    keys = b"".join(field(_of(2 if nested else 1), part.encode()) for part in parts)
    return keys + field(_of(16), json.dumps(value).encode())


def history(row: Mapping[str, object], step: int | None, *, nested: bool = True) -> bytes:
    """A history record; `a|b` is a nested key."""
    items = b"".join(field(_of(1), item(key, value, nested=nested)) for key, value in row.items())
    if step is not None:
        items += field(_of(2), b"\x08" + encode(step))
    return b"\x08\x05" + field(_of(2), items)


def metric(name: str = "", glob: str = "", axis: str = "") -> bytes:
    """A record of `define_metric`."""
    body = field(_of(1), name.encode()) * bool(name) + field(_of(2), glob.encode()) * bool(glob)
    return field(_of(12), body + field(_of(4), axis.encode()))


def config(values: Mapping[str, object]) -> bytes:
    """A configuration record."""
    return field(_of(5), b"".join(field(_of(1), item(key, value)) for key, value in values.items()))


def stats(values: Mapping[str, float], seconds: int) -> bytes:
    """A record of system statistics."""
    items = b"".join(
        field(_of(3), field(_of(1), key.encode()) + field(_of(16), json.dumps(value).encode()))
        for key, value in values.items()
    )
    return field(_of(7), field(_of(2), b"\x08" + encode(seconds)) + items)


def ended(code: int) -> bytes:
    """The record of the end of a run."""
    return field(_of(18), b"\x08" + encode(code))


def scalar(key: str, step: int, value: float, seconds: int = 1_763_600_000) -> bytes:
    """A scalar of SwanLab's version 2."""
    time = b"\x08" + encode(seconds) + b"\x10" + encode(500_000_000)
    body = (
        field(_of(1), key.encode()) + b"\x10" + encode(step) + b"\x18" + encode(step)
        + field(_of(4), time) + field(_of(5), b"\x09" + struct.pack("<d", value))
    )  # fmt: skip
    return b"\x08" + encode(7) + field(_of(2), time) + field(_of(13), body)


def column(key: str, *, axis: str = "", system: bool = False) -> bytes:
    """A column record of SwanLab's version 2."""
    body = b"\x08" + encode(2 if system else 1) + field(_of(3), key.encode())
    return field(_of(12), body + field(_of(13), axis.encode()) * bool(axis))


def finished(state: int) -> bytes:
    """The end of a run of SwanLab's version 2: 1 finished, 2 crashed, 3 aborted."""
    return field(_of(11), b"\x08" + encode(state))
