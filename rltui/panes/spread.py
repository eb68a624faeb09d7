"""The spread of a distribution behind the curve of its mean: its extremes, or a deviation to both sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rltui.draw.value_range import value_range
from rltui.panes.curve import bridge
from rltui.panes.row import Row

if TYPE_CHECKING:
    from rltui.store import Series
    from rltui.store.model import Columns

Cut = Callable[["Series"], "Columns"]  # a series in the columns of the curve


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """(n,) ends in each column, NaN where unknown; `words` name them: `min–max`, `±std`."""

    words: str
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and highest end."""
        return value_range(self.low, self.high)

    def seen(self, bottom: float, top: float, *, held: bool = False) -> bool:
        """Whether its ends are in sight often enough, between two values, to be read as a band.

        Where they hardly ever are, everything would lie inside it. `held`: it was shown before, and goes only
        when it is clearly of no use.
        """
        with np.errstate(invalid="ignore"):
            known = np.isfinite(self.low) & np.isfinite(self.high)
            inside = known & ((self.low > bottom) | (self.high < top))
        return bool(known.any()) and int(inside.sum()) >= (0.15 if held else 0.25) * int(known.sum())


def words_of(row: Row) -> str:
    """What kind of spread a row has, empty for a single metric."""
    there = row.parts.keys()
    if "min" in there and "max" in there:
        return "min–max"
    if "std" in there:
        return "±std"
    return "mean–max" if "max" in there else "min–mean" if "min" in there else ""


def spread(row: Row, mean: NDArray[np.float64], cut: Cut) -> Spread | None:
    """The spread in the columns that `cut` makes, None for a single metric; mean: (n,) of those columns."""
    words = words_of(row)
    if not words:
        return None
    if words == "±std":
        found = cut(row.parts["std"])
        std = _joined(found.mean, found.count)
        return Spread(words, mean - std, mean + std)
    low = high = mean
    if "min" in row.parts:
        found = cut(row.parts["min"])
        low = _joined(found.low, found.count)
    if "max" in row.parts:
        found = cut(row.parts["max"])
        high = _joined(found.high, found.count)
    return Spread(words, low, high)


def _joined(values: NDArray[np.float64], count: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values per column, (n,), with usual gaps bridged in straight lines; NaN in others."""
    known = (count > 0) & np.isfinite(values)
    there = known.nonzero()[0]
    if not len(there) or len(there) == there[-1] - there[0] + 1:
        return np.where(known, values, math.nan)
    line = np.interp(np.arange(len(values)), there, values[there])
    return np.where(bridge(count) >= 0, line, math.nan)
