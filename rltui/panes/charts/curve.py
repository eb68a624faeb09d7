"""The curve of a row in the columns of a window, and the spread of its distribution behind it.

Columns have extremes and means; usual gaps are bridged, real ones kept. Points that were all logged at one
step would be a single stroke over steps: their order is drawn instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import Floats, Ints, median
from rltui.common.data_class import dataclass
from rltui.draw.value_range import value_range
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.rows.row import Row
from rltui.store.columns import Columns, columns_of_points
from rltui.store.points import Points

if TYPE_CHECKING:
    from rltui.session.run_view import RunView
    from rltui.store.series import Series

ARRIVALS = "arrivals"  # the x axis of points at one step: they are counted from 1


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A row's curve in a window, (n,) columns; NaN where nothing was logged and no usual gap was bridged."""

    low: Floats
    high: Floats
    mean: Floats
    nonfinite: Ints
    points: int = 0  # finite and non-finite points in the window
    own_axis: bool = False  # drawn over its own steps, not over the window's
    edges: tuple[float, float] = (0.0, 1.0)  # steps at the first and behind the last column
    second: int = 1  # the column of the points after the first ones


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
    there = total.nonzero()[0]
    second = int(there[1]) if len(there) > 1 else 1
    return Curve(low, high, mean, np.asarray(cut.nonfinite, np.int64), points, row.own_axis, edges, second)


def bridge(count: Ints) -> Ints:
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


# ---- points at one step


def at_one_step(series: Series) -> bool:
    """Whether a series has several points, all of them at one step: its writer does not count steps."""
    return series.count > 1 and series.first_step == series.last_step


def run_at_one_step(view: RunView) -> bool:
    """Whether all of a run's points lie at one step, several of a tag at least."""
    span = view.run.span
    return span is not None and span[0] == span[1] and any(map(at_one_step, view.run.series.values()))


def arrivals(series: Series, low: float, high: float, columns: int) -> Columns:
    """The points `low` to `high`, counted from 1, of those still known exactly, in so many columns."""
    recent = series.recent()
    place = np.arange(len(recent)) + series.count - len(recent) + 1
    return columns_of_points(Points(place, recent.wall_time, recent.value), low, high, columns)


# ---- spread

Cut = Callable[["Series"], Columns]  # a series in the columns of the curve


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """(n,) ends in each column, NaN where unknown; `words` name them: `min–max`, `±std`."""

    words: str
    low: Floats
    high: Floats

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and highest end."""
        return value_range(self.low, self.high)

    def seen(self, bottom: float, top: float, *, held: bool = False) -> bool:
        """Whether its ends are in sight often enough, between two values, to be read as a band.

        Where they hardly ever are, everything would lie inside it. `held`: it was shown before, and goes only
        when it is clearly of no use.
        """
        with np.errstate(invalid="ignore"):
            known = np.isfinite(self.low) & np.isfinite(self.high)
            inside = known & ((self.low > bottom) | (self.high < top))
        return bool(known.any()) and int(inside.sum()) >= (0.15 if held else 0.25) * int(known.sum())


def words_of(row: Row) -> str:
    """What kind of spread a row has, empty for a single metric."""
    there = row.parts.keys()
    if "min" in there and "max" in there:
        return "min–max"
    if "std" in there:
        return "±std"
    return "mean–max" if "max" in there else "min–mean" if "min" in there else ""


def spread(row: Row, mean: Floats, cut: Cut) -> Spread | None:
    """The spread in the columns that `cut` makes, None for a single metric; mean: (n,) of those columns."""
    words = words_of(row)
    if not words:
        return None
    if words == "±std":
        found = cut(row.parts["std"])
        std = _joined(found.mean, found.count)
        return Spread(words, mean - std, mean + std)
    low = high = mean
    if "min" in row.parts:
        found = cut(row.parts["min"])
        low = _joined(found.low, found.count)
    if "max" in row.parts:
        found = cut(row.parts["max"])
        high = _joined(found.high, found.count)
    return Spread(words, low, high)


def _joined(values: Floats, count: Ints) -> Floats:
    """Values per column, (n,), with usual gaps bridged in straight lines; NaN in others."""
    known = (count > 0) & np.isfinite(values)
    there = known.nonzero()[0]
    if not len(there) or len(there) == there[-1] - there[0] + 1:
        return np.where(known, values, math.nan)
    line = np.interp(np.arange(len(values)), there, values[there])
    return np.where(bridge(count) >= 0, line, math.nan)
