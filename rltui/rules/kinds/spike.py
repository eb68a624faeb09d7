"""A level that jumps to a multiple of the usual one; or single ticks that do so repeatedly.

The usual level is the median of the last 50 ticks or the level at the start, whichever is larger, because a
return to the start is not a spike; with `recent` only the former. The jump must also exceed the noise, whose
robust deviation is at least `floor` (a share of the usual level), because a quiet series has a tiny
deviation, of which twice the usual level would be very many. `recurring` > 0 counts single ticks beyond the
limit among the last 40, for gradients that explode repeatedly without staying high. With `record` the level
must also exceed all single ticks before: of a series that is often near zero and often not, a median can be
either.

An outlier is one value far beyond the usual level, between usual values: a single batch, not a drift. The
condition holds once the ticks after it have shown that the change did not last. Ticks of a long run are
medians of several points, so outliers are seen only in runs of up to 512 points.
"""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import Floats, medians
from rltui.rules.condition_states import ConditionStates, IdleRange, first_in, stays_idle, within_times
from rltui.rules.evaluated_series.rolling_window import BEFORE, RollingWindow
from rltui.rules.rule import Rule

RECENT = 40  # ticks among which `recurring` counts
# Of outliers.
AFTER = 3  # usual ticks that must follow
TIMES, SIGMAS = 20.0, 20.0  # the usual size, and deviations from it, that the value exceeds
LEAST = 1e-3  # size of a value that matters
TOLD = 12  # ticks for which the condition holds afterwards


def idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Within a multiple of the level at the start, or of the lowest of the recent ticks."""
    length = RECENT if rule.number("recurring", 0.0) else int(rule.number("window", 3))
    times, most = rule.number("times", 10), rule.number("least", 0.0)
    if not rule.number("recent", 0.0):
        most = max(times * abs(window.start()[0]), most)
    if max(map(abs, window.range(length))) <= most:
        return IdleRange(-most, most)
    return within_times(*window.range(BEFORE + length), times)


def evaluate(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """Recent level, or recent ticks, against a multiple of the usual level."""
    length = int(rule.number("window", 3))
    recurring = int(rule.number("recurring", 0))
    skip = RECENT if recurring else length
    times, least, start = rule.number("times", 10), rule.number("least", 0.0), abs(window.start()[0])
    if rule.number("recent", 0.0):
        start = np.nan
    usual = np.abs(window.usual(skip))
    usual = np.fmax(usual, start) if not np.isnan(start) else usual
    limit = np.maximum(times * usual, least)
    # A series of zeros has no usual size.
    limit[np.isnan(window.usual(skip)) | (limit == 0)] = np.nan
    if recurring:
        rows = np.abs(window.rows(RECENT))
        value = np.fmax.reduce(rows, axis=1)
    else:
        rows = np.abs(window.rows(length))
        value = medians(rows)  # of absolute values: the median of a series around zero is meaningless
    if stays_idle(idle, value > limit):
        return None
    noise = np.maximum(window.noise(skip), rule.number("floor", 0.1) * usual)
    limit = np.maximum(limit, usual + rule.number("sigmas", 6) * noise)
    if rule.number("record", 0.0):
        limit = np.maximum(limit, _highest_before(window, length))
    beyond = rows > limit[:, None]
    began = first_in(window, beyond, rows.shape[1])
    # As the level before the usual one: the ticks just before the onset may be on the climb.
    if recurring:
        count = beyond.sum(axis=1)
        return ConditionStates(count >= recurring, count == 0, value, limit, began, before=usual)
    return ConditionStates(value > limit, value < 0.5 * limit, value, limit, began, before=usual)


def _highest_before(window: RollingWindow, length: int) -> Floats:
    """(m,) the largest size of a tick before the newest `length` ones; 0 without any."""
    size = np.maximum.accumulate(np.abs(window.ticks.value[: int(window.at[-1]) + 1]))
    before = window.at - length
    found: Floats = np.where(before >= 0, size[np.maximum(before, 0)], 0.0)
    return found


def outlier_idle_range(rule: Rule, window: RollingWindow) -> IdleRange | None:
    """Until there are enough ticks; within a multiple of the smallest size of the recent ones."""
    length = TOLD + AFTER
    if window.ticks.stride > 1:
        return IdleRange()
    if window.end < 2 * length:
        return IdleRange(until=2 * length)
    lowest, highest = window.range(BEFORE + length)
    if max(-lowest, highest) <= LEAST:
        return IdleRange(-LEAST, LEAST)
    return within_times(lowest, highest, TIMES)


def outlier(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The largest of the recent ticks against a multiple of the usual one, and the ticks after it."""
    m, length = len(window), TOLD + AFTER
    usual, rows = np.abs(window.usual(length)), np.abs(window.rows(length))
    limit = np.maximum(TIMES * usual, LEAST)
    beyond = rows[:, :-AFTER] > limit[:, None]
    on = (beyond.sum(axis=1) == 1) & (usual > 0) & (window.at + 1 >= 2 * length) & (window.ticks.stride == 1)
    if stays_idle(idle, on):
        return None
    limit = np.maximum(limit, usual + SIGMAS * window.noise(length))
    beyond = rows[:, :-AFTER] > limit[:, None]
    on &= (beyond.sum(axis=1) == 1) & ((rows > 0.25 * limit[:, None]).sum(axis=1) == 1)
    position = beyond.argmax(axis=1)
    return ConditionStates(on, ~on, rows[np.arange(m), position], usual, first_in(window, beyond, length))
