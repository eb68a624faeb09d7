"""Where a restarted run went before: superseded points of a series, dimmed behind what is true now."""

from __future__ import annotations

import math

import numpy as np

from rltui.draw.cells import Span
from rltui.draw.large_chart import Stroke
from rltui.draw.numbers import format_step
from rltui.panes.charts.value_axis import log_of
from rltui.screen.pages.chart.curves import min_max_stroke
from rltui.screen.pages.chart.x_axis import start_of
from rltui.screen.pages.chart.x_ticks import Axis
from rltui.session.run_view import RunView
from rltui.store import Series
from rltui.text import count_of

ROLE = "dim"


def superseded_stroke(
    view: RunView, series: Series, low: float, high: float, columns: int, axis: Axis, *, log: bool
) -> Stroke | None:
    """The remembered superseded points in [low, high] of an axis, in so many columns; None without any.

    Wall times of superseded points lie where they were written, so that on time axes nothing overlaps.
    """
    points = series.superseded_points()
    place = points.step.astype(np.float64) if axis == "step" else points.wall_time
    if axis == "relative":
        place = place - start_of(view)
    value = log_of(points.value) if log else points.value
    with np.errstate(invalid="ignore"):
        inside = np.isfinite(value) & (place >= low) & (place <= high)
    if not inside.any() or high <= low:
        return None
    place, value = place[inside], value[inside]
    at = np.minimum(((place - low) / (high - low) * columns).astype(np.int64), columns - 1)
    least, most = np.full(columns, math.inf), np.full(columns, -math.inf)
    np.minimum.at(least, at, value)
    np.maximum.at(most, at, value)
    known = np.isfinite(least)
    x = low + (np.arange(columns) + 0.5) * (high - low) / columns
    none = np.zeros(columns, np.bool_)
    nan = np.full(columns, math.nan)
    low_line, high_line = np.where(known, least, nan), np.where(known, most, nan)
    return min_max_stroke(x, low_line, high_line, none, ROLE)._replace(dotted=True)


def restart_words(view: RunView, series: Series, *, shown: bool) -> list[Span]:
    """Words for the legend: where the run was started again, what was superseded, how to see it."""
    later = view.run.attempts[1:]
    if not later:
        return []
    steps = ", ".join(format_step(attempt.first_step) for attempt in later[-3:])
    more = "… " if len(later) > 3 else ""
    spans: list[Span] = [("   │ ", "mark"), (f"started again at {more}{steps}", "dim")]
    total = series.superseded
    if not total:
        return spans
    what = "of earlier trainings" if any(attempt.from_scratch for attempt in later) else "superseded"
    if not shown:
        return [*spans, (f", {count_of(total, 'point')} {what}: ", "dim"), ("O", "accent")]
    points = series.superseded_points()
    count = f"{len(points):,} of {total:,}" if len(points) < total else f"{total:,}"
    which = "attempt 1" if len(later) == 1 else f"attempts 1 to {len(later)}"
    where = f", to {format_step(int(points.step.max()))}" if len(points) else ""
    return [
        ("   ┈ ", ROLE),
        (f"{which}{where}: {count} {'point' if total == 1 else 'points'} {what}", "dim"),
        *spans,
    ]


def attempt_marks(view: RunView, axis: Axis) -> list[float]:
    """Places on the x axis at which later attempts began."""
    later = view.run.attempts[1:]
    if axis == "step":
        return [float(attempt.first_step) for attempt in later]
    shift = start_of(view) if axis == "relative" else 0.0
    return [attempt.first_wall - shift for attempt in later if math.isfinite(attempt.first_wall)]
