"""The value axis of a small chart: linear or logarithmic, its range, and whether outliers are cut off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rltui.common.arrays import Floats
from rltui.common.named_tuple import NamedTuple
from rltui.draw.value_range import (
    MIN_COLUMNS,
    decades,
    robust_range,
    stable_range,
    value_range,
    widened,
)
from rltui.panes.charts.curve import Curve, Spread
from rltui.panes.charts.healthy_range import SHARES, Interval, within_bounds
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.rows.row import Row

LOG_DECADES = 3.0  # that a curve spans, from which its axis is logarithmic by default
LINEAR_DECADES = 2.5  # below which it becomes linear again
LOG_LAYER = 4.0  # keeps ranges of logarithms apart from those of values


@dataclass(slots=True)
class Ranges:
    """The value range that each curve was last drawn with, which keeps it stable (see `draw.value_range`).

    One for each tag and kind of drawing, with the first step of the window that it was begun for.
    `scales`: by tag, whether the user chose a logarithmic axis. `automatic`: tags whose axis is logarithmic
    by default. `cut`: tags whose outliers are cut off. `bands`: bands of sister runs with the key of their
    data. `drawn`: a cache of drawn cards, since most keys change none of them.
    """

    shown: dict[tuple[str, float], tuple[float, tuple[float, float]]] = field(default_factory=dict)
    scales: dict[str, bool] = field(default_factory=dict)
    outliers: bool = False  # whether the user wants to see all of them
    automatic: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    bands: dict[str, tuple[object, Spread | None]] = field(default_factory=dict)
    drawn: dict[object, object] = field(default_factory=dict)
    _data: object = None  # identifies the data of `drawn`

    def keep_drawn(self, data: object) -> None:
        """Use the cache of drawn cards, emptied if `data` changes: the run, and how far it was read."""
        if data != self._data:
            self._data = data
            self.drawn.clear()

    @property
    def keeps_drawn(self) -> bool:
        """Whether drawn cards are cached."""
        return self._data is not None

    def forget(self) -> None:
        """Drop all ranges, as another run or part of it is shown."""
        self.shown.clear()
        self.drawn.clear()


class ValueAxis(NamedTuple):
    """From `bottom` to `top`, decimal logarithms if `log`; `cut`: outliers are cut off."""

    bottom: float
    top: float
    log: bool = False
    cut: bool = False

    def placed(self, interval: Interval | None) -> Interval | None:
        """The coordinates of a range of values."""
        if interval is None or not self.log:
            return interval
        low, high = (math.log10(end) if end > 0 else -math.inf for end in interval)
        return (low, high)


def log_of(values: Floats) -> Floats:
    """Decimal logarithms, (n,); NaN of values that are not positive."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(values > 0, np.log10(values), math.nan)


def logarithmic(drawn: Curve) -> Curve:
    """A curve with logarithms of its values; values that are not positive are not drawn."""
    high = log_of(drawn.high)
    low = np.where(drawn.low > 0, log_of(drawn.low), high)
    return replace(drawn, low=low, high=high, mean=log_of(drawn.mean))


def logarithmic_band(band: Spread) -> Spread:
    """A band with logarithms of its values."""
    median = None if band.median is None else log_of(band.median)
    return replace(band, low=log_of(band.low), high=log_of(band.high), median=median)


def is_log(row: Row, low: Floats, high: Floats, ranges: Ranges | None) -> bool:
    """Whether a row's axis is logarithmic: as the user chose, else if columns (n,) span three decades.

    The axis of a metric with two finite bounds, such as a share, or with a declared range is linear. So is
    that of a metric which should rise, such as a return: on a logarithmic one its fall to a quarter is lost
    beside the decades of its beginning.
    """
    chosen = None if ranges is None else ranges.scales.get(row.tag)
    if chosen is not None:
        return chosen
    name = row.name
    metric = name.metric if name is not None else None
    bounds = metric.bounds if metric is not None else None
    if bounds is not None and all(map(math.isfinite, bounds)):
        return False
    if row.unit in SHARES or (name is not None and name.declared_range is not None):
        return False
    if metric is not None and metric.direction == "up":
        return False
    held = ranges is not None and row.tag in ranges.automatic
    log = decades(low, high) >= (LINEAR_DECADES if held else LOG_DECADES)
    if ranges is not None and log != held:
        (ranges.automatic.add if log else ranges.automatic.discard)(row.tag)
    return log


def shows_outliers(row: Row, points: int, ranges: Ranges | None) -> bool:
    """Whether no outliers are cut off: the user wants that, the row has a finding, or few points."""
    wanted = ranges is not None and ranges.outliers
    return wanted or row.severity in ("warning", "critical") or points < MIN_COLUMNS


class Extremes(NamedTuple):
    """Extremes of a curve by column, (n,); second: the column of the points after the first ones."""

    low: Floats
    high: Floats
    second: int = 1


def data_range(
    row: Row, points: int, curves: Sequence[Curve | Extremes], ranges: Ranges | None
) -> tuple[tuple[float, float], bool]:
    """The range of curves on one axis; and whether it is without outliers (see `shows_outliers`)."""
    held = ranges is not None and row.tag in ranges.cut
    if shows_outliers(row, points, ranges):
        ends, cut = [value_range(one.low, one.high) for one in curves], False
    else:
        robust = [robust_range(one.low, one.high, second=one.second, held=held) for one in curves]
        ends, cut = [found for found, _ in robust], any(is_cut for _, is_cut in robust)
        if ranges is not None and cut != held:
            (ranges.cut.add if cut else ranges.cut.discard)(row.tag)
    return (min(low for low, _ in ends), max(high for _, high in ends)), cut


def shown_range(
    row: Row,
    data: tuple[float, float],
    window: StepWindow,
    ranges: Ranges | None,
    *,
    layer: float = 0.0,
    log: bool = False,
) -> tuple[float, float]:
    """The range that a curve is drawn in: declared by the user, or a stable range around the data.

    layer: the kind of drawing, which has its own stable range.
    """
    if row.name is not None and row.name.declared_range is not None and not log:
        low, high = row.name.declared_range
        return (min(low, data[0]), max(high, data[1]))
    data = widened(*data)
    if ranges is None or not window.growing:
        return data
    layer += LOG_LAYER * log
    begun, held = ranges.shown.get((row.tag, layer), (window.low, None))
    if abs(window.low - begun) > window.high - window.low:  # the window that it was begun for is not visible
        begun, held = window.low, None
    held = stable_range(held, data)
    if not log:
        held = within_bounds(row, held, data)
    ranges.shown[row.tag, layer] = (begun, held)
    return held
