"""Comparing runs: the same quantity at the same step, time or tokens, against a baseline's own spread.

A difference is called outside only when the run leaves the range in which the baseline itself moved
around that place: comparing last samples, or drawing the line at the normal value, fails healthy runs.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from rltui.common.arrays import Floats, median, quantile
from rltui.common.named_tuple import NamedTuple
from rltui.metrics.glossary_files import glossary
from rltui.session.run_view import RunView
from rltui.store.series import Series

Axis = Literal["step", "time", "tokens"]

WINDOW = 0.1  # the matched window: this share of the way so far, ending at the matched place
COLUMNS = 32  # resolution of a window; its levels are medians over these columns
REACH = 1.5  # Tukey's fences: outside means beyond the quartiles by 1.5 times the quartile distance
WIDER = (WINDOW, 0.3, 1.0)  # shares in which the baseline's own spread is looked for, the first that will do
ENOUGH = 4  # columns that tell a spread
SURE = 2.0  # standard errors of both medians that a difference must exceed
_ERROR = (
    0.93  # standard error of a median of n normal values: 1.253 sigma / sqrt(n), sigma = quartiles / 1.349
)
FLOOR = 0.02  # of the baseline's own level: quartiles of a near-constant window are no measure of spread

TOKENS = "progress.tokens"  # counts how many a run has seen


class Difference(NamedTuple):
    """One quantity of a run against the baseline; `spread` are the baseline's quartiles around that place."""

    canonical: str | None
    title: str
    unit: str
    tag: str
    baseline_tag: str
    value: float
    baseline: float
    spread: tuple[float, float]
    outside: bool
    better: bool | None  # by the metric's direction; None where it has none
    signs: bool = False  # whether the baseline has been on both sides of zero
    step: int | None = None  # at which both are taken, where they are matched by step

    @property
    def difference(self) -> float:
        """Run minus baseline, in the unit of the key as written."""
        return self.value - self.baseline

    @property
    def percent(self) -> float | None:
        """The difference in percent of the baseline's size; None where that is zero or changes its sign."""
        return 100 * self.difference / abs(self.baseline) if self.baseline and not self.signs else None


class Comparison(NamedTuple):
    """A run against the baseline. `matched` is in units of `axis`: a step, seconds since start, or tokens."""

    run: str
    axis: Axis
    matched: float
    differences: tuple[Difference, ...]


def compare(view: RunView, baseline: RunView, axis: Axis = "step") -> Comparison | None:
    """The quantities that both runs have, at the last place that both have reached; None without one."""
    mine, theirs = _reached(view, axis), _reached(baseline, axis)
    if mine is None or theirs is None:
        return None
    matched = min(mine[1], theirs[1])
    if matched < max(mine[0], theirs[0]):  # one of them begins after the other has ended
        return None
    differences = []
    for tag in sorted(view.run.series, key=lambda tag: _rank(view, tag)):
        other = view.tag_index.counterpart(tag, baseline.tag_index)
        found = _difference(view, baseline, tag, other, axis, matched) if other is not None else None
        if found is not None:
            differences.append(found)
    return Comparison(view.name, axis, matched, tuple(differences))


def _rank(view: RunView, tag: str) -> tuple[int, int, str]:
    name = view.names.name(tag)
    panes = [pane.id for pane in glossary().panes]
    return (panes.index(name.pane) if name.pane in panes else len(panes), name.importance, tag)


def _reached(view: RunView, axis: Axis) -> tuple[float, float] | None:
    """Where a run began and how far it has come, on an axis; None when the log does not say."""
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
    tags = view.tag_index.canonical.get(TOKENS, ())
    return next((view.run.series[tag] for tag in tags if view.run.series[tag].count), None)


def _window(
    view: RunView, series: Series, axis: Axis, matched: float, share: float = WINDOW
) -> Floats | None:
    """Means of the columns of the matched window that hold a finite value; None when it is empty."""
    reached = _reached(view, axis)
    if reached is None:
        return None
    low, high = matched - share * (matched - reached[0]), matched
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
    """The step at which a counter passed a number of tokens, between its known points."""
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
    for share in WIDER[1:]:
        if len(usual) < ENOUGH:  # what is logged now and then: its spread is that of a longer time
            wider = _window(baseline, baseline.run.series[other], axis, matched, share)
            usual = usual if wider is None else wider
    # Of a longer time, the level at its end may lie beyond the quartiles; it is the baseline's all the same.
    low, high = min(quantile(usual, 0.25), level), max(quantile(usual, 0.75), level)
    noise = float(np.hypot(_median_error(ours), _median_error(theirs)))
    reach = max(REACH * (high - low), FLOOR * abs(level), SURE * noise)
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
    """The standard error of the median of (n,) values, as their quartiles tell; 0 of a single one."""
    return _ERROR * (quantile(values, 0.75) - quantile(values, 0.25)) / math.sqrt(len(values))
