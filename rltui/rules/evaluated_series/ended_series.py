"""Series that are no longer written although the others are."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable

from rltui.rules.evaluated_series.ticks import Ticks

MIN_POINTS = 20  # points of a series, and usual distances since its last one
SILENT_SHARE = 0.25  # of the run, for which the series must be missing

Silence = Callable[[str], float]  # share of the time of a run since the last point of a tag; NaN unknown


def ended(series: Iterable[Ticks], silence: Silence) -> list[Ticks]:
    """Those that are no longer written although most others of a similar pace are, in the order given.

    Only series of a similar pace are compared, since a log may have several step axes. Episodes and updates
    can have the same one, so what was written lately has not ended, whatever its steps. Costs O(series), or
    O(series log series) if one is silent.
    """
    long = [ticks for ticks in series if ticks.points >= MIN_POINTS and ticks.n >= MIN_POINTS]
    newest = max([ticks.last_step for ticks in long], default=0)
    behind = [ticks for ticks in long if ticks.last_step < newest]  # mostly none
    if not any(_is_silent(ticks, newest) for ticks in behind):
        return []
    by_pace = sorted(
        ((_pace(ticks), position, ticks) for position, ticks in enumerate(long)), key=lambda entry: entry[0]
    )
    silent = []
    ends: list[int] = []  # last steps of the series of a similar pace, ascending: a window over `by_pace`
    low = high = 0
    for gap, position, ticks in by_pace:
        while high < len(by_pace) and by_pace[high][0] / gap < 5:
            insort(ends, by_pace[high][2].last_step)
            high += 1
        while by_pace[low][0] / gap <= 0.2:
            del ends[bisect_left(ends, by_pace[low][2].last_step)]
            low += 1
        others = len(ends) - 1
        if others < 2:
            continue
        middle = others // 2
        end = ends[middle + (bisect_left(ends, ticks.last_step) <= middle)]  # median last step of the others
        begun = ticks.last_step > int(ticks.first[0])
        late = begun and end - ticks.last_step > MIN_POINTS * gap and _is_silent(ticks, end)
        if late and not silence(ticks.tag) < SILENT_SHARE:
            silent.append((position, ticks))
    return [ticks for _, ticks in sorted(silent, key=lambda entry: entry[0])]


def _is_silent(ticks: Ticks, end: int) -> bool:
    """Whether a series ended long before a step."""
    return end - ticks.last_step > SILENT_SHARE * (end - int(ticks.first[0]))


def _pace(ticks: Ticks) -> float:
    """Steps from one point to the next."""
    return max((ticks.last_step - int(ticks.first[0])) / (ticks.points - 1), 1e-9)
