"""The value axis of a small chart: linear or logarithmic, its range, and what is cut off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from rltui.common.arrays import Floats
from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.draw.value_range import (
    LEAST_COLUMNS,
    decades,
    robust_range,
    stable_range,
    value_range,
    widened,
)
from rltui.panes.charts.curve import Curve
from rltui.panes.charts.healthy_range import SHARES, Band, within_bounds
from rltui.panes.charts.sister_runs import SisterBand
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.rows.row import Row

LOG_DECADES = 3.0  # that a curve crosses on an axis that becomes logarithmic by itself
LINEAR_DECADES = 2.5  # below which it becomes linear again
LOG_LAYER = 4.0  # ranges of logarithms are held apart from those of values


@dataclass(slots=True)
class Ranges:
    """The value range each curve was last drawn with, so that it holds still (see `draw.value_range`).

    One for each tag and kind of drawing, with the first step of the window that it was begun for.
    `scales` are what the user chose: whether the axis of a tag is logarithmic. `automatic` are the tags whose
    axis is logarithmic by itself, `cut` those of which outliers are cut off. `bands` are the bands of sister
    runs, with what they were made of. `drawn` are curves of cards by all that tells them apart: most keys
    change none of them.
    """

    shown: dict[tuple[str, float], tuple[float, tuple[float, float]]] = field(default_factory=dict)
    scales: dict[str, bool] = field(default_factory=dict)
    outliers: bool = False  # whether the user wants to see them all
    automatic: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    bands: dict[str, tuple[object, SisterBand | None]] = field(default_factory=dict)
    drawn: dict[object, object] = field(default_factory=dict)
    _data: object = None  # what `drawn` was made of

    def keep_drawn(self, data: object) -> None:
        """Forget what was drawn of other data; data: which run, and how far it had been read."""
        if data != self._data:
            self._data = data
            self.drawn.clear()

    @property
    def keeps_drawn(self) -> bool:
        """Whether somebody tells when the data change."""
        return self._data is not None

    def forget(self) -> None:
        """Another run or part of it is shown: hold no range."""
        self.shown.clear()
        self.drawn.clear()


class ValueAxis(NamedTuple):
    """From `bottom` to `top`, decimal logarithms where `log`; `cut`: outliers lie beyond."""

    bottom: float
    top: float
    log: bool = False
    cut: bool = False

    def place(self, values: Floats) -> Floats:
        """Values (n,) on this axis; NaN where a logarithm has none."""
        return log_of(values) if self.log else values

    def band(self, band: Band | None) -> Band | None:
        """The ends of what is healthy on this axis."""
        if band is None or not self.log:
            return band
        low, high = (math.log10(end) if end > 0 else -math.inf for end in band)
        return (low, high)


def log_of(values: Floats) -> Floats:
    """Decimal logarithms, (n,); NaN where there is none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(values > 0, np.log10(values), math.nan)


def logarithmic(drawn: Curve) -> Curve:
    """A curve with logarithms in place of its values; what of a column is zero or less is not drawn."""
    high = log_of(drawn.high)
    low = np.where(drawn.low > 0, log_of(drawn.low), high)
    return replace(drawn, low=low, high=high, mean=log_of(drawn.mean))


def logarithmic_band(band: SisterBand) -> SisterBand:
    """A band of sister runs with logarithms in place of its values."""
    return SisterBand(band.runs, log_of(band.low), log_of(band.high), log_of(band.middle))


def is_log(row: Row, low: Floats, high: Floats, ranges: Ranges | None) -> bool:
    """Whether a row's axis is logarithmic: as the user chose, else where columns (n,) cross three decades.

    What has two ends, such as a share, and what the user gave a range is read on a linear axis.
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
    held = ranges is not None and row.tag in ranges.automatic
    found = decades(low, high) >= (LINEAR_DECADES if held else LOG_DECADES)
    if ranges is not None and found != held:
        (ranges.automatic.add if found else ranges.automatic.discard)(row.tag)
    return found


def shows_outliers(row: Row, points: int, ranges: Ranges | None) -> bool:
    """Whether a curve is shown whole: the user wants it, a finding speaks of it, or it has few points."""
    wanted = ranges is not None and ranges.outliers
    return wanted or row.severity in ("warning", "critical") or points < LEAST_COLUMNS


class Extremes(NamedTuple):
    """What a curve reaches in each column, (n,); second: the column of the points after the first ones."""

    low: Floats
    high: Floats
    second: int = 1


def data_range(
    row: Row, points: int, curves: Sequence[Curve | Extremes], ranges: Ranges | None
) -> tuple[tuple[float, float], bool]:
    """The range that curves on one axis need, without outliers; and whether some are cut off.

    What a finding speaks of is shown whole, and so are a few points: columns between them are no points.
    """
    held = ranges is not None and row.tag in ranges.cut
    if shows_outliers(row, points, ranges):
        ends, cut = [value_range(one.low, one.high) for one in curves], False
    else:
        found = [robust_range(one.low, one.high, second=one.second, held=held) for one in curves]
        ends, cut = [reached for reached, _ in found], any(some for _, some in found)
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
    """The range a curve is drawn in: declared by the user, or the data's with slack that holds still.

    layer: what is drawn with the curve; ranges of different drawings are held apart.
    """
    if row.name is not None and row.name.declared_range is not None and not log:
        low, high = row.name.declared_range
        return (min(low, data[0]), max(high, data[1]))
    data = widened(*data)
    if ranges is None or not window.growing:
        return data
    layer += LOG_LAYER * log
    begun, held = ranges.shown.get((row.tag, layer), (window.low, None))
    if abs(window.low - begun) > window.high - window.low:  # nothing of what it was begun for is in sight
        begun, held = window.low, None
    held = stable_range(held, data)
    if not log:
        held = within_bounds(row, held, data)
    ranges.shown[row.tag, layer] = (begun, held)
    return held


def whole_range(drawn: Curve) -> tuple[float, float]:
    """The finite extremes of a curve."""
    return value_range(drawn.low, drawn.high)
