"""A braille canvas: two by four dots in each cell, several series over each other.

The dots of a cell are bits of one code point (U+2800 plus the bits); a blank cell is sent as a space,
one byte instead of three.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Bits of the four dots of a cell's left and right column, from the bottom dot upwards.
_LEFT = (0x40, 0x04, 0x02, 0x01)
_RIGHT = (0x80, 0x20, 0x10, 0x08)


def _fills(bits: tuple[int, ...]) -> NDArray[np.uint8]:
    """(25,) bits of a dot column that is filled from dot `start` up to below `stop`, at 5 * start + stop."""
    return np.array([sum(bits[i:j]) if i < j else 0 for i in range(5) for j in range(5)], np.uint8)


_LEFT_FILL, _RIGHT_FILL = _fills(_LEFT), _fills(_RIGHT)
_CODES = np.array([0x20, *range(0x2801, 0x2900)], "<u4")  # a blank is a space
_VEIL = np.uint8(_LEFT[0] | _RIGHT[2])  # two dots of eight: clearly no line


class Canvas:
    """`width` by `rows` cells; series are drawn in order, the later one owns a cell that both touch."""

    def __init__(self, width: int, rows: int) -> None:
        self.width, self.rows = width, rows
        self._bits: NDArray[np.uint8] = np.zeros((rows, width), np.uint8)
        self._owner: NDArray[np.int8] = np.full((rows, width), -1, np.int8)
        self._veil: NDArray[np.uint8] | None = None
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
        first, last, finite = self._reach(low, high, bottom, top)
        height, columns, known = 4 * self.rows, 2 * self.width, len(finite)
        if connect and known > 1:
            both = np.zeros(columns - 1, np.bool_)
            both[: known - 1] = finite[1:] & finite[:-1]
            up = np.where(both, np.minimum(last[:-1] + 1, height - 1), height)
            down = np.where(both, np.maximum(first[:-1] - 1, 0), -1)
            np.minimum(first[1:], up, out=first[1:])
            np.maximum(last[1:], down, out=last[1:])
        bits = self._filled(first, last)
        self._bits |= bits
        self._owner[bits != 0] = self._series
        self._series += 1
        return self._series - 1

    def veil(self, low: NDArray[np.float64], high: NDArray[np.float64], bottom: float, top: float) -> None:
        """A thin pattern from `low` to `high`, (n,) per dot column; it gives way where lines are drawn."""
        first, last, _ = self._reach(low, high, bottom, top)
        with np.errstate(invalid="ignore"):  # what lies beyond the range is out of sight, not at its edge
            out = np.flatnonzero((low[: 2 * self.width] > top) | (high[: 2 * self.width] < bottom))
        first[out], last[out] = 4 * self.rows, -1
        self._veil = self._filled(first, last) & _VEIL

    def veiled(self) -> NDArray[np.bool_]:
        """(rows, width) the cells in which only the veil is seen."""
        if self._veil is None:
            return np.zeros((self.rows, self.width), np.bool_)
        seen: NDArray[np.bool_] = (self._veil != 0) & (self._bits == 0)
        return seen

    def _reach(
        self, low: NDArray[np.float64], high: NDArray[np.float64], bottom: float, top: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """The first and last dot, from the bottom, of each dot column; and which of them (n,) are known."""
        height, columns = 4 * self.rows, 2 * self.width
        low, high = low[:columns], high[:columns]
        with np.errstate(invalid="ignore", over="ignore"):
            finite = np.isfinite(low) & np.isfinite(high)
            half = top / 2 - bottom / 2  # halves: the difference of two huge floats would overflow
            if half > 0:
                # Values outside the range are drawn at its edge.
                scale = height - 1
                levels = np.stack((low, high))
                levels /= 2
                levels -= bottom / 2
                levels /= half
                np.minimum(np.maximum(levels, 0.0, out=levels), 1.0, out=levels)
                levels *= scale
                levels += 0.5
            else:
                levels = np.full((2, len(low)), height / 2)
        first = np.full(columns, height, np.int64)
        last = np.full(columns, -1, np.int64)
        levels[:, ~finite] = 0.0
        cells = levels.astype(np.int64)  # rounds down: all are positive
        first[: len(low)] = np.where(finite, cells[0], height)
        last[: len(low)] = np.where(finite, cells[1], -1)
        return first, last, finite

    def _filled(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.uint8]:
        """(rows, width) bits of cells whose dot columns are filled from `first` to `last`."""
        base = np.arange(4 * self.rows - 4, -1, -4)[:, None]  # of each row of cells, from the top
        start = np.minimum(np.maximum(first - base, 0), 4)
        stop = np.minimum(np.maximum(last + 1 - base, 0), 4)
        start *= 5
        start += stop
        bits: NDArray[np.uint8] = _LEFT_FILL[start[:, 0::2]] | _RIGHT_FILL[start[:, 1::2]]
        return bits

    def lines(self) -> list[str]:
        """The rows as text, from the top, each exactly `width` cells."""
        bits = self._bits if self._veil is None else np.where(self._bits, self._bits, self._veil)
        text = _CODES[bits].tobytes().decode("utf-32-le")
        return [text[at : at + self.width] for at in range(0, len(text), self.width)] if self.width else []

    def owners(self) -> NDArray[np.int8]:
        """(rows, width) index of the series that owns each cell, -1 where blank."""
        return self._owner
