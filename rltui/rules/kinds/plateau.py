"""The position of a score within its own range: constant, no longer constant, flat at the start, at its best.

Noise is the robust deviation of recent ticks.
"""

from __future__ import annotations

import math

import numpy as np

from rltui.common.arrays import Floats, median_of_sorted
from rltui.rules.condition_states import ConditionStates, IdleRange, at_start, first_tick, stays_idle
from rltui.rules.evaluated_series.robust_statistics import NORMAL, concordance
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.rule import Rule

FLAT, BEST = 3.0, 4.0  # deviations of noise that a flat level may change by, and a range must exceed
# Of a level above the start: its ticks, the share of the range that it may be below the top, and the multiple
# of the noise and the share of its size that it must have gained.
ABOVE, TOP, CURVE, GAIN = 4, 0.25, 4.0, 0.15
LEVEL = 5  # ticks of the present level of a series that was constant
NEAR = 0.1  # of a value; the last step of an episode is often rewarded differently, one of ten in short ones
TREND_Z = 2.2  # of the Mann-Kendall test, from which on a window is not flat; six values in order have 2.8


def constant_idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Until there are enough ticks; always, if the first of them differ."""
    ticks, within = int(rule.number("window", 24)), rule.number("within", 1e-7)
    if window.end < ticks:
        return IdleRange(until=ticks)
    return None if _alike(window.ticks.value[:ticks], within) else IdleRange()


def constant(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """One value from the first tick on, for `window` ticks, exactly or `within` a share of its size.

    It is between `above` and `below`, and lasts for at least `steps`. A single non-zero point among zeros
    may be lost in the median of a tick, so its step is compared.
    """
    held, seen = window.ticks, window.ticks.value[: window.end]
    ticks, within = int(rule.number("window", 24)), rule.number("within", 1e-7)
    highest, lowest = np.maximum.accumulate(seen)[window.at], np.minimum.accumulate(seen)[window.at]
    size = np.maximum(np.abs(highest), np.abs(lowest))
    same = highest - lowest <= within * size
    if held.nonzero_from is not None:
        same &= (size > 0) | (held.last[window.at] < held.nonzero_from)
    on = same & (window.at + 1 >= ticks) & (lowest > rule.number("above", -math.inf))
    on &= highest < rule.number("below", math.inf)
    if "steps" in rule.numbers:
        on &= held.last[window.at] - held.first[0] >= rule.number("steps", 0.0)
    if stays_idle(idle, on):
        return None
    return ConditionStates(on, ~same, lowest, highest, at_start)


def was_constant_idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Always, if the first ticks differ; else within the range of the ticks so far, while they are alike."""
    held, within = window.ticks.value[: window.end], rule.number("within", 0.001)
    value = float(held[0])
    other = np.abs(held - value) > within * abs(value)
    if not (value > 0 or (value and "near" in rule.numbers)) or other[: int(rule.number("window", 10))].any():
        return IdleRange()
    return None if other.any() else IdleRange(*window.range(window.end))


