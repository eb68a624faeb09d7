"""The curve of a row in the columns of a window: extremes and means, usual gaps bridged, real ones kept."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rltui.panes.row import Row
from rltui.panes.single_step import arrivals, at_one_step
from rltui.panes.step_window import StepWindow
from rltui.rules.evaluate.robust_statistics import median


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A row's curve in a window, (n,) columns; NaN where nothing was logged and no usual gap was bridged."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    mean: NDArray[np.float64]
    nonfinite: NDArray[np.int64]
    points: int = 0  # finite and non-finite points in the window
    own_axis: bool = False  # drawn over its own steps, not over the window's
    edges: tuple[float, float] = (0.0, 1.0)  # steps at the first and behind the last column


def curve(row: Row, window: StepWindow, columns: int) -> Curve | None:
    """The curve of a row, at the window's column edges; None when it has no points there."""
    main = row.main
    if main is None or columns < 1 or not main.count:
        return None
    first, last = main.first_step or 0, main.last_step or 0
    if row.own_axis:
        if row.at_step is not None:
            last = min(last, row.at_step)
        if last < first:
            return None
        window = StepWindow(float(first), float(last), window.growing)
    edges = window.edges(columns)
    if at_one_step(main):
        edges = (1.0, float(main.count))
        cut = arrivals(main, *edges, columns)
    else:
        cut = main.columns(*edges, columns)
    total = cut.count + cut.nonfinite
    points = int(total.sum())
    if not points:
        return None
    low, high, mean = cut.low, cut.high, cut.mean
    filled = bridge(total)
    gap = filled < 0
    between = ((filled != np.arange(columns)) & ~gap).nonzero()[0]
    if len(between):
        there = total.nonzero()[0]
        low, high, mean = low[filled], high[filled], mean[filled]
        # From point to point in a straight line: none leads to what is NaN, or on from there.
        line = np.interp(between, there, np.where(cut.count > 0, cut.mean, math.nan)[there])
        for values in (low, high, mean):
            values[between] = line
    for values in (low, high, mean):
        values[gap] = math.nan
    # A column that was bridged shows no event of its neighbour.
    return Curve(low, high, mean, np.asarray(cut.nonfinite, np.int64), points, row.own_axis, edges)


def bridge(count: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each column the column whose values it shows, -1 for a gap: (n,) counts to (n,) indices.

    A metric that is logged every few steps leaves empty columns in between. A gap
    of twice the usual distance is a gap and stays one.
    """
    there = count.nonzero()[0]
    if not len(there):
        return np.full(len(count), -1)
    index = np.arange(len(count))
    if there[-1] - there[0] + 1 == len(there):  # no gaps inside
        index[: there[0]] = index[there[-1] + 1 :] = -1
        return index
    usual = int(median(np.diff(there))) if len(there) > 1 else 1
    last = np.maximum.accumulate(np.where(count > 0, index, -1))
    shown = np.where((last >= 0) & (index - last < 2 * usual), last, -1)
    shown[index > there[-1]] = -1
    return shown
