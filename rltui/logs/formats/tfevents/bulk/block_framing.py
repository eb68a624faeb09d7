"""Framing without a loop: the places of all records of a block at once.

The length of a record shorter than 256 bytes is one byte and seven zeros, and seven zeros in a row
always hold an aligned four-byte word that is zero. So the zero words of the block, an eighth of the
work of looking at every byte, lead to every place where such a record can begin: at the last byte
before the zeros. There stands ``length 0000000 crc4`` and, in an event, the key 09 of its wall time.
The eight bytes ``000 crc4 09`` are compared with a table by length, which proves the length's CRC and
finds the event in one comparison.

That finds the places; that they follow each other, each beginning where the one before it ends, makes
them records. Where they do not, a longer record stands between, or damage: there the block is walked
as `tf_record.split_records` does.
"""

from __future__ import annotations

import struct
from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from rltui.common.named_tuple import NamedTuple
from rltui.logs.formats.tfevents.bulk.block import PAD, Block, Places, Words, windows
from rltui.logs.formats.tfevents.framing import masked_crc, tf_record
from rltui.logs.formats.tfevents.framing.tf_record import FOOTER, FRAME, HEADER
from rltui.logs.formats.tfevents.templates.record_template import WALL_KEY

_U64 = np.uint64

# By length: three zeros of the length, the CRC of the length, and the key of wall_time.
_OPENING = np.array(
    [
        int.from_bytes(bytes(3) + struct.pack("<IB", c, WALL_KEY), "little")
        for c in masked_crc.OF_SHORT_LENGTHS
    ],
    _U64,
)
_OPENING[0] = ~_U64(0)  # an empty record has no wall time: matches nothing


class Frames(NamedTuple):
    """The complete records of a block, in order, and where and why they end (see `tf_record.Records`).

    at: (n,) first byte of each record's data. length: (n,) of its data.
    opening: (n, 3) words from seven bytes before the data: the last byte is the first of the data;
    the wall time; the eight bytes behind it, which begin with the key of the step.
    """

    at: Places
    length: Places
    opening: Words
    end: int
    needed: int


def frames(block: Block) -> Frames:
    """The records of a block that begins with one."""
    place, length, opening = _candidates(block)
    ends = place + length + FRAME
    adjoining = ends[:-1] == place[1:]
    if len(place) and place[0] == 0 and adjoining.all():
        end = int(ends[-1])
        needed = _next_needed(block.data, end)
        if needed is not None:
            return Frames(place + HEADER, length, opening, end, needed)
    return _walk(block, place, length, ends, adjoining)


def all_intact(block: Block, frames: Frames) -> bool:
    """Whether the CRCs of all records are right, those of lengths and those of data.

    With each stored CRC replaced by the one that makes what it stands for neutral (`masked_crc.NEUTRAL`), the
    whole block has the CRC of nothing: one call instead of one for each record, which is ten times as fast.
    """
    content = block.bytes[PAD : PAD + frames.end].copy()
    stored = windows(content, FOOTER)
    places = np.concatenate([frames.at - FOOTER, frames.at + frames.length])
    crc = masked_crc.unmasked_column(stored[places].view("<u4")) ^ np.uint32(masked_crc.NEUTRAL)
    stored[places] = crc.view(stored.dtype)
    return masked_crc.extend(0, content.tobytes()) == 0


def _next_needed(data: bytes, at: int) -> int | None:
    """What the record at `at` needs that is not complete (see `tf_record.Records`); None where it is."""
    size = tf_record.record_length(data, at)
    if size < 0:
        return tf_record.NO_HEADER if at + HEADER <= len(data) else HEADER
    return size + FRAME if at + size + FRAME > len(data) else None


def _candidates(block: Block) -> tuple[Places, Places, Words]:
    """Every place where a short event with a valid header begins and ends within the block."""
    dwords = block.bytes[PAD : PAD + (block.size + 3 & ~3)].view("<u4")
    word = np.flatnonzero(dwords == 0)
    if len(word) and not word[0]:
        word = word[1:]
    before = dwords.take(word - 1)
    # Zero bytes at the end of the word before belong to the length, too.
    zeros = (before < 1 << 24).view(np.uint8) + (before < 1 << 16) + (before < 1 << 8)
    place = 4 * word - 1 - zeros
    length = block.bytes.take(place + PAD)
    opening = block.words(place + 5, 24)
    good = opening[:, 0] == _OPENING.take(length)
    good &= place + length + FRAME <= block.size
    kept = np.flatnonzero(good)
    if len(kept) and kept[-1] == len(kept) - 1:
        place, length, opening = place[: len(kept)], length[: len(kept)], opening[: len(kept)]
    else:
        place, length, opening = place.take(kept), length.take(kept), opening.take(kept, axis=0)
    return place, length.astype(np.intp), opening


def _walk(block: Block, place: Places, length: Places, ends: Places, adjoining: NDArray[np.bool_]) -> Frames:
    """Follow the chain of records from the first byte: along runs of candidates, one by one between them."""
    data = block.data
    stops = [*np.flatnonzero(~adjoining).tolist(), len(place) - 1]  # last candidates of their runs
    kept = np.zeros(len(place), np.bool_)
    between: list[int] = []
    sizes: list[int] = []
    at = i = 0
    while True:
        while i < len(place) and place[i] < at:
            i += 1  # looks like a record, within a longer one
        if i < len(place) and place[i] == at:
            last = stops[bisect_left(stops, i)]
            kept[i : last + 1] = True
            at, i = int(ends[last]), last + 1
            continue
        size = tf_record.record_length(data, at)
        if size < 0 or at + size + FRAME > block.size:
            break
        between.append(at)
        sizes.append(size)
        at += size + FRAME
    needed = size + FRAME if size >= 0 else tf_record.NO_HEADER if at + HEADER <= block.size else HEADER
    place, length = place[kept], length[kept]
    if between:
        place = np.concatenate([place, np.array(between, np.intp)])
        length = np.concatenate([length, np.array(sizes, np.intp)])
        order = np.argsort(place, kind="stable")
        place, length = place[order], length[order]
    return Frames(place + HEADER, length, block.words(place + 5, 24), at, needed)
