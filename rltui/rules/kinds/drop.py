"""A score that falls back from its best level by a share of all that was gained, and beyond its noise.

The scale is the run's own: the way from the worst to the best level so far. So rewards of -1000 and of
0.3 are judged alike. Noise counts twice: recent ticks must lie below the limit, and the fall must be
many robust deviations of the ticks before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from rltui.common.arrays import Bools, Floats
from rltui.rules.judged_series.robust_statistics import rate_error
from rltui.rules.judged_series.rolling_window import BEFORE_MIN, RollingWindow
from rltui.rules.kinds.condition_states import ConditionStates, first_of, nowhere
from rltui.rules.model import Rule

HELD = 12  # ticks that a first level must have lasted
WAVES = 3.4  # deviations that a fall must exceed
REACH = 12  # windows that slow waves are read from
GAINED = 0.3  # share of the way that must have been climbed for a fall to be a loss
LOST = 0.5  # share of a fall that must have been climbed before, for it to be the loss of a gain
YOUNG = 40  # ticks in which small ups and downs are exploration
SURER = 1.5  # times the deviations that fewer ticks must have fallen by


def judge(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """Level against best level minus a share of the range; with `few` ticks where the fall is clearer."""
    length, sigmas = int(rule.number("window", 8)), rule.number("sigmas", 5)
    on, level, limit, span, began = _fallen(rule, window, length, sigmas)
    few = int(rule.number("few", length))
    if few < length:
        sooner, now, bound, _, start = _fallen(rule, window, few, SURER * sigmas)
        sooner &= ~on
        if np.count_nonzero(sooner):
            level, limit = np.where(sooner, now, level), np.where(sooner, bound, limit)
            slower, began = began, lambda k: (start if sooner[k] else slower)(k)
            on |= sooner
    if nowhere(idle, on):
        return None
    off = level > limit + rule.number("release", 0.25) * span
    return ConditionStates(on, off, level, limit, began, upward=False)


def _fallen(
    rule: Rule, window: RollingWindow, length: int, sigmas: float
) -> tuple[Bools, Floats, Floats, Floats, Callable[[int], int]]:
    """Where the last `length` ticks have fallen, their level, the limit, the range, and where it began."""
    top, bottom = window.extremes(length)
    start, lowest, _ = window.start()
    noise: Floats = window.loudest(length)
    level = window.level(length)
    bottom = np.fmin(bottom, lowest)
    span = top - bottom
    if length < BEFORE_MIN:  # few values, such as evaluations: their noise is guessed from all there are
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
    return on, level, limit, span, first_of(window, beyond, length)


def _beyond_waves(window: RollingWindow, on: Bools, fall: Floats, gain: Floats, length: int) -> Bools:
    """Leave out falls within the slow waves of the ticks before: means over many episodes wander smoothly.

    Differences of neighbours do not see such waves, so it is the deviation from a smooth curve. Where less
    than half of the fall had been gained above the start, the highest of many waves is easily taken for a
    level: twice as much is asked for.
    """
    found = on.copy()
    held = window.ticks.value[window.ticks.filled]
    for k in np.flatnonzero(on):
        end = int(window.at[k]) + 1 - length
        part = held[max(0, end - REACH * length) : max(0, end)]
        if len(part) < BEFORE_MIN:
            continue
        smooth = _parabolas(len(part))
        away = part - smooth @ (smooth.T @ part)
        found[k] = fall[k] > (WAVES if gain[k] >= LOST * fall[k] else 2 * WAVES) * away.std()
    return found


@cache
def _parabolas(count: int) -> Floats:
    """(count, 3) orthonormal columns: what they hold of a series is its parabola of least squares."""
    found: Floats = np.linalg.qr(np.vander(np.linspace(-1, 1, count), 3))[0]
    return found


def _held(window: RollingWindow, on: Bools, gained: Bools, limit: Floats) -> Bools:
    """Leave out falls from a level that was not gained, nor held for enough ticks not below the limit."""
    found, held = on.copy(), window.ticks.value
    for k in np.flatnonzero(on & ~gained):
        found[k] = np.count_nonzero(held[: int(window.at[k]) + 1] >= limit[k]) >= HELD
    return found
