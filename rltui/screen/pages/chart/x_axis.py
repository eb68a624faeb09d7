"""The x axes of charts: steps, times, and other counters of a run, such as tokens; their ticks and texts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rltui.common.arrays import Floats
from rltui.draw.axis_ticks import round_steps, time_steps
from rltui.draw.numbers import format_duration, format_moment, format_si, format_step
from rltui.panes.charts.curve import ARRIVALS, arrivals, run_at_one_step
from rltui.panes.header import counter_of, counters_of
from rltui.panes.pane_tabs import overview_tables
from rltui.session.run_view import RunView
from rltui.session.time_travel import RunAtStep, span_of
from rltui.store.series import Series
from rltui.store.series_columns import Columns

Axis: TypeAlias = str  # step, relative, wall, or what a run counts: tokens, env steps, episodes, samples
TIME_AXES: tuple[Axis, ...] = ("relative", "wall")
COMMON_AXES: tuple[Axis, ...] = ("step", *TIME_AXES)
_COUNTER_BUCKETS = 2048  # for the older part of a counter


def shift_of(view: RunView, axis: Axis) -> float:
    """The origin of an axis, in seconds since 1970: the start of the run for relative times, else 0."""
    if axis != "relative":
        return 0.0
    walls = [attempt.first_wall for attempt in view.run.attempts if attempt.first_wall is not None]
    walls = [wall for wall in walls if math.isfinite(wall)]
    return min(walls, default=0.0)


def has_times(view: RunView) -> bool:
    """Whether a log of the run says when its points were written; tables and consoles often do not."""
    return any(one.first_wall is not None and math.isfinite(one.first_wall) for one in view.run.attempts)


def axes_of(view: RunView) -> list[Axis]:
    """The axes of a run's charts: steps, times if they are known, and its counters other than steps."""
    times = TIME_AXES if has_times(view) else ()
    return ["step", *times, *(counter.unit for counter, _ in counters_of(view))]


@dataclass(frozen=True, slots=True, eq=False)
class XAxis:
    """An x axis of a run. `steps` and `counts` (n,) rise; they are None for steps and times."""

    view: RunView
    axis: Axis
    steps: Floats | None = None
    counts: Floats | None = None

    def full(self, main: Series, at_step: int | None) -> tuple[float, float]:
        """The whole range of a series on this axis, up to a step if one is given."""
        if not main.count:
            return (0.0, 1.0)
        if self.axis == ARRIVALS:
            return (1.0, float(max(main.count, 2)))
        if self.axis in ("relative", "wall"):
            start, end = shift_of(self.view, "relative"), main.last_wall
            as_of = RunAtStep(self.view.run, at_step)
            if as_of.at_step is not None and math.isfinite(as_of.wall_time):
                end = as_of.wall_time
            if end is None or not math.isfinite(start) or not math.isfinite(end):
                return (0.0, 1.0)
            shift = shift_of(self.view, self.axis)
            return (start - shift, max(end - shift, start - shift + 1))
        first, last = span_of(self.view.run)
        if main.first_step is not None and main.last_step is not None:
            first, last = main.first_step, main.last_step
        moment = RunAtStep(self.view.run, at_step).step_of(main)[1]
        if moment is not None:
            last = min(last, moment)
        low, high = self.x_of(float(first)), self.x_of(float(max(last, first + 1)))
        return (low, high if high > low else low + 1.0)

    def x_of(self, step: float) -> float:
        """The x value of a step on an axis of steps or counts."""
        if self.steps is None or self.counts is None:
            return step
        return float(np.interp(step, self.steps, self.counts))

    def step_at(self, main: Series, x: float) -> int | None:
        """The step of a series at an x value; before its exact recent points by interpolation from the start.

        None where points are only counted.
        """
        if self.axis == ARRIVALS or not main.count or main.first_step is None:
            return None
        if self.steps is not None and self.counts is not None:
            return round(float(np.interp(x, self.counts, self.steps)))
        if self.axis == "step":
            return round(x)
        recent = main.recent()
        walls = np.concatenate(([shift_of(self.view, "relative")], recent.wall_time))
        steps = np.concatenate(([float(main.first_step)], recent.step))
        known = np.isfinite(walls)
        wall = x + shift_of(self.view, self.axis)
        return round(float(np.interp(wall, np.maximum.accumulate(walls[known]), steps[known])))

    def wall_time_at(self, main: Series, x: float) -> float | None:
        """The wall time at an x value, seconds since 1970, if the exact recent points of a series have it."""
        if self.axis in ("relative", "wall"):
            return x + shift_of(self.view, self.axis)
        step, recent = self.step_at(main, x), main.recent()
        known = np.isfinite(recent.wall_time)
        if step is None or not known.any() or not recent.step[known][0] <= step <= recent.step[known][-1]:
            return None
        return float(np.interp(step, recent.step[known], np.maximum.accumulate(recent.wall_time[known])))

    def x_of_time(self, main: Series, step: int | None, wall_time: float | None) -> float | None:
        """The x value of a moment given by step, wall time or both; None if these do not determine it."""
        recent = main.recent()
        known = np.isfinite(recent.wall_time)
        walls, steps = np.maximum.accumulate(recent.wall_time[known]), recent.step[known]
        if self.axis in ("relative", "wall"):
            if wall_time is None and step is not None and len(walls):
                wall_time = float(np.interp(step, steps, walls))
            return None if wall_time is None else wall_time - shift_of(self.view, self.axis)
        if self.axis == ARRIVALS:
            return None
        if step is None and wall_time is not None and len(walls):
            step = round(float(np.interp(wall_time, walls, steps)))
        return None if step is None else self.x_of(float(step))

    def cut(self, series: Series, low: float, high: float, columns: int) -> tuple[Floats, Columns]:
        """The centres (columns,) of so many columns between two x values, and a series in these columns."""
        if self.axis == ARRIVALS:
            return low + (np.arange(columns) + 0.5) * (high - low) / columns, arrivals(
                series, low, high, columns
            )
        if self.steps is None or self.counts is None:
            shift = shift_of(self.view, self.axis)
            found = series.columns(
                low + shift, high + shift, columns, "step" if self.axis == "step" else "wall"
            )
            return low + (np.arange(columns) + 0.5) * (high - low) / columns, found
        ends = np.interp((low, high), self.counts, self.steps)
        found = series.columns(float(ends[0]), float(max(ends[1], ends[0])) + 1.0, columns)
        middles = (found.edges[1:] + found.edges[:-1]) / 2
        return np.interp(middles, self.steps, self.counts), found


