"""Sparklines: one line of cells that shows where a series has been, without hiding a one-step spike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.common.named_tuple import NamedTuple

_BLOCKS = np.array([ord(char) for char in "▁▂▃▄▅▆▇"], np.uint32)  # a full block would touch the line above
_BLANK = ord(" ")
NON_FINITE = "×"  # a NaN or infinity was logged in this column


class Spark(NamedTuple):
    """A drawn sparkline: `text` is exactly as wide as asked; `marks` are the cells with non-finite values."""

    text: str
    marks: tuple[int, ...] = ()


def extremes(low: Floats, high: Floats) -> Floats:
    """Of each column's minimum and maximum the one farther from the middle of the window, shape (width,).

    A mean per column would average a one-step spike away; the extreme keeps it.
    """
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(low) & np.isfinite(high)
        if not finite.any():
            return np.full(len(low), np.nan)
        # halves throughout: sums and differences of huge floats would overflow
        low_half, high_half = low / 2, high / 2
        middles = np.sort(low_half[finite] / 2 + high_half[finite] / 2)
        centre = middles[(len(middles) - 1) // 2] / 2 + middles[len(middles) // 2] / 2
        return np.where(finite, np.where(high_half - centre >= centre - low_half, high, low), np.nan)


def levels(values: Floats, bottom: float, top: float, count: int) -> Ints:
    """Values as levels 0..count-1 of the range, -1 where there is none. A flat range draws in the middle."""
    with np.errstate(invalid="ignore", over="ignore"):
        half = top / 2 - bottom / 2  # halves: the difference of two huge floats would overflow
        if not half > 0:
            scaled = np.where(np.isfinite(values), (count - 1) // 2, -1.0)
        else:
            part = (values / 2 - bottom / 2) / half
            scaled = np.where(np.isfinite(part), np.floor(np.clip(part, 0, 1) * (count - 1) + 0.5), -1.0)
    return scaled.astype(np.int64)


def stretched(values: Sequence[float], cells: int) -> Floats:
    """Values of (n,) columns in so many cells: means where there are fewer cells, repeated where more."""
    column = np.array(values, np.float64)
    edges = np.linspace(0, len(column), cells + 1)
    found = np.empty(cells)
    for at in range(cells):
        part = column[int(edges[at]) : max(int(np.ceil(edges[at + 1])), int(edges[at]) + 1)]
        part = part[np.isfinite(part)]
        found[at] = part.mean() if len(part) else np.nan
    return found


def sparkline(
    low: Floats,
    high: Floats,
    bottom: float,
    top: float,
    *,
    nonfinite: Ints | None = None,
) -> Spark:
    """Columns as one line of cells.

    low, high: (n,) extremes per column, NaN where there is nothing; bottom, top: the range of the line.
    nonfinite: (n,) how many NaN or infinite values each column holds.
    """
    level = levels(extremes(low, high), bottom, top, len(_BLOCKS))
    cells = np.where(level < 0, _BLANK, _BLOCKS[np.maximum(level, 0)]).astype("<u4")
    marks: tuple[int, ...] = ()
    if nonfinite is not None and nonfinite.any():
        at = np.flatnonzero(nonfinite)
        cells[at] = ord(NON_FINITE)
        marks = tuple(int(column) for column in at)
    return Spark(cells.tobytes().decode("utf-32-le"), marks)
