"""A braille canvas: two by four dots in each cell, several series over each other.

The dots of a cell are bits of one code point (U+2800 plus the bits); a blank cell is sent as a space,
one byte instead of three.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Bools, Floats, Ints
from rltui.draw.symbols import BAND_DOTS
from rltui.draw.value_range import shares_of

PER_CELL = 2  # columns of values
# Bits of the four dots of a cell's left and right column, from the bottom dot upwards.
_LEFT = (0x40, 0x04, 0x02, 0x01)
_RIGHT = (0x80, 0x20, 0x10, 0x08)


def _fills(bits: tuple[int, ...]) -> NDArray[np.uint8]:
    """(25,) bits of a dot column that is filled from dot `start` to before `stop`, at 5 * start + stop."""
    return np.array([sum(bits[i:j]) if i < j else 0 for i in range(5) for j in range(5)], np.uint8)


_LEFT_FILL, _RIGHT_FILL = _fills(_LEFT), _fills(_RIGHT)
_CODES = np.array([0x20, *range(0x2801, 0x2900)], "<u4")  # a blank is a space


@lru_cache(maxsize=64)
def _empty_ends(height: int) -> Floats:
    """(2, 1) first and last dot of a column in which nothing is drawn."""
    return np.array([[height], [-1.0]])


@lru_cache(maxsize=64)
def _bases(rows: int) -> Ints:
    """(2, rows, 1) lowest dot of each row of cells, from the top, and the dot below it."""
    base = np.arange(4 * rows - 4, -1, -4)[:, None]
    return np.stack((base, base - 1))


class Canvas:
    """`width` by `rows` cells; series are drawn in order, the later one owns a cell that both touch."""

    def __init__(self, width: int, rows: int) -> None:
        self.width, self.rows = width, rows
        self._layers: list[NDArray[np.uint8]] = []  # (rows, width) bits, one for each series
        self._band: NDArray[np.uint8] | None = None

    def line(self, low: Floats, high: Floats, bottom: float, top: float) -> None:
        """Draw one series: (n,) extremes per dot column, n <= 2 x width; NaN leaves a gap.

        Each dot column is filled from its minimum to its maximum and up to its neighbour, so that a steep
        curve is connected.
        """
        ends, finite = self._column_ends(low, high, bottom, top)
        if len(finite) > 1:
            both = finite[1:] & finite[:-1]
            first, last = ends[:, 1 : len(finite)]
            before, after = ends[:, : len(finite) - 1]
            up, down = after + 1, before - 1
            np.minimum(first, up, out=first, where=both)
            np.maximum(last, down, out=last, where=both)
        self._layers.append(self._filled(ends))

    def draw_band(self, low: Floats, high: Floats, bottom: float, top: float) -> None:
        """Draw a thin pattern from `low` to `high`, (n,) per dot column, in cells without lines."""
        ends, _ = self._column_ends(low, high, bottom, top)
        with np.errstate(invalid="ignore"):  # a band beyond the range is not drawn at its edge
            out = np.flatnonzero((low[: 2 * self.width] > top) | (high[: 2 * self.width] < bottom))
        ends[:, out] = _empty_ends(4 * self.rows)
        self._band = self._filled(ends) & np.uint8(BAND_DOTS)

    def band_cells(self) -> Bools:
        """(rows, width) the cells in which only the band is visible."""
        if self._band is None:
            return np.zeros((self.rows, self.width), np.bool_)
        seen: Bools = (self._band != 0) & (self._bits() == 0)
        return seen

    def _column_ends(self, low: Floats, high: Floats, bottom: float, top: float) -> tuple[Ints, Bools]:
        """(2, columns) first and last dot, from the bottom, of each dot column; and which (n,) are finite.

        Values outside the range are drawn at its edge.
        """
        height, columns = 4 * self.rows, 2 * self.width
        values = np.array((low[:columns], high[:columns]))
        finite: Bools = np.logical_and.reduce(np.isfinite(values))
        levels = shares_of(values, bottom, top)
        levels *= height - 1
        levels += 0.5
        empty = _empty_ends(height)
        known = np.where(finite, levels, empty).astype(np.int64)  # rounds down: all are positive
        if len(finite) == columns:
            return known, finite
        ends = np.empty((2, columns), np.int64)
        ends[:, : len(finite)] = known
        ends[:, len(finite) :] = empty
        return ends, finite

    def _filled(self, ends: Ints) -> NDArray[np.uint8]:
        """(rows, width) bits of cells whose dot columns are filled between `ends`, (2, columns)."""
        cells = ends[:, None, :] - _bases(self.rows)
        start, stop = np.minimum(np.maximum(cells, 0, out=cells), 4, out=cells)
        start *= 5
        start += stop
        bits: NDArray[np.uint8] = _LEFT_FILL[start[:, 0::2]] | _RIGHT_FILL[start[:, 1::2]]
        return bits

    def _bits(self) -> NDArray[np.uint8]:
        """(rows, width) bits of all series together."""
        if not self._layers:
            return np.zeros((self.rows, self.width), np.uint8)
        bits, *others = self._layers
        for layer in others:
            bits = bits | layer
        return bits

    def lines(self) -> list[str]:
        """The rows as text, from the top, each exactly `width` cells wide."""
        bits = self._bits()
        if self._band is not None:
            bits = np.where(bits, bits, self._band)
        text = _CODES[bits].tobytes().decode("utf-32-le")
        return [text[at : at + self.width] for at in range(0, len(text), self.width)] if self.width else []

    def owners(self) -> NDArray[np.int8]:
        """(rows, width) index of the last series drawn in each cell, -1 where it is blank."""
        owner = np.full((self.rows, self.width), -1, np.int8)
        for index, layer in enumerate(self._layers):
            owner[layer != 0] = index
        return owner