def was_constant(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """One value for at least the first `window` ticks, `within` a share of it, and now another level.

    The level, a median of five ticks, is `above` or `below` so many times that value, which is positive; or
    `near` so many times a value of any sign. A constant value is set, not measured, so its change is not
    tested against noise.
    """
    held = window.ticks.value[: window.end]
    value = float(window.ticks.start[0]) if window.ticks.start else math.nan
    near = rule.numbers.get("near")
    if not (value > 0 or (value and near is not None)):
        return None
    other = np.abs(held - value) > rule.number("within", 0.001) * abs(value)
    first = int(other.argmax()) if other.any() else window.end
    level = window.level(LEVEL)
    low, high = rule.number("below", 0.0) * value, rule.number("above", math.inf) * value
    changed = (level < low) | (level > high)
    if near is not None:
        changed = np.abs(level - near * value) <= NEAR * abs(value)
    on = changed & (first >= rule.number("window", 10))
    if stays_idle(idle, on):
        return None
    limit = np.full(len(window), value)
    off = ~changed & np.isfinite(level)
    return ConditionStates(on, off, level, limit, lambda _: first, before=limit)


def _alike(first: Floats, within: float) -> bool:
    high, low = float(first.max()), float(first.min())
    return high - low <= within * max(abs(high), abs(low))


def flat(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The last third of the window has the level of the first third, and all earlier levels are within noise.

    A steady climb increases the noise between neighbours, so a window with a trend is not flat. A log that
    begins after half of the training (the end of a console, a continued run) does not show the start of the
    run. With `sees` the noise is so small that a gain of that share of the level would be seen.
    """
    length = int(rule.number("window", 30))
    third = length // 3
    smooth = min(10, max(third, 2))
    top, bottom = window.extremes(smooth)
    if idle and window.end < length:
        return None
    level, noise = window.level(length), window.jitter(0)
    noise = np.where(noise == 0, _change(window), noise)
    on = top - bottom <= 4 * np.maximum(noise, 0.01 * np.abs(level))
    on &= window.ticks.last[window.at] >= 2 * window.ticks.first[0]
    if stays_idle(idle, on):
        return None
    least = np.maximum(FLAT * noise / np.sqrt(third / 2), 0.01 * np.abs(level))
    if "sees" in rule.numbers:
        on &= least <= rule.number("sees", 0.0) * np.abs(level)
    chosen = np.flatnonzero(on)
    if len(chosen):
        rows = window.rows_at(chosen, length)
        first, last = (
            median_of_sorted(np.sort(part, axis=1)) for part in (rows[:, :third], rows[:, -third:])
        )
        on[chosen] = (np.abs(last - first) <= least[chosen]) & (np.abs(_trend_z(rows)) < TREND_Z)
    return ConditionStates(on, ~on & ~np.isnan(level), level, least, first_tick(window, length))


def _trend_z(rows: Floats) -> Floats:
    """(m,) Mann-Kendall z of the means of up to twelve parts of each row."""
    parts = min(12, rows.shape[1])
    width = rows.shape[1] // parts
    if width == 1:
        return concordance(rows)
    return concordance(rows[:, rows.shape[1] - parts * width :].reshape(len(rows), parts, width).mean(axis=2))


def best(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The level is within a share of the range from its top, and the range exceeds the noise.

    It no longer holds if the noise has grown to twice what the range exceeds.
    """
    length, fraction = int(rule.number("window", 8)), rule.number("fraction", 0.15)
    top, bottom = window.extremes(length)
    level = window.level(length)
    limit = top - fraction * (top - bottom)
    on = level >= limit
    if stays_idle(idle, on):
        return None
    chosen = np.flatnonzero(on)
    away = np.abs(window.rows_at(chosen, length) - level[chosen, None])
    noise = NORMAL * median_of_sorted(np.sort(away, axis=1))
    noise = np.fmax(noise, np.fmin(window.jitter(0), window.bend())[chosen])
    noise = np.fmax(noise, _change(window)[chosen])
    least = BEST * noise + 1e-9
    on[chosen] = (top - bottom)[chosen] > least
    off = level < limit - 0.1 * (top - bottom)
    off[chosen] |= (top - bottom)[chosen] < least / 2
    return ConditionStates(on, off, level, limit)


def _change(window: RollingWindow) -> Floats:
    """(m,) mean change between neighbours so far: the noise of a series of which most ticks are the same.

    Half of them or more leave every median of differences at zero. A curve that rises to its maximum and
    stays there changes by little on average.
    """
    change = np.abs(np.diff(window.ticks.value[: window.end], prepend=window.ticks.value[0]))
    found: Floats = (np.cumsum(change) / (np.arange(window.end) + 1))[window.at]
    return found


def above_start(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The level now is near the top of its range, and above the start by more than the noise of the curve.

    For young runs, which are too short for a trend, a plateau, or means that tell noise that is slow
    (`gain_over_run.gained`).
    """
    start, level = window.start()[0], window.level(ABOVE)
    top, bottom = window.extremes(ABOVE)
    limit = top - TOP * (top - bottom)
    least = GAIN * np.maximum(np.abs(top), np.abs(bottom))
    on = (level >= limit) & (level - start > least)
    if stays_idle(idle, on):
        return None
    least = np.maximum(CURVE * window.bend(), least)
    on &= level - start > least
    return ConditionStates(on, ~on & ~np.isnan(level), level, limit)
