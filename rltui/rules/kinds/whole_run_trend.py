"""The direction of a quantity over the whole run: the Mann-Kendall test on the medians of twelve parts.

A quantity that doubles over two hundred points changes little within the last fifth of them, which is what
`trend` sees. A change counts if later parts are above earlier ones far more often than by chance, and if it
is large compared with the level at the start and with the noise of ticks. Slowly correlated noise sometimes
passes the first test, hence the second.
"""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import Floats
from rltui.rules.condition_states import ConditionStates, IdleRange, at_start, stays_idle
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.rule import Rule

MIN_Z = 3.0  # of the test; that of twelve values in strict order is 4.5
MIDDLE = slice(5, 7)  # the parts in the middle
ONSET_SHARE = 0.25  # of the change, at which it begins
LATE_SHARE = 0.15  # of the change that must come after the middle: otherwise the quantity has settled


def idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Until the whole run is evaluated again."""
    return None if len(window.course().moments) else IdleRange(until=window.next_course())


def evaluate(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The change from the first sixth of the run to the last, in a direction: up, down, both, or flat."""
    course = window.course()
    moments, parts, first, last = course.moments, course.parts, course.first, course.last
    direction = rule.words.get("direction", "up")
    change = last - first
    least = np.maximum(rule.number("relative", 0.5) * np.abs(first), rule.number("absolute", 0.0))
    if direction == "flat":
        span = parts.max(axis=1) - parts.min(axis=1)
        found = (np.abs(change) <= least) & (span <= 2 * least) & (np.abs(course.z) < MIN_Z)
        found &= first != 0  # what fell to exactly 0 in its first logs cannot fall any more
        over = ~found
    else:
        if stays_idle(idle, np.abs(change) > least):
            return None
        z = course.z
        towards, moved = _along(direction, z, change)
        _, late = _along(direction, z, last - parts[:, MIDDLE].mean(axis=1))
        found = (towards >= MIN_Z) & (moved > least) & (late > LATE_SHARE * moved)
        for row in np.flatnonzero(found).tolist():
            found[row] = moved[row] > rule.number("noises", 2.0) * window.course_noise(int(moments[row]))
        over = (towards < MIN_Z / 2) | (moved < 0.7 * least)
    if stays_idle(idle, found):
        return None
    m = len(window)
    on, off = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    value, limit = np.full(m, np.nan), np.full(m, np.nan)
    on[moments], off[moments], value[moments], limit[moments] = found, over, last, first

    def onset(k: int) -> int:
        row = int(moments.searchsorted(k))
        return _onset(int(window.at[k]), parts[row], float(first[row]), float(change[row]))

    began = at_start if direction == "flat" else onset
    return ConditionStates(on, off, value, limit, began, upward=direction != "down")


def _onset(at: int, parts: Floats, first: float, change: float) -> int:
    """Position of the tick after the last part with less than a quarter of the change."""
    before = np.flatnonzero((parts - first) * np.sign(change) < ONSET_SHARE * abs(change))
    begun = int(before[-1]) + 1 if len(before) else 0
    return min(at + 1 - (len(parts) - begun) * ((at + 1) // len(parts)), at)


def _along(direction: str, z: Floats, change: Floats) -> tuple[Floats, Floats]:
    """Z and change, positive in the direction of the rule."""
    if direction == "both":
        return np.abs(z), np.where(z * change >= 0, np.abs(change), 0.0)
    return (-z, -change) if direction == "down" else (z, change)
