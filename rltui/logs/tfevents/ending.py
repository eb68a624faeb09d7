"""The end of a file, read without what lies before: from the first record that is found there on."""

from __future__ import annotations

from rltui.logs.tfevents import bulk, records
from rltui.logs.tfevents.known import Known
from rltui.logs.tfevents.records import HEADER
from rltui.scalars import Batch, concat

_SYNC = 1 << 10  # bytes in which a record is searched first


def decode(data: bytes, known: Known, verify: bool = False) -> Batch:
    """The scalars of the last bytes of a file, damage left out."""
    batches = []
    at = 0
    while (start := _first_record(data, at)) is not None:
        decoded = bulk.decode_any(data[start:], known, verify)
        batches.append(decoded.batch)
        at = start + decoded.end + 1
        if decoded.need > len(data) - at:
            break
    whole = concat(batches)
    return Batch(whole.tags, whole.tag, whole.step, whole.wall_time, whole.value, whole.single)


def _first_record(data: bytes, at: int) -> int | None:
    """Where the first whole and sound record from `at` on begins."""
    width = _SYNC
    while at + HEADER <= len(data):
        for place in records.headers(data[at : at + width]):
            start = at + place
            end = start + HEADER + records.header(data, start)
            if end + records.FOOTER <= len(data) and records.sound(data, start + HEADER, end):
                return start
        at += width - HEADER + 1
        width *= 4
    return None
