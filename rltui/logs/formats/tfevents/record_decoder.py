"""Decodes single records and checks every checksum: the fastest way for the few records of a live step.

A record with a known template needs a slice and a lookup; any other is parsed field by field and its
template, if it has one, is kept.
"""

from __future__ import annotations

import struct

import google_crc32c

from rltui.common.named_tuple import NamedTuple
from rltui.logs.batch import Batch
from rltui.logs.formats import protobuf
from rltui.logs.formats.tfevents import tf_record
from rltui.logs.formats.tfevents.message import event
from rltui.logs.formats.tfevents.scalar_rows import ScalarRows
from rltui.logs.formats.tfevents.templates import BODY, SIMPLE_VALUE, STEP_KEY, WALL_KEY, TemplateCache

CORRUPT = ("corrupt-record", "the checksum says that bytes have changed")
UNREADABLE = ("unreadable-record", "the checksum is right, but the content is not an event")

_STEP = bytes([STEP_KEY])
_ZEROS = bytes(64)  # in a damaged record: perhaps a page that has not arrived
_MIN_SCALAR = 20  # bytes of a record with a scalar

_double = struct.Struct("<d").unpack_from
_float = struct.Struct("<f").unpack_from


class SkippedRecord(NamedTuple):
    """A skipped record; at, end: with its frame."""

    code: str
    what: str
    at: int
    end: int


class Decoded(NamedTuple):
    """The content of some records, and the next offset with its `needed` (see `tf_record.Records`)."""

    batch: Batch
    end: int
    needed: int
    skipped: list[SkippedRecord]


def decode(data: bytes, cache: TemplateCache) -> Decoded:
    """All complete records of `data`, which starts with a record.

    A record with corrupt data is skipped if its length is confirmed by a valid header after it and its data
    do not look as if they were still arriving; otherwise decoding stops before it, UNCONFIRMED.
    """
    rows = ScalarRows()
    skipped: list[SkippedRecord] = []
    records, end, needed = tf_record.split_records(data)
    checksum = google_crc32c.value
    tag, steps, wall_time, value = rows.tag.append, rows.step.append, rows.wall_time.append, rows.value.append
    simple_tag, tag_of = cache.tag_numbers[SIMPLE_VALUE].get, cache.tag_of
    step_bytes, step_end = b"", BODY + 1  # of the previous record, which usually has the same step
    step = body = 0
    for first, record, stored, last in records:
        crc = checksum(record)
        if ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF != stored:  # `tf_record.masked`, inlined
            damaged = corrupt(data, first, first + len(record))
            if damaged is None:
                end, needed = first - tf_record.HEADER, tf_record.UNCONFIRMED
                break
            skipped.append(damaged)
            continue
        # Most records are of this kind and are decoded without a call; `take` gives the same.
        if record[BODY:step_end] != step_bytes:
            step, body, step_end = _step(record)
            step_bytes = record[BODY:step_end]
        constant = record[body:-4]
        number = simple_tag(constant)
        if number is None and len(record) >= _MIN_SCALAR and record[0] == WALL_KEY:
            number = tag_of(SIMPLE_VALUE, constant)
        if number is not None and record[0] == WALL_KEY:
            tag(number)
            steps(step)
            wall_time(record[1:BODY])
            value(last)
        elif not take(record, cache, rows):
            record_end = first + len(record) + tf_record.FOOTER
            skipped.append(SkippedRecord(*UNREADABLE, first - tf_record.HEADER, record_end))
    return Decoded(rows.batch(cache.tags), end, needed, skipped)


def _step(record: bytes) -> tuple[int, int, int]:
    """The step of a record, the offset of its body, and the end of the bytes that determine both."""
    if record[BODY : BODY + 1] != _STEP:
        return 0, BODY, BODY + 1
    try:
        step, at = protobuf.varint(record, BODY + 1, len(record))
    except protobuf.MalformedError:
        return 0, len(record), len(record)
    return protobuf.signed(step), at, at


def take(data: bytes, cache: TemplateCache, rows: ScalarRows) -> bool:
    """Add the content of one record; False if it is no protobuf message."""
    if len(data) >= _MIN_SCALAR and data[0] == WALL_KEY:
        step, body, _ = _step(data)
        for layout in cache.layouts:
            after, width = layout
            stop = len(data) - after - width
            if stop <= body:
                continue
            constant = data[body:stop] + data[stop + width :] if after else data[body:stop]
            tag = cache.tag_of(layout, constant)
            if tag is not None:
                (value,) = (_float if width == 4 else _double)(data, stop)
                rows.add(tag, step, data[1:BODY], value, width == 4)
                return True
    try:
        parsed = event.parse(data)
    except protobuf.MalformedError:
        return False
    rows.take(parsed, data, cache.tags)
    cache.learn(parsed, data)
    return True


def corrupt(data: bytes, first: int, stop: int) -> SkippedRecord | None:
    """A record with corrupt data; None if the rest of its data may still arrive (see `decode`)."""
    end = stop + tf_record.FOOTER
    if tf_record.record_length(data, end) < 0 or may_be_late(data[first:stop]):
        return None
    return SkippedRecord(*CORRUPT, first - tf_record.HEADER, end)


def may_be_late(data: bytes) -> bool:
    """Whether damaged data look as if a page of them were still arriving."""
    return _ZEROS in data