def x_axis(view: RunView, axis: Axis) -> XAxis | None:
    """An axis for a run; None if the run does not have these times or this counter."""
    if axis in TIME_AXES and not has_times(view):
        return None
    if axis in COMMON_AXES:
        return XAxis(view, ARRIVALS if axis == "step" and run_at_one_step(view) else axis)
    metric = next((counter.metric for counter in overview_tables().counter if counter.unit == axis), "")
    series = counter_of(view, metric)
    if series is None or series.first_step is None:
        return None
    recent = series.recent()
    steps, counts = recent.step.astype(np.float64), recent.value.astype(np.float64)
    if series.exact_from > series.first_step:
        old = series.columns(float(series.first_step), float(series.exact_from), _COUNTER_BUCKETS)
        known = np.isfinite(old.last) & (old.count > 0)
        steps = np.concatenate((old.edges[1:][known], steps))
        counts = np.concatenate((old.last[known], counts))
    finite = np.isfinite(counts)
    if finite.sum() < 2:
        return None
    steps, counts = steps[finite], np.maximum.accumulate(counts[finite])
    return XAxis(view, axis, steps, counts) if counts[-1] > counts[0] else None


# ---- ticks


def x_ticks(low: float, high: float, axis: Axis, count: int) -> list[tuple[float, str]]:
    """Round places on the x axis and their labels."""
    if axis == "step":
        return [(at, format_step(round(at))) for at in round_steps(low, high, count) if at == round(at)]
    if axis == "relative":
        return [(at, format_duration(at)) for at in time_steps(low, high, count)]
    if axis != "wall":
        return [(at, _short(at)) for at in round_steps(low, high, count + count // 2)]
    return [(at, at_text(at, axis)) for at in time_steps(low, high, count)]


def _short(value: float) -> str:
    """A round count: `50k`, `2.5M`."""
    text = format_si(value)
    number, letter = (text[:-1], text[-1]) if text[-1:].isalpha() else (text, "")
    return (number.rstrip("0").rstrip(".") if "." in number else number) + letter


def at_text(at: float, axis: Axis) -> str:
    """The text for a value on the x axis."""
    if axis == "step":
        return f"step {format_step(round(at))}"
    if axis == "relative":
        return format_duration(at)
    if axis == ARRIVALS:
        return f"point {round(at)}"
    if axis != "wall":
        return f"{format_si(at)} {axis}"
    return format_moment(at)
