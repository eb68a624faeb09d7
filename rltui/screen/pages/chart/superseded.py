"""Where a restarted run went before: superseded points of a series, dimmed behind what is true now."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rltui.draw.cells import Span
from rltui.draw.large_chart import Stroke
from rltui.draw.numbers import format_step
from rltui.panes.attempt_history import attempts_of
from rltui.screen.pages.chart.chart_data import Axis, log_of, start_of, weave

if TYPE_CHECKING:
    from rltui.session.run_view import RunView
    from rltui.store import Series

ROLE = "dim"


def overlap(
    view: RunView, series: Series, low: float, high: float, columns: int, axis: Axis, *, log: bool
) -> Stroke | None:
    """The kept superseded points in [low, high] of an axis, in so many columns; None without any.

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
    there = np.isfinite(least)
    x = low + (np.arange(columns) + 0.5) * (high - low) / columns
    none = np.zeros(columns, np.bool_)
    nan = np.full(columns, math.nan)
    return replace(weave(x, np.where(there, least, nan), np.where(there, most, nan), none, ROLE), dotted=True)


def legend(view: RunView, series: Series, *, shown: bool) -> list[Span]:
    """Words for the legend: where the run was started again, what was superseded, how to see it."""
    later = attempts_of(view)[1:]
    if not later:
        return []
    steps = ", ".join(format_step(attempt.first_step) for attempt in later[-3:])
    more = "… " if len(later) > 3 else ""
    spans: list[Span] = [("   │ ", "mark"), (f"started again at {more}{steps}", "dim")]
    gone = series.superseded
    if not gone:
        return spans
    if not shown:
        return [*spans, (f", {gone:,} points superseded: ", "dim"), ("O", "accent")]
    before = series.superseded_points()
    told = f"{len(before):,} of {gone:,}" if len(before) < gone else f"{gone:,}"
    which = "attempt 1" if len(later) == 1 else f"attempts 1 to {len(later)}"
    where = f", to {format_step(int(before.step.max()))}" if len(before) else ""
    return [("   ┈ ", ROLE), (f"{which}{where}: {told} superseded points", "dim"), *spans]


def marks(view: RunView, axis: Axis) -> list[float]:
    """Places on the x axis at which later attempts began."""
    later = attempts_of(view)[1:]
    if axis == "step":
        return [float(attempt.first_step) for attempt in later]
    shift = start_of(view) if axis == "relative" else 0.0
    return [attempt.first_wall - shift for attempt in later if math.isfinite(attempt.first_wall)]
