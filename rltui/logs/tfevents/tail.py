"""The tail path: one record after the other, every CRC proved. Best for the few records of a live step.

A record of a known shape costs a slice and a look-up; any other is parsed by the book and, where it
has a shape, remembered.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from rltui.logs.tfevents import crc, event, records, shapes, wire
from rltui.logs.tfevents.rows import Rows
from rltui.logs.tfevents.shapes import BODY, STEP_KEY, WALL_KEY, Layout
from rltui.logs.tfevents.tags import Tags
from rltui.scalars import Batch

CORRUPT = ("corrupt-record", "their checksum says that bytes have changed")
UNREADABLE = ("unreadable-record", "the checksum is right, but they are no event")

_ZEROS = bytes(64)  # so many in a damaged record look like a page that has not arrived

_LAYOUTS_TRIED = 6
_UNHEARD = 1 << 62  # a shape number that no book reaches

_double = struct.Struct("<d").unpack_from
_float = struct.Struct("<f").unpack_from
_crc = struct.Struct("<I").unpack_from


class Known:
    """What one log knows of the shapes in the book: the number of the tag that each means here."""

    def __init__(self, tags: Tags, book: shapes.Book = shapes.BOOK) -> None:
        self.tags = tags
        self.book = book
        self.layouts = [
            Layout(0, 4)
        ]  # those that occurred, the last one first: it will most likely come again
        self.numbers: list[int] = []  # by shape; -1 where the shape has not yet occurred in this log

    def number(self, shape: int) -> int:
        """The tag number of a shape, -1 where it must be parsed (again) to be judged."""
        return self.numbers[shape] if shape < len(self.numbers) else -1

    def remember(self, parsed: event.Event, data: bytes) -> None:
        """Keep the shape of a record that `Rows.take` took, and what it means here."""
        shape = shapes.shape_of(parsed, data)
        if shape is None or not (shape.declared or self.tags.is_scalar(shape.tag)):
            return
        at = self.book.add(shape)
        if at < 0:
            return
        if at >= len(self.numbers):
            self.numbers += [-1] * (len(self.book.shapes) - len(self.numbers))
        self.numbers[at] = self.tags.number(shape.tag)
        self.prefer(shape.layout)

    def prefer(self, layout: Layout) -> None:
        """Try this layout first from now on."""
        if layout in self.layouts:
            self.layouts.remove(layout)
        self.layouts.insert(0, layout)
        del self.layouts[_LAYOUTS_TRIED:]

    def fork(self) -> Known:
        """The same tags, for a look ahead that must not teach the reading anything."""
        other = Known(self.tags.fork(), self.book)
        other.layouts, other.numbers = list(self.layouts), list(self.numbers)
        return other


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
    faults: list[Fault] = []
    walked, end, need = records.walk(data)
    for first, stop in walked:
        record = data[first:stop]
        if crc.masked(record) != _crc(data, stop)[0]:
            behind = stop + records.FOOTER
            if records.header(data, behind) < 0 or maybe_late(record):
                end, need = first - records.HEADER, records.DOUBT
                break
            faults.append(Fault(*CORRUPT, first - records.HEADER, behind))
        elif not take(record, known, rows):
            faults.append(Fault(*UNREADABLE, first - records.HEADER, stop + records.FOOTER))
    return Decoded(rows.batch(known.tags), end, need, faults)


def take_whole(data: bytes, known: Known, rows: Rows) -> bool:
    """Parse the data of one record by the book and add what it says; False when it is no protobuf message."""
    try:
        parsed = event.parse(data)
    except wire.MalformedError:
        return False
    rows.take(parsed, data, known.tags)
    known.remember(parsed, data)
    return True


def take(data: bytes, known: Known, rows: Rows) -> bool:
    """Add what one record says: by its shape where that is known, else by the book."""
    if len(data) < BODY + 8 or data[0] != WALL_KEY:
        return take_whole(data, known, rows)
    step, at = 0, BODY
    if data[BODY] == STEP_KEY:
        step, at = data[BODY + 1], BODY + 2
        if step > 0x7F:
            try:
                step, at = wire.varint(data, BODY + 1, len(data))
            except wire.MalformedError:
                return False
            step = wire.signed(step)
    for layout in known.layouts:
        after, width = layout
        stop = len(data) - after
        numbers = known.book.by_layout.get(layout)
        if numbers is None or stop - width <= at:
            continue
        constant = data[at : stop - width] + data[stop:] if after else data[at : stop - width]
        number = known.number(numbers.get(constant, _UNHEARD))
        if number >= 0:
            rows.tag.append(number)
            rows.step.append(step)
            rows.wall_time.append(_double(data, 1)[0])
            rows.value.append((_float if width == 4 else _double)(data, stop - width)[0])
            rows.single.append(width == 4)
            return True
    return take_whole(data, known, rows)


def maybe_late(data: bytes) -> bool:
    """Whether damaged data look as if a page of them had not arrived yet."""
    return _ZEROS in data
