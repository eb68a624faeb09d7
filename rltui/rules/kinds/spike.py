"""A level that jumps to a multiple of what is usual; or samples that do so again and again.

Usual is the median of the last 50 ticks or the level at the start, whichever is larger: coming back to
where a run began is no spike, unless the rule asks for the `recent` ticks alone. The jump must also exceed
the noise, whose robust deviation has a floor (`floor`, a share of the usual level), because on a tight series
the deviation is tiny and twice the usual would look like eight deviations. `recurring` > 0 counts single
samples beyond the limit among the last 40 ticks, for gradients that explode now and then without staying up.
"""

from __future__ import annotations

import numpy as np

from rltui.rules.judged_series.robust_statistics import medians
from rltui.rules.judged_series.rolling_window import BEFORE, RollingWindow
from rltui.rules.kinds.condition_states import ConditionStates, IdleRange, first_of, nowhere, within_times
from rltui.rules.model import Rule

RECENT = 40


def idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Within a multiple of the level at the start, or of the lowest of the recent ticks."""
    length = RECENT if rule.number("recurring", 0.0) else int(rule.number("window", 3))
    times, most = rule.number("times", 10), rule.number("least", 0.0)
    if not rule.number("recent", 0.0):
        most = max(times * abs(window.start()[0]), most)
    if max(map(abs, window.range(length))) <= most:
        return IdleRange(-most, most)
    return within_times(*window.range(BEFORE + length), times)


def judge(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """Recent level, or recent samples, against a multiple of the usual level."""
    length = int(rule.number("window", 3))
    recurring = int(rule.number("recurring", 0))
    skip = RECENT if recurring else length
    times, least, start = rule.number("times", 10), rule.number("least", 0.0), abs(window.start()[0])
    if rule.number("recent", 0.0):
        start = np.nan
    usual = np.abs(window.usual(skip))
    usual = np.fmax(usual, start) if not np.isnan(start) else usual
    limit = np.maximum(times * usual, least)
    # Nothing is a multiple of zero: a series of zeros has no usual size.
    limit[np.isnan(window.usual(skip)) | (limit == 0)] = np.nan
    if recurring:
        rows = np.abs(window.rows(RECENT))
        value = np.fmax.reduce(rows, axis=1)
    else:
        rows = np.abs(window.rows(length))
        value = medians(rows)  # the size of what swings about zero, whose median says nothing
    if nowhere(idle, value > limit):
        return None
    noise = np.maximum(window.noise(skip), rule.number("floor", 0.1) * usual)
    limit = np.maximum(limit, usual + rule.number("sigmas", 6) * noise)
    beyond = rows > limit[:, None]
    began = first_of(window, beyond, rows.shape[1])
    if recurring:
        count = beyond.sum(axis=1)
        return ConditionStates(count >= recurring, count == 0, value, limit, began)
    return ConditionStates(value > limit, value < 0.5 * limit, value, limit, began)
