"""The curves of a large chart: a metric, the same one in compared runs, other metrics on their own scales."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rltui.common.arrays import Bools, Floats, Ints
from rltui.common.named_tuple import NamedTuple
from rltui.draw.large_chart import Area, Stroke
from rltui.draw.value_range import value_range, widened
from rltui.panes.charts.compared_series import SIGNS
from rltui.panes.charts.curve import Spread, bridge, spread
from rltui.panes.charts.sister_band import sister_band
from rltui.panes.charts.value_axis import Extremes, log_of
from rltui.panes.rows.row import Row
from rltui.screen import run_list, shown_run
from rltui.screen.pages.chart.x_axis import XAxis, x_axis
from rltui.screen.shown_pane import added_rows
from rltui.screen.state import SMOOTHINGS, AppState, Range
from rltui.session.run_view import RunView
from rltui.store.series import Series
from rltui.store.series_columns import Columns

MAX_CURVES = len(SIGNS)  # on one chart
# By strength: how far a moving average may lag behind, as a share of the points.
_MAX_LAGS = (0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32)

MIN_AVERAGED_POINTS = 100
_LOG_FLOOR = -400.0  # zero and negative values on a logarithmic axis


@dataclass(slots=True)
class ChartCurve:
    """One curve: a series in columns, all (n,). `own`: whether it has a scale of its own.

    `sign` identifies it among several curves; empty for a single one.
    """

    label: str
    role: str
    sign: str
    unit: str
    series: Series
    x: Floats
    mean: Floats
    low: Floats
    high: Floats
    count: Ints
    smooth: Floats | None
    weight: float  # of the moving average
    points: int
    bad: Ints  # NaN and infinite values in each column
    own: bool = False
    spread: Spread | None = None  # of the distribution whose mean it is, or of sister runs

    @property
    def range(self) -> Range:
        """The lowest and highest value."""
        return value_range(self.low, self.high)

    @property
    def nonfinite(self) -> int:
        """How many values are NaN or infinite."""
        return int(self.bad.sum())

    def reach(self, *, log: bool) -> Extremes:
        """The extremes of its columns, decimal logarithms if `log`."""
        low, high = (log_of(self.low), log_of(self.high)) if log else (self.low, self.high)
        there = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
        return Extremes(low, high, int(there[1]) if len(there) > 1 else 1)

    def nearest(self, x: float) -> int | None:
        """The nearest column with a value, which may be NaN; None without any."""
        known = np.flatnonzero(np.isfinite(self.mean) | (self.bad > 0))
        return int(known[np.argmin(np.abs(self.x[known] - x))]) if len(known) else None


def ema(mean: Floats, count: Ints, weight: float) -> Floats:
    """A moving average over columns (n,), weighted by points and bias-corrected; NaN is skipped."""
    out = np.full(len(mean), math.nan)
    total = norm = 0.0
    for index in np.flatnonzero(np.isfinite(mean)):
        decay = weight ** int(count[index])
        total = total * decay + float(mean[index]) * (1 - decay)
        norm = norm * decay + (1 - decay)
        out[index] = total / norm if norm else mean[index]
    return out


def min_max_stroke(x: Floats, low: Floats, high: Floats, gap: Bools, role: str) -> Stroke:
    """A line through the minimum and maximum of each column; empty columns are skipped."""
    drawn = (np.isfinite(low) & np.isfinite(high)) | gap
    xs = np.repeat(x[drawn], 2)
    ys = np.column_stack((low[drawn], high[drawn])).reshape(-1)
    flat = np.column_stack((np.ones(drawn.sum(), bool), low[drawn] != high[drawn])).reshape(-1)
    return Stroke(xs[flat], ys[flat], role)


def weight_of(strength: int, points: int, smooth: bool) -> float:
    """The weight of a moving average over so many points, limited so that it does not visibly lag.

    Few points are not averaged.
    """
    if not smooth or points < MIN_AVERAGED_POINTS:
        return 0.0
    power = 1 << max(points.bit_length() - 3, 0)
    # Rounded: a weight that changes with each point redraws all.
    lag = points // power * power * _MAX_LAGS[strength]
    return min(SMOOTHINGS[strength], lag / (1 + lag))


def curves_of(
    state: AppState, row: Row, axis: XAxis, low: float, high: float, columns: int
) -> list[ChartCurve]:
    """The row's series, the same metric of compared runs, then other metrics of the run."""
    view, main = shown_run.run(state), row.main
    if view is None or main is None:
        return []
    found: list[tuple[int, str, XAxis, Series, Row, bool]] = [(0, view.name, axis, main, row, False)]
    runs = shown_run.compared_runs(state, view)
    for at, other in enumerate(runs, start=1):  # the sign of a run does not depend on other runs
        tag = view.tag_index.counterpart(row.tag, other.tag_index)
        its = x_axis(other, axis.axis)
        if tag is not None and its is not None:
            found.append((at, other.name, its, other.run.series[tag], row, False))
    beside = [one for one in added_rows(state, row) if one.main is not None]
    found += [
        (at, one.title, axis, one.main, one, True) for at, one in enumerate(beside, start=len(runs) + 1)
        if one.main is not None
    ]  # fmt: skip
    found = [one for one in found if one[0] < MAX_CURVES]
    made = []
    for index, label, its, series, one, own in found:
        x, cut = its.cut(series, low, high, columns)
        count = cut.count
        mean = np.where(count > 0, cut.mean, math.nan)
        weight = weight_of(state.smoothing, int(count.sum()), one.smooth)
        made.append(ChartCurve(
            label, f"series{index}", SIGNS[index] if len(found) > 1 else "", one.unit, series, x, mean,
            np.where(count > 0, cut.low, math.nan), np.where(count > 0, cut.high, math.nan),
            count, None, weight,
            int(count.sum() + cut.nonfinite.sum()), np.asarray(cut.nonfinite, np.int64), own,
        ))  # fmt: skip
    if made:
        made[0].spread = spread(row, made[0].mean, lambda one: axis.cut(one, low, high, columns)[1])
    if len(made) == 1 and made[0].spread is None:
        sisters = run_list.sisters(state, view, everywhere=True)
        made[0].spread = sister_band(_sister_cuts(view, row, axis, sisters, low, high, columns))
    return made


