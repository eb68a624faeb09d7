"""Where a score stands: constant from the start, dead at its worst, flat where it began, or at its best.

The scale is the run's own range; noise is the robust deviation of recent ticks.
"""

from __future__ import annotations

import math

import numpy as np

from rltui.rules.evaluate.robust_statistics import NORMAL, concordance, medians
from rltui.rules.evaluate.rolling_window import RollingWindow
from rltui.rules.evaluate.ticks import Floats
from rltui.rules.kinds.verdict import Verdict, sizes
from rltui.rules.model import Rule

GAIN = 0.15  # share of its size that a reward must have gained to excuse anything
ONE_WAY = 2.2  # deviations; six values in strict order are 2.8


def dead(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """The same value at every tick of the window, the lowest seen, and it was higher before."""
    length = int(rule.number("window", 12))
    tops, (highest, lowest) = window.extremes(length)[0], window.extremes(1)
    if idle:
        largest = max(abs(window.worsts(1)[0]), abs(window.bests(1)[1]), 1e-12)
        if not window.spreads(length)[0] <= 1e-7 * largest:
            return None
    spread, level = window.spread(length), window.level(length)
    size = np.maximum(np.maximum(np.abs(lowest), np.abs(highest)), 1e-12)
    best = np.fmax(tops, window.start()[2])
    low = level <= lowest + 1e-7 * size
    on = (spread <= 1e-7 * size) & low & (best > level + 1e-3 * size)
    off = (spread > 1e-7 * size) | ~low
    return Verdict(
        on, off & ~np.isnan(spread), level, best, np.maximum(window.at - length + 1, 0), upward=False
    )


def constant(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """One value from the first tick on, for `window` ticks, exactly or `within` a share of its size."""
    tops, bottoms, ticks = window.bests(1), window.worsts(1), rule.number("window", 24)
    within = rule.number("within", 1e-7)
    if idle:
        largest = max(abs(tops[1]), abs(bottoms[0]))
        if window.last + 1 < ticks or not tops[0] - bottoms[1] <= within * largest:
            return None
    highest, lowest = window.extremes(1)
    size = np.maximum(np.abs(highest), np.abs(lowest))
    same = highest - lowest <= within * size
    on = same & (window.at + 1 >= ticks) & (lowest > rule.number("above", -math.inf))
    return Verdict(on, ~same & ~np.isnan(highest), lowest, highest, np.zeros(len(window), np.int64))


def flat(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """The last third of the window is where the first third was, and the whole past within the noise.

    A steady climb swells the noise between neighbours, so a window that mostly goes one way is not flat.
    """
    length = int(rule.number("window", 30))
    third = length // 3
    smooth = min(10, max(third, 2))
    tops, bottoms = window.bests(smooth), window.worsts(smooth)
    if idle:
        if window.last + 1 < length:
            return None
        noisy = max(window.jitters(0)[1], 0.01 * sizes(window.levels(length))[1])
        if not tops[0] - bottoms[1] <= 4 * noisy:
            return None
    level, noise = window.level(length), window.jitter(0)
    top, bottom = window.extremes(smooth)
    on = top - bottom <= 4 * np.maximum(noise, 0.01 * np.abs(level))
    if idle and not np.count_nonzero(on):
        return None
    rows = window.rows(length)
    first, last = medians(rows[:, :third]), medians(rows[:, -third:])
    least = np.maximum(rule.number("sigmas", 3) * noise / np.sqrt(third / 2), 0.01 * np.abs(level))
    on &= (np.abs(last - first) <= least) & (np.abs(_one_way(rows)) < ONE_WAY)
    return Verdict(on, ~on & ~np.isnan(level), level, least, np.maximum(window.at - length + 1, 0))


def _one_way(rows: Floats) -> Floats:
    """(m,) Mann and Kendall's z of the means of up to twelve parts of each row."""
    parts = min(12, rows.shape[1])
    width = rows.shape[1] // parts
    if width == 1:
        return concordance(rows)
    return concordance(rows[:, rows.shape[1] - parts * width :].reshape(len(rows), parts, width).mean(axis=2))


def best(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """The level is within a share of the range from the top, and the range is more than noise."""
    length = int(rule.number("window", 8))
    fraction, sigmas = rule.number("fraction", 0.15), rule.number("sigmas", 3)
    (tops, highest), lowest = window.bests(length), window.worsts(length)[0]
    if idle:
        if not window.levels(length)[1] >= tops - fraction * (highest - lowest):
            return None
        noisy = min(window.jitters(0)[0], window.bends()[0])
        if highest - lowest <= sigmas * noisy + 1e-9:
            return None
    level = window.level(length)
    top, bottom = window.extremes(length)
    noise = np.fmax(_noise(window.rows(length), level), np.fmin(window.jitter(0), window.bend()))
    limit = top - fraction * (top - bottom)
    improved = top - bottom > sigmas * noise + 1e-9
    return Verdict(improved & (level >= limit), level < limit - 0.1 * (top - bottom), level, limit)


def gained(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """The level is near the top of its range, and above the start by more than what detours explain.

    For young runs, of which a trend or a plateau cannot be told yet.
    """
    length = int(rule.number("window", 4))
    fraction, start = rule.number("fraction", 0.25), window.start()[0]
    (tops, highest), (lowest, bottoms) = window.bests(length), window.worsts(length)
    if idle:
        most, least_size = window.levels(length)[1], max(tops, -bottoms, 0.0)
        if not (most - start > GAIN * least_size and most >= tops - fraction * (highest - lowest)):
            return None
    level = window.level(length)
    top, bottom = window.extremes(length)
    limit = top - fraction * (top - bottom)
    size = np.maximum(np.abs(top), np.abs(bottom))
    least = np.maximum(rule.number("sigmas", 4) * window.bend(), GAIN * size)
    on = (level - start > least) & (level >= limit)
    return Verdict(on, ~on & ~np.isnan(level), level, limit)


def _noise(rows: Floats, level: Floats) -> Floats:
    found: Floats = NORMAL * medians(np.abs(rows - level[:, None]))
    return found
