"""A series that repeats one value after it has varied: new measurements of a real quantity differ."""

from __future__ import annotations

import math

import numpy as np

from rltui.rules.condition_states import ROUNDING, ConditionStates, IdleRange, first_tick, stays_idle
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.rule import Rule

HIGHER = 1e-3  # share of its size by which a series must have been above its lowest value
RETURNS = 2  # times that the value came back before, from which on the repetition may be chance
CHANCE = 1e-4  # probability of the repetition, below which it is not
AWAY = 8  # ticks before a jump, all of which must be away from the repeated value
MOVED = 5  # of these ticks must differ from the one before


def idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Until enough neighbours can be equal, relative to the largest size of a tick so far."""
    length, within = int(rule.number("window", 30)), rule.number("within", 0.0)
    size = max(*map(abs, window.bounds(1)), 1e-12)
    held = window.recent(length)
    equal = np.abs(held[1:] - held[:-1]) <= within * size
    missing = length - 1 - 2 * _others(rule, length) - int(np.count_nonzero(equal))
    if missing <= 0:
        return None
    if "share" in rule.numbers:
        return IdleRange(-size, size, window.end + missing)
    other = np.flatnonzero(~equal)
    row = len(equal) - 1 - int(other[-1]) if len(other) else len(equal)
    return IdleRange(-size, size, window.end + length - 1 - row)


def evaluate(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The last `window` ticks are equal, `within` a share of their size, and the series varied before.

    With `share` that share of them is. With `at = "lowest"` the value is the lowest so far, and the series
    was clearly higher before; with `at = "below-best"` only the latter. With `jump` it reached the value at
    once: each of the `away` ticks before was away from it by that share of its size, and at least `moved` of
    them differ from the one before. A quantity that is learnt approaches a value
    before it repeats it; one that is constant between jumps is logged more often than it is measured. With
    `moved = 0` it may have been constant, as a setting is.
    """
    length, within = int(rule.number("window", 30)), rule.number("within", 0.0)
    highest, lowest = window.extremes(1)
    spread, level = window.spread(length), window.level(length)
    size = np.maximum(np.maximum(np.abs(lowest), np.abs(highest)), 1e-12)
    on, off, best = spread <= within * size, spread > within * size, highest
    if "share" in rule.numbers:
        other = np.count_nonzero(
            np.abs(window.rows(length) - level[:, None]) > (within * size)[:, None], axis=1
        )
        on = (other <= _others(rule, length)) & ~np.isnan(spread)
        off = ~on & ~np.isnan(spread)
    match rule.words.get("at"):
        case "lowest":
            best = np.fmax(window.extremes(length)[0], window.start()[2])
            low = level <= lowest + within * size
            off |= ~low & ~np.isnan(spread)
            on &= low & (best > level + HIGHER * size)
        case "below-best":
            on &= highest > level + HIGHER * size
        case _:
            on &= highest > lowest
    if stays_idle(idle, on):
        return None
    if "share" not in rule.numbers:
        for row in np.flatnonzero(on).tolist():
            on[row] = _is_not_chance(window, row, within * float(size[row]))
    if not (jump := rule.number("jump", 0.0)):
        return ConditionStates(on, off, level, best, first_tick(window, length), upward=False)
    least, moved = int(rule.number("away", AWAY)), rule.number("moved", MOVED)
    began = {int(row): _first_equal(window, int(row), within * size[row]) for row in np.flatnonzero(on)}
    for row, first in began.items():
        before = window.ticks.value[max(first - least, 0) : first]
        away = np.abs(before - level[row]) > jump * size[row]
        new = np.abs(before[1:] - before[:-1]) > within * size[row]
        on[row] = len(before) == least and bool(away.all()) and np.count_nonzero(new) >= moved
    return ConditionStates(on, off, level, best, began.__getitem__, upward=False)


def _others(rule: Rule, length: int) -> int:
    """How many of the last ticks may have another value."""
    return math.floor((1 - rule.number("share", 1.0)) * length + ROUNDING)


def _is_not_chance(window: RollingWindow, row: int, within: float) -> bool:
    """Whether the repetition is improbable for how often the value occurred before.

    All samples of one group are often right, or wrong.
    """
    first = _first_equal(window, row, within)
    held = window.ticks.value[: int(window.at[row]) + 1]
    same = np.abs(held[:first] - held[-1]) <= within
    again = int(np.count_nonzero(same[1:] & ~same[:-1]))
    share = (np.count_nonzero(same) + 1) / (first + 2)
    return again < RETURNS or bool(share ** (len(held) - first) < CHANCE)


def _first_equal(window: RollingWindow, row: int, within: float) -> int:
    """Position of the first of the consecutive ticks that equal the last one of a moment."""
    held = window.ticks.value[: int(window.at[row]) + 1]
    other = np.flatnonzero(np.abs(held - held[-1]) > within)
    return int(other[-1]) + 1 if len(other) else 0