def _sister_cuts(
    view: RunView, row: Row, axis: XAxis, sisters: Sequence[RunView], low: float, high: float, columns: int
) -> Iterator[tuple[Floats, Columns]]:
    """The same metric of those sister runs that have the metric and the axis."""
    for sister in sisters:
        tag, its = view.tag_index.counterpart(row.tag, sister.tag_index), x_axis(sister, axis.axis)
        if tag is not None and its is not None:
            yield its.cut(sister.run.series[tag], low, high, columns)


def add_averages(found: Sequence[ChartCurve], *, log: bool, within: Range | None) -> None:
    """Add moving averages to curves, computed on the scale on which they are drawn.

    within: the range that is not cut off. Outliers would distort the average long after them.
    """
    for curve in found:
        if curve.weight:
            mean = log_of(curve.mean) if log else curve.mean
            if within is not None and not curve.own:
                with np.errstate(invalid="ignore"):
                    mean = np.where((mean < within[0]) | (mean > within[1]), math.nan, mean)
            average = ema(mean, curve.count, curve.weight)
            curve.smooth = 10.0**average if log else average


def common_range(found: Sequence[ChartCurve], *, log: bool) -> Range | None:
    """The range of curves on the common scale; None without finite points."""
    shared = [_ends(curve, log) for curve in found if not curve.own]
    known = [ends for ends in shared if ends is not None]
    return (min(ends[0] for ends in known), max(ends[1] for ends in known)) if known else None


