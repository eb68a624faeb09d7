"""Where a quantity goes over the whole run: Mann and Kendall's test on twelve medians of all ticks.

A quantity that doubles over two hundred points moves little within the last fifth of them, which is what
`trend` sees. A change counts when later parts lie above earlier ones far more often than by chance, and
when it is large against the size at the start and against the noise of ticks. Slowly correlated noise
passes the first test now and then: the second one is what decides.
"""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import Floats
from rltui.rules.judged_series.rolling_window import RollingWindow
from rltui.rules.kinds.condition_states import ConditionStates, IdleRange, at_start, nowhere
from rltui.rules.model import Rule

SURE = 3.0  # deviations; twelve values in strict order are 4.5
MIDDLE = slice(5, 7)  # the parts in the middle
LEFT = 0.25  # share of the change from which on the first level has been left
GOES_ON = 0.15  # share of the change that must lie behind the middle: what has settled is not on its way


def idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Until the whole run is looked at again."""
    return None if len(window.course().moments) else IdleRange(until=window.next_course())


def judge(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """Change from the first sixth of the run to the last, by direction: up, down, both, or flat."""
    course = window.course()
    moments, parts, first, last = course.moments, course.parts, course.first, course.last
    direction, sure = rule.words.get("direction", "up"), rule.number("z", SURE)
    change = last - first
    least = np.maximum(rule.number("relative", 0.5) * np.abs(first), rule.number("absolute", 0.0))
    if direction == "flat":
        span = parts.max(axis=1) - parts.min(axis=1)
        found = (np.abs(change) <= least) & (span <= 2 * least) & (np.abs(course.z) < sure)
        over = ~found
    else:
        if nowhere(idle, np.abs(change) > least):
            return None
        z = course.z
        towards, moved = _along(direction, z, change)
        _, late = _along(direction, z, last - parts[:, MIDDLE].mean(axis=1))
        found = (towards >= sure) & (moved > least) & (late > GOES_ON * moved)
        for row in np.flatnonzero(found).tolist():
            found[row] = moved[row] > rule.number("noises", 2.0) * window.course_noise(int(moments[row]))
        over = (towards < sure / 2) | (moved < 0.7 * least)
    if nowhere(idle, found):
        return None
    m = len(window)
    on, off = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    value, limit = np.full(m, np.nan), np.full(m, np.nan)
    on[moments], off[moments], value[moments], limit[moments] = found, over, last, first

    def set_off(k: int) -> int:
        row = int(moments.searchsorted(k))
        return _set_off(int(window.at[k]), parts[row], float(first[row]), float(change[row]))

    began = at_start if direction == "flat" else set_off
    return ConditionStates(on, off, value, limit, began, upward=direction != "down")


def _set_off(at: int, parts: Floats, first: float, change: float) -> int:
    """Position of the tick after the last part that had made less than a quarter of the change."""
    left = np.flatnonzero((parts - first) * np.sign(change) < LEFT * abs(change))
    begun = int(left[-1]) + 1 if len(left) else 0
    return min(at + 1 - (len(parts) - begun) * ((at + 1) // len(parts)), at)


def _along(direction: str, z: Floats, change: Floats) -> tuple[Floats, Floats]:
    """Z and change in a direction: positive where it is gone along."""
    if direction == "both":
        return np.abs(z), np.where(z * change >= 0, np.abs(change), 0.0)
    return (-z, -change) if direction == "down" else (z, change)
