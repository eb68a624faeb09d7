"""Actions in the large chart: cursor, zoom, axes, the band, the next metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import get_args

from rltui.panes.charts.curve import spread_kind
from rltui.screen import run_list, shown_pane, shown_run
from rltui.screen.input import actions, navigation
from rltui.screen.input.key_table import Command
from rltui.screen.pages.chart.chart_page import chart_axis, grows, whole_range
from rltui.screen.pages.chart.curves import MIN_AVERAGED_POINTS, weight_of
from rltui.screen.pages.chart.x_axis import COMMON_AXES, axes_of
from rltui.screen.state import (
    CONSOLE,
    SAMPLES,
    SMOOTHINGS,
    AppState,
    ChartOverlay,
    ListOverlay,
    Spread,
)

SPREADS: tuple[Spread, ...] = get_args(Spread)
MIN_RANGE = 4.0  # of the x axis, in steps or seconds


def perform(state: AppState, chart: ChartOverlay, command: Command) -> Command | None:
    """Do an action in a chart; returns the command if the chart does not have it."""
    if command.action == f"pane:{SAMPLES}":
        navigation.go_to_samples(state, _step_at_cursor(state, chart))
        return None
    if command.action == f"pane:{CONSOLE}":
        _go_to_console(state, chart)
        return None
    does = _ACTIONS.get(command.action)
    if does is None:
        return command
    before = chart.cursor
    does(state, chart, command.argument)
    if chart.cursor != before:
        state.time.crosshair = _step_at_cursor(state, chart)
    return None


def _x_of_column(chart: ChartOverlay, column: float) -> float:
    """The x value of a column of the plot."""
    low, high = chart.drawn.x
    return low + (high - low) * column / max(chart.drawn.columns - 1, 1)


def _step_at_cursor(state: AppState, chart: ChartOverlay) -> int | None:
    """The step at the cursor on any x axis; None without a cursor, or if it is not known."""
    axis, main = chart_axis(state), chart.row.main
    if chart.cursor is None or axis is None or main is None:
        return None
    return axis.step_at(main, chart.cursor)


def _go_to_console(state: AppState, chart: ChartOverlay) -> None:
    """Go to the lines that the run printed at the time of the cursor."""
    axis, main, step = chart_axis(state), chart.row.main, _step_at_cursor(state, chart)
    wanted = None
    if axis is not None and main is not None and chart.cursor is not None and step is not None:
        wanted = navigation.time_and_step_at(state, step, axis.wall_time_at(main, chart.cursor))
    state.console.charted = chart.row
    navigation.go_to_console(state, wanted)


def _set_cursor(chart: ChartOverlay, x: float) -> None:
    """Set the cursor within the visible range."""
    low, high = chart.drawn.x
    chart.cursor = min(max(x, low), high)


def _move_cursor(chart: ChartOverlay, columns: int) -> None:
    low, high = chart.drawn.x
    at = (low + high) / 2 if chart.cursor is None else chart.cursor
    _set_cursor(chart, at + columns * (high - low) / max(chart.drawn.columns - 1, 1))


def _cursor_to_newest(state: AppState, chart: ChartOverlay) -> None:
    """Set the cursor to the newest point, which is not the right edge for a live run."""
    main = chart.row.main
    last = main.last_step if main is not None and grows(state, chart) else None
    chart.cursor = chart.drawn.x[1] if last is None else float(last)


def zoom_by_wheel(state: AppState, chart: ChartOverlay, direction: int, column: int) -> None:
    """Zoom in (upwards) or out around the column at the mouse."""
    factor = 0.8 if direction < 0 else 1.25
    _zoom(state, chart, factor, _x_of_column(chart, column), fixed=True)


def _zoom(
    state: AppState, chart: ChartOverlay, factor: float, centre: float | None, *,
    fixed: bool = False,
) -> None:  # fmt: skip
    """Scale the visible range by `factor` around a centre, whose position is kept with `fixed`."""
    first, last = whole_range(state, chart, chart.drawn.curve_columns)
    low, high = chart.drawn.x
    if centre is None or (factor > 1 and not fixed):
        centre = (low + high) / 2
    size = max((high - low) * factor, min(MIN_RANGE, last - first))
    if size >= last - first:
        chart.zoom = None
        return
    share = (centre - low) / (high - low) if fixed and high > low else 0.5
    start = min(max(centre - size * share, first), last - size)
    chart.zoom, chart.y_range = (start, start + size), None


def _zoom_out(state: AppState, chart: ChartOverlay) -> None:
    if _is_zoomed(state, chart):
        _zoom(state, chart, 2.0, chart.cursor)


def _is_zoomed(state: AppState, chart: ChartOverlay) -> bool:
    """Whether a part of the run is shown; if not, this is said."""
    if chart.zoom is None:
        state.notify(f"the whole run is shown; {state.options.keys.hint_of('zoom-in')} zooms in")
    return chart.zoom is not None


def _pan(state: AppState, chart: ChartOverlay, share: float) -> None:
    if _is_zoomed(state, chart):
        pan(state, chart, share)


def pan(state: AppState, chart: ChartOverlay, share: float) -> None:
    """Move the visible range by a share of its size, within the whole range."""
    if chart.zoom is None:
        return
    first, last = whole_range(state, chart, chart.drawn.curve_columns)
    low, high = chart.zoom
    by = min(max((high - low) * share, first - low), last - high)
    chart.zoom = (low + by, high + by)


def _reset(state: AppState, chart: ChartOverlay) -> None:
    chart.y_range = None
    if _is_zoomed(state, chart):
        chart.zoom = None


def _turn_run(state: AppState, chart: ChartOverlay, action: str) -> None:
    """Show the same metric of the next or previous run; close the chart if that does not log it."""
    before = shown_run.run(state)
    actions.perform(state, action)
    view = shown_run.run(state)
    if view is None or before is None or view is before:
        return
    tag, name = before.tag_index.counterpart(chart.row.tag, view.tag_index), view.name
    state.overlays.remove(chart)
    if tag is not None:
        navigation.go_to_chart(state, tag)
    run_name = shown_run.short_name(state, name)
    state.notify(run_name if tag is not None else f"{run_name} does not log {chart.row.title}")


def _turn_log(state: AppState, chart: ChartOverlay) -> None:
    chart.log, chart.y_range = not chart.log, None
    state.ranges.scales[chart.row.tag] = chart.log


def _turn_outliers(state: AppState, chart: ChartOverlay) -> None:
    actions.perform(state, "outliers")
    chart.y_range = None


def _turn_axis(state: AppState, chart: ChartOverlay) -> None:
    view, axis = shown_run.run(state), state.saved.axis
    if view is not None:
        axes = axes_of(view)
        if len(axes) == 1:
            state.notify("the only x axis is steps: the logs have no times and no other counter")
            return
        state.saved.axis = axes[(axes.index(axis) + 1) % len(axes)] if axis in axes else axes[1]
    chart.zoom = chart.cursor = None


def _turn_superseded(state: AppState, chart: ChartOverlay) -> None:
    main = chart.row.main
    if main is None or not main.superseded:
        state.notify("this metric has no points of earlier attempts")
        return
    chart.superseded, chart.y_range = not chart.superseded, None
    steps = main.superseded_points().step
    what = (
        f"points of earlier attempts, to step {int(steps.max()):,}" if len(steps) else "nothing: too long ago"
    )
    state.notify(f"{'with' if chart.superseded else 'without'} {what}")


def _turn_spread(state: AppState, chart: ChartOverlay) -> None:
    view, words = shown_run.run(state), spread_kind(chart.row)
    if not words and view is not None and len(run_list.sisters(state, view, everywhere=True)) > 1:
        words = "sister runs'"
    if not words:
        state.notify(
            "no spread was logged with this metric, and no runs differ from this one by the seed alone"
        )
        return
    chart.spread = SPREADS[(SPREADS.index(chart.spread) + 1) % len(SPREADS)]
    chart.y_range = None
    messages: Mapping[Spread, str] = {
        "fitted": f"{words} band as far as the curve leaves room",
        "whole": f"the whole {words} band",
        "none": f"without the {words} band",
    }
    state.notify(messages[chart.spread])


def _smooth(state: AppState, chart: ChartOverlay, action: str) -> None:
    actions.perform(state, action)
    wanted, points = SMOOTHINGS[state.smoothing], chart.drawn.points
    used = weight_of(state.smoothing, points, chart.row.smooth)
    text = f"moving average {used:.2f}" if used else "every point, no average"
    if 0 < used < wanted and f"{used:.2f}" != f"{wanted:.2f}":
        text += f": {wanted:.2f} would lag behind {points:,} points"
    elif wanted and points < MIN_AVERAGED_POINTS and chart.row.smooth:
        text += f" of fewer than {MIN_AVERAGED_POINTS}"
    state.notify(text)


def _turn_row(state: AppState, chart: ChartOverlay, by: int) -> None:
    before = state.selection.row, state.selection.evidence
    navigation.move_selection(state, by, stop=True)
    row = shown_pane.selected(state)
    if row is None or before == (state.selection.row, state.selection.evidence):
        state.selection.row, state.selection.evidence = before  # a resolved finding has no chart
        key = state.options.keys.hint_of("filter")
        state.notify(f"the {'last' if by > 0 else 'first'} metric here; {key} finds others")
    else:
        chart.row, chart.y_range, chart.log = row, None, None
        finding = shown_run.selected_finding(state) if navigation.on_findings(state) else None
        axis = chart_axis(state)
        if finding is not None and axis is not None and axis.axis not in COMMON_AXES[1:]:
            chart.cursor = axis.x_of(navigation.evidence_steps(finding, [row])[0])


def _pick_metric(state: AppState, chart: ChartOverlay, *, instead: bool = False) -> None:
    state.overlays.append(ListOverlay("instead" if instead else "beside", chart.row.tag))


def _turn_finding(state: AppState, action: str) -> None:
    """Open the chart of the next or previous metric with a finding."""
    actions.perform(state, action)
    if not state.overlays:  # it has gone to the metric
        actions.perform(state, "open")


def _close(state: AppState) -> None:
    state.overlays.pop()


_ACTIONS: dict[str, Callable[[AppState, ChartOverlay, str], None]] = {
    "left": lambda state, chart, _: _move_cursor(chart, -1),
    "right": lambda state, chart, _: _move_cursor(chart, 1),
    "cursor": lambda state, chart, column: _set_cursor(chart, _x_of_column(chart, int(column))),
    "crosshair-back": lambda state, chart, _: _move_cursor(chart, -1),
    "crosshair-on": lambda state, chart, _: _move_cursor(chart, 1),
    "home": lambda state, chart, _: _set_cursor(chart, -math.inf),
    "end": lambda state, chart, _: _cursor_to_newest(state, chart),
    "zoom-in": lambda state, chart, _: _zoom(state, chart, 0.5, chart.cursor),
    "zoom-out": lambda state, chart, _: _zoom_out(state, chart),
    "page-up": lambda state, chart, _: _pan(state, chart, -0.5),
    "page-down": lambda state, chart, _: _pan(state, chart, 0.5),
    "half-up": lambda state, chart, _: _pan(state, chart, -0.25),
    "half-down": lambda state, chart, _: _pan(state, chart, 0.25),
    "reset": lambda state, chart, _: _reset(state, chart),
    "window": lambda state, chart, _: state.notify(
        f"charts have a range of their own; {state.options.keys.hint_of('zoom-in')} zooms in"
    ),
    "next-run": lambda state, chart, _: _turn_run(state, chart, "next-run"),
    "previous-run": lambda state, chart, _: _turn_run(state, chart, "previous-run"),
    "axis": lambda state, chart, _: _turn_axis(state, chart),
    "log": lambda state, chart, _: _turn_log(state, chart),
    "outliers": lambda state, chart, _: _turn_outliers(state, chart),
    "overlap": lambda state, chart, _: _turn_superseded(state, chart),
    "spread": lambda state, chart, _: _turn_spread(state, chart),
    "smoother": lambda state, chart, _: _smooth(state, chart, "smoother"),
    "rougher": lambda state, chart, _: _smooth(state, chart, "rougher"),
    "together": lambda state, chart, _: _pick_metric(state, chart),
    "filter": lambda state, chart, _: _pick_metric(state, chart, instead=True),
    "next-finding": lambda state, chart, _: _turn_finding(state, "next-finding"),
    "previous-finding": lambda state, chart, _: _turn_finding(state, "previous-finding"),
    "next-pane": lambda state, chart, _: _turn_row(state, chart, 1),
    "previous-pane": lambda state, chart, _: _turn_row(state, chart, -1),
    "down": lambda state, chart, _: _turn_row(state, chart, 1),
    "up": lambda state, chart, _: _turn_row(state, chart, -1),
    "back": lambda state, chart, _: _close(state),
    "open": lambda state, chart, _: _close(state),
    "nothing": lambda state, chart, _: None,
}
