"""The page of a large chart: axes, smoothing, zoom, cursor, several curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rltui.draw.cells import BLANK, Line, line
from rltui.draw.large_chart import Area, Grid, Plot, Stroke, draw
from rltui.draw.value_range import range_with_spread, stable_range, value_range
from rltui.panes.charts.curve import ARRIVALS
from rltui.panes.charts.healthy_range import healthy_range_of, healthy_rows, limits_of, within_bounds
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.charts.value_axis import ValueAxis, data_range, is_log
from rltui.panes.rows.row import Row
from rltui.screen import shown_run
from rltui.screen.pages.chart import legend
from rltui.screen.pages.chart.curves import (
    ChartCurve,
    add_averages,
    area,
    common_range,
    curves_of,
    outliers,
    reach,
    strokes,
    within,
)
from rltui.screen.pages.chart.superseded import attempt_marks, superseded_stroke
from rltui.screen.pages.chart.x_axis import COMMON_AXES, TIME_AXES, XAxis, x_axis, x_ticks
from rltui.screen.pages.page import Page, Spot
from rltui.screen.state import AppState, ChartDrawn, ChartOverlay, Range
from rltui.session.run_view import RunView
from rltui.store.series import Series

MIN_CURVE_SHARE = 0.4  # of the height, for the curve of a mean when its band is fitted


def chart_page(state: AppState, chart: ChartOverlay, width: int, height: int) -> Page:
    """Title, legend, chart, the cursor's value, keys."""
    row, view, axis = chart.row, shown_run.run(state), chart_axis(state)
    if view is None or axis is None or row.main is None:
        page = Page([BLANK] * (height - 1), drawn=chart.drawn)
        return page.below(legend.foot(state, "step", width, log=False))
    buckets = 2 * max(width - 12, 10)
    low, high = x_range = chart.zoom or whole_range(state, chart, buckets)
    curves = _curves(state, chart, axis, x_range, buckets)
    main = curves[0]
    chart = replace(chart, log=_log_axis(state, chart, main))
    log = bool(chart.log)
    foot = legend.foot(state, axis.axis, width, log=log)
    behind = area(main, log=log) if chart.spread != "none" else None
    lines = [legend.title(state, row, width)]
    whole = common_range(curves, log=log)
    if whole is None:
        lines += _without_points(row.main, axis, height)
        nothing = ChartDrawn(x_range, chart.y_range, chart.drawn.columns, buckets, main.points, log)
        return Page(lines[: height - 1], drawn=nothing).below(foot)
    needed, cut = _needed(state, row, curves, whole, log=log)
    add_averages(curves, log=log, within=needed if cut else None)
    drawn = strokes(curves, needed, log=log, level=lambda value: _level_range(chart, value))
    before: Stroke | None = None
    if chart.superseded and axis.axis in COMMON_AXES:  # their position on other axes is not known
        before = superseded_stroke(view, main.series, low, high, len(main.mean), axis.axis, log=log)
    y, held = _y_range(chart, needed, behind, before)
    beyond = outliers(curves, y, log=log) if cut else []
    lines.append(
        legend.legend(
            state, row, curves, width, superseded=chart.superseded, spread=behind is not None,
            cut=behind is not None and not within(behind, y, log=log), cursor=chart.cursor, outliers=beyond,
        )
    )  # fmt: skip
    limits = [(at, role) for at, role, _ in limits_of(row, log=log) if y[0] < at < y[1]]
    grid = draw(
        Plot((low, high), y, drawn if before is None else [before, *drawn], limits,
             _marks(view, row, axis), x_ticks(low, high, axis.axis, max(width // 18, 2)), log, behind,
             row.unit, main.x[main.bad > 0].tolist(), [(one.x, one.above) for one in beyond]),
        width - 2, max(height - 4, 4),
    )  # fmt: skip
    grid.shade(healthy_rows(ValueAxis(*y, log).placed(healthy_range_of(row)), *y, grid.height))
    _place_cursor(grid, chart.cursor, low, high)
    lines += [line((" ", "text"), *one.spans) for one in grid.lines()]
    lines.append(legend.under_cursor(curves, chart.cursor, axis.axis, grid.width, width))
    left = grid.left + 1
    spots = [Spot(left + at, 2, 1, grid.height, "cursor", str(at)) for at in range(grid.width)]
    made = ChartDrawn(x_range, held, grid.width, buckets, main.points, log)
    return Page(lines[: height - 1], spots, made).below(foot)


def _curves(
    state: AppState, chart: ChartOverlay, axis: XAxis, x_range: Range, buckets: int
) -> list[ChartCurve]:
    """The curves in the x range, that of the chart's metric first."""
    low, high = x_range
    if axis.axis == "step" and not grows(state, chart):
        high = math.nextafter(high + 1, high)  # the newest point lies on the right edge
    curves = curves_of(state, chart.row, axis, low, high, buckets)
    main = curves[0]
    if chart.spread == "none" and main.spread is not None:
        main.spread = replace(main.spread, median=None)
    return curves


def _without_points(series: Series, axis: XAxis, height: int) -> list[Line]:
    """The lines in place of a chart that has nothing to draw: why that is so."""
    timeless = axis.axis in TIME_AXES and not np.isfinite(series.recent().wall_time).any()
    words = "no times were logged with this metric" if timeless else "no finite points here"
    return [BLANK, line((f"   {words}", "dim")), *[BLANK] * (height - 4)]


def _place_cursor(grid: Grid, cursor: float | None, low: float, high: float) -> None:
    """The cursor in the column of its x, if that is shown."""
    if cursor is not None and low <= cursor <= high:
        column = round((cursor - low) / (high - low) * (grid.width - 1))
        grid.cursor(min(column, grid.width - 1))


def _needed(
    state: AppState, row: Row, curves: Sequence[ChartCurve], whole: Range, *, log: bool
) -> tuple[Range, bool]:
    """The range of the curves on the common scale, and whether outliers are cut off."""
    shared = [curve.reach(log=log) for curve in curves if not curve.own]
    drawable = [one for one in shared if np.isfinite(one.low).any()]
    needed, cut = data_range(row, curves[0].points, drawable, state.ranges)
    return (needed, True) if cut else (whole, False)


def _log_axis(state: AppState, chart: ChartOverlay, main: ChartCurve) -> bool:
    """Whether the y axis is logarithmic: as chosen, else if the curve crosses three decades.

    Unless chosen by the user, it is linear if nothing could be drawn otherwise.
    """
    if chart.log is not None:
        return chart.log
    return is_log(chart.row, main.low, main.high, state.ranges)


def chart_axis(state: AppState) -> XAxis | None:
    """The chosen x axis, or that of steps if the run does not count it; None without a run."""
    view = shown_run.run(state)
    return None if view is None else x_axis(view, state.saved.axis) or XAxis(view, "step")


def whole_range(state: AppState, chart: ChartOverlay, buckets: int) -> Range:
    """The x range without zoom, for so many buckets."""
    axis, main, at_step = chart_axis(state), chart.row.main, state.time.at_step
    if axis is None or main is None:
        return (0.0, 1.0)
    low, high = axis.full(main, at_step)
    if chart.superseded and at_step is None and axis.axis == "step":
        steps = main.superseded_points().step
        if len(steps):
            low, high = min(low, float(steps.min())), max(high, float(steps.max()))
    if grows(state, chart):  # with room for future steps, so that the curve does not move
        return StepWindow(low, high, growing=True).edges(buckets)
    return (low, high)


def grows(state: AppState, chart: ChartOverlay) -> bool:
    """Whether the whole of a live run is shown by steps."""
    view, axis = shown_run.run(state), chart_axis(state)
    if view is None or axis is None or axis.axis != "step" or chart.zoom is not None:
        return False
    return state.time.at_step is None and view.liveness(state.now).state == "live"


def _y_range(
    chart: ChartOverlay, needed: Range, behind: Area | None, before: Stroke | None
) -> tuple[Range, Range | None]:
    """The y range: configured by the user, else that of the curves, with slack so that it is stable.

    The second range is kept for the next frame.
    """
    row, held = chart.row, chart.y_range
    if behind is not None and np.isfinite(behind.high).any():
        share = MIN_CURVE_SHARE if chart.spread == "fitted" else 0.0
        needed = range_with_spread(needed, reach(behind, log=bool(chart.log)), share)
    if before is not None:
        low, high = value_range(before.y, before.y)
        needed = (min(needed[0], low), max(needed[1], high))
    declared = row.name.declared_range if row.name is not None else None
    if declared is not None and not chart.log:
        return (min(declared[0], needed[0]), max(declared[1], needed[1])), held
    if needed[0] == needed[1]:
        return _level_range(chart, needed[0]), held
    held = stable_range(held, needed)
    return (held if chart.log else within_bounds(row, held, needed)), held


def _level_range(chart: ChartOverlay, value: float) -> Range:
    """A range for equal values: it includes healthy values, and is within the bounds of the metric."""
    if chart.log:
        return (value - 0.5, value + 0.5)
    pad = abs(value) * 0.1 or 1.0
    low, high = healthy_range_of(chart.row) or (-math.inf, math.inf)
    if math.isfinite(high - low):
        return (min(low, value), max(high * 1.2, value + pad if value > high else value))
    return within_bounds(chart.row, (value - pad, value + pad), (value, value))


def _marks(view: RunView, row: Row, axis: XAxis) -> list[float]:
    """Places at which an attempt or a finding of the metric began."""
    if axis.axis == ARRIVALS:
        return []
    if axis.axis in ("relative", "wall"):
        return attempt_marks(view, axis.axis)
    steps = attempt_marks(view, "step") + [float(one.since_step) for one in row.findings]
    return [axis.x_of(step) for step in steps]
