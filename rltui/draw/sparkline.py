"""Sparklines: a series in one line of cells, without hiding a one-step spike."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rltui.common.arrays import Floats, Ints, median
from rltui.common.named_tuple import NamedTuple
from rltui.draw.value_range import shares_of

BLOCKS = "▁▂▃▄▅▆▇"  # heights in a line of cells; a full block would touch the line above
_BLOCKS = np.array([ord(char) for char in BLOCKS], np.uint32)
_BLANK = ord(" ")
NON_FINITE = "×"  # a NaN or infinity was logged in this column


class Spark(NamedTuple):
    """A drawn sparkline: `text` is exactly as wide as asked; `marks` are the cells with non-finite values."""

    text: str
    marks: tuple[int, ...] = ()


def resampled(values: Sequence[float], cells: int) -> Floats:
    """Values of (n,) columns as (cells,) values: means if these are fewer, else repeated."""
    column = np.array(values, np.float64)
    edges = np.linspace(0, len(column), cells + 1)
    means = np.empty(cells)
    for at in range(cells):
        part = column[int(edges[at]) : max(int(np.ceil(edges[at + 1])), int(edges[at]) + 1)]
        part = part[np.isfinite(part)]
        means[at] = part.mean() if len(part) else np.nan
    return means


def sparkline(
    low: Floats,
    high: Floats,
    bottom: float,
    top: float,
    *,
    nonfinite: Ints | None = None,
    last: float = math.nan,
) -> Spark:
    """Columns as one line of cells.

    low, high: (n,) extremes per column, NaN where it has no values; bottom, top: the range of the line.
    nonfinite: (n,) number of NaN or infinite values in each column. last: the last value, which the last
    cell shows: a column may hold a peak and what came after it. The peak is then in the cell before.
    """
    finite = np.isfinite(low) & np.isfinite(high)
    cells = np.full(len(low), _BLANK, "<u4")
    if finite.any():
        shares = shares_of(_farther_extremes(low[finite], high[finite], last), bottom, top)
        cells[finite] = _BLOCKS[(shares * (len(_BLOCKS) - 1) + 0.5).astype(np.intp)]
    marks: tuple[int, ...] = ()
    if nonfinite is not None and nonfinite.any():
        at = np.flatnonzero(nonfinite)
        cells[at] = ord(NON_FINITE)
        marks = tuple(at.tolist())
    return Spark(cells.tobytes().decode("utf-32-le"), marks)


def _farther_extremes(low: Floats, high: Floats, last: float) -> Floats:
    """Of each column's finite minimum and maximum the one farther from the median of the columns, (n,).

    A mean per column would average a one-step spike away. last: in place of that of the last column, which
    the column before takes if it is farther than its own.
    """
    # halves: sums and differences of huge floats would overflow
    low_half, high_half = low / 2, high / 2
    centre = median(low_half / 2 + high_half / 2)
    found: Floats = np.where(high_half - centre >= centre - low_half, high, low)
    if math.isfinite(last) and len(found) > 1:
        if abs(found[-1] / 2 - centre / 2) > abs(found[-2] / 2 - centre / 2) and found[-1] != last:
            found[-2] = found[-1]
        found[-1] = last
    return found
