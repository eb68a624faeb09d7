"""The checksums of event files: masked CRC-32C of the length and of the data of each record."""

from __future__ import annotations

import google_crc32c
import numpy as np
from numpy.typing import NDArray

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
