"""One value far beyond what is usual, between values that are usual: a single batch, and no drift.

What lasts is told by `spike` and `shift`; this kind tells the other case, once the ticks after it have shown
that nothing stayed. Ticks of a long run are medians of several points, so a single point is seen only in
runs of up to 512 points, and among the points since the last joining of ticks it is lost.
"""

from __future__ import annotations

import numpy as np

from rltui.rules.judged_series.rolling_window import BEFORE, RollingWindow
from rltui.rules.kinds.condition_states import ConditionStates, IdleRange, first_of, nowhere, within_times
from rltui.rules.model import Rule

AFTER = 3  # usual ticks that must have followed
RECENT = 12  # ticks for which it is told


def idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Until there are enough ticks; within a multiple of the smallest size of the recent ones."""
    length, least = RECENT + AFTER, rule.number("least", 0.0)
    if window.ticks.stride > 1:
        return IdleRange()
    if window.end < 2 * length:
        return IdleRange(until=2 * length)
    lowest, highest = window.range(BEFORE + length)
    if max(-lowest, highest) <= least:
        return IdleRange(-least, least)
    return within_times(lowest, highest, rule.number("times", 20))


def judge(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The largest of the recent ticks against a multiple of the usual one, and its followers."""
    m, length = len(window), RECENT + AFTER
    times, least = rule.number("times", 20), rule.number("least", 0.0)
    usual, rows = np.abs(window.usual(length)), np.abs(window.rows(length))
    limit = np.maximum(times * usual, least)
    beyond = rows[:, :-AFTER] > limit[:, None]
    on = (beyond.sum(axis=1) == 1) & (usual > 0) & (window.at + 1 >= 2 * length) & (window.ticks.stride == 1)
    if nowhere(idle, on):
        return None
    limit = np.maximum(limit, usual + rule.number("sigmas", 20) * window.noise(length))
    beyond = rows[:, :-AFTER] > limit[:, None]
    on &= (beyond.sum(axis=1) == 1) & ((rows > 0.25 * limit[:, None]).sum(axis=1) == 1)
    place = beyond.argmax(axis=1)
    return ConditionStates(on, ~on, rows[np.arange(m), place], usual, first_of(window, beyond, length))
