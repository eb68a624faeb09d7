"""Data quality: what is odd about the numbers themselves, judged apart from the training."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Mapping
from typing import Any

import numpy as np

from rltui.batch import Problem
from rltui.rules.evaluate.rewindable_counter import RewindableCounter
from rltui.rules.evaluate.robust_statistics import median
from rltui.rules.evaluate.ticks import Floats, Ints, Ticks
from rltui.text import clean

UNREPORTED = ("perf.mfu", "perf.tflops", "perf.mbu")  # quantities that writers set to 0 when unknown
CLOCK_SLACK = 5.0  # seconds that two machines may differ
# Facts that a writer says once; RLlib, which reduces over a window, spells them NaN from then on.
SAID_ONCE = ("optimizer.param_count",)
GAP_STEPS = 20.0  # usual distances without a point that make a gap


class Impossible(RewindableCounter):
    """Values outside what the metric can be; noted of each: the farthest so far."""

    __slots__ = ()

    @property
    def worst(self) -> float:
        """The value that is farthest from zero."""
        return self.note[0]


def hard_limits(bounds: tuple[float, float]) -> tuple[float, float]:
    """What is impossible lies beyond these: a hair beyond the bounds is rounding, not a fault."""
    low, high = bounds
    slack = 1e-4 * max(abs(low) if np.isfinite(low) else 0.0, abs(high) if np.isfinite(high) else 0.0, 1.0)
    return low - slack, high + slack


def impossible(
    limits: tuple[float, float], steps: Ints, values: Floats, before: Impossible | None
) -> Impossible | None:
    """Count finite values outside hard limits."""
    low, high = limits
    if len(values) == 1:
        if not math.isfinite(value := float(values[0])) or low <= value <= high:
            return before
    elif not len(values) or (values.min() >= low and values.max() <= high):
        return before
    outside = (values < low) | (values > high)
    outside &= np.isfinite(values)
    if not outside.any():
        return before
    found = before if before is not None else Impossible()
    odd = np.concatenate(([found.worst if found.count else 0.0], values[outside]))
    size = np.abs(odd)
    record = np.where(size >= np.maximum.accumulate(size), np.arange(len(odd)), 0)
    found.add(steps[outside], odd[np.maximum.accumulate(record)][1:])
    return found


def diagnostics(run: Any, names: Any, series: Mapping[str, Any]) -> list[Problem]:
    """What is odd about a run's numbers: by tag, then about the run as a whole."""
    where = clean(str(getattr(run, "name", "")))
    found: list[Problem] = []
    for tag, each in series.items():
        found += _of_tag(where, tag, each)
    found += _vanished(where, series)
    found += _of_run(where, run)
    return found


def _of_tag(where: str, tag: str, each: Any) -> list[Problem]:
    track: Ticks = each.track
    found = []
    if track.bad_count and not (track.canonical or "").startswith(SAID_ONCE):
        episodes = [*track.bad_before, *([track.bad] if track.bad else [])]
        first = f", the first at step {episodes[0].since_step:,}" if episodes else ""
        message = f"{tag}: {_times(track.bad_count, 'value')} not finite{first}"
        found.append(Problem("warning", "non-finite", where, message, count=track.bad_count))
    odd = each.impossible
    if odd is not None:
        low, high = each.bounds
        message = (
            f"{tag}: {_times(odd.count, 'value')} outside {low:g}..{high:g}, the first at step "
            f"{odd.since_step:,}, the farthest {odd.worst:g}; suspect the metric before the training"
        )
        found.append(Problem("warning", "impossible-value", where, message, count=odd.count))
    if track.zeros and track.points >= 5 and (track.canonical or "").startswith(UNREPORTED):
        message = f"{tag}: always exactly 0, taken as not reported"
        found.append(Problem("info", "not-reported", where, message))
    return found


def _vanished(where: str, series: Mapping[str, Any]) -> list[Problem]:
    """Tags that went on with the others for long, and then no more.

    Only tags of a like pace are compared: a log may hold several step axes. Costs O(tags log tags).
    """
    paced = sorted(
        (
            (_pace(each.track), place, each.track)
            for place, each in enumerate(series.values())
            if each.track.points >= 20 and each.track.n >= 20
        ),
        key=lambda entry: entry[0],
    )
    silent = []
    ends: list[int] = []  # of the tracks of a like pace, ascending: a window that moves over all by pace
    low = high = 0
    for gap, place, track in paced:
        while high < len(paced) and paced[high][0] / gap < 5:
            insort(ends, paced[high][2].last_step)
            high += 1
        while paced[low][0] / gap <= 0.2:
            del ends[bisect_left(ends, paced[low][2].last_step)]
            low += 1
        others = len(ends) - 1
        if others < 2:
            continue
        middle = others // 2
        end = ends[middle + (bisect_left(ends, track.last_step) <= middle)]  # most others got this far
        begin = int(track.first[0])
        quiet = end - track.last_step
        if track.last_step > begin and quiet > 20 * gap and quiet > 0.25 * (end - begin):
            silent.append((place, track))
    return [
        Problem(
            "info", "vanished", where, f"{track.tag}: not written any more since step {track.last_step:,}"
        )
        for _, track in sorted(silent, key=lambda entry: entry[0])
    ]


def _pace(track: Ticks) -> float:
    """Steps from one point to the next."""
    return max((track.last_step - int(track.first[0])) / (track.points - 1), 1e-9)


def _of_run(where: str, run: Any) -> list[Problem]:
    """A clock that went back, and steps that were left out, as the recent steps tell."""
    table = np.asarray(getattr(run, "step_walls", ()), np.float64)
    if len(table) < 10:
        return []
    table = table[np.isfinite(table).all(axis=1)]
    steps, walls = np.diff(table[:, 0]), np.diff(table[:, 1])
    found = []
    back = np.flatnonzero((walls < -CLOCK_SLACK) & (steps > 0))
    if len(back):
        at, by = int(table[back[0] + 1, 0]), -float(walls[back[0]])
        message = f"the clock went back by {by:.0f} s at step {at:,}; times and pace are uncertain there"
        found.append(Problem("info", "clock-jump", where, message, count=len(back)))
    usual = median(steps[steps > 0]) if (steps > 0).any() else 0.0
    holes = np.flatnonzero(steps > GAP_STEPS * usual)
    if usual and len(holes):
        begin, end = int(table[holes[0], 0]), int(table[holes[0] + 1, 0])
        message = f"nothing is logged between steps {begin:,} and {end:,} (usual distance {usual:g})"
        found.append(Problem("info", "gap", where, message, count=len(holes)))
    return found


def _times(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"
