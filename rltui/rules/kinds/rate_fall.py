"""A rate that has fallen below its first values by more than the responses of few points explain.

Tests of means estimate the noise of a series from its own ticks, and need eight or more. The variance of a
rate over n responses that are independent is known from its level: p (1 - p) / n. n follows from the values,
which are multiples of 1 / n. Responses to one prompt are alike, so the jumps between ticks count where they
are larger. With 100 responses a point and small jumps, seven points show a fall from 0.9 to 0.6.
"""

from __future__ import annotations

import math

import numpy as np

from rltui.common.arrays import Floats, distinct, median
from rltui.rules.condition_states import ConditionStates, stays_idle
from rltui.rules.evaluated_series.change_point import onset_of_fall
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.rule import Rule

FIRST, NEWEST = 2, 3  # ticks of the start, and of the level now: one batch may be of hard tasks
FIRST_SHARE, NEWEST_SHARE = 10, 5  # parts of the run that they are later, as of `gain_over_run`
YOUNG = 64  # ticks; in a longer run the noise is known from the ticks
MOST = 100  # responses of a point that count: the tasks of batches differ, which many of them do not even out


def evaluate(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The newest ticks are all below the first ones by a `fraction`, and their mean by `sigmas` errors."""
    m = len(window)
    on, off = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    if idle and window.begin >= YOUNG:
        return None
    value, limit, before = np.full((3, m), np.nan)
    began: dict[int, int] = {}
    for k, count in enumerate((window.at + 1).tolist()):
        if count < FIRST + NEWEST:
            continue
        held = window.ticks.value[:count]
        first, newest = max(count // FIRST_SHARE, FIRST), max(count // NEWEST_SHARE, NEWEST)
        start, now = float(held[:first].mean()), float(held[-newest:].mean())
        before[k], value[k], limit[k] = start, now, (1 - rule.number("fraction", 0.25)) * start
        off[k] = now >= limit[k]
        if count <= YOUNG and (held[-newest:] < limit[k]).all():
            error = _error(held, first, newest)
            on[k] = start - now > rule.number("sigmas", 5) * error
            began[k] = onset_of_fall(held, newest, (start + now) / 2)
    if stays_idle(idle, on):
        return None
    return ConditionStates(on, off, value, limit, began.__getitem__, upward=False, before=before)


def _error(rates: Floats, first: int, newest: int) -> float:
    """The standard error of the difference of two means of rates; infinite if they are none, or all equal."""
    known = distinct(np.concatenate(([0.0, 1.0], rates)))
    if known[0] < 0 or known[-1] > 1 or len(known) < 4:
        return math.inf
    responses = min(1 / float(np.diff(known).min()), MOST)
    level = float((rates[:first].sum() + rates[-newest:].sum()) / (first + newest))
    jumps = median(np.abs(np.diff(rates)))  # of normal noise, 0.954 deviations
    deviation = max(math.sqrt(level * (1 - level) / responses), jumps / 0.954)
    return deviation * math.sqrt(1 / first + 1 / newest)
