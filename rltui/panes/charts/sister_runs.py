"""Sister runs behind a curve: those of the same settings but for the seed, as minimum, median and maximum."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import Floats
from rltui.common.data_class import dataclass
from rltui.panes.charts.curve import Curve, Spread
from rltui.store.columns import Columns

if TYPE_CHECKING:
    from rltui.store.series import Series

LEAST = 2  # sisters that have a value at a place: one alone has no spread
DOTTED = 4  # columns of a dotted line, of which half are drawn


@dataclass(frozen=True, slots=True, eq=False)
class SisterBand:
    """Extremes and median of so many sister runs in each column, (n,); NaN where fewer than two have come."""

    runs: int
    low: Floats
    high: Floats
    middle: Floats

    @property
    def words(self) -> str:
        """What the band is, in full."""
        return f"min–max of {self.runs} sister runs, median dotted"

    @property
    def spread(self) -> Spread:
        """What lies behind the curve."""
        return Spread(self.words, self.low, self.high)

    @property
    def dotted(self) -> Floats:
        """The median with the gaps of a dotted line."""
        found = self.middle.copy()
        found[DOTTED // 2 :: DOTTED] = found[DOTTED // 2 + 1 :: DOTTED] = math.nan
        return found


def sister_band(cuts: Iterable[tuple[Floats, Columns]]) -> SisterBand | None:
    """The band of sister runs, each given by the places (n,) of its columns and what it has there.

    Each counts where it has come to, with straight lines between its points. None without enough of them.
    """
    curves = []
    for x, cut in cuts:
        known = np.isfinite(cut.mean) & (cut.count > 0)
        if known.sum() > 1:
            curves.append(np.interp(x, x[known], cut.mean[known], left=math.nan, right=math.nan))
    if len(curves) < LEAST:
        return None
    table = np.sort(np.array(curves), axis=0)  # NaN last
    count = np.isfinite(table).sum(axis=0)
    enough = count >= LEAST
    at, every = np.maximum(count - 1, 0), np.arange(table.shape[1])
    middle = table[at // 2, every] / 2 + table[(at + 1) // 2, every] / 2
    bottom, top, median = (
        np.where(enough, values, math.nan) for values in (table[0], table[at, every], middle)
    )
    return SisterBand(len(curves), bottom, top, median)


def band_behind(drawn: Curve, sisters: Sequence[Series]) -> SisterBand | None:
    """The band of sister runs in the columns of a curve over the run's steps."""
    if drawn.own_axis or len(sisters) < LEAST:
        return None
    columns = len(drawn.mean)
    places: Floats = np.arange(columns, dtype=np.float64) + 0.5
    return sister_band((places, one.columns(*drawn.edges, columns)) for one in sisters if one.count)
