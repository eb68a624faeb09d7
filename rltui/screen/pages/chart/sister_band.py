"""Sister runs behind a curve: those of the same settings but for the seed, as minimum, median and maximum."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rltui.panes.charts.curve import Spread
from rltui.panes.row import Row
from rltui.screen.pages.chart.x_axis import XAxis, x_axis
from rltui.session.run_view import RunView

LEAST = 2  # sisters that have a value at a place: one alone has no spread


def sister_band(
    view: RunView, row: Row, axis: XAxis, sisters: Sequence[RunView], low: float, high: float, columns: int
) -> tuple[Spread, NDArray[np.float64]] | None:
    """The extremes of the same metric in sister runs, and their median, (columns,); None without enough.

    Each sister counts where it has come to, with straight lines between its points.
    """
    curves = []
    for sister in sisters:
        tag = view.tag_index.counterpart(row.tag, sister.tag_index)
        its = x_axis(sister, axis.axis)
        if tag is None or its is None:
            continue
        x, cut = its.cut(sister.run.series[tag], low, high, columns)
        known = np.isfinite(cut.mean) & (cut.count > 0)
        if known.sum() > 1:
            curves.append(np.interp(x, x[known], cut.mean[known], left=math.nan, right=math.nan))
    if len(curves) < LEAST:
        return None
    table = np.sort(np.array(curves), axis=0)  # NaN last
    count = np.isfinite(table).sum(axis=0)
    enough = count >= LEAST
    at, every = np.maximum(count - 1, 0), np.arange(columns)
    middle = table[at // 2, every] / 2 + table[(at + 1) // 2, every] / 2
    bottom, top = (np.where(enough, values, math.nan) for values in (table[0], table[at, every]))
    words = f"min–max of {len(curves)} sister runs, median dotted"
    return Spread(words, bottom, top), np.where(enough, middle, math.nan)
