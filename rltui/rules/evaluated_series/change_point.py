"""Where the level of a series changed: the onset of a fall, and falls in one step."""

from __future__ import annotations

import math

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.common.named_tuple import NamedTuple
from rltui.rules.evaluated_series.means_with_errors import changes, sums_of

NEIGHBOURS = math.sqrt(math.pi) / 2  # from mean differences of neighbours to the deviation of normal noise
STEP_SIDE = 3  # ticks on each side of a step of the level
STEP, STEP_ERRORS = 0.25, 4.0  # share of a loss that a step makes at least, and errors of it


class LevelChange(NamedTuple):
    """A change of a level at one step."""

    since_step: int
    before: float
    value: float


def overlapping_windows(ticks: int, length: int) -> tuple[Ints, Ints]:
    """Begin and end of windows of a length, from the last tick backwards; neighbours overlap by half."""
    end = np.arange(ticks, length - 1, -((length + 1) // 2))
    return end - length, end


def onset_of_fall(values: Floats, length: int, limit: float) -> int:
    """Position of the first tick of a fall: the first of the ticks below a limit around its change point.

    The change point is within or after the last window of a length whose mean is not below the limit. It is
    that of least squares, because noise takes single ticks below the limit long before a step.
    """
    begin, end = overlapping_windows(len(values), length)
    sums = sums_of(values)
    above = np.flatnonzero((sums[end] - sums[begin])[1:] >= limit * length)
    first = int(begin[above[0] + 1]) if len(above) else 0
    rest = values[first : first + 2 * length]
    before = np.arange(1, len(rest))
    part = sums[first : first + len(rest) + 1] - sums[first]
    contrast = part[1:-1] / before - (part[-1] - part[1:-1]) / (len(rest) - before)
    weight = np.sqrt(before * (len(rest) - before))
    if not len(above) or not len(before) or (contrast * weight).max() <= 0:
        low = np.flatnonzero(rest < limit)
        return first + int(low[0]) if len(low) else len(values) - 1
    found = first + 1 + int((contrast * weight).argmax())
    while found > first and values[found - 1] < limit:
        found -= 1
    return found


def last_step_down(values: Floats, began: int, loss: float) -> int:
    """The last tick since `began` at which a large part of a loss happened in one step; 0 without one.

    The step is the difference between means of a few ticks on both sides, and must exceed their noise. Such
    steps come from new or changed tasks; a policy gets worse gradually.
    """
    first = max(began - STEP_SIDE, 0)
    if len(values) - first < 2 * STEP_SIDE:
        return 0
    sums = sums_of(values[first:])
    means = (sums[STEP_SIDE:] - sums[:-STEP_SIDE]) / STEP_SIDE
    noise = NEIGHBOURS * float(np.abs(changes(values[first:])).mean()) * math.sqrt(2 / STEP_SIDE)
    step = means[:-STEP_SIDE] - means[STEP_SIDE:]
    large = np.flatnonzero(step > max(STEP * loss, STEP_ERRORS * noise))
    if not len(large):
        return 0
    near = max(int(large[-1]) - STEP_SIDE + 1, 0)  # means next to a step contain a part of it
    return first + STEP_SIDE + near + int(step[near : int(large[-1]) + 1].argmax())
