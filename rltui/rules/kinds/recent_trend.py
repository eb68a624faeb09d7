"""A direction over the last fifth of the run: the Mann-Kendall test, and a change beyond the noise.

`flat` requires more than the absence of a trend: the change must be small compared with noise and level.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rltui.common.arrays import median
from rltui.rules.condition_states import ConditionStates, IdleRange, stays_idle, within_times
from rltui.rules.evaluated_series.robust_statistics import TREND_LENGTHS, trend_length
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.rule import Rule

MIN_Z = 2.5  # of the test
NEWEST = 8  # ticks of the level at the end of a trend
PARTS = 4  # of a trend, of which the first gives the level at its start


def idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Until there are enough ticks; while their range is less than the change required."""
    if window.end < TREND_LENGTHS[1]:
        return IdleRange(until=TREND_LENGTHS[1])
    if rule.words.get("direction") == "flat":
        return None
    lowest, highest = window.range(TREND_LENGTHS[-1])
    room = (rule.number("absolute", 0.0) - (highest - lowest)) / 2
    if room > 0:
        return IdleRange(lowest - room, highest + room)
    times = 1 + rule.number("relative", 0.05)
    if highest < 0 and (found := within_times(-highest, -lowest, times)):
        return IdleRange(-found.highest, -found.lowest)
    return within_times(lowest, highest, times)


def evaluate(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The z and the change against their limits."""
    direction = rule.words.get("direction", "up")
    z = window.trend()
    towards = -z if direction == "down" else z
    on = np.abs(z) < MIN_Z if direction == "flat" else towards >= MIN_Z
    if stays_idle(idle, on):
        return None
    change = window.trend_change()
    moved = -change if direction == "down" else change
    level = np.abs(window.usual(0, 24))
    least = np.maximum(
        rule.number("noises", 1.0) * window.trend_noise(), rule.number("relative", 0.05) * level
    )
    least = np.maximum(least, rule.number("absolute", 0.0))
    if direction == "flat":
        on &= np.abs(change) <= least
        return ConditionStates(on, ~on & ~np.isnan(z), change, least)
    off = (towards < 1.0) | (moved < 0.5 * least)
    began = _began(window, rule.words.get("direction", "up"))
    found = ConditionStates(on & (moved > least), off, change, least, began, direction != "down")
    if rule.latch:  # the end of the trend is no recovery: half of the change must be undone
        found = found._replace(surely=window.usual(0, 24), recovery=window.usual(0, NEWEST) - change / 2)
    return found


def _began(window: RollingWindow, direction: str) -> Callable[[int], int]:
    """The tick after the last one that was not beyond the level at the start of the trend."""
    begin = window.at + 1 - trend_length(window.at + 1)

    def first(k: int) -> int:
        values = window.ticks.value[int(begin[k]) : int(window.at[k]) + 1]
        away = values - median(values[: len(values) // PARTS])
        back = np.flatnonzero(away <= 0 if direction == "up" else away >= 0)
        return int(begin[k]) + min(int(back[-1]) + 1, len(values) - 1)

    return first if direction != "flat" else lambda k: int(begin[k])
