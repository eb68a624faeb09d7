"""A quantity that changes its sign at nearly every step."""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import medians
from rltui.rules.condition_states import ConditionStates, IdleRange, first_tick, stays_idle
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.rule import Rule

LENGTH, SHARE = 24, 0.9  # ticks, and how many of their neighbours have opposite signs


def idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Until there are enough ticks; on one side of zero."""
    if window.end < LENGTH:
        return IdleRange(until=LENGTH)
    lowest, highest = window.range(LENGTH)
    if lowest >= 0:
        return IdleRange(lowest=0.0)
    return IdleRange(highest=0.0) if highest <= 0 else None


def evaluate(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The share of neighbours with opposite signs; the median size must be at least `least`."""
    least, rows = rule.number("least", 0.0), window.rows(LENGTH)
    flips = (rows[:, 1:] * rows[:, :-1] < 0).sum(axis=1) / (LENGTH - 1)
    enough = window.at + 1 >= LENGTH
    on = enough & (flips >= SHARE)
    if stays_idle(idle, on):
        return None
    size = medians(np.abs(rows))
    on &= size >= least
    off = enough & ((flips < SHARE - 0.2) | (size < 0.5 * least))
    return ConditionStates(on, off, size, np.full(len(window), least), first_tick(window, LENGTH))
