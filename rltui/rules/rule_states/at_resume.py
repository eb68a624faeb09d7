"""What changed at the steps at which a training was resumed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rltui.common.arrays import Floats, median
from rltui.rules.evaluated_series.change_point import LevelChange
from rltui.rules.evaluated_series.ticks import START, Ticks
from rltui.rules.rule import AtResume

BEFORE, AFTER = 8, 10  # ticks on each side that are compared: means over 100 episodes change gradually
LEVEL = 3  # ticks of a level after a resume, all of which must be beyond those before
RECOVERED = 0.1  # share of the gain that may still be missing


def change_at_resume(condition: AtResume, ticks: Ticks, resumes: Sequence[int]) -> LevelChange | None:
    """The last resume at which the condition holds and from which the outcome has not recovered."""
    last, first, value = ticks.last[: ticks.n], ticks.first[: ticks.n], ticks.value[: ticks.n]
    for step in reversed(resumes):
        earlier, later = value[last < step], value[first >= step]
        if len(earlier) < BEFORE or len(later) < LEVEL:
            continue
        before = median(earlier[-BEFORE // 2 :])
        if condition.lost < np.inf:
            change = _loss(condition, earlier, later, before, step)
        else:
            change = _fall(condition, later, before, step)
        if change is not None:
            return change
    return None


def _loss(
    condition: AtResume, earlier: Floats, later: Floats, before: float, step: int
) -> LevelChange | None:
    """An outcome that loses a share of its gain, all at once, and has not made it up.

    Single low values before the resume, such as means over the few episodes since a checkpoint, are no noise
    of the others; then all of twice as many ticks must be above those after it.
    """
    gain = before - median(earlier[: max(START, len(earlier) // 20)])
    changes, above = np.diff(earlier[-2 * BEFORE :]), BEFORE
    noise = float(np.std(changes))
    if gain <= 4 * noise:
        noise, above = median(np.abs(changes)) / 0.6745, 2 * BEFORE
    lows = [median(later[k : k + LEVEL]) for k in range(min(len(later), AFTER) - LEVEL + 1)]
    lowest = min(lows)
    if (
        gain <= 4 * noise
        or before - lowest < condition.lost * gain
        or float(np.max(later[lows.index(lowest) :][:LEVEL])) >= float(np.min(earlier[-above:]))
        or median(later[-BEFORE // 2 :]) >= before - RECOVERED * gain
    ):
        return None
    return LevelChange(step, before, lowest)


def _fall(condition: AtResume, later: Floats, before: float, step: int) -> LevelChange | None:
    """A level that falls to a share of what it was, at once. That it grows again changes nothing."""
    after = float(np.max(later[:LEVEL]))
    if before < condition.least or after > condition.below * before:
        return None
    return LevelChange(step, before, median(later[:LEVEL]))
