"""The band of the values of sister runs behind a curve; see `rltui.session.sister_runs` for sister runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import Floats
from rltui.panes.charts.curve import Curve, Spread
from rltui.store.series_columns import Columns

if TYPE_CHECKING:
    from rltui.session.run_view import RunView
    from rltui.store.series import Series

MIN_BAND_RUNS = 2  # with a value in a column: one alone has no spread
MAX_BAND_RUNS = 32


def seed_sisters(view: RunView, others: Iterable[RunView], digest: Callable[[RunView], str]) -> list[RunView]:
    """The sister runs that differ in their seed only, at most 32; those of a sweep have levels of their own.

    digest: of the settings of a run without its seed; empty if none are known.
    """
    own = digest(view)
    if not own:
        return []
    alike = (one for one in others if one is not view and one.framework == view.framework)
    return list(islice((one for one in alike if digest(one) == own), MAX_BAND_RUNS))


def sister_series(view: RunView, tag: str, sisters: Iterable[RunView]) -> list[Series]:
    """The series of the same metric in sister runs."""
    found = ((one, view.tag_index.counterpart(tag, one.tag_index)) for one in sisters)
    return [one.run.series[key] for one, key in found if key is not None]


def sister_band(sisters: Iterable[tuple[Floats, Columns]]) -> Spread | None:
    """Extremes and median of sister runs, each given by its columns and their x (n,), where two have values.

    None with fewer than two. Values are interpolated between the points of a run, not extrapolated beyond.
    """
    curves = []
    for x, columns in sisters:
        known = np.isfinite(columns.mean) & (columns.count > 0)
        if known.sum() > 1:
            curves.append(np.interp(x, x[known], columns.mean[known], left=math.nan, right=math.nan))
    if len(curves) < MIN_BAND_RUNS:
        return None
    table = np.sort(np.array(curves), axis=0)  # NaN last
    count = np.isfinite(table).sum(axis=0)
    last, every = np.maximum(count - 1, 0), np.arange(table.shape[1])
    median = table[last // 2, every] / 2 + table[(last + 1) // 2, every] / 2
    low, high, median = (
        np.where(count >= MIN_BAND_RUNS, values, math.nan)
        for values in (table[0], table[last, every], median)
    )
    words = f"min–max of {len(curves)} sister runs, median dotted"
    return Spread(words, low, high, len(curves), median)


def band_behind(drawn: Curve, sisters: Sequence[Series]) -> Spread | None:
    """The band of sister runs in the columns of a curve over the run's steps; None with fewer than two."""
    if drawn.own_axis or len(sisters) < MIN_BAND_RUNS:
        return None
    columns = len(drawn.mean)
    positions: Floats = np.arange(columns, dtype=np.float64) + 0.5
    return sister_band((positions, one.columns(*drawn.edges, columns)) for one in sisters if one.count)
