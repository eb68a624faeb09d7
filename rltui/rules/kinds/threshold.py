"""A level above, below, outside or near a limit, sustained over a window.

The median of the last `window` ticks must be beyond the limit, and `share` of these ticks too, so that
neither an outlier nor a series that crosses the limit repeatedly fires. `of` makes the limit a multiple of
the run's level at the start, its usual level or its best level. `release` is the hysteresis, a share of the
limit. Further conditions:

- `sure`: the mean of the ticks is beyond the limit by so many errors; the noise is that between neighbours.
- `waves`: the median is beyond it by so many deviations of the usual ticks, which slow noise increases.
- `chance`: more ticks are beyond it than those before would explain. Where a single group of samples is
  logged, single ticks without any spread are usual; of a share of many groups fewer ticks are enough.
- `lasting`: the series has been beyond the limit for that share of the run up to now.
- `never_below`: no earlier tick was below that number.
- `steps`: so many steps have passed since the first tick. What takes updates takes them however often they
  are logged.
- `errors`: the level is below the best one by so many errors of a median of three, which follow from the
  noise and from the number of responses that a rate is over.

A window is a share of a long run: 8 of 512 ticks are a sixtieth. Of a run of 40 points they are a fifth, so
in a young run half of the window (`few` ticks) is enough if all of them are beyond the limit and the level
before was not. Noise that is beyond the limit half of the time has 6 of 8 ticks there at 14 % of the moments,
and 4 in a row at 6 %; with a fifth of the time, both happen at fewer than 2 in 1000. Windows of more than 12
ticks keep their length.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rltui.common.arrays import Bools, Floats, Ints, distinct, medians
from rltui.metrics.glossary_files import SHARE, bounds_of
from rltui.rules.condition_states import ConditionStates, IdleRange, at_start, first_in, stays_idle
from rltui.rules.evaluated_series.robust_statistics import (
    MEDIAN_OF_THREE,
    noise_beside_trend,
    rate_error,
)
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.rule import Rule

Limit = Floats | float  # one for each moment, or for all
CARRIED = ("best", "lowest")  # extreme levels so far, carried from window to window
NEARLY_ALL, MANY = 0.9, 6  # share of the ticks of so many windows
YOUNG = 64  # ticks of a run in which fewer than a full window are enough
MAX_SHORTENED = 12  # ticks of a window; longer ones are meant to show that something lasts
MIN_TICKS = 4  # ticks that must be beyond the limit in any case: bursts of three are common
MANY_GROUPS = 10  # that do not all tie by chance, in most ticks of a window
ROUNDING = 1e-4  # of shares in single precision
MAX_DIFFERENCE = 0.1  # of a number, by which a value may differ from a multiple of it


def idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Between the limits, since a level beyond them needs ticks beyond them."""
    if rule.words.get("of") == "usual":
        return None
    lowest, highest = window.range(int(rule.number("window", 5)))
    if "near" in rule.numbers:
        return _idle_range_beside(rule.numbers["near"], rule.number("within", 0.0), lowest, highest)
    absolute, base = rule.of_size, 1.0
    if of := rule.words.get("of", ""):
        if of in CARRIED:
            return None if absolute else _idle_range_of_carried(rule, window, lowest, highest)
        base = _start(window, of, absolute)
        if not base > rule.number("least", 0.0):
            return IdleRange()
    low, high = rule.numbers.get("below", -math.inf) * base, rule.numbers.get("above", math.inf) * base
    if absolute and (highest < 0 or not low > 0):
        low, high = -high, -low if low > 0 else high
    return IdleRange(low, high) if low <= lowest and highest <= high else None


