"""The bulk path: a block of records as columns. The same scalars as the tail path, bit for bit.

Round by round: all records whose shape the log knows are read at once (`_Columns.settle`); of those
that are left the next few are read by `tail.take`, in the order of the file, which teaches their
shapes; and so on until nothing is left. So whatever the meaning of a record depends on, such as
metadata on an earlier record of its tag, has been read before it, as in the tail path.

A record's own CRC is proved where it is read singly, where `verify` asks for it, and at the end of
the block, next to which bytes may be missing. Elsewhere the proof is that all its bytes but wall time,
step and value are those of its shape.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rltui.batch import Batch, SessionStart
from rltui.logs.formats.tfevents import record_decoder
from rltui.logs.formats.tfevents.bulk import block_framing
from rltui.logs.formats.tfevents.bulk.block import Block, Places, Words, distinct, varints
from rltui.logs.formats.tfevents.bulk.data_checksums import DataChecksums
from rltui.logs.formats.tfevents.bulk.template_table import LIMITS, TABLES, ShapeTable
from rltui.logs.formats.tfevents.framing import tf_record
from rltui.logs.formats.tfevents.record_decoder import UNREADABLE, Decoded, Fault
from rltui.logs.formats.tfevents.scalar_rows import ScalarRows
from rltui.logs.formats.tfevents.templates.multi_value import Settled
from rltui.logs.formats.tfevents.templates.record_template import BODY, BOOK, STEP_KEY, WALL_KEY, Layout
from rltui.logs.formats.tfevents.templates.template_cache import TemplateCache

WORTH = 15_000  # bytes from which columns are faster than records one by one

_FEW = 64  # records, or points, read singly in the first round; twice as many in each further one
_double = struct.Struct("<d").unpack
_OPEN, _OTHER = -1, -2

PROOFS = DataChecksums(BOOK)


class Steps(NamedTuple):
    """(n,) the step of each record; its varint in the file, length and bytes; the bytes behind it."""

    step: NDArray[np.int64]
    width: Places
    encoded: Words
    body: Places


def steps(opening: Words, length: Places) -> Steps:
    """The steps of records. opening, length: as in `framing.Frames`. A width of 8 is no step to rely on."""
    stepped = (opening[:, 2] & np.uint64(0xFF)) == STEP_KEY
    step, width, encoded = varints(opening[:, 2])
    body = length - width - (BODY + 1)
    without = np.flatnonzero(~stepped)
    if len(without):
        step[without], width[without], encoded[without] = 0, 0, 0
        body[without] = length[without] - BODY
    return Steps(step, width, encoded, body)


def values(block: Block, layout: Layout, end: Places, row: Words) -> NDArray[np.floating[Any]]:
    """The values of records of one layout. end, row: as in `table.Table.find`."""
    after, size = layout
    if after:
        column: NDArray[np.floating[Any]] = block.gather(end - after - size, size).view(f"<f{size}")[:, 0]
    else:
        column = row.view(f"<f{size}")[:, -1]
    return column


def decode_any(data: bytes, known: TemplateCache, verify: bool = False) -> Decoded:
    """The records of `data`, few or many, which begins with one."""
    if len(data) < WORTH:
        return record_decoder.decode(data, known)
    return decode(data, known, verify)


def decode(data: bytes, known: TemplateCache, verify: bool = False) -> Decoded:
    """`tail.decode`, in columns."""
    block = Block(data)
    found = block_framing.frames(block)
    if not len(found.at):
        return record_decoder.decode(data, known)
    with np.errstate(invalid="ignore"):  # a signalling NaN is a value like others
        return _Columns(block, found, known, verify).decode()


class _Columns:
    """The records of a block.

    number: (n,) the number of the tag of each record that gave one scalar; _OPEN before it is read;
    _OTHER where it gave none or several. step, wall, value, single: (n,) of those with one.
    width, encoded: (n,) the varint of the step as it stands in the file, length and bytes. end, body:
    (n,) where the data end, and how long the body before it is.
    """

    def __init__(self, block: Block, found: block_framing.Frames, known: TemplateCache, verify: bool) -> None:
        self.block, self.found, self.known, self.verify = block, found, known, verify
        self.count = len(found.at)
        self.step, self.width, self.encoded, self.body = steps(found.opening, found.length)
        self.end = found.at + found.length
        self.wall = found.opening[:, 1].view("<f8")
        self.number = np.full(self.count, _OPEN, np.int32)
        self.value = np.empty(self.count, np.float64)
        self.single = np.ones(self.count, np.bool_)
        # Not for columns: events without a wall time in front, and steps of eight bytes or more.
        self.odd = (found.opening[:, 0] >> np.uint64(56) != WALL_KEY) | (self.width > 7)
        self.any_odd = bool(self.odd.any())
        self.rows = ScalarRows()
        self.several: list[tuple[int, int, int]] = []  # record, its points in `rows`
        self.started: list[tuple[int, int]] = []  # record, step
        self.settled: list[Settled] = []
        self.faults: list[Fault] = []

    def decode(self) -> Decoded:
        """Read everything."""
        few = _FEW
        lessons = -1 if BOOK.shapes else 0  # with nothing to know there is nothing to settle
        left = np.arange(self.count)
        if not self.known.lessons:
            # The version of the file, most likely: behind it other logs' lessons can be taken over.
            if self._single(0):
                left = left[1:]
            else:
                self.number[0] = _OPEN
        while len(left):
            if lessons != self.known.lessons:
                lessons = self.known.lessons
                left = self.settle(left)
            limit = len(self.rows) + few
            read = 0
            for record in left[:few].tolist():
                if not self._single(record):
                    self.count = record
                    end = int(self.found.at[record]) - tf_record.HEADER
                    return Decoded(self._batch(), end, tf_record.DOUBT, self.faults)
                read += 1
                if len(self.rows) >= limit:
                    break
            left = left[read:]
            few *= 2
        return Decoded(self._batch(), self.found.end, self.found.need, self.faults)

    def settle(self, left: Places) -> Places:
        """Read all records of known shapes among `left`; returns the others, the last of all among them."""
        TABLES.catch_up()
        low = 0
        for limit in LIMITS:
            for layout in self.known.layouts:
                table = TABLES.table(layout, limit)
                if table is None or not len(left):
                    continue
                body = self.body[left]
                fits = (body > low) & (body <= limit)
                if self.any_odd:
                    fits &= ~self.odd[left]
                self._settle(table, left if fits.all() else left[fits], left)
                self.number[-1] = _OPEN
                left = self._open(left)
            low = limit
        if self.known.templates and len(left):
            left = self._settle_templates(left)
        return left

    def _settle(self, table: ShapeTable, some: Places, left: Places) -> None:
        """Read those of `some` whose shape is in the table; `left` are all that are open."""
        if not len(some):
            return
        everything = len(some) == len(self.end)
        end, body = (self.end, self.body) if everything else (self.end[some], self.body[some])
        shape, row = table.find(self.block, end, body)
        number = self.known.by_shape()[shape]
        number[shape < 0] = _OPEN
        if not self.verify and self._adopt(some, left, shape, number):
            number = self.known.by_shape()[shape]
            number[shape < 0] = _OPEN
        value = values(self.block, table.layout, end, row)
        if self.verify:
            known = np.flatnonzero(number >= 0)
            which = some[known]
            sound = PROOFS.sound(
                self.block,
                table.layout,
                shape[known],
                end[known],
                body[known],
                self.found.opening[which],
                self.width[which],
                self.encoded[which],
            )
            number[known[~sound]] = _OPEN
        if everything:
            self.number, self.value = number, value.astype(np.float64)
            self.single[:] = table.layout.width == 4
        else:
            self.number[some], self.value[some] = number, value
            self.single[some] = table.layout.width == 4

    def _adopt(self, some: Places, left: Places, shape: Places, number: NDArray[np.int32]) -> bool:
        """Take over what other logs have taught of shapes that are new here; whether there were any.

        Only before the first record that must be read singly, so that tags are numbered in the order of the
        file, and only shapes that touch no metadata.
        """
        unknown = np.flatnonzero(shape < 0)
        stop = int(unknown[0]) if len(unknown) else len(some) - 1  # the last is read singly
        if len(some) < len(left):
            gap = np.flatnonzero(some != left[: len(some)])
            stop = min(stop, int(gap[0]) if len(gap) else len(some))
        new = np.flatnonzero(number[:stop] == _OPEN)
        shapes, first = distinct(shape[new])
        return self.known.adopt_plain(shapes[np.argsort(first)].tolist()) > 0

    def _settle_templates(self, left: Places) -> Places:
        some = left[~self.odd[left] & (left < len(self.end) - 1)]
        for settled in self.known.templates.settle(self.block, some, self.end[some], self.body[some]):
            record = settled.record
            if self.verify:
                at, end = self.found.at[record].tolist(), self.end[record].tolist()
                sound = [tf_record.sound(self.block.data, *ends) for ends in zip(at, end, strict=True)]
                settled = Settled(record[sound], settled.template, settled.value[sound])
            self.number[settled.record] = _OTHER
            self.settled.append(settled)
        return self._open(left)

    def _open(self, left: Places) -> Places:
        return left.take(np.flatnonzero(self.number.take(left) == _OPEN))

    def _single(self, record: int) -> bool:
        """Read one record by itself; False where reading must stop before it."""
        data, at, end = self.block.data, int(self.found.at[record]), int(self.end[record])
        before, starts = len(self.rows), len(self.rows.starts)
        self.number[record] = _OTHER
        if not tf_record.sound(data, at, end):
            fault = record_decoder.corrupt(data, at, end)
            if fault is None:
                return False
            self.faults.append(fault)
        elif not record_decoder.take(data[at:end], self.known, self.rows):
            self.faults.append(Fault(*UNREADABLE, at - tf_record.HEADER, end + tf_record.FOOTER))
        gave = len(self.rows) - before
        if gave == 1:
            rows = self.rows
            self.number[record], self.step[record] = rows.tag[-1], rows.step[-1]
            (self.wall[record],) = _double(rows.wall_time[-1])
            self.value[record] = rows.value[-1]
            self.single[record] = not rows.wide or rows.wide[-1] != before
        elif gave:
            self.several.append((record, before, before + gave))
        self.started += [(record, start.step) for start in self.rows.starts[starts:]]
        return True

    def _batch(self) -> Batch:
        """All that was read of the first `count` records, in the order of the file."""
        tags, count = self.known.tags.names, self.count
        number = self.number[:count]
        ones = np.flatnonzero(number >= 0)
        if len(ones) == count:
            starts = tuple(SessionStart(record, step) for record, step in self.started)
            wall, value, single = self.wall[:count].copy(), self.value[:count], self.single[:count]
            return Batch(
                tags,
                number.astype(np.uint32),
                self.step[:count],
                wall,
                value,
                single,
                starts,
                tuple(self.rows.texts),
            )
        given = np.zeros(count, np.intp)
        given[ones] = 1
        for record, low, high in self.several:
            given[record] = high - low
        settled = [group for group in self.settled if len(group.record) and group.record[0] < count]
        for group in settled:
            given[group.record[group.record < count]] = len(group.template.numbers)
        at = np.cumsum(given) - given
        total = int(given.sum())
        tag = np.empty(total, np.uint32)
        step, wall = np.empty(total, np.int64), np.empty(total, np.float64)
        value, single = np.empty(total, np.float64), np.empty(total, np.bool_)
        place = at[ones]
        tag[place], step[place], wall[place] = number[ones], self.step[ones], self.wall[ones]
        value[place], single[place] = self.value[ones], self.single[ones]
        for record, low, high in self.several:
            mine = slice(at[record], at[record] + high - low)
            tag[mine], step[mine] = self.rows.tag[low:high], self.rows.step[low:high]
            wall[mine], value[mine] = self.rows.wall_times()[low:high], self.rows.value[low:high]
            single[mine] = self.rows.single()[low:high]
        for group in settled:
            some = group.record[group.record < count]
            each = len(group.template.numbers)
            spread = (at[some][:, None] + np.arange(each)).ravel()
            tag[spread] = np.tile(group.template.numbers, len(some))
            step[spread], wall[spread] = np.repeat(self.step[some], each), np.repeat(self.wall[some], each)
            value[spread], single[spread] = group.value[: len(some)].ravel(), group.template.width == 4
        starts = tuple(SessionStart(int(at[record]), start) for record, start in self.started)
        return Batch(tags, tag, step, wall, value, single, starts, tuple(self.rows.texts))
