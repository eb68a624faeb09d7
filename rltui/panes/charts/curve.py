"""The curve of a row in the columns of a window, and the spread of its distribution.

Columns have extremes and means; gaps of the usual logging interval are bridged, larger ones kept. The x axis
of points that were all logged at one step is their order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import Floats, Ints, median
from rltui.draw.sparkline import Spark, sparkline
from rltui.draw.value_range import value_range
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.rows.row import Row
from rltui.store.points import Points
from rltui.store.series_columns import Columns, columns_of_points

if TYPE_CHECKING:
    from rltui.session.run_view import RunView
    from rltui.store.series import Series

ROUNDING = 1e-6  # relative distance of values that 32 bits may round to each other
DOTTED = 4  # columns of a dotted line, of which half are drawn
ARRIVALS = "arrivals"  # the x axis of points at one step: their order, from 1


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A row's curve in a window, (n,) columns; NaN in gaps."""

    low: Floats
    high: Floats
    mean: Floats
    nonfinite: Ints
    points: int = 0  # finite and non-finite points in the window
    own_axis: bool = False  # drawn over its own steps, not over the window's
    edges: tuple[float, float] = (0.0, 1.0)  # steps at the start of the first and the end of the last column
    second: int = 1  # the column of the points after the first ones
    last: float = math.nan  # the last finite value

    @property
    def has_values(self) -> bool:
        """Whether any of its values is finite."""
        return bool(np.isfinite(self.low).any())

    @property
    def range(self) -> tuple[float, float]:
        """Its finite extremes; (0, 0) without any."""
        return value_range(self.low, self.high)

    @property
    def middles(self) -> Floats:
        """The steps at the middle of its columns, (n,)."""
        edges: Floats = np.linspace(*self.edges, len(self.mean) + 1)
        return (edges[1:] + edges[:-1]) / 2

    @property
    def is_constant(self) -> bool:
        """Whether several points have one value, but for the rounding of 32 bits."""
        low, high = self.range
        return self.points > 1 and not self.nonfinite.any() and math.isclose(low, high, rel_tol=ROUNDING)

    def spark(self, ends: tuple[float, float] | None = None) -> Spark:
        """The curve in one line of n cells, over its own range or between two values.

        Over its own range a thin one if it is constant.
        """
        if ends is None and self.is_constant:
            known = np.flatnonzero(np.isfinite(self.low))
            cells = int(known[-1]) + 1 if len(known) else 0
            return Spark("─" * cells + " " * (len(self.low) - cells))
        bottom, top = self.range if ends is None else ends
        return sparkline(self.low, self.high, bottom, top, nonfinite=self.nonfinite, last=self.last)


def curve(row: Row, window: StepWindow, columns: int) -> Curve | None:
    """The curve of a row in the columns of the window; None without points there."""
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
    with_points = total.nonzero()[0]
    filled = bridge(total)
    gap = filled < 0
    between = ((filled != np.arange(columns)) & ~gap).nonzero()[0]
    if len(between):
        low, high, mean = low[filled], high[filled], mean[filled]
        # Straight lines between points, but not to or from NaN.
        line = np.interp(between, with_points, np.where(cut.count > 0, cut.mean, math.nan)[with_points])
        for values in (low, high, mean):
            values[between] = line
    for values in (low, high, mean):
        values[gap] = math.nan
    second = int(with_points[1]) if len(with_points) > 1 else 1
    finite = cut.count.nonzero()[0]
    last_value = float(cut.last[finite[-1]]) if len(finite) else math.nan
    nonfinite = np.asarray(cut.nonfinite, np.int64)
    return Curve(low, high, mean, nonfinite, points, row.own_axis, edges, second, last_value)


def bridge(count: Ints) -> Ints:
    """For each column the column whose values it shows, -1 in a gap: (n,) counts to (n,) indices.

    A metric that is logged every few steps leaves columns empty, which show those before them. From twice the
    median distance on, empty columns are a gap.
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
    """Whether a series has several points, all at one step: its writer does not count steps."""
    return series.count > 1 and series.first_step == series.last_step


def run_at_one_step(view: RunView) -> bool:
    """Whether all points of a run are at one step, and some series has several."""
    span = view.run.span
    return span is not None and span[0] == span[1] and any(map(at_one_step, view.run.series.values()))


def arrivals(series: Series, low: float, high: float, columns: int) -> Columns:
    """The `low`-th to `high`-th point, from 1, in so many columns, as far as they are in the exact window."""
    recent = series.recent()
    position = np.arange(len(recent)) + series.count - len(recent) + 1
    return columns_of_points(Points(position, recent.wall_time, recent.value), low, high, columns)


# ---- spread

ColumnsOf = Callable[["Series"], Columns]  # a series in the columns of the curve


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """(n,) ends in each column, NaN where unknown; `words` is their kind: `min–max`, `±std`.

    That of sister runs has their number and the median of their values.
    """

    words: str
    low: Floats
    high: Floats
    runs: int = 0
    median: Floats | None = None

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and highest end."""
        return value_range(self.low, self.high)

    @property
    def dotted_median(self) -> Floats | None:
        """The median with the gaps of a dotted line."""
        if self.median is None:
            return None
        dotted = self.median.copy()
        dotted[DOTTED // 2 :: DOTTED] = dotted[DOTTED // 2 + 1 :: DOTTED] = math.nan
        return dotted

    def seen(self, bottom: float, top: float, *, held: bool = False) -> bool:
        """Whether an end is between two values in enough columns for the spread to be recognised as a band.

        `held`: it was shown before; a lower threshold then keeps it from alternating.
        """
        with np.errstate(invalid="ignore"):
            known = np.isfinite(self.low) & np.isfinite(self.high)
            inside = known & ((self.low > bottom) | (self.high < top))
        return bool(known.any()) and int(inside.sum()) >= (0.15 if held else 0.25) * int(known.sum())


def spread_kind(row: Row) -> str:
    """The statistics of a row's spread, such as `min–max`; empty for a single metric."""
    statistics = row.parts.keys()
    if "min" in statistics and "max" in statistics:
        return "min–max"
    if "std" in statistics:
        return "±std"
    return "mean–max" if "max" in statistics else "min–mean" if "min" in statistics else ""


def spread(row: Row, mean: Floats, columns_of_series: ColumnsOf) -> Spread | None:
    """The spread in the columns of a curve, None for a single metric; mean: (n,) values of the curve."""
    kind = spread_kind(row)
    if not kind:
        return None
    if kind == "±std":
        columns = columns_of_series(row.parts["std"])
        std = _with_bridged_gaps(columns.mean, columns.count)
        return Spread(kind, mean - std, mean + std)
    low = high = mean
    if "min" in row.parts:
        columns = columns_of_series(row.parts["min"])
        low = _with_bridged_gaps(columns.low, columns.count)
    if "max" in row.parts:
        columns = columns_of_series(row.parts["max"])
        high = _with_bridged_gaps(columns.high, columns.count)
    return Spread(kind, low, high)


def _with_bridged_gaps(values: Floats, count: Ints) -> Floats:
    """Values per column, (n,), interpolated where `bridge` fills columns; NaN in gaps."""
    known = (count > 0) & np.isfinite(values)
    there = known.nonzero()[0]
    if not len(there) or len(there) == there[-1] - there[0] + 1:
        return np.where(known, values, math.nan)
    line = np.interp(np.arange(len(values)), there, values[there])
    return np.where(bridge(count) >= 0, line, math.nan)
