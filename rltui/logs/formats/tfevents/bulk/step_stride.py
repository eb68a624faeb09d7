"""Steps that come again: a live run logs the same tags in the same order at each of its steps.

The records of such a step differ from those of the step before in wall times, step, values and checksums
only. Where these stand is known by then, so one call takes them all, and one comparison proves the rest.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from rltui.batch import Batch
from rltui.logs.formats.tfevents import protobuf
from rltui.logs.formats.tfevents.bulk.record_shape import BODY, STEP_KEY, WALL_KEY
from rltui.logs.formats.tfevents.framing import masked_crc

LEAST = 8  # records; fewer are read as fast one by one
_FORMS_KEPT = 64


class _Form:
    """Where everything is. For each record ``length crc 09 | wall | step | constant | value | crc``.

    length: of the data of each record. step_width: of the varint of its step, with the key in front.
    """

    def __init__(self, length: Sequence[int], step_width: int) -> None:
        parts = [f"13s8s{step_width}s{each - BODY - step_width - 4}sfI" for each in length]
        layout = struct.Struct("<" + "".join(parts))
        self.size = layout.size
        self.unpack = layout.unpack
        self.heads = tuple(
            struct.pack("<QIB", each, masked_crc.OF_SHORT_LENGTHS[each], WALL_KEY) for each in length
        )
        ends = np.cumsum(np.array(length) + 16) - 4
        self.spans = [slice(end - each, end) for each, end in zip(length, ends.tolist(), strict=True)]
        self.single = np.ones(len(length), np.bool_)


_form = lru_cache(maxsize=_FORMS_KEPT)(_Form)  # runs of one program share them


class Stride(NamedTuple):
    """A step that may come again. constants: of each record from step to value. tag: (n,) their numbers."""

    form: _Form
    constants: tuple[bytes, ...]
    tag: NDArray[np.uint32]

    def read(self, data: bytes, names: Sequence[str]) -> Batch | None:
        """The next step, if `data` are just that."""
        form = self.form
        if len(data) != form.size:
            return None
        fields = form.unpack(data)
        if fields[3::6] != self.constants or fields[0::6] != form.heads:
            return None
        count = len(self.constants)
        step = _step(fields[2])
        if step is None or fields[2::6].count(fields[2]) != count:
            return None
        checksum = google_crc32c.value
        proof = [
            ((found >> 15 | found << 17) + 0xA282EAD8) & 0xFFFFFFFF  # `crc.masked`, without its call
            for found in [checksum(data[span]) for span in form.spans]
        ]
        if (*proof,) != fields[5::6]:
            return None
        wall_time = np.frombuffer(b"".join(fields[1::6]), np.float64)
        value = np.array(fields[4::6], np.float64)
        return Batch(names, self.tag, np.full(count, step), wall_time, value, form.single)


def _step(encoded: bytes) -> int | None:
    """The step that these bytes are, key included; None where they are anything else."""
    try:
        step, end = protobuf.varint(encoded, 1, len(encoded))
    except protobuf.MalformedError:
        return None
    return protobuf.signed(step) if encoded[0] == STEP_KEY and end == len(encoded) else None


def learn(records: Sequence[bytes], body: int, simple: Mapping[bytes, int]) -> Stride | None:
    """The stride of records that were just read. body: where the first one's body begins.

    simple: the numbers of tags by constants. None where some records have others, and where it does not pay.
    """
    length = tuple(map(len, records))
    if len(length) < LEAST or max(length) >= masked_crc.SPAN or body <= BODY:
        return None
    constants = tuple(record[body:-4] for record in records)
    if not all(constant in simple for constant in constants):
        return None
    numbers = np.array([simple[constant] for constant in constants], np.uint32)
    return Stride(_form(length, body - BODY), constants, numbers)
