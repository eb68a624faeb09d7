"""A score that falls from its best level by a share of its range, and by more than its noise.

The range is that from the worst to the best level of the run so far, so rewards of -1000 and of 0.3 are
judged alike. Recent ticks must be below the limit, and the fall must exceed many robust deviations of the
ticks before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from rltui.common.arrays import Bools, Floats
from rltui.rules.condition_states import ConditionStates, first_in, stays_idle
from rltui.rules.evaluated_series.robust_statistics import rate_error
from rltui.rules.evaluated_series.rolling_window import BEFORE_MIN, RollingWindow
from rltui.rules.rule import Rule

HELD = 12  # ticks for which a level that was not gained must have lasted
WAVES = 3.4  # deviations of slow waves that a fall must exceed
WAVE_WINDOWS = 12  # windows before the fall, from which that deviation is taken
GAINED = 0.3  # share of the range by which the best level must be above the start to count as gained
LOST = 0.5  # share of a fall that must have been gained; for less, twice the deviations
YOUNG = 40  # ticks in which small changes are exploration
RELEASE = 0.25  # share of the range above the limit, at which it is resolved
FEW_FACTOR = 1.5  # times the deviations for a fall over `few` ticks


def evaluate(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """Level against best level minus a share of the range; also of `few` ticks if the fall is clearer."""
    length, sigmas = int(rule.number("window", 8)), rule.number("sigmas", 5)
    on, level, limit, span, began = _fallen(rule, window, length, sigmas)
    few = int(rule.number("few", length))
    if few < length:
        sooner, now, bound, _, start = _fallen(rule, window, few, FEW_FACTOR * sigmas)
        sooner &= ~on
        if np.count_nonzero(sooner):
            level, limit = np.where(sooner, now, level), np.where(sooner, bound, limit)
            slower, began = began, lambda k: (start if sooner[k] else slower)(k)
            on |= sooner
    if stays_idle(idle, on):
        return None
    off = level > limit + RELEASE * span
    return ConditionStates(on, off, level, limit, began, upward=False)


def _fallen(
    rule: Rule, window: RollingWindow, length: int, sigmas: float
) -> tuple[Bools, Floats, Floats, Floats, Callable[[int], int]]:
    """Whether the last `length` ticks have fallen; their level, the limit, the range, the onset."""
    top, bottom = window.extremes(length)
    start, lowest, _ = window.start()
    noise: Floats = window.loudest(length)
    level = window.level(length)
    bottom = np.fmin(bottom, lowest)
    span = top - bottom
    if length < BEFORE_MIN:  # few values, such as evaluations: all of them count for the noise
        noise = np.fmax(noise, window.jitter(0))
    fall = rule.number("fraction", 0.5) * span
    limit = top - (np.fmax if length < BEFORE_MIN else np.maximum)(fall, sigmas * noise)
    beyond = window.rows(length) < limit[:, None]
    on = (level < limit) & (beyond.sum(axis=1) >= 0.75 * length)
    if np.count_nonzero(on):
        size = np.maximum(np.abs(top), np.abs(bottom))
        small = np.where(window.at < YOUNG, rule.number("young", 0.1), rule.number("least", 0.03))
        on &= span > small * size
        on = _held(window, on, top - start >= GAINED * span, limit)
        if length < BEFORE_MIN:
            for k in np.flatnonzero(on).tolist():
                error = rate_error(window.ticks.value[: int(window.at[k]) + 1])
                on[k] = top[k] - level[k] > sigmas * error
        else:
            on = _beyond_waves(window, on, top - level, top - start, length)
    return on, level, limit, span, first_in(window, beyond, length)


def _beyond_waves(window: RollingWindow, on: Bools, fall: Floats, gain: Floats, length: int) -> Bools:
    """Leave out falls within the slow waves of the ticks before, as means over many episodes have them.

    Such waves do not show in differences of neighbours, so the deviation is that from a smooth curve. If less
    than half of the fall had been gained above the start, the best level may be the highest of many waves:
    twice the deviation is required.
    """
    found = on.copy()
    held = window.ticks.value[window.ticks.filled]
    for k in np.flatnonzero(on):
        end = int(window.at[k]) + 1 - length
        part = held[max(0, end - WAVE_WINDOWS * length) : max(0, end)]
        if len(part) < BEFORE_MIN:
            continue
        smooth = _parabolas(len(part))
        away = part - smooth @ (smooth.T @ part)
        found[k] = fall[k] > (WAVES if gain[k] >= LOST * fall[k] else 2 * WAVES) * away.std()
    return found


@cache
def _parabolas(count: int) -> Floats:
    """(count, 3) orthonormal columns: the projection of a series on them is its least-squares parabola."""
    found: Floats = np.linalg.qr(np.vander(np.linspace(-1, 1, count), 3))[0]
    return found


def _held(window: RollingWindow, on: Bools, gained: Bools, limit: Floats) -> Bools:
    """Leave out falls from a level that was neither gained nor held: for `HELD` ticks not below the limit."""
    found, held = on.copy(), window.ticks.value
    for k in np.flatnonzero(on & ~gained):
        found[k] = np.count_nonzero(held[: int(window.at[k]) + 1] >= limit[k]) >= HELD
    return found
