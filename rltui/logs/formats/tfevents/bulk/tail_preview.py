"""The end of a file, read without what lies before: from the first record that is found there on."""

from __future__ import annotations

from rltui.batch import Batch, concat
from rltui.logs.formats.tfevents.bulk import bulk_reader
from rltui.logs.formats.tfevents.framing import tf_record
from rltui.logs.formats.tfevents.framing.tf_record import HEADER
from rltui.logs.formats.tfevents.templates.template_cache import TemplateCache

_SYNC = 1 << 10  # bytes in which a record is searched first


def decode(data: bytes, known: TemplateCache, verify: bool = False) -> Batch:
    """The scalars of the last bytes of a file, damage left out."""
    batches = []
    at = 0
    while (start := _first_record(data, at)) is not None:
        decoded = bulk_reader.decode_any(data[start:], known, verify)
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
        for place in tf_record.headers(data[at : at + width]):
            start = at + place
            end = start + HEADER + tf_record.header(data, start)
            if end + tf_record.FOOTER <= len(data) and tf_record.sound(data, start + HEADER, end):
                return start
        at += width - HEADER + 1
        width *= 4
    return None
