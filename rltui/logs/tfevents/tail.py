"""The tail path: one record after the other, every CRC proved. Best for the few records of a live step.

A record of a known shape costs a slice and a look-up; any other is parsed by the book and, where it
has a shape, remembered.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import google_crc32c

from rltui.logs.tfevents import event, records, wire
from rltui.logs.tfevents.known import Known
from rltui.logs.tfevents.rows import Rows
from rltui.logs.tfevents.shapes import BODY, SIMPLE, STEP_KEY, WALL_KEY
from rltui.scalars import Batch

CORRUPT = ("corrupt-record", "the checksum says that bytes have changed")
UNREADABLE = ("unreadable-record", "the checksum is right, but the content is no event")

_ZEROS = bytes(64)  # so many in a damaged record look like a page that has not arrived
_SHORTEST = 20  # bytes of data below which there is no scalar

_start = struct.Struct("<BdBBB").unpack_from  # wall_time with its key, the step's key and first two bytes
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


def decode(data: bytes, known: Known) -> Decoded:
    """All complete records of `data`, which begins with a record.

    A record with wrong data is skipped when a valid header right behind it confirms its length and
    nothing in it looks as if it were still to arrive; otherwise reading stops there with need DOUBT.
    """
    rows = Rows()
    add = rows.points.append
    faults: list[Fault] = []
    walked, end, need = records.walk(data)
    checksum = google_crc32c.value
    known_simple = known.constants.get(SIMPLE, {}).get
    for first, stop, stored in walked:
        record = data[first:stop]
        crc = checksum(record)
        if ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF != stored:  # `crc.masked`, without its call
            fault = corrupt(data, first, stop)
            if fault is None:
                end, need = first - records.HEADER, records.DOUBT
                break
            faults.append(fault)
            continue
        if stop - first > _SHORTEST:
            # The record that nearly all are, without a call: `take` would do the same.
            key, wall_time, step_key, step, more = _start(record)
            if key == WALL_KEY and step_key == STEP_KEY and (step < 0x80 or more < 0x80):
                if step < 0x80:
                    number = known_simple(record[11:-4])
                else:
                    step = step & 0x7F | more << 7
                    number = known_simple(record[12:-4])
                if number is not None:
                    add((number, step, wall_time, _float(data, stop - 4)[0], True))
                    continue
        if not take(record, known, rows):
            faults.append(Fault(*UNREADABLE, first - records.HEADER, stop + records.FOOTER))
    return Decoded(rows.batch(known.tags), end, need, faults)


def take(data: bytes, known: Known, rows: Rows) -> bool:
    """Add what one record says: by its shape where that is known, else by the book."""
    if len(data) < _SHORTEST:
        return take_whole(data, known, rows)
    key, wall_time, step_key, step, more = _start(data, 0)
    if key != WALL_KEY:
        return take_whole(data, known, rows)
    if step_key != STEP_KEY:
        step, at = 0, BODY
    elif step < 0x80:
        at = BODY + 2
    elif more < 0x80:
        step, at = step & 0x7F | more << 7, BODY + 3
    else:
        try:
            step, at = wire.varint(data, BODY + 1, len(data))
        except wire.MalformedError:
            return False
        step = wire.signed(step)
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
            rows.points.append((number, step, wall_time, value, width == 4))
            return True
    return take_whole(data, known, rows)


def take_whole(data: bytes, known: Known, rows: Rows) -> bool:
    """Parse the data of one record by the book and add what it says; False when it is no protobuf message."""
    try:
        parsed = event.parse(data)
    except wire.MalformedError:
        return False
    rows.take(parsed, data, known.tags)
    known.remember(parsed, data)
    return True


def corrupt(data: bytes, first: int, stop: int) -> Fault | None:
    """The fault of a record with wrong data, or None where it may be too early to say so (see `decode`)."""
    behind = stop + records.FOOTER
    if records.header(data, behind) < 0 or maybe_late(data[first:stop]):
        return None
    return Fault(*CORRUPT, first - records.HEADER, behind)


def maybe_late(data: bytes) -> bool:
    """Whether damaged data look as if a page of them had not arrived yet."""
    return _ZEROS in data
