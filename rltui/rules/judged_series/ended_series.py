"""Series that went on with the others for long, and then no more."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

from rltui.rules.judged_series.ticks import Ticks

FEWEST = 20  # points of a series, and usual distances without one
SHARE = 0.25  # of the run that it must be silent


def ended(series: Iterable[Ticks]) -> list[Ticks]:
    """Those that are not written any more although most others of a like pace are, in the order given.

    Only series of a like pace are compared: a log may hold several step axes. Costs O(series) mostly, and
    O(series log series) where one is silent.
    """
    long = [ticks for ticks in series if ticks.points >= FEWEST and ticks.n >= FEWEST]
    newest = max((ticks.last_step for ticks in long), default=0)
    if not any(_is_silent(ticks, newest) for ticks in long):
        return []
    step_time = sorted(
        ((_pace(ticks), place, ticks) for place, ticks in enumerate(long)), key=lambda entry: entry[0]
    )
    silent = []
    ends: list[int] = []  # of the tracks of a like pace, ascending: a window that moves over all by pace
    low = high = 0
    for gap, place, ticks in step_time:
        while high < len(step_time) and step_time[high][0] / gap < 5:
            insort(ends, step_time[high][2].last_step)
            high += 1
        while step_time[low][0] / gap <= 0.2:
            del ends[bisect_left(ends, step_time[low][2].last_step)]
            low += 1
        others = len(ends) - 1
        if others < 2:
            continue
        middle = others // 2
        end = ends[middle + (bisect_left(ends, ticks.last_step) <= middle)]  # most others got this far
        begun = ticks.last_step > int(ticks.first[0])
        if begun and end - ticks.last_step > FEWEST * gap and _is_silent(ticks, end):
            silent.append((place, ticks))
    return [ticks for _, ticks in sorted(silent, key=lambda entry: entry[0])]


def _is_silent(ticks: Ticks, end: int) -> bool:
    """Whether a series ended long before a step."""
    return end - ticks.last_step > SHARE * (end - int(ticks.first[0]))


def _pace(ticks: Ticks) -> float:
    """Steps from one point to the next."""
    return max((ticks.last_step - int(ticks.first[0])) / (ticks.points - 1), 1e-9)
