"""One value far beyond the usual level, between usual values: a single batch, not a drift.

Lasting changes are reported by `spike` and `shift`; this kind holds once the ticks after the value have
shown that the change did not last. Ticks of a long run are medians of several points, so outliers are seen
only in runs of up to 512 points.
"""

from __future__ import annotations

import numpy as np

from rltui.rules.condition_states import ConditionStates, IdleRange, first_in, stays_idle, within_times
from rltui.rules.evaluated_series.rolling_window import BEFORE, RollingWindow
from rltui.rules.rule import Rule

AFTER = 3  # usual ticks that must follow
TIMES, SIGMAS = 20.0, 20.0  # the usual size, and deviations from it, that the value exceeds
LEAST = 1e-3  # size of a value that matters
RECENT = 12  # ticks for which the condition holds afterwards


def idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Until there are enough ticks; within a multiple of the smallest size of the recent ones."""
    length = RECENT + AFTER
    if window.ticks.stride > 1:
        return IdleRange()
    if window.end < 2 * length:
        return IdleRange(until=2 * length)
    lowest, highest = window.range(BEFORE + length)
    if max(-lowest, highest) <= LEAST:
        return IdleRange(-LEAST, LEAST)
    return within_times(lowest, highest, TIMES)


def evaluate(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The largest of the recent ticks against a multiple of the usual one, and the ticks after it."""
    m, length = len(window), RECENT + AFTER
    usual, rows = np.abs(window.usual(length)), np.abs(window.rows(length))
    limit = np.maximum(TIMES * usual, LEAST)
    beyond = rows[:, :-AFTER] > limit[:, None]
    on = (beyond.sum(axis=1) == 1) & (usual > 0) & (window.at + 1 >= 2 * length) & (window.ticks.stride == 1)
    if stays_idle(idle, on):
        return None
    limit = np.maximum(limit, usual + SIGMAS * window.noise(length))
    beyond = rows[:, :-AFTER] > limit[:, None]
    on &= (beyond.sum(axis=1) == 1) & ((rows > 0.25 * limit[:, None]).sum(axis=1) == 1)
    place = beyond.argmax(axis=1)
    return ConditionStates(on, ~on, rows[np.arange(m), place], usual, first_in(window, beyond, length))
