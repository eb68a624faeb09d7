"""The outcome of a run: its main metric with its last and best value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.named_tuple import NamedTuple
from rltui.rules.metric_roles import metric_roles

if TYPE_CHECKING:
    from rltui.panes.rows.row import Row
    from rltui.store.series import Series

COLUMNS = 256  # of a search for the step of an extreme, which continues within one of them


class Outcome(NamedTuple):
    """The main metric of a run: its last value and its best one.

    best_step: where the best value was reached; `exact` is False if only a range of steps is known.
    """

    title: str
    tag: str
    unit: str
    direction: str
    last: float | None
    best: float | None = None
    best_step: int | None = None
    exact: bool = True


def outcome_of(row: Row) -> Outcome:
    """Last and best value of a row; only a metric with a direction has a best one.

    The loss of a critic has none: it is lowest before anything is learnt.
    """
    metric = row.name.metric if row.name is not None else None
    direction = metric.direction if metric is not None else "none"
    outcome = Outcome(row.title, row.tag, row.unit, direction, row.value)
    series = row.main
    if series is None or metric is None or direction not in ("up", "down"):
        return outcome
    if metric.id in metric_roles().never_best:
        return outcome
    best = extreme(series, highest=direction == "up", at_step=row.at_step)
    if best is None:
        return outcome
    return outcome._replace(best=best[0], best_step=best[1], exact=best[1] >= series.exact_from)


def extreme(series: Series, *, highest: bool, at_step: int | None = None) -> tuple[float, int] | None:
    """The highest or lowest finite value and the first step at which it was reached; None without one.

    A value in a bucket is known to a range of steps, of which the last one is returned.
    """
    low, high = series.first_step, series.last_step
    if low is None or high is None:
        return None
    if series.exact_from <= low:
        points = series.recent()
        known = np.isfinite(points.value)
        if at_step is not None:
            known &= points.step <= at_step
        if not known.any():
            return None
        at = int(np.argmax(np.where(known, points.value if highest else -points.value, -math.inf)))
        return float(points.value[at]), int(points.step[at])
    if at_step is not None:
        high = min(high, at_step)
    value = math.nan
    while low <= high:
        cut = series.columns_of_steps(low, high, min(COLUMNS, high - low + 1))
        ends = cut.high if highest else -cut.low
        known = np.isfinite(ends)
        if not known.any():
            return None
        at = int(np.argmax(np.where(known, ends, -math.inf)))
        value = float(ends[at]) if highest else -float(ends[at])
        first, last = math.ceil(cut.edges[at]), math.ceil(cut.edges[at + 1]) - 1
        narrower = (max(first, low), min(max(last, first), high))
        if narrower in ((low, high), (narrower[0], narrower[0])):
            return value, narrower[1]
        low, high = narrower
    return (value, high) if math.isfinite(value) else None
