"""A positive quantity that falls to a small share of what it was at the start, or is about to.

Made for entropy, whose scale nobody knows: nats per token, per action, per response. It is silent for
series that were ever clearly negative or are on a straight way there (differential entropy of continuous
actions crosses zero without harm) and for those that began too low to fall. With `arrival` it fires
before the floor is reached: more than half is lost, the fall goes on, and in a straight line it would
arrive within `arrival` times the steps that the run has lasted.
"""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import Bools
from rltui.rules.judged_series.robust_statistics import trend_length
from rltui.rules.judged_series.rolling_window import RollingWindow
from rltui.rules.kinds.condition_states import ConditionStates, IdleRange, first_of, nowhere
from rltui.rules.model import Rule


def idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Above the level that must be left."""
    start = window.start()[2]
    if not start > rule.number("least", 0.0):
        return IdleRange()
    below = (0.5 if rule.number("arrival", 0.0) else rule.number("fraction", 0.1)) * start
    return IdleRange(below) if window.range(int(rule.number("window", 5)))[0] >= below else None


def judge(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """Level against a share of the highest of the first ticks."""
    start = window.start()[2]
    if not start > rule.number("least", 0.0):
        return None
    lowest = window.extremes(1)[1]
    length = int(rule.number("window", 5))
    limit, arrival = rule.number("fraction", 0.1) * start, rule.number("arrival", 0.0)
    below = 0.5 * start if arrival else limit
    level, negative = window.level(length), lowest < -1e-4 * start
    on = (level < below) & ~negative
    if nowhere(idle, on):
        return None
    limits, starts = np.full(len(window), limit), np.full(len(window), start)
    if not arrival:
        beyond = window.rows(length) < limit
        off = level > limit * (1 + rule.number("release", 0.5))
        if np.count_nonzero(on):
            on &= _stays(window, start, limit, rule.number("quick", 0.0))
        return ConditionStates(
            on, off | negative, level, limits, first_of(window, beyond, length), upward=False, before=starts
        )
    z, change = window.trend(), window.trend_change()
    pace = change / np.maximum(trend_length(window.at + 1) * 0.75, 1)  # per tick
    left = (level - limit) / np.maximum(-pace, 1e-300)  # ticks until the floor
    falling = (z <= FALLING) & (-change > 2 * window.trend_noise())
    on &= falling & (level > limit) & (left < arrival * (window.at + 1))
    off = (~falling & ~np.isnan(z)) | (level <= limit)  # arrived: nothing is still to come
    return ConditionStates(on, off, level, limits, upward=False, before=starts)


FALLING = -2.5  # z of a fall that goes on
QUICK = 12  # ticks that a fall may take in any case to count as quick


def _stays(window: RollingWindow, start: float, limit: float, quick: float) -> Bools:
    """Whether it has been below the limit for a third of the time that it took to fall there from the half.

    A straight line through zero, as differential entropy takes, is gone from below the limit sooner. With
    `quick` the fall must also have been short: at most that share of the run until it was over. (Of the run
    until now any fall becomes a short one.)
    """
    held = window.ticks.value[window.ticks.filled][: int(window.at[-1]) + 1]
    place = np.arange(len(held))
    high = np.maximum.accumulate(np.where(held > 0.5 * start, place, 0))[window.at]
    above = np.maximum.accumulate(np.where(held > limit, place, 0))[window.at]
    stays: Bools = (window.at - above) > 0.35 * (above - high)
    if quick:
        stays &= (above - high) <= np.maximum(QUICK, quick * above)
    return stays
