"""CRC-32C as event files carry it: masked, over each record's length and over its data."""

from __future__ import annotations

from functools import cache

import google_crc32c
import numpy as np
from numpy.typing import NDArray

SHORT = 256  # record lengths below this have their checksums in a table

_POLYNOMIAL = 0x82F63B78  # Castagnoli, reflected
_DELTA = 0xA282EAD8  # TFRecord's mask: rotate right by 15 and add, so that CRCs of CRCs stay useful

# The four bytes (little-endian) that have the CRC of nothing. Any bytes followed by their own CRC XOR this
# have the CRC of nothing, too, and what follows then has the CRC that it has alone.
NEUTRAL = 0x9BE09BAB


def masked(data: bytes) -> int:
    """The masked CRC-32C of `data`, as it stands in the file."""
    crc: int = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + _DELTA) & 0xFFFFFFFF


def extend(crc: int, data: bytes) -> int:
    """The unmasked CRC of what `crc` stands for with `data` behind it; 0 stands for nothing yet."""
    return int(google_crc32c.extend(crc, data))


def unmasked(stored: int) -> int:
    """The CRC-32C that a masked, stored one stands for."""
    crc = (stored - _DELTA) & 0xFFFFFFFF
    return (crc >> 17 | crc << 15) & 0xFFFFFFFF


def unmasked_column(stored: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The same for a column."""
    crc = stored - np.uint32(_DELTA)
    return (crc >> np.uint32(17)) | (crc << np.uint32(15))


def masked_column(crc: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The masked form of finished CRCs, elementwise."""
    return ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(_DELTA)


@cache
def _byte_effects() -> NDArray[np.uint32]:
    """(8, 256) uint32: what byte b, followed by p more bytes of data, adds to a CRC, at ``[p, b]``."""
    row = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        row = np.where(row & 1, (row >> np.uint32(1)) ^ np.uint32(_POLYNOMIAL), row >> np.uint32(1))
    rows = [row]
    for _ in range(7):
        rows.append((rows[-1] >> np.uint32(8)) ^ row[rows[-1] & 0xFF])
    return np.stack(rows)


def of_lengths(length: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The masked CRCs of record lengths below 2**32, which files store as eight bytes, little-endian.

    A CRC is affine over GF(2): ``crc(a ^ b) == crc(a) ^ effect(b)`` for byte strings of one length. So one
    look-up for each byte that is not zero gives the CRCs of a whole column.
    """
    effects = _byte_effects()
    crc = np.full(length.shape, google_crc32c.value(bytes(8)), np.uint32)
    for i in range(4):
        crc ^= effects[7 - i][(length >> np.uint32(8 * i)) & np.uint32(0xFF)]
    return masked_column(crc)


OF_SHORT_LENGTHS: tuple[int, ...] = tuple(masked(n.to_bytes(8, "little")) for n in range(SHORT))
