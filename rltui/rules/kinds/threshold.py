"""A level above, below, outside or near a limit, sustained over a window.

The median of the last `window` ticks must be beyond the limit, and `share` of these ticks too, so that
neither one outlier nor a series that hops over the line fires. `of` makes the limit a multiple of the
run's own start, its usual level or its best level. `release` is the hysteresis, a share of the limit.
"""

from __future__ import annotations

import math

import numpy as np

from rltui.rules.evaluate.rolling_window import RollingWindow, Span
from rltui.rules.evaluate.single_moment import SingleMoment
from rltui.rules.evaluate.ticks import Floats
from rltui.rules.kinds.verdict import Verdict, first_of, sizes
from rltui.rules.model import Rule

NORMAL_ENTROPY = 0.5 * math.log(2 * math.pi * math.e)  # nats, one action with a deviation of one


def judge(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """Level against limit, at every moment."""
    if "near" in rule.numbers:
        return _near(rule, window, idle)
    length = int(rule.number("window", 5))
    absolute = rule.words.get("sign") == "abs"
    low, high = _ends(rule, window, length)
    if idle:
        lowest, highest = sizes(window.ticks(length)) if absolute else window.ticks(length)
        if window.last + 1 < length or not (lowest < low or highest > high):
            return None
    if isinstance(window, SingleMoment):
        return _judge_one(rule, window, length, low, high)
    lows, highs = _limits(rule, window, length)
    level = np.abs(window.level(length)) if absolute else window.level(length)
    on = (level > highs) | (level < lows)
    if idle and not np.count_nonzero(on):
        return None
    rows = np.abs(window.rows(length)) if absolute else window.rows(length)
    beyond = (rows > highs[:, None]) | (rows < lows[:, None])
    on &= beyond.sum(axis=1) >= rule.number("share", 0.75) * length
    if rule.number("nonzero", 0.0):  # zero means "not reported"
        on &= level != 0
    margin = rule.number("release", 0.1)
    back_low = np.where(np.isfinite(lows), lows + margin * np.abs(lows), lows)
    back_high = np.where(np.isfinite(highs), highs - margin * np.abs(highs), highs)
    off = (level <= back_high) & (level >= back_low)
    above = np.isfinite(highs) & ~(level < lows)
    limit = np.where(above, highs, lows)
    return Verdict(on, off, level, limit, first_of(window, beyond, length), upward=bool(above.any()))


def _judge_one(rule: Rule, window: SingleMoment, length: int, low: float, high: float) -> Verdict:
    """The same for a single moment, in plain numbers: what a live run asks most often."""
    level, row = window.levels(length)[0], window.row(length)
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
    began = max(window.last - (length - 1) + (beyond.index(True) if on else 0), 0)
    return Verdict([on], [off], [level], [high if above else low], [began], upward=above)


def _near(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """All ticks of the window within a distance of a number."""
    length, centre, within = int(rule.number("window", 5)), rule.numbers["near"], rule.number("within", 0.0)
    lowest, highest = window.ticks(length)
    if idle and (window.last + 1 < length or lowest - centre > within or centre - highest > within):
        return None
    rows, level = window.rows(length), window.level(length)
    beyond = np.abs(rows - centre) <= within
    on = beyond.all(axis=1) & ~np.isnan(level)
    if rule.number("nonzero", 0.0):
        on &= (rows != centre).any(axis=1)
    off = ~np.isnan(level) & (np.abs(level - centre) > 2 * within)
    return Verdict(on, off, level, np.full(len(window), centre), first_of(window, beyond, length))


def first(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """The very first tick against a limit: what must hold before anything has been learnt.

    With `usual` it is the median of the first ticks: where the level at the start is meant, not one sample.
    """
    start, m = window.track.start, len(window)
    value = window.start()[0] if rule.number("usual", 0.0) else start[0] if start else math.nan
    above, below = rule.number("above", math.inf), rule.number("below", -math.inf)
    on = value > above or value < below
    if idle and not on:
        return None
    return Verdict([on] * m, [not on] * m, [value] * m, [above if value > above else below] * m, [0] * m)


def gaussian(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """The first value is the entropy of standard normal actions: a multiple of half the logarithm of 2 pi e.

    Policies over continuous actions start with a deviation of one; their entropy may fall below zero.
    """
    value = window.track.start[0] if window.track.start else math.nan
    count = round(value / NORMAL_ENTROPY) if math.isfinite(value) else 0
    on = count >= 1 and abs(value / (count * NORMAL_ENTROPY) - 1) <= rule.number("within", 0.01)
    if idle and not on:
        return None
    m = len(window)
    return Verdict([on] * m, [not on] * m, [value] * m, [value] * m, [0] * m)


def _ends(rule: Rule, window: RollingWindow, length: int) -> tuple[float, float]:
    """The highest lower and the lowest upper limit of any moment; likewise infinite or NaN."""
    low = rule.number("below", rule.number("low", -math.inf))
    high = rule.number("above", rule.number("high", math.inf))
    of = rule.words.get("of", "")
    if not of:
        return low, high
    small, large = _bases(window, of, length)
    if not large > rule.number("least", 0.0):
        small = large = math.nan
    if math.isfinite(low):
        low *= large if low > 0 else small
    if math.isfinite(high):
        high *= small if high > 0 else large
    return low, high


def _bases(window: RollingWindow, of: str, length: int) -> Span:
    """The lowest and the highest base of any moment."""
    middle, lowest, highest = window.start()
    if of == "usual":
        return window.usuals(length)
    if of == "best":
        low, high = window.bests(length)
        return max(highest, low), max(highest, high)
    if of == "lowest":
        return window.worsts(length)
    one = {"start": middle, "start-high": highest, "start-low": lowest}[of]
    return one, one


def _limits(rule: Rule, window: RollingWindow, length: int) -> tuple[Floats, Floats]:
    """(m,) lower and upper limit; infinite where there is none, NaN where it is not known yet."""
    m = len(window)
    low = np.full(m, rule.number("below", rule.number("low", -np.inf)))
    high = np.full(m, rule.number("above", rule.number("high", np.inf)))
    of = rule.words.get("of", "")
    if of:
        base = _base(window, of, length)
        # A base that small, or below zero (entropy of narrow normal actions), makes no meaningful multiple.
        least = rule.number("least", 0.0)
        base = np.where(base > least, base, np.nan)
        low, high = (
            np.where(np.isfinite(low), low * base, low),
            np.where(np.isfinite(high), high * base, high),
        )
    return low, high


def _base(window: RollingWindow, of: str, length: int) -> Floats:
    if of == "usual":
        return window.usual(length)
    if of == "best":
        return np.fmax(window.extremes(length)[0], window.start()[2])
    if of == "lowest":
        return window.extremes(length)[1]
    return np.full(len(window), _bases(window, of, length)[0])
