"""A score that falls back from its best level by a share of all that was gained, and beyond its noise.

The scale is the run's own: the way from the worst to the best level so far. So rewards of -1000 and of
0.3 are judged alike. Noise counts twice: recent ticks must lie below the limit, and the fall must be
many robust deviations of the ticks before.
"""

from __future__ import annotations

import numpy as np

from rltui.rules.kinds.verdict import Verdict, first_of
from rltui.rules.model import Rule
from rltui.rules.track import Floats, Ints
from rltui.rules.window import Window


HELD = 12  # ticks that a first level must have lasted


def judge(rule: Rule, window: Window) -> Verdict:
    """Level against best level minus a share of the range."""
    length = int(rule.number("window", 8))
    level = window.level(length)
    top, bottom = window.extremes(length)
    noise: Floats = window.jitter(length)
    fall = rule.number("fraction", 0.5) * (top - bottom)
    limit = top - np.fmax(fall, rule.number("sigmas", 5) * noise)
    rows = window.rows(length)
    with np.errstate(invalid="ignore"):
        beyond = rows < limit[:, None]
        on = (level < limit) & (beyond.mean(axis=1) >= 0.9) & (top - bottom > rule.number("least", 0.0))
        if on.any():
            on &= (top - window.start()[0] >= 0.3 * (top - bottom)) | (_last_above(window, limit) >= HELD)
        off = level > limit + rule.number("release", 0.25) * (top - bottom)
    return Verdict(on, off, level, limit, first_of(window, beyond, length), upward=False)


def _last_above(window: Window, limit: Floats) -> Ints:
    """(m,) position of the last tick that is not below the limit; -1 for none."""
    held = window.track.value[window.track.filled][: int(window.at[-1]) + 1]
    found = np.full(len(window), -1, np.int64)
    for k in range(len(window)):
        above = np.flatnonzero(held[: window.at[k] + 1] >= limit[k])
        if len(above):
            found[k] = above[-1]
    return found
