"""A level that moves to another plateau: compared with the usual level just before, beyond the noise."""

from __future__ import annotations

import numpy as np

from rltui.rules.condition_states import ConditionStates, IdleRange, first_in, stays_idle, within_times
from rltui.rules.evaluated_series.rolling_window import BEFORE, RollingWindow
from rltui.rules.rule import Rule


def idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Within a multiple of the lowest of the recent ticks, or not above `least`."""
    lowest, highest = window.range(BEFORE + int(rule.number("window", 8)))
    least = rule.number("least", -np.inf if rule.words.get("direction", "up") == "up" else 0.0)
    if highest <= least:
        return IdleRange(highest=least)
    return within_times(lowest, highest, rule.number("times", 1.5))


def evaluate(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """Recent level against `times` the usual level, up or down."""
    length = int(rule.number("window", 8))
    times, release = rule.number("times", 1.5), rule.number("release", 0.2)
    up = rule.words.get("direction", "up") == "up"
    least = rule.number("least", -np.inf if up else 0.0)
    lowest, highest = window.range(BEFORE + length)
    level = window.level(length)
    if idle and not (
        np.fmax.reduce(level) > max(times * lowest, least)
        if up
        else highest > least and np.fmin.reduce(level) < highest / times
    ):
        return None  # the usual level is between the lowest and the highest tick
    usual = window.usual(length)
    # A share of a negative level is meaningless.
    limit = np.maximum(times * usual, least) if up else np.where(usual > least, usual / times, np.nan)
    on = level > limit if up else level < limit
    if stays_idle(idle, on):
        return None
    noise = np.maximum(window.noise(length), rule.number("floor", 0.05) * np.abs(usual))
    far = np.abs(level - usual) > rule.number("sigmas", 4) * noise
    rows = window.rows(length)
    beyond = rows > limit[:, None] if up else rows < limit[:, None]
    off = level < limit * (1 - release) if up else level > limit * (1 + release)
    return ConditionStates(far & on, off, level, limit, first_in(window, beyond, length), upward=up)
