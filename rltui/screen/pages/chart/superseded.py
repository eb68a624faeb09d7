"""Superseded points of earlier attempts in a large chart, dimmed behind the valid ones."""

from __future__ import annotations

import math

import numpy as np

from rltui.common.display_text import count_of
from rltui.draw.cells import Span
from rltui.draw.large_chart import Stroke
from rltui.draw.numbers import format_step
from rltui.panes.charts.value_axis import log_of
from rltui.screen.pages.chart.curves import min_max_stroke
from rltui.screen.pages.chart.x_axis import Axis, shift_of
from rltui.session.run_view import RunView
from rltui.store.points import Points
from rltui.store.series import Series
from rltui.store.series_columns import columns_of_points

ROLE = "dim"


def superseded_stroke(
    view: RunView, series: Series, low: float, high: float, columns: int, axis: Axis, *, log: bool
) -> Stroke | None:
    """The superseded points in [low, high] of an axis that are still stored, in so many columns; or None.

    On time axes they are at the times at which they were written, so that nothing overlaps.
    """
    if high <= low:
        return None
    points = series.superseded_points()
    points = points.take(np.argsort(points.step, kind="stable"))
    value = log_of(points.value) if log else points.value
    shift = shift_of(view, axis)
    cut = columns_of_points(
        Points(points.step, points.wall_time, value), low + shift, high + shift, columns,
        "step" if axis == "step" else "wall",
    )  # fmt: skip
    if not cut.count.any():
        return None
    x = low + (np.arange(columns) + 0.5) * (high - low) / columns
    return min_max_stroke(x, cut.low, cut.high, np.zeros(columns, np.bool_), ROLE)._replace(dotted=True)


def restart_words(view: RunView, series: Series, *, shown: bool) -> list[Span]:
    """Text for the legend: where the run was restarted, what was superseded, the key that shows it."""
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
    shift = shift_of(view, axis)
    return [attempt.first_wall - shift for attempt in later if math.isfinite(attempt.first_wall)]
