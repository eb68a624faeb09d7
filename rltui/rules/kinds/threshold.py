"""A level above, below, outside or near a limit, sustained over a window.

The median of the last `window` ticks must be beyond the limit, and `share` of these ticks too, so that
neither one outlier nor a series that hops over the line fires. `of` makes the limit a multiple of the
run's own start, its usual level or its best level. `release` is the hysteresis, a share of the limit.
"""

from __future__ import annotations

import math

import numpy as np

from rltui.rules.kinds.verdict import Verdict, first_of
from rltui.rules.model import Rule
from rltui.rules.track import Floats
from rltui.rules.window import Window

NORMAL_ENTROPY = 0.5 * math.log(2 * math.pi * math.e)  # nats, one action with a deviation of one


def judge(rule: Rule, window: Window) -> Verdict:
    """Level against limit, at every moment."""
    length = int(rule.number("window", 5))
    if len(window) == 1 and "near" not in rule.numbers:
        return _judge_one(rule, window, length)
    rows, level = window.rows(length), window.level(length)
    if rule.words.get("sign") == "abs":
        rows, level = np.abs(rows), np.abs(level)
    low, high = _limits(rule, window)
    with np.errstate(invalid="ignore"):
        beyond = (rows > high[:, None]) | (rows < low[:, None])
        on = ((level > high) | (level < low)) & (beyond.sum(axis=1) >= rule.number("share", 0.75) * length)
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
        if rule.number("nonzero", 0.0):
            on &= (rows != near).any(axis=1)
        off = ~np.isnan(level) & (np.abs(level - near) > 2 * within)
        low, high = np.full(len(window), near - within), np.full(len(window), near + within)
        return Verdict(on, off, level, np.full(len(window), near), first_of(window, beyond, length))
    above = np.isfinite(high) & ~(level < low)
    return Verdict(
        on, off, level, np.where(above, high, low), first_of(window, beyond, length), upward=bool(above.any())
    )


def _judge_one(rule: Rule, window: Window, length: int) -> Verdict:
    """The same for a single moment, in plain numbers: what a live run asks most often."""
    if rule.words.get("of"):
        lows, highs = _limits(rule, window)
        low, high = float(lows[0]), float(highs[0])
    else:
        low = rule.number("below", rule.number("low", -math.inf))
        high = rule.number("above", rule.number("high", math.inf))
    level = float(window.level(length)[0])
    row: list[float] = window.rows(length)[0].tolist()
    if rule.words.get("sign") == "abs":
        level, row = abs(level), [abs(value) for value in row]
    beyond = [value > high or value < low for value in row]
    on = (level > high or level < low) and sum(beyond) >= rule.number("share", 0.75) * length
    if on and rule.number("nonzero", 0.0):
        on = level != 0
    margin = rule.number("release", 0.1)
    back_low = low + margin * abs(low) if math.isfinite(low) else low
    back_high = high - margin * abs(high) if math.isfinite(high) else high
    off = level <= back_high and level >= back_low
    above = math.isfinite(high) and not level < low
    began = max(int(window.at[0]) - (length - 1) + (beyond.index(True) if on else 0), 0)
    return Verdict([on], [off], [level], [high if above else low], [began], upward=above)


def first(rule: Rule, window: Window) -> Verdict:
    """The very first tick against a limit: what must hold before anything has been learnt.

    With `usual` it is the median of the first ticks: where the level at the start is meant, not one sample.
    """
    start = window.track.start
    one = window.start()[0] if rule.number("usual", 0.0) else start[0] if start else np.nan
    value = np.full(len(window), one)
    above, below = rule.number("above", np.inf), rule.number("below", -np.inf)
    on = (value > above) | (value < below)
    limit = np.where(value > above, above, below)
    return Verdict(on, ~on, value, limit, np.zeros(len(window), np.int64))


def gaussian(rule: Rule, window: Window) -> Verdict:
    """The first value is the entropy of standard normal actions: a multiple of half the logarithm of 2 pi e.

    Policies over continuous actions start with a deviation of one; their entropy may fall below zero.
    """
    value = window.track.start[0] if window.track.start else math.nan
    count = round(value / NORMAL_ENTROPY) if math.isfinite(value) else 0
    on = count >= 1 and abs(value / (count * NORMAL_ENTROPY) - 1) <= rule.number("within", 0.01)
    m = len(window)
    values = np.full(m, value)
    return Verdict(np.full(m, on), np.full(m, not on), values, values, np.zeros(m, np.int64))


def _limits(rule: Rule, window: Window) -> tuple[Floats, Floats]:
    """(m,) lower and upper limit; infinite where there is none, NaN where it is not known yet."""
    m = len(window)
    low = np.full(m, rule.number("below", rule.number("low", -np.inf)))
    high = np.full(m, rule.number("above", rule.number("high", np.inf)))
    of = rule.words.get("of", "")
    if of:
        base = _base(rule, window, of)
        # A base that small, or below zero (entropy of narrow normal actions), makes no meaningful multiple.
        least = rule.number("least", 0.0)
        base = np.where(base > least, base, np.nan)
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
