"""Comparison of metrics with a baseline at the same step, time or tokens, relative to the baseline's spread.

A difference is outside if the value leaves the range of the baseline around that position: a comparison of
last values, or with the baseline's level alone, would report healthy runs.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from rltui.common.arrays import Floats, median, quantile
from rltui.common.named_tuple import NamedTuple
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.session.run_view import RunView
from rltui.store.series import Series

Axis = Literal["step", "time", "tokens"]

WINDOW = 0.1  # the matched window: this share of the run so far, ending at the matched position
COLUMNS = 32  # resolution of a window; its level is the median of these columns
REACH = 1.5  # Tukey's fences: outside is beyond the quartiles by 1.5 times the interquartile range
WIDER = (0.3, 1.0)  # shares of the run that replace a window with too few values
MIN_COLUMNS = 4  # with values, from which a spread is measured
STANDARD_ERRORS = 2.0  # of both medians, which a difference must exceed
# Standard error of a median of n normal values: 1.253 sigma / sqrt(n), sigma = interquartile range / 1.349.
_MEDIAN_ERROR = 0.93
FLOOR = 0.02  # of the baseline's level: the quartiles of a nearly constant window are no measure of spread


class Difference(NamedTuple):
    """One metric of a run compared with the baseline; `spread`: the baseline's quartiles at that position."""

    canonical: str | None
    title: str
    unit: str
    tag: str
    baseline_tag: str
    value: float
    baseline: float
    spread: tuple[float, float]
    outside: bool
    better: bool | None  # by the metric's direction; None without one
    signs: bool = False  # whether the baseline has been on both sides of zero
    step: int | None = None  # of both values, if they are matched by step

    @property
    def difference(self) -> float:
        """Run minus baseline, in the unit of the key as written."""
        return self.value - self.baseline

    @property
    def percent(self) -> float | None:
        """The difference in percent of the baseline's size; None if that is zero or changes its sign."""
        return 100 * self.difference / abs(self.baseline) if self.baseline and not self.signs else None


class Comparison(NamedTuple):
    """A run compared with the baseline at `matched`: a step, seconds since the start, or tokens."""

    run: str
    axis: Axis
    matched: float
    differences: tuple[Difference, ...]


def compare(view: RunView, baseline: RunView, axis: Axis = "step") -> Comparison | None:
    """The metrics that both runs have, at the last position that both have reached; None without one."""
    own, theirs = _extent(view, axis), _extent(baseline, axis)
    if own is None or theirs is None:
        return None
    matched = min(own[1], theirs[1])
    if matched < max(own[0], theirs[0]):  # one of them begins after the other has ended
        return None
    differences = []
    for tag in sorted(view.run.series, key=lambda tag: _rank(view, tag)):
        other = view.tag_index.counterpart(tag, baseline.tag_index)
        difference = _difference(view, baseline, tag, other, axis, matched) if other is not None else None
        if difference is not None:
            differences.append(difference)
    return Comparison(view.name, axis, matched, tuple(differences))


def _rank(view: RunView, tag: str) -> tuple[int, int, str]:
    name = view.names.name(tag)
    panes = [pane.id for pane in glossary().panes]
    return (panes.index(name.pane) if name.pane in panes else len(panes), name.importance, tag)


def _extent(view: RunView, axis: Axis) -> tuple[float, float] | None:
    """The first and the last position of a run on an axis; None if it is not logged."""
    run = view.run
    if axis == "step":
        firsts = [series.first_step for series in run.series.values() if series.first_step is not None]
        return (float(min(firsts)), float(run.last_step)) if firsts and run.last_step is not None else None
    if axis == "time":
        spent = run.last_wall - run.first_wall
        return (0.0, float(spent)) if np.isfinite(spent) else None
    counter = _token_counter(view)
    return (0.0, counter.last_value) if counter is not None else None


def _token_counter(view: RunView) -> Series | None:
    tags = view.tag_index.canonical.get(answer_metrics().single.token_counter, ())
    return next((view.run.series[tag] for tag in tags if view.run.series[tag].count), None)


def _window(
    view: RunView, series: Series, axis: Axis, matched: float, share: float = WINDOW
) -> Floats | None:
    """Means of the columns of the matched window that have finite values; None if none has."""
    extent = _extent(view, axis)
    if extent is None:
        return None
    low, high = matched - share * (matched - extent[0]), matched
    if axis == "tokens":
        counter = _token_counter(view)
        if counter is None:
            return None
        low, high = (_step_at(counter, edge) for edge in (low, high))
    if axis == "time":
        start = view.run.first_wall
        columns = series.columns(start + low, start + high, COLUMNS, axis="wall")
    else:
        columns = series.columns(low, high, COLUMNS)
    means = columns.mean[np.isfinite(columns.mean)]
    return means if len(means) else None


def _step_at(counter: Series, tokens: float) -> float:
    """The step at which a counter passed a number of tokens, interpolated."""
    columns = counter.columns(counter.first_step or 0, counter.last_step or 0, 512)
    known = np.isfinite(columns.last)
    middles = (columns.edges[:-1] + columns.edges[1:])[known] / 2
    return float(np.interp(tokens, np.maximum.accumulate(columns.last[known]), middles))


def _difference(
    view: RunView, baseline: RunView, tag: str, other: str, axis: Axis, matched: float
) -> Difference | None:
    ours = _window(view, view.run.series[tag], axis, matched)
    theirs = _window(baseline, baseline.run.series[other], axis, matched)
    if ours is None or theirs is None:
        return None
    name = view.names.name(tag)
    value, level = median(ours), median(theirs)
    usual = theirs
    for share in WIDER:
        if len(usual) < MIN_COLUMNS:  # seldom logged: measure the spread over a longer time
            wider = _window(baseline, baseline.run.series[other], axis, matched, share)
            usual = usual if wider is None else wider
    # The level at the end of a longer time may be beyond the quartiles.
    low, high = min(quantile(usual, 0.25), level), max(quantile(usual, 0.75), level)
    noise = float(np.hypot(_median_error(ours), _median_error(theirs)))
    reach = max(REACH * (high - low), FLOOR * abs(level), STANDARD_ERRORS * noise)
    outside = not low - reach <= value <= high + reach
    direction = name.metric.direction if name.metric is not None else "none"
    better = (
        None if direction not in ("up", "down") or value == level
        else (value * name.scale > level * name.scale) == (direction == "up")
    )  # fmt: skip
    least, most = baseline.run.series[other].extent()
    return Difference(
        name.canonical, name.shown_title, name.unit, tag, other, value, level, (low, high), outside, better,
        signs=least < 0 < most, step=int(matched) if axis == "step" else None,
    )  # fmt: skip


def _median_error(values: Floats) -> float:
    """The standard error of the median of (n,) values, from their quartiles; 0 for a single one."""
    return _MEDIAN_ERROR * (quantile(values, 0.75) - quantile(values, 0.25)) / math.sqrt(len(values))
