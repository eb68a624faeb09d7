"""Where a score stands: constant from the start, dead at its worst, flat where it began, or at its best.

The scale is the run's own range; noise is the robust deviation of recent ticks.
"""

from __future__ import annotations

import math

import numpy as np

from rltui.rules.kinds.verdict import Verdict
from rltui.rules.model import Rule
from rltui.rules.robust import NORMAL, concordance, medians, middle
from rltui.rules.track import Floats
from rltui.rules.window import Window

GAIN = 0.15  # share of its size that a reward must have gained to excuse anything
ONE_WAY = 2.2  # deviations; six values in strict order are 2.8


def dead(rule: Rule, window: Window) -> Verdict:
    """The same value at every tick of the window, the lowest seen, and it was higher before."""
    length = int(rule.number("window", 12))
    spread, level = window.spread(length), window.level(length)
    highest, lowest = window.extremes(1)
    size = np.maximum(np.maximum(np.abs(lowest), np.abs(highest)), 1e-12)
    best = np.fmax(window.extremes(length)[0], window.start()[2])
    with np.errstate(invalid="ignore"):
        low = level <= lowest + 1e-7 * size
        on = (spread <= 1e-7 * size) & low & (best > level + 1e-3 * size)
    off = (spread > 1e-7 * size) | ~low
    return Verdict(
        on, off & ~np.isnan(spread), level, best, np.maximum(window.at - length + 1, 0), upward=False
    )


def constant(rule: Rule, window: Window) -> Verdict:
    """One value from the first tick on, for `window` ticks, exactly or `within` a share of its size."""
    highest, lowest = window.extremes(1)
    size = np.maximum(np.abs(highest), np.abs(lowest))
    same = highest - lowest <= rule.number("within", 1e-7) * size
    on = same & (window.at + 1 >= rule.number("window", 24)) & (lowest > rule.number("above", -math.inf))
    return Verdict(on, ~same & ~np.isnan(highest), lowest, highest, np.zeros(len(window), np.int64))


def flat(rule: Rule, window: Window) -> Verdict:
    """The last third of the window is where the first third was, and the whole past within the noise.

    A steady climb swells the noise between neighbours, so a window that mostly goes one way is not flat.
    """
    length = int(rule.number("window", 30))
    rows = window.rows(length)
    level = window.level(length)
    noise = window.jitter(0)
    third = length // 3
    first, last = medians(rows[:, :third]), medians(rows[:, -third:])
    least = np.maximum(rule.number("sigmas", 3) * noise / np.sqrt(third / 2), 0.01 * np.abs(level))
    with np.errstate(invalid="ignore"):
        top, bottom = window.extremes(min(10, max(third, 2)))
        on = (np.abs(last - first) <= least) & (top - bottom <= 4 * np.maximum(noise, 0.01 * np.abs(level)))
        on &= np.abs(_one_way(rows)) < ONE_WAY
    return Verdict(on, ~on & ~np.isnan(level), level, least, np.maximum(window.at - length + 1, 0))


def _one_way(rows: Floats) -> Floats:
    """(m,) Mann and Kendall's z of the means of up to twelve parts of each row."""
    parts = min(12, rows.shape[1])
    width = rows.shape[1] // parts
    return concordance(rows[:, rows.shape[1] - parts * width :].reshape(len(rows), parts, width).mean(axis=2))


def best(rule: Rule, window: Window) -> Verdict:
    """The level is within a share of the range from the top, and the range is more than noise."""
    length = int(rule.number("window", 8))
    level = window.level(length)
    top, bottom = window.extremes(length)
    noise = np.fmax(_noise(window.rows(length), level), np.fmin(window.jitter(0), _bend(window)))
    limit = top - rule.number("fraction", 0.15) * (top - bottom)
    with np.errstate(invalid="ignore"):
        improved = top - bottom > rule.number("sigmas", 3) * noise + 1e-9
        on = improved & (level >= limit)
        return Verdict(on, level < limit - 0.1 * (top - bottom), level, limit)


def gained(rule: Rule, window: Window) -> Verdict:
    """The level is near the top of its range, and above the start by more than what detours explain.

    For young runs, of which a trend or a plateau cannot be told yet.
    """
    length = int(rule.number("window", 4))
    level, start = window.level(length), window.start()[0]
    top, bottom = window.extremes(length)
    noise = _bend(window)
    limit = top - rule.number("fraction", 0.25) * (top - bottom)
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(top), np.abs(bottom))
        least = np.maximum(rule.number("sigmas", 4) * noise, GAIN * size)
        on = (level - start > least) & (level >= limit)
        return Verdict(on, ~on & ~np.isnan(level), level, limit)


def _bend(window: Window) -> Floats:
    """(m,) robust deviation of second differences of recent ticks: a steady climb is no noise."""
    rows = window.rows(24)
    bend = np.abs(rows[:, 2:] - 2 * rows[:, 1:-1] + rows[:, :-2])
    have = np.clip(window.at - 1, 0, 22)
    found: Floats = NORMAL * middle(np.sort(bend, axis=1), have) / np.sqrt(6.0)
    return found


def _noise(rows: Floats, level: Floats) -> Floats:
    found: Floats = NORMAL * medians(np.abs(rows - level[:, None]))
    return found
