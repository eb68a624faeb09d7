"""A score that was best earlier in the run: when, how good, and how far it has fallen since.

It describes the past and forecasts nothing. The best level is the median of three ticks, so that one lucky
evaluation is not a peak. The fall must exceed the noise between neighbours, and a share of the gain.
"""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import median_of_sorted
from rltui.rules.condition_states import ConditionStates, stays_idle
from rltui.rules.evaluated_series.robust_statistics import rate_error
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.rule import Rule

LEVEL = 3  # ticks of a level
AFTER = 4  # ticks that must follow the peak
NOISES = 4.0  # deviations of the noise that the gain and the fall exceed
LEAST = 0.1  # of the best score that they exceed, as for other losses of an outcome
FRACTION = 0.25  # of the gain that must be lost


def evaluate(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The last level against the best one before."""
    m = len(window)
    on, off = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    value, limit, began = np.full(m, np.nan), np.full(m, np.nan), dict.fromkeys(range(m), 0)
    if window.end < 2 * LEVEL + AFTER:
        return None if idle else ConditionStates(on, off, value, limit, began.__getitem__, upward=False)
    held = window.ticks.value[: window.end]
    shown = np.lib.stride_tricks.sliding_window_view(held, LEVEL)
    level = median_of_sorted(np.sort(shown, axis=1))  # level[i] is of the ticks i .. i + LEVEL - 1
    best = np.maximum.accumulate(level)
    lowest = np.minimum.accumulate(level)
    last = window.at - LEVEL + 1
    usable = last >= LEVEL + AFTER
    now, top = level[np.maximum(last, 0)], best[np.maximum(last, 0)]
    noise = window.jitter(0)
    far = np.maximum(NOISES * noise, LEAST * np.abs(top))
    on |= usable & (top - now > far)
    for k in np.flatnonzero(on).tolist():
        position = int(np.flatnonzero(level[: last[k] + 1] == top[k])[-1])
        gain = top[k] - lowest[position]
        on[k] = (
            last[k] - position >= AFTER
            and top[k] - now[k] > NOISES * rate_error(held[: int(window.at[k]) + 1])
            and gain > max(NOISES * noise[k], LEAST * abs(top[k]))
            and top[k] - now[k] > FRACTION * gain
        )
        began[k] = position + LEVEL // 2
    off |= usable & ~(top - now > 0.5 * far)
    value[usable], limit[usable] = now[usable], top[usable]
    if stays_idle(idle, on):
        return None
    return ConditionStates(on, off, value, limit, began.__getitem__, upward=False)
