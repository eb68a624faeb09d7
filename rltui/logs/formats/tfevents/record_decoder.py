"""The tail path: one record after the other, every CRC proved. Best for the few records of a live step.

A record of a known shape costs a slice and a look-up; any other is parsed by the book and, where it
has a shape, remembered.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import google_crc32c

from rltui.batch import Batch
from rltui.logs.formats.tfevents.framing import tf_record
from rltui.logs.formats.tfevents.message import event, protobuf
from rltui.logs.formats.tfevents.scalar_rows import ScalarRows
from rltui.logs.formats.tfevents.templates.record_template import BODY, SIMPLE, STEP_KEY, WALL_KEY
from rltui.logs.formats.tfevents.templates.template_cache import TemplateCache

CORRUPT = ("corrupt-record", "the checksum says that bytes have changed")
UNREADABLE = ("unreadable-record", "the checksum is right, but the content is no event")

_STEP = bytes([STEP_KEY])
_ZEROS = bytes(64)  # so many in a damaged record look like a page that has not arrived
_SHORTEST = 20  # bytes of data below which there is no scalar

_double = struct.Struct("<d").unpack_from
_float = struct.Struct("<f").unpack_from


class Fault(NamedTuple):
    """A record that was skipped, frame included."""

    code: str
    what: str
    at: int
    end: int


class Decoded(NamedTuple):
    """What a stretch of records gave; where to go on, and what the record there needs (see `records`)."""

    batch: Batch
    end: int
    need: int
    faults: list[Fault]


def decode(data: bytes, known: TemplateCache) -> Decoded:
    """All complete records of `data`, which begins with a record.

    A record with wrong data is skipped when a valid header right behind it confirms its length and
    nothing in it looks as if it were still to arrive; otherwise reading stops there with need DOUBT.
    """
    rows = ScalarRows()
    faults: list[Fault] = []
    walked, end, need = tf_record.walk(data)
    checksum = google_crc32c.value
    tag, steps, wall_time, value = rows.tag.append, rows.step.append, rows.wall_time.append, rows.value.append
    known_simple = known.constants.get(SIMPLE, {}).get
    marks, upto = b"", BODY + 1  # the bytes of the step of the record before: mostly it comes again
    step = at = 0
    for first, record, stored, last in walked:
        crc = checksum(record)
        if ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF != stored:  # `crc.masked`, without its call
            fault = corrupt(data, first, first + len(record))
            if fault is None:
                end, need = first - tf_record.HEADER, tf_record.DOUBT
                break
            faults.append(fault)
            continue
        # The record that nearly all are, without a call; `take` would do the same.
        if record[9:upto] != marks:
            step, at, upto = _step(record)
            marks = record[9:upto]
        number = known_simple(record[at:-4])
        if number is not None and record[0] == WALL_KEY:
            tag(number)
            steps(step)
            wall_time(record[1:9])
            value(last)
        elif not take(record, known, rows):
            end_of = first + len(record) + tf_record.FOOTER
            faults.append(Fault(*UNREADABLE, first - tf_record.HEADER, end_of))
    return Decoded(rows.batch(known.tags), end, need, faults)


def _step(record: bytes) -> tuple[int, int, int]:
    """The step of a record, where its body begins, and up to where the bytes say so."""
    if record[BODY : BODY + 1] != _STEP:
        return 0, BODY, BODY + 1
    try:
        step, at = protobuf.varint(record, BODY + 1, len(record))
    except protobuf.MalformedError:
        return 0, len(record), len(record)
    return protobuf.signed(step), at, at


def take(data: bytes, known: TemplateCache, rows: ScalarRows) -> bool:
    """Add what one record says: by its shape where that is known, else by the book."""
    if len(data) < _SHORTEST or data[0] != WALL_KEY:
        return take_whole(data, known, rows)
    step, at, _ = _step(data)
    for layout in known.layouts:
        after, width = layout
        stop = len(data) - after - width
        if stop <= at:
            continue
        constant = data[at:stop] + data[stop + width :] if after else data[at:stop]
        number = known.constants.setdefault(layout, {}).get(constant)
        if number is None:
            number = known.adopt(layout, constant)
        if number is not None:
            (value,) = (_float if width == 4 else _double)(data, stop)
            rows.add(number, step, data[1:BODY], value, width == 4)
            return True
    return take_whole(data, known, rows)


def take_whole(data: bytes, known: TemplateCache, rows: ScalarRows) -> bool:
    """Parse the data of one record by the book and add what it says; False when it is no protobuf message."""
    try:
        parsed = event.parse(data)
    except protobuf.MalformedError:
        return False
    rows.take(parsed, data, known.tags)
    known.remember(parsed, data)
    return True


def corrupt(data: bytes, first: int, stop: int) -> Fault | None:
    """The fault of a record with wrong data, or None where it may be too early to say so (see `decode`)."""
    behind = stop + tf_record.FOOTER
    if tf_record.header(data, behind) < 0 or maybe_late(data[first:stop]):
        return None
    return Fault(*CORRUPT, first - tf_record.HEADER, behind)


def maybe_late(data: bytes) -> bool:
    """Whether damaged data look as if a page of them had not arrived yet."""
    return _ZEROS in data
