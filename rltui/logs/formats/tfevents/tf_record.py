"""TFRecord framing: the boundaries of records, and how to find the next record after damage.

A file is a sequence of records: length (uint64, little-endian), masked CRC of those eight bytes, data, masked
CRC of the data. Nothing marks the start of a record, but the CRC of a length serves as a marker. So any
offset can be tested, and reading can start in the middle of a file or continue after damage.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from rltui.common.named_tuple import NamedTuple
from rltui.logs.formats.interface import BLOCK, RECORD_CAP, File

SHORT = 256  # record lengths below this have precomputed checksums

_DELTA = 0xA282EAD8  # TFRecord's mask: rotate right by 15 and add, so that CRCs of CRCs stay useful

# The four bytes (little-endian) whose CRC is 0, that of no bytes. Any bytes followed by their own CRC XOR
# this have the CRC 0 as well, so the bytes after them have the CRC that they have alone.
NEUTRAL = 0x9BE09BAB


def mask(crc: int) -> int:
    """The masked form of a CRC, as stored in the file."""
    return ((crc >> 15 | crc << 17) + _DELTA) & 0xFFFFFFFF


def masked(data: bytes) -> int:
    """The masked CRC-32C of `data`."""
    return mask(google_crc32c.value(data))


def extend(crc: int, data: bytes) -> int:
    """The unmasked CRC of the bytes with CRC `crc` followed by `data`; 0 for no bytes."""
    return int(google_crc32c.extend(crc, data))


def unmasked_column(stored: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The CRCs of a column of masked ones."""
    crc = stored - np.uint32(_DELTA)
    return (crc >> np.uint32(17)) | (crc << np.uint32(15))


def masked_column(crc: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The same as `mask`, for a column."""
    return ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(_DELTA)


OF_SHORT_LENGTHS: tuple[int, ...] = tuple(masked(n.to_bytes(8, "little")) for n in range(SHORT))


HEADER = 12  # length and its CRC
FOOTER = 4  # CRC of the data
FRAME = HEADER + FOOTER
NO_HEADER = 0  # as `needed`: no valid header at the end of the previous record
UNCONFIRMED = -1  # as `needed`: a complete record with corrupt data whose length nothing confirms

_header = struct.Struct("<QI").unpack_from
_footer = struct.Struct("<I").unpack_from
_ending = struct.Struct("<fI").unpack_from  # the end of the data as a float, and the footer
_between = struct.Struct("<fIQI").unpack_from  # the same and the next header


class Records(NamedTuple):
    """Complete records, in order, and the offset of the next one.

    records: offset of the data, the data, their stored CRC, and the last four bytes of the data as a float,
    which is the value of a simple scalar.
    needed: total bytes of the next record; HEADER if its header is incomplete, NO_HEADER if it is invalid.
    """

    records: list[tuple[int, bytes, int, float]]
    end: int
    needed: int


def split_records(data: bytes) -> Records:
    """The records of `data`, which starts with one. Only the CRCs of lengths are checked."""
    records: list[tuple[int, bytes, int, float]] = []
    add = records.append
    at, size = 0, len(data)
    short = OF_SHORT_LENGTHS
    if at + HEADER > size:
        return Records(records, at, HEADER)
    length, stored = _header(data, at)
    while (short[length] if length < SHORT else masked(data[at : at + 8])) == stored:
        end = at + length + FRAME
        if end + HEADER > size:
            if end > size:
                return Records(records, at, length + FRAME)
            last, stored_crc = _ending(data, end - 2 * FOOTER)
            add((at + HEADER, data[at + HEADER : end - FOOTER], stored_crc, last))
            return Records(records, end, HEADER)
        last, stored_crc, length, stored = _between(data, end - 2 * FOOTER)
        add((at + HEADER, data[at + HEADER : end - FOOTER], stored_crc, last))
        at = end
    return Records(records, at, NO_HEADER)


def record_length(data: bytes, at: int) -> int:
    """The length in a valid header at `at`, or -1."""
    if at + HEADER > len(data):
        return -1
    length, stored = _header(data, at)
    return int(length) if masked(data[at : at + 8]) == stored else -1


def data_intact(data: bytes, first: int, end: int) -> bool:
    """Whether the stored CRC of a record with the data ``data[first:end]`` is correct."""
    return bool(masked(data[first:end]) == _footer(data, end)[0])


def data_intact_column(data: bytes, first: NDArray[np.intp], end: NDArray[np.intp]) -> NDArray[np.bool_]:
    """(n,) the same for many records: ``[first, end)`` of each one's data."""
    checksum = google_crc32c.value
    positions = zip(first.tolist(), end.tolist(), strict=True)
    crc = np.fromiter((checksum(data[low:high]) for low, high in positions), np.uint32, len(first))
    footers = np.frombuffer(data, np.uint8)[end[:, None] + np.arange(FOOTER)]
    intact: NDArray[np.bool_] = masked_column(crc) == footers.view("<u4")[:, 0]
    return intact


def data_intact_in_file(file: File, start: int, stop: int) -> bool:
    """The same for data at ``[start, stop)`` of a file, block by block."""
    total = 0
    at = start
    while at < stop:
        data = file.read_at(at, min(BLOCK, stop - at))
        if not data:
            return False
        total = extend(total, data)
        at += len(data)
    footer = file.read_at(stop, FOOTER)
    return len(footer) == FOOTER and mask(total) == _footer(footer)[0]


def find_headers(data: bytes) -> Iterator[int]:
    """The offsets of valid headers in `data` of records no longer than RECORD_CAP.

    The upper half of a length is zero and its CRC is not, so only the ends of four or more zero bytes are
    tested.
    """
    buffer = np.frombuffer(data, np.uint8)
    if len(buffer) < HEADER or not buffer.any():
        return
    zero = buffer == 0
    pairs = zero[:-1] & zero[1:]
    fours = pairs[:-2] & pairs[2:]
    count = len(buffer) - HEADER + 1
    candidates = fours[4 : 4 + count] & ~fours[8 : 8 + count]
    for position in np.flatnonzero(candidates & (buffer[3 : 3 + count] <= RECORD_CAP >> 24)).tolist():
        if record_length(data, position) >= 0:
            yield position


def find_record(file: File, at: int, stop: int) -> tuple[int | None, int]:
    """The first offset in ``[at, stop)`` of a complete, intact record, and the offset tested so far."""
    size = file.size()
    while at < stop:
        data = file.read_at(at, BLOCK)
        for position in find_headers(data):
            length = record_length(data, position)
            record = data[position : position + length + FRAME]
            if len(record) < length + FRAME:
                if at + position + length + FRAME > size:
                    continue
                record = file.read_at(at + position, length + FRAME)
                if len(record) < length + FRAME:
                    continue
            if data_intact(record, HEADER, HEADER + length):
                return at + position, at + position
        if len(data) < HEADER:
            break
        at += len(data) - HEADER + 1
    return None, min(at, stop)
