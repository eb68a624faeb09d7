"""A braille canvas: two by four dots in each cell, several series over each other.

The dots of a cell are bits of one code point (U+2800 plus the bits); a blank cell is sent as a space,
one byte instead of three.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Bits of the four dots of a cell's left and right column, from the bottom dot upwards.
_LEFT = np.array([0x40, 0x04, 0x02, 0x01], np.uint8)
_RIGHT = np.array([0x80, 0x20, 0x10, 0x08], np.uint8)


class Canvas:
    """`width` by `rows` cells; series are drawn in order, the later one owns a cell that both touch."""

    def __init__(self, width: int, rows: int) -> None:
        self.width, self.rows = width, rows
        self._bits: NDArray[np.uint8] = np.zeros((rows, width), np.uint8)
        self._owner: NDArray[np.int8] = np.full((rows, width), -1, np.int8)
        self._series = 0

    def line(
        self,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        bottom: float,
        top: float,
        *,
        connect: bool = True,
    ) -> int:
        """Draw one series, return its index: (n,) extremes per dot column, n <= 2 x width, NaN stays empty.

        Each dot column is filled from its minimum to its maximum; with `connect` also to meet its
        neighbour, so that a steep curve is a line and not a cloud.
        """
        height = 4 * self.rows
        columns = 2 * self.width
        first = np.full(columns, height, np.int64)
        last = np.full(columns, -1, np.int64)
        with np.errstate(invalid="ignore", over="ignore"):
            half = top / 2 - bottom / 2
            finite = np.isfinite(low) & np.isfinite(high)
            if half > 0:
                low_at = np.clip((low / 2 - bottom / 2) / half, 0, 1) * (height - 1)
                high_at = np.clip((high / 2 - bottom / 2) / half, 0, 1) * (height - 1)
            else:
                low_at = high_at = np.full(len(low), (height - 1) / 2)
        at = np.flatnonzero(finite[:columns])
        first[at] = np.floor(low_at[at] + 0.5)
        last[at] = np.floor(high_at[at] + 0.5)
        if connect and len(at) > 1:
            joined = at[1:][np.diff(at) == 1]
            before_low, before_high = first[joined - 1], last[joined - 1]
            first[joined] = np.minimum(first[joined], np.minimum(before_high + 1, height - 1))
            last[joined] = np.maximum(last[joined], np.maximum(before_low - 1, 0))
        level = np.arange(height)[:, None]
        dots = (level >= first) & (level <= last)  # (height, columns), row 0 at the bottom
        cells = dots.reshape(self.rows, 4, self.width, 2)
        bits = np.einsum("rdw,d->rw", cells[..., 0], _LEFT) + np.einsum("rdw,d->rw", cells[..., 1], _RIGHT)
        bits = bits.astype(np.uint8)[::-1]
        self._bits |= bits
        self._owner[bits != 0] = self._series
        self._series += 1
        return self._series - 1

    def lines(self) -> list[str]:
        """The rows as text, from the top, each exactly `width` cells."""
        codes = np.where(self._bits == 0, 0x20, self._bits.astype(np.uint32) + 0x2800).astype("<u4")
        return [row.tobytes().decode("utf-32-le") for row in codes]

    def owners(self) -> NDArray[np.int8]:
        """(rows, width) index of the series that owns each cell, -1 where blank."""
        return self._owner
