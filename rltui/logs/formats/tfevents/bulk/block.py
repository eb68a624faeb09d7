"""A block of a file for numpy: gathers of a few bytes at thousands of offsets, and columns of varints."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

PAD = 256  # bytes before and after the block, so that gathers near its edges stay within the buffer

Positions = NDArray[np.intp]
Words = NDArray[np.uint64]

_U64 = np.uint64
_KEPT_BY_MALLOC = 8 << 20  # bytes; more than all temporary columns of one block


class _Buffer(threading.local):
    """One buffer per reading thread, reused for each block.

    With a new array for each block, a million scalars take 0.30 s instead of 0.09: the megabytes of each
    block are returned to the kernel and faulted in again page by page.
    """

    def __init__(self) -> None:
        # After one large piece is freed, glibc keeps pieces up to its size for reuse.
        np.empty(_KEPT_BY_MALLOC, np.uint8)
        self.bytes = np.zeros(0, np.uint8)


_BUFFER = _Buffer()


class Block:
    """Bytes of a file between PAD arbitrary bytes. Byte i is at PAD + i."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)
        if len(_BUFFER.bytes) < self.size + 2 * PAD:
            _BUFFER.bytes = np.zeros(self.size + 2 * PAD + 4096, np.uint8)
        self.bytes = _BUFFER.bytes
        self.bytes[PAD : PAD + self.size] = np.frombuffer(data, np.uint8)
        self.bytes[PAD + self.size : PAD + self.size + 64] = 0xFF  # no valid header after the end

    def gather(self, at: Positions, width: int) -> NDArray[np.uint8]:
        """(n, width) uint8: `width` bytes from each offset in the block, down to -PAD.

        About 3 ns each for up to 64 bytes.
        """
        return windows(self.bytes, width)[at + PAD].view(np.uint8).reshape(-1, width)

    def words(self, at: Positions, width: int) -> Words:
        """(n, width / 8) uint64: the same as little-endian words."""
        return self.gather(at, width).view("<u8")


def windows(content: NDArray[np.uint8], width: int) -> NDArray[Any]:
    """All windows of `width` bytes of `content`, by offset, for reading or writing.

    An unstructured void type has no alignment, so windows may overlap and numpy copies each with one move.
    """
    return np.ndarray((len(content) - width + 1,), np.dtype((np.void, width)), content, 0, (1,))


def varints(word: Words) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Varints of up to seven bytes that start at the second byte of each word.

    Returns values and lengths in bytes (8 for longer varints, whose value is undefined).

    A varint ends at its first byte without the top bit. The lowest clear top bit marks the end; everything
    above it is masked out. Groups of 7 bits are then joined in three folds: pairs to 14 bits, pairs of pairs
    to 28, and those to 56, as far as the longest varint needs them.
    """
    encoded = word >> _U64(8)
    clear = ~encoded & _U64(0x0080808080808080)
    end = clear & (~clear + _U64(1))
    encoded &= (end << _U64(1)) - _U64(1)
    value = encoded & _U64(0x007F7F7F7F7F7F7F)
    longest = int(encoded.max(initial=0))
    value = (value & _U64(0x007F007F007F007F)) | ((value & _U64(0x00007F007F007F00)) >> _U64(1))
    if longest >> 16:
        value = (value & _U64(0x00003FFF00003FFF)) | ((value & _U64(0x3FFF00003FFF0000)) >> _U64(2))
    if longest >> 32:
        value = (value & _U64(0x000000000FFFFFFF)) | ((value & _U64(0x0FFFFFFF00000000)) >> _U64(4))
    length = (np.bitwise_count(end - _U64(1)) + np.uint8(1)) >> np.uint8(3)
    return value.view(np.int64), length.astype(np.intp)
