"""Where a score stands: dead at its worst, flat where it began, or at its best.

The scale is the run's own range; noise is the robust deviation of recent ticks.
"""

from __future__ import annotations

import numpy as np

from rltui.rules.kinds.verdict import Verdict
from rltui.rules.model import Rule
from rltui.rules.track import Floats
from rltui.rules.window import NORMAL, Window


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


def flat(rule: Rule, window: Window) -> Verdict:
    """The last third of the window is where the first third was, and the whole past within the noise."""
    length = int(rule.number("window", 30))
    rows = window.rows(length)
    level = window.level(length)
    noise = window.jitter(0)
    third = length // 3
    first, last = np.median(rows[:, :third], axis=1), np.median(rows[:, -third:], axis=1)
    least = np.maximum(rule.number("sigmas", 3) * noise / np.sqrt(third / 2), 0.01 * np.abs(level))
    with np.errstate(invalid="ignore"):
        top, bottom = window.extremes(10)
        on = (np.abs(last - first) <= least) & (top - bottom <= 4 * np.maximum(noise, 0.01 * np.abs(level)))
    return Verdict(on, ~on & ~np.isnan(level), level, least, np.maximum(window.at - length + 1, 0))


def best(rule: Rule, window: Window) -> Verdict:
    """The level is within a share of the range from the top, and the range is more than noise."""
    length = int(rule.number("window", 8))
    level = window.level(length)
    top, bottom = window.extremes(length)
    noise = np.fmax(_noise(window.rows(length), level), window.jitter(0))
    limit = top - rule.number("fraction", 0.15) * (top - bottom)
    with np.errstate(invalid="ignore"):
        improved = top - bottom > rule.number("sigmas", 3) * noise + 1e-9
        on = improved & (level >= limit)
        return Verdict(on, level < limit - 0.1 * (top - bottom), level, limit)


def _noise(rows: Floats, level: Floats) -> Floats:
    found: Floats = NORMAL * np.median(np.abs(rows - level[:, None]), axis=1)
    return found
