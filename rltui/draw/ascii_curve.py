"""A curve of ASCII characters over several rows, three levels in each, with a spread behind it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Bools, Floats, Ints
from rltui.draw.sparkline import levels

_SIGNS = "_-'"  # the lower, middle and upper third of a cell


class AsciiCanvas:
    """`width` by `rows` cells, drawn on as `braille.Canvas` is: a column of values for a column of cells."""

    per_cell = 1  # columns of values

    def __init__(self, width: int, rows: int) -> None:
        self._cells = np.full((rows, width), ord(" "), np.uint32)
        self._owners = np.full((rows, width), -1, np.int8)
        self._series = -1  # the one drawn last
        self._band_cells: Bools = np.zeros((rows, width), np.bool_)

    def line(
        self,
        low: Floats,
        high: Floats,
        bottom: float,
        top: float,
        *,
        sign: str = "",
    ) -> None:
        """One series from its minimum to its maximum in each column: (n,) extremes, NaN stays empty.

        sign: what it is made of, where several share the canvas.
        """
        self._series += 1
        first, last = self._reach(low, high, bottom, top)
        for column in np.flatnonzero(last >= 0).tolist():
            start, stop = int(first[column]), int(last[column])
            if start // 3 == stop // 3:
                self._put(start // 3, column, sign or _SIGNS[(start % 3 + stop % 3) // 2])
                continue
            for row in range(start // 3, stop // 3 + 1):
                self._put(row, column, sign or "|")

    def draw_band(self, low: Floats, high: Floats, bottom: float, top: float) -> None:
        """Dots from `low` to `high` in what the line left free, every other cell."""
        first, last = self._reach(low, high, bottom, top)
        with np.errstate(invalid="ignore"):  # beyond the range is out of sight, not at its edge
            last[(low > top) | (high < bottom)] = -1
        for column in np.flatnonzero(last >= 0).tolist():
            for row in range(int(first[column]) // 3, int(last[column]) // 3 + 1):
                at = len(self._cells) - 1 - row
                if (row + column) % 2 and self._cells[at, column] == ord(" "):
                    self._cells[at, column], self._band_cells[at, column] = ord("."), True

    def band_cells(self) -> Bools:
        """(rows, width) the cells of the band."""
        return self._band_cells

    def lines(self) -> list[str]:
        """The rows as text, from the top."""
        return ["".join(map(chr, row)) for row in self._cells.tolist()]

    def owners(self) -> NDArray[np.int8]:
        """(rows, width) index of the series that owns each cell, -1 where blank."""
        return self._owners

    def _put(self, row: int, column: int, sign: str) -> None:
        at = len(self._cells) - 1 - row, column
        self._cells[at], self._owners[at] = ord(sign), self._series

    def _reach(self, low: Floats, high: Floats, bottom: float, top: float) -> tuple[Ints, Ints]:
        """First and last third of a cell, from the bottom, in each column; -1 where there is nothing."""
        count = 3 * len(self._cells)
        width = self._cells.shape[1]
        first, last = (levels(ends[:width], bottom, top, count) for ends in (low, high))
        none = (first < 0) | (last < 0)
        first[none], last[none] = 0, -1
        return first, last