def strokes(
    found: Sequence[ChartCurve], common: Range, *, log: bool, level: Callable[[float], Range]
) -> list[Stroke]:
    """The lines of curves, raw spreads first.

    Metrics on scales of their own are stretched over the common range, so that they share the chart. `level`
    is the axis round a single value, for where that range has no extent.
    """
    stretch = common if common[0] < common[1] else level(common[0])
    behind: list[Stroke] = []
    front: list[Stroke] = []
    for curve in found:
        own = _ends(curve, log) if curve.own else None

        def position(values: Floats, own: Range | None = own) -> Floats:
            values = log_of(values) if log else values
            return values if own is None else _stretched(values, own, stretch)

        if curve.spread is not None and curve.spread.median is not None:
            behind.append(Stroke(curve.x, position(curve.spread.median), "dim", dotted=True))
        gap = bridge(np.isfinite(curve.mean).astype(np.int64)) < 0
        smooth = None if curve.smooth is None else position(curve.smooth)
        raw = min_max_stroke(
            curve.x, position(curve.low), position(curve.high), gap, curve.role if smooth is None else "band"
        )
        if not curve.own or smooth is None:  # the spreads of added metrics would hide the rest
            (front if smooth is None else behind).append(
                raw._replace(sign=curve.sign) if smooth is None else raw
            )
        if smooth is not None:
            drawn = np.isfinite(smooth) | gap
            front.append(
                Stroke(curve.x[drawn], np.where(gap, math.nan, smooth)[drawn], curve.role, curve.sign)
            )
    # The metric of the chart is drawn last, on top.
    return [*behind, *reversed(front)]


class Outlier(NamedTuple):
    """A point outside of the chart: where it is, and its value."""

    x: float
    value: float
    above: bool


def outliers(found: Sequence[ChartCurve], y: Range, *, log: bool) -> list[Outlier]:
    """The points of curves on the common scale outside of a y range."""
    positions = []
    for curve in found:
        low, high, _ = curve.reach(log=log)
        with np.errstate(invalid="ignore"):
            for values, ends, above in ((curve.high, high > y[1], True), (curve.low, low < y[0], False)):
                columns = np.flatnonzero(ends & (not curve.own))
                positions += [Outlier(float(curve.x[at]), float(values[at]), above) for at in columns]
    return positions


def area(curve: ChartCurve, *, log: bool) -> Area | None:
    """The band of a curve, if it has one."""
    found = curve.spread
    if found is None:
        return None
    low, high = found.low, found.high
    if log:
        high = log_of(high)
        low = np.where((low <= 0) & np.isfinite(high), _LOG_FLOOR, log_of(low))
    known = np.isfinite(low) & np.isfinite(high)
    if not known.any():
        return None
    drawn = known | (bridge(known.astype(np.int64)) < 0)
    nan = np.where(known, 0.0, math.nan)
    return Area(curve.x[drawn], (low + nan)[drawn], (high + nan)[drawn])


def reach(found: Area, *, log: bool) -> Range:
    """The range of an area that an axis can show, on a logarithmic one its positive part."""
    low = np.where(found.low > _LOG_FLOOR, found.low, found.high) if log else found.low
    return value_range(low, found.high)


def within(found: Area, y: Range, *, log: bool) -> bool:
    """Whether the range of an area is within a y range."""
    low, high = reach(found, log=log)
    return y[0] <= low and high <= y[1]


def _ends(curve: ChartCurve, log: bool) -> Range | None:
    low, high, _ = curve.reach(log=log)
    if not np.isfinite(low).any():
        return None
    return widened(*value_range(low, high))


def _stretched(values: Floats, own: Range, whole: Range) -> Floats:
    """Values scaled from one range to another; halves, as differences of huge floats would overflow."""
    half = own[1] / 2 - own[0] / 2
    share = (values / 2 - own[0] / 2) / half if half > 0 else np.where(np.isfinite(values), 0.5, math.nan)
    return whole[0] + share * (whole[1] / 2 - whole[0] / 2) * 2
