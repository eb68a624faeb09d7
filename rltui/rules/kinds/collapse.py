"""A positive quantity that falls to a small share of its level at the start, or is about to.

Meant for entropy, whose unit is unknown: nats per token, per action, per response. It does not hold for
series that were ever clearly negative or fall towards that in a straight line (the differential entropy of
continuous actions crosses zero without harm), nor for those that began too low to fall. With `arrival` it
holds before the floor is reached: more than half is lost, the fall continues, and extrapolated linearly it
reaches the floor within `arrival` times the steps of the run so far.
"""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import Bools
from rltui.rules.condition_states import ConditionStates, IdleRange, first_in, stays_idle
from rltui.rules.evaluated_series.robust_statistics import trend_length
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.rule import Rule


def idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Above the level below which the condition may hold."""
    start = window.start()[2]
    if not start > rule.number("least", 0.0):
        return IdleRange()
    below = (0.5 if rule.number("arrival", 0.0) else rule.number("fraction", 0.1)) * start
    return IdleRange(below) if window.range(int(rule.number("window", 5)))[0] >= below else None


def evaluate(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
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
    if stays_idle(idle, on):
        return None
    limits, starts = np.full(len(window), limit), np.full(len(window), start)
    if not arrival:
        beyond = window.rows(length) < limit
        off = level > limit * (1 + rule.number("release", 0.5))
        if np.count_nonzero(on):
            on &= _stays_low(window, start, limit, rule.number("quick", 0.0))
        return ConditionStates(
            on,
            off | negative,
            level,
            limits,
            first_in(window, beyond, length),
            upward=False,
            before=starts,
        )
    z, change = window.trend(), window.trend_change()
    pace = change / np.maximum(trend_length(window.at + 1) * 0.75, 1)  # per tick
    left = (level - limit) / np.maximum(-pace, 1e-300)  # ticks until the floor
    falling = (z <= FALLING) & (-change > 2 * window.trend_noise())
    on &= falling & (level > limit) & (left < arrival * (window.at + 1))
    off = (~falling & ~np.isnan(z)) | (level <= limit)  # at the floor nothing remains to be forecast
    return ConditionStates(on, off, level, limits, upward=False, before=starts)


FALLING = -2.5  # z of a fall that continues
QUICK = 12  # ticks of a fall that always counts as quick


def _stays_low(window: RollingWindow, start: float, limit: float, quick: float) -> Bools:
    """Whether it has been below the limit for a third of the time of its fall there from half the start.

    A straight line through zero, as of differential entropy, passes the range below the limit sooner. With
    `quick` the fall must also have been short: at most that share of the run up to its end. (As a share of
    the run up to now, any fall becomes short.)
    """
    held = window.ticks.value[window.ticks.filled][: int(window.at[-1]) + 1]
    position = np.arange(len(held))
    high = np.maximum.accumulate(np.where(held > 0.5 * start, position, 0))[window.at]
    above = np.maximum.accumulate(np.where(held > limit, position, 0))[window.at]
    stays: Bools = (window.at - above) > 0.35 * (above - high)
    if quick:
        stays &= (above - high) <= np.maximum(QUICK, quick * above)
    return stays
