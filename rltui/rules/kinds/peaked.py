"""A score that was best in the middle of the run: when, how good, and how far it has come down since.

An audit of what was measured, not a forecast. The best level is that of three ticks together, so that one
lucky evaluation makes no peak; the fall must exceed the noise between neighbours, and a share of what had
been gained.
"""

from __future__ import annotations

import numpy as np

from rltui.rules.judged_series.robust_statistics import rate_error
from rltui.rules.judged_series.rolling_window import RollingWindow
from rltui.rules.kinds.condition_states import ConditionStates, nowhere
from rltui.rules.model import Rule

LEVEL = 3  # ticks that make a level
AFTER = 4  # ticks that must have come since the peak


def judge(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The last level against the best one before, at every moment."""
    m = len(window)
    on, off = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    value, limit, began = np.full(m, np.nan), np.full(m, np.nan), dict.fromkeys(range(m), 0)
    if window.end < 2 * LEVEL + AFTER:
        return None if idle else ConditionStates(on, off, value, limit, began.__getitem__, upward=False)
    held = window.ticks.value[: window.end]
    shown = np.lib.stride_tricks.sliding_window_view(held, LEVEL)
    level = np.sort(shown, axis=1)[:, LEVEL // 2]  # level[i] is of the ticks i .. i + LEVEL - 1
    best = np.maximum.accumulate(level)
    lowest = np.minimum.accumulate(level)
    last = window.at - LEVEL + 1
    usable = last >= LEVEL + AFTER
    now, top = level[np.maximum(last, 0)], best[np.maximum(last, 0)]
    noise = window.jitter(0)
    far = np.maximum(rule.number("sigmas", 4) * noise, rule.number("least", 0.1) * np.abs(top))
    on |= usable & (top - now > far)
    for k in np.flatnonzero(on).tolist():
        place = int(np.flatnonzero(level[: last[k] + 1] == top[k])[-1])
        gain = top[k] - lowest[place]
        on[k] = (
            last[k] - place >= AFTER
            and top[k] - now[k] > rule.number("sigmas", 4) * rate_error(held[: int(window.at[k]) + 1])
            and gain > max(rule.number("sigmas", 4) * noise[k], rule.number("least", 0.1) * abs(top[k]))
            and top[k] - now[k] > rule.number("fraction", 0.25) * gain
        )
        began[k] = place + LEVEL // 2
    off |= usable & ~(top - now > 0.5 * far)
    value[usable], limit[usable] = now[usable], top[usable]
    if nowhere(idle, on):
        return None
    return ConditionStates(on, off, value, limit, began.__getitem__, upward=False)
