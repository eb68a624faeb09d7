"""A level above, below, outside or near a limit, sustained over a window.

The median of the last `window` ticks must be beyond the limit, and `share` of these ticks too, so that
neither one outlier nor a series that hops over the line fires. `of` makes the limit a multiple of the
run's own start, its usual level or its best level. `release` is the hysteresis, a share of the limit.
"""

from __future__ import annotations

import numpy as np

from rltui.rules.kinds.verdict import Verdict, first_of
from rltui.rules.model import Rule
from rltui.rules.track import Floats
from rltui.rules.window import Window


def judge(rule: Rule, window: Window) -> Verdict:
    """Level against limit, at every moment."""
    length = int(rule.number("window", 5))
    rows, level = window.rows(length), window.level(length)
    if rule.words.get("sign") == "abs":
        rows, level = np.abs(rows), np.abs(level)
    low, high = _limits(rule, window)
    with np.errstate(invalid="ignore"):
        beyond = (rows > high[:, None]) | (rows < low[:, None])
        on = ((level > high) | (level < low)) & (beyond.mean(axis=1) >= rule.number("share", 0.75))
        if rule.number("nonzero", 0.0):  # zero means "not reported"
            on &= level != 0
        margin = rule.number("release", 0.1)
        back_low = np.where(np.isfinite(low), low + margin * np.abs(low), low)
        back_high = np.where(np.isfinite(high), high - margin * np.abs(high), high)
        off = (level <= back_high) & (level >= back_low)
    if "near" in rule.numbers:
        near, within = rule.numbers["near"], rule.number("within", 0.0)
        beyond = np.abs(rows - near) <= within
        on = beyond.all(axis=1) & ~np.isnan(level)
        off = ~np.isnan(level) & (np.abs(level - near) > 2 * within)
        low, high = np.full(len(window), near - within), np.full(len(window), near + within)
        return Verdict(on, off, level, np.full(len(window), near), first_of(window, beyond, length))
    above = np.isfinite(high) & ~(level < low)
    return Verdict(
        on, off, level, np.where(above, high, low), first_of(window, beyond, length), upward=bool(above.any())
    )


def first(rule: Rule, window: Window) -> Verdict:
    """The very first tick against a limit: what must hold before anything has been learnt."""
    value = np.full(len(window), window.track.start[0] if window.track.start else np.nan)
    above, below = rule.number("above", np.inf), rule.number("below", -np.inf)
    on = (value > above) | (value < below)
    limit = np.where(value > above, above, below)
    return Verdict(on, ~on, value, limit, np.zeros(len(window), np.int64))


def _limits(rule: Rule, window: Window) -> tuple[Floats, Floats]:
    """(m,) lower and upper limit; infinite where there is none, NaN where it is not known yet."""
    m = len(window)
    low = np.full(m, rule.number("below", rule.number("low", -np.inf)))
    high = np.full(m, rule.number("above", rule.number("high", np.inf)))
    of = rule.words.get("of", "")
    if of:
        base = _base(rule, window, of)
        least = rule.number("least", 0.0)  # a base that small makes no meaningful multiple
        base = np.where(np.abs(base) > least, base, np.nan)
        low, high = (
            np.where(np.isfinite(low), low * base, low),
            np.where(np.isfinite(high), high * base, high),
        )
    return low, high


def _base(rule: Rule, window: Window, of: str) -> Floats:
    middle, lowest, highest = window.start()
    if of == "usual":
        return window.usual(int(rule.number("window", 5)))
    if of == "best":
        return np.fmax(window.extremes(int(rule.number("window", 5)))[0], highest)
    if of == "lowest":
        return window.extremes(int(rule.number("window", 5)))[1]
    return np.full(len(window), {"start": middle, "start-high": highest, "start-low": lowest}[of])