def evaluate(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """Level against limit."""
    if "near" in rule.numbers:
        return _near(rule, window, idle)
    length = int(rule.number("window", 5))
    absolute = rule.of_size
    if rule.words.get("of") in CARRIED:
        window.extremes(length)
    low, high = _limits(rule, window, length)
    level = np.abs(window.level(length)) if absolute else window.level(length)
    on = _outside(level, low, high)
    if stays_idle(idle, on) and window.begin >= YOUNG:
        return None
    rows = np.abs(window.rows(length)) if absolute else window.rows(length)
    beyond = _outside(rows, _column(low), _column(high))
    on &= np.add.reduce(beyond, axis=1) >= rule.number("share", 0.75) * length
    sure = rule.number("sure", 0.0)
    if sure and np.count_nonzero(on):
        on &= _surely(window, rows, low, high, sure)
    half = max((length + 1) // 2, MIN_TICKS) if length <= MAX_SHORTENED else length
    few = int(rule.number("few", half))
    if few < length and window.begin < YOUNG:
        sooner = _sooner(window, ~on, beyond[:, -few:], low, high, absolute)
        if sure and np.count_nonzero(sooner):
            sooner &= _surely(window, rows[:, -few:], low, high, sure)
        if np.count_nonzero(sooner):
            on, level = on | sooner, np.where(sooner, medians(rows[:, -few:]), level)
    if stays_idle(idle, on):
        return None
    if rule.number("nonzero", 0.0):  # zero means "not reported"
        on &= level != 0
    began = first_in(window, beyond, length)
    if waves := rule.number("waves", 0.0):
        on &= _outside(level, *_moved(low, high, waves * np.nan_to_num(window.noise(length))))
    if errors := rule.number("errors", 0.0):
        on &= _away_from_extreme(window, level, on, length, errors, rule.words.get("of") == "lowest")
    if {"chance", "lasting"} & rule.numbers.keys():
        held = np.abs(window.ticks.value[: window.end]) if absolute else window.ticks.value[: window.end]
        on, began = _lasting(rule, window, on, began, _outside(held, _last(low), _last(high)))
    if steps := rule.number("steps", 0.0):
        on &= window.ticks.last[window.at] - window.ticks.first[0] >= steps
    margin = rule.number("release", 0.1)
    off, limit, upward = np.isfinite(level), low, False
    if low is not None:
        off &= level >= low + margin * np.abs(low)
    if high is not None:
        off &= level <= high - margin * np.abs(high)
        limit = high if low is None else np.where(level < low, low, high)
        upward = low is None or not (level < low).all()
    far = None if low is None or high is None else np.maximum(low - level, level - high)
    limits = np.full(len(window), limit)
    before = None if absolute or far is not None else _compared(rule, limits)
    return ConditionStates(on, off, level, limits, began, upward, beyond=far, before=before)


def _compared(rule: Rule, limits: Floats) -> Floats | None:
    """The levels that limits are multiples of: at the start, at best; None if these are absolute."""
    multiple = rule.numbers.get("above", rule.numbers.get("below", 0.0))
    return limits / multiple if rule.words.get("of") and multiple else None


def _moved(low: Limit | None, high: Limit | None, by: Floats) -> tuple[Limit | None, Limit | None]:
    """Limits that are farther away."""
    return None if low is None else low - by, None if high is None else high + by


def _away_from_extreme(
    window: RollingWindow, level: Floats, asked: Bools, length: int, errors: float, lowest: bool
) -> Bools:
    """(m,) whether a level is below the best, or above the lowest one, by so many errors, where asked for.

    An error is how far the largest of so many values with that noise is from their mean: sqrt(2 ln n).
    """
    found, (best, least) = asked.copy(), window.extremes(length)
    away = level - least if lowest else best - level
    for k in np.flatnonzero(asked).tolist():
        values = window.ticks.value[: int(window.at[k]) + 1]
        error = 0.0 if lowest else rate_error(values)  # the lowest loss is no rate
        error = max(error, MEDIAN_OF_THREE * noise_beside_trend(values))
        found[k] = away[k] > errors * error * math.sqrt(2 * math.log(len(values)))
    return found


def _lasting(
    rule: Rule, window: RollingWindow, on: Bools, began: Callable[[int], int], whole: Bools
) -> tuple[Bools, Callable[[int], int]]:
    """At which moments ticks are beyond the limit for longer than by chance, or for long; their onsets.

    `whole`: (n,) which of all ticks are beyond it.
    """
    inside = np.maximum.accumulate(np.where(whole, -1, np.arange(len(whole))))[window.at]
    first = (inside + 1).tolist()  # of those that have been beyond the limit without a break
    if chance := rule.number("chance", 0.0):
        began = list(map(min, map(began, range(len(window))), first)).__getitem__
        length, share, asked = int(rule.number("window", 5)), rule.number("share", 0.75), np.flatnonzero(on)
        many = bounds_of(window.ticks.canonical) == SHARE and _is_of_many(window.ticks.value[: window.end])
        least = length if many else 2 * length
        on[asked] = _beyond_chance(whole, window.at[asked] + 1, length, share, chance, least)
    if lasting := rule.number("lasting", 0.0):
        on &= window.at - inside >= lasting * (window.at + 1)
        began = first.__getitem__
    return on, began


def _beyond_chance(beyond: Bools, count: Ints, length: int, share: float, errors: float, least: int) -> Bools:
    """(m,) whether the newest of the first `count` ticks are beyond the limit more often than those before.

    By errors of a share: the last `length` ticks, or two or four times as many, are compared with twice as
    many before them. If half of all ticks are beyond the limit, ten in a row are not significant. If all have
    been, and `least` of them, or nearly all of many are, they are not by chance.
    """
    sums = np.concatenate(([0], np.cumsum(beyond)))
    first = int(beyond.argmax())
    since, many = count - first, np.maximum(count - MANY * length, 0)
    found: Bools = (sums[count] - sums[first] == since) & ((first >= length) | (since >= least))
    found &= since > 0
    found |= (count >= MANY * length) & (sums[count] - sums[many] >= NEARLY_ALL * MANY * length)
    for newest in (length, 2 * length, 4 * length):
        begin = np.maximum(count - newest - max(2 * newest, 3 * length), 0)
        middle = np.maximum(count - newest, 0)
        before = np.maximum(middle - begin, 1)
        both = (sums[count] - sums[begin] + 1) / (count - begin + 2)
        error = np.sqrt(both * (1 - both) * (1 / newest + 1 / before))
        usual, now = (sums[middle] - sums[begin]) / before, (sums[count] - sums[middle]) / newest
        found |= (middle - begin >= length) & (now >= share) & (now - usual >= errors * error)
    return found


def _is_of_many(shares: Floats) -> bool:
    """Whether shares are of ten groups or more, by their least difference."""
    apart = np.diff(distinct(shares))
    return bool(apart[apart > ROUNDING].min(initial=1.0) <= 1 / MANY_GROUPS + ROUNDING)


def _last(limit: Limit | None) -> float | None:
    """The limit at the last moment."""
    return None if limit is None else float(np.ravel(limit)[-1])


def _sooner(
    window: RollingWindow, asked: Bools, beyond: Bools, low: Limit | None, high: Limit | None, absolute: bool
) -> Bools:
    """Whether all of few ticks are beyond a limit, and the level before was not; in a young run."""
    found: Bools = asked & beyond.all(axis=1) & (window.at < YOUNG)
    if np.count_nonzero(found):
        before = window.usual(beyond.shape[1])
        before = np.abs(before) if absolute else before
        found &= ~(np.isnan(before) | _outside(before, low, high))
    return found


def _surely(window: RollingWindow, rows: Floats, low: Limit | None, high: Limit | None, sure: float) -> Bools:
    """Whether the mean of a moment's ticks is beyond a limit by `sure` errors, from differences."""
    error = sure * window.jitter(0) / math.sqrt(rows.shape[1])
    return _outside(rows.mean(axis=1), *_moved(low, high, error))


def _idle_range_beside(number: float, within: float, lowest: float, highest: float) -> IdleRange | None:
    """For `near`: one side of the number, up to half of the distance between its vicinity and the ticks."""
    low, high = (number + within + lowest) / 2, (number - within + highest) / 2
    if lowest - number > within < low - number:
        return IdleRange(lowest=low)
    return IdleRange(highest=high) if number - highest > within < number - high else None


def _idle_range_of_carried(
    rule: Rule, window: RollingWindow, lowest: float, highest: float
) -> IdleRange | None:
    """For a multiple of the best or lowest level so far, which new ticks may change."""
    floor, (worst, best) = rule.number("least", 0.0), window.bounds(int(rule.number("window", 5)))
    low, high = rule.numbers.get("below"), rule.numbers.get("above")
    if rule.words["of"] == "best":
        best = max(_start(window, "start-high", False), best)
        if best <= floor:
            return IdleRange(highest=floor)
        if high is not None or low is None or not low > 0:
            return None
        best = max((best + lowest / low) / 2, best)
        return IdleRange(low * best, best) if low * best <= lowest else None
    if low is not None or high is None:
        return None
    if floor > 0 and highest <= high * floor:
        return IdleRange(highest=high * floor)
    worst = min((worst + highest / high) / 2, worst)
    return IdleRange(worst, high * worst) if worst > floor and highest <= high * worst else None


def _column(limit: Limit | None) -> Limit | None:
    """A limit that broadcasts over the rows of the moments."""
    return limit[:, None] if isinstance(limit, np.ndarray) else limit


def _outside(values: Floats, low: Limit | None, high: Limit | None) -> Bools:
    """Which values are beyond one of the limits."""
    if high is None:
        return values < (np.nan if low is None else low)
    return values > high if low is None else (values < low) | (values > high)


def _near(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The level, and `share` of the ticks of the window, within a distance of a number."""
    length, centre, within = int(rule.number("window", 5)), rule.numbers["near"], rule.number("within", 0.0)
    level = window.level(length)
    on = np.abs(level - centre) <= within
    if stays_idle(idle, on):
        return None
    rows = window.rows(length)
    beyond = np.abs(rows - centre) <= within
    on &= np.add.reduce(beyond, axis=1) >= rule.number("share", 1.0) * length
    if rule.number("nonzero", 0.0):
        on &= (rows != centre).any(axis=1)
    if "never_below" in rule.numbers:
        lowest = np.minimum.accumulate(window.ticks.value[: window.end])[window.at]
        on &= lowest >= rule.numbers["never_below"]
    off = np.abs(level - centre) > 2 * within
    return ConditionStates(on, off, level, np.full(len(window), centre), first_in(window, beyond, length))


def first(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The first tick against a limit, for what must hold before anything has been learnt.

    With `usual` it is the median of the first ticks. With `multiple_of` the condition is that the first tick
    is an integer multiple of a number, `within` a share of the multiple, but at most a tenth of the number:
    every value is within a share of a large multiple.
    """
    start = window.ticks.start
    value = window.start()[0] if rule.number("usual", 0.0) else start[0] if start else math.nan
    above, below = rule.number("above", math.inf), rule.number("below", -math.inf)
    limit, on = above if value > above else below, value > above or value < below
    if "multiple_of" in rule.numbers:
        unit = rule.numbers["multiple_of"]
        count = round(value / unit) if math.isfinite(value) else 0
        room = min(rule.number("within", 0.0) * count, MAX_DIFFERENCE) * unit
        limit, on = value, count >= 1 and abs(value - count * unit) <= room
    return None if idle and not on else _always(window, on, value, limit)


def first_idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Always, if the condition does not hold."""
    return None if first(rule, window, True) else IdleRange()


def logged(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates:
    """There is such a series, with enough ticks to be evaluated."""
    return _always(window, True, window.ticks.start[0], math.nan)


def _always(window: RollingWindow, on: bool, value: float, limit: float) -> ConditionStates:
    """A state that is the same at all moments."""
    m = len(window)
    holds = np.full(m, on)
    return ConditionStates(holds, ~holds, np.full(m, value), np.full(m, limit), at_start)


def _limits(rule: Rule, window: RollingWindow, length: int) -> tuple[Limit | None, Limit | None]:
    """Lower and upper limit: (m,), or one for all moments; None where there is none, NaN where unknown."""
    low, high = rule.numbers.get("below"), rule.numbers.get("above")
    of = rule.words.get("of", "")
    if not of:
        return low, high
    base = _base(window, of, length, rule.of_size)
    # A multiple of a tiny or negative base (entropy of narrow normal actions) is meaningless.
    base = np.where(base > rule.number("least", 0.0), base, np.nan)
    return None if low is None else low * base, None if high is None else high * base


def _base(window: RollingWindow, of: str, length: int, absolute: bool) -> Floats:
    """(m,) the level that the limit is a multiple of."""
    if of == "usual":
        return window.usual(length)
    if of == "best":
        highest: Floats = np.fmax(window.extremes(length)[0], _start(window, "start-high", absolute))
        return highest
    if of == "lowest":
        return window.extremes(length)[1]
    return np.full(len(window), _start(window, of, absolute))


def _start(window: RollingWindow, of: str, absolute: bool) -> float:
    """The median, the highest or the lowest of the first ticks."""
    middle, lowest, highest = window.start()
    if absolute:
        lowest, highest = sorted((abs(lowest), abs(highest)))
        middle = abs(middle)
    return {"start": middle, "start-high": highest, "start-low": lowest}[of]
