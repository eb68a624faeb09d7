"""Points that were all logged at one step: over steps they are a single stroke, so their order is drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rltui.store.model import Columns

if TYPE_CHECKING:
    from rltui.session.run_view import RunView
    from rltui.store import Series

AXIS = "arrivals"  # the x axis of such a series: its points, counted from 1


def at_one_step(series: Series) -> bool:
    """Whether a series has several points, all of them at one step: its writer does not count steps."""
    return series.count > 1 and series.first_step == series.last_step


def stands_still(view: RunView) -> bool:
    """Whether all of a run's points lie at one step, several of a tag at least."""
    span = view.run.span
    return span is not None and span[0] == span[1] and any(map(at_one_step, view.run.series.values()))


def arrivals(series: Series, low: float, high: float, columns: int) -> Columns:
    """The points `low` to `high`, counted from 1, of those still known exactly, in so many columns."""
    value = series.recent().value
    place = np.arange(1, len(value) + 1) + float(series.count - len(value))
    inside = (place >= low) & (place <= high)
    value, place = value[inside], place[inside]
    width = max(high - low, 1e-9)
    at = np.minimum(((place - low) / width * columns).astype(np.int64), columns - 1)
    finite = np.isfinite(value)
    count = np.bincount(at[finite], minlength=columns)
    nonfinite = np.bincount(at[~finite], minlength=columns)
    lowest, highest = np.full(columns, math.inf), np.full(columns, -math.inf)
    np.minimum.at(lowest, at[finite], value[finite])
    np.maximum.at(highest, at[finite], value[finite])
    last = np.full(columns, math.nan)
    last[at[finite]] = value[finite]
    total = np.bincount(at[finite], value[finite], minlength=columns)
    empty = count == 0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / count
    for values in (lowest, highest, mean):
        values[empty] = math.nan
    edges = np.asarray(low + np.arange(columns + 1) * (width / columns), np.float64)
    return Columns(edges, lowest, highest, mean, last, count, nonfinite)
