"""Detects a new scale or sign of rewards: mean and spread changed by the same factor at one step.

If rewards are normalised, weighted or whitened differently from a step on, the policy is not worse: mean and
spread change by the same factor. If the policy gets worse, they change differently: the spread of rewards of
0 and 1 falls like the root of the mean, that of scores with an offset hardly at all. So the quotient of mean
and spread must be the same on both sides of the step, by a test that would detect half of the change, and
neither may have passed through the levels in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rltui.common.arrays import Floats, Ints, median
from rltui.rules.evaluated_series.change_point import LevelChange
from rltui.rules.evaluated_series.means_with_errors import sums_of
from rltui.rules.evaluated_series.ticks import Ticks
from rltui.rules.rule import Rescaling

SIDE = 4  # fewest ticks on each side of the step, as for a crash (`gain_over_run`)
WIDTHS = 16, 8, 4  # most ticks of a side; in a short run learning changes the quotient within many ticks
MIN_FACTOR = 1.4  # smallest factor: spreads of few samples vary by less
SPREAD_ERRORS = 5.0  # of the change of the spread, at one of up to 512 positions
QUOTIENT_ERRORS = 2.5  # by which the quotient may have changed
DRIFT = 0.25  # share of the change by which the quotient may always change, since the run learns
DETECTABLE = 0.5  # share of the change that the test of the quotient must be able to detect
TURNED = 4.0  # ranges of four ticks by which a mean that changes its sign must change
LOST = 0.3  # share of the range on the new scale that may be lost since then, as for `reward-drop`


class RewardScale:
    """Mean and spread of rewards; looks for a change of their scale whenever both have a new tick.

    `spread`: the deviation of rewards, or their maximum and minimum.
    """

    def __init__(self, mean: Ticks, spread: Sequence[Ticks], negated: bool) -> None:
        self.mean, self._spread = mean, spread
        self._find = negated_scale if negated else rescaled
        self._seen: list[int] = []
        self._change: LevelChange | None = None

    def change(self) -> LevelChange | None:
        """The change of the scale, or None."""
        evaluated = self.mean, *self._spread
        if not all(each.n for each in evaluated):
            return None
        seen = [min(int(each.last[each.n - 1]) for each in evaluated), *(each.stride for each in evaluated)]
        if seen != self._seen:
            self._seen, self._change = seen, self._find(self.mean, self._spread)
        return self._change


def reward_scales(rescaling: Rescaling, ticks: Mapping[str | None, Ticks]) -> list[RewardScale]:
    """The mean of a condition with each logged spread; `ticks`: training series by metric."""
    mean = ticks.get(rescaling.mean)
    return [
        RewardScale(mean, [ticks[each] for each in spread], rescaling.negated)
        for spread in rescaling.spread
        if mean is not None and ticks.keys() >= set(spread)
    ]


def rescaled(mean: Ticks, spread: Sequence[Ticks]) -> LevelChange | None:
    """The change of the scale, or None; None also if the reward has fallen since then on the new scale."""
    steps, values, width = _aligned(mean, spread)
    if len(values) < 3 * SIDE or not (values.all() and 0 < width.min() < width.max() / MIN_FACTOR):
        return None  # mean and spread of rare rewards, zero in some batches, change together
    logs = np.log(np.stack((width, np.abs(values) / width)))
    sums = sums_of(logs[0])
    change = sums[2 * SIDE :] - 2 * sums[SIDE:-SIDE] + sums[: -2 * SIDE]  # of neighbouring windows
    if np.abs(change).max() < SIDE * np.log(MIN_FACTOR):
        return None
    moments = np.stack((sums, sums_of(logs[1]), sums_of(np.square(logs[0])), sums_of(np.square(logs[1]))))
    for wide in WIDTHS:
        position = _change_position(logs, moments, wide)
        before, after = values[max(position - wide, 0) : position], values[position : position + wide]
        if not position or median(before) * median(after) <= 0:
            continue
        begin, end = max(position - wide, 0), position + wide
        factor = float(np.exp(median(logs[0, position:end]) - median(logs[0, begin:position])))
        now = median(values[max(position, len(values) - 2 * SIDE) :])
        if factor * median(before) - now > LOST * factor * float(np.ptp(values[:position])):
            return None
        return LevelChange(int(steps[position]), median(before), median(after))
    return None


def negated_scale(mean: Ticks, spread: Sequence[Ticks]) -> LevelChange | None:
    """The last step at which the mean changed its sign but not its size, nor the spread.

    The four ticks before the step have one sign, and the four after it (of which the first may join points
    from both sides) the other. They differ by more than four times the range of either. A policy that gets
    worse does not change to the opposite reward within one tick, with the same spread.
    """
    held = mean.value[mean.filled]
    if not held.min() < 0 < held.max():  # most rewards have one sign
        return None
    steps, values, width = _aligned(mean, spread)
    turned = np.flatnonzero(values[1:] * values[:-1] < 0) + 1
    turned = turned[(turned >= SIDE) & (turned + SIDE <= len(values))]
    signs = sums_of(np.sign(values))
    sides = (signs[turned] - signs[turned - SIDE]) * (signs[turned + SIDE] - signs[turned + 1])
    for position in turned[sides == -SIDE * (SIDE - 1)][::-1].tolist():  # few even for noise around zero
        was, before = _level_and_range(values[position - SIDE : position])
        for begin in (position, position + 1):
            if begin + SIDE > len(values):
                break
            now, after = _level_and_range(values[begin : begin + SIDE])
            noise = max(before, after)
            if abs(signs[begin + SIDE] - signs[begin]) < SIDE or abs(now - was) <= TURNED * noise:
                continue
            wide = median(width[position - SIDE : position]), median(width[begin : begin + SIDE])
            if abs(now + was) < max(noise, DRIFT * abs(was)) and max(wide) < MIN_FACTOR * min(wide):
                return LevelChange(int(steps[position]), was, now)
    return None


def _level_and_range(four: Floats) -> tuple[float, float]:
    lowest, low, high, highest = sorted(four.tolist())
    return (low + high) / 2, highest - lowest


def _aligned(mean: Ticks, spread: Sequence[Ticks]) -> tuple[Ints, Floats, Floats]:
    """Steps at which ticks of all series end, with mean and spread."""
    steps, ends = mean.last[mean.filled], [each.last[each.filled] for each in spread]
    count = min(len(steps), *map(len, ends))  # one may have an additional tick
    held = [each.value[:count] for each in (mean, *spread)]
    if all((steps[:count] == each[:count]).all() for each in ends):
        steps = steps[:count]
    else:
        held = [each.value[each.filled] for each in (mean, *spread)]
        ends = [steps, *ends]
        for each in ends:
            steps = steps[each[np.minimum(each.searchsorted(steps), len(each) - 1)] == steps]
        held = [values[np.searchsorted(each, steps)] for values, each in zip(held, ends, strict=True)]
    return steps, held[0], held[1] - held[2] if len(held) > 2 else held[1]


def _change_position(logs: Floats, moments: Floats, wide: int) -> int:
    """The tick at which the spread changes most while the quotient does not; 0 without one.

    `logs`: (2, n) of the spread and of the quotient; `moments`: (4, n + 1) sums of them and of their squares.
    """
    count = logs.shape[1]
    position = np.arange(2 * SIDE, count - SIDE + 1)
    before, after = np.minimum(position, wide), np.minimum(count - position, wide)
    middle = moments[:, position]
    earlier, later = (
        (middle - moments[:, position - before]) / before,
        (moments[:, position + after] - middle) / after,
    )
    usual = [[median(np.square(np.diff(each)))] for each in logs]  # the noise of few ticks is uncertain
    square = np.maximum((earlier[2:] - np.square(earlier[:2])) / (before - 1), usual / before)
    square += np.maximum((later[2:] - np.square(later[:2])) / (after - 1), usual / after)
    change, error = later[:2] - earlier[:2], np.sqrt(square)
    size = np.abs(change[0])
    found = size > np.maximum(SPREAD_ERRORS * error[0], np.log(MIN_FACTOR))
    found &= QUOTIENT_ERRORS * error[1] < DETECTABLE * size
    found &= np.abs(change[1]) < np.maximum(QUOTIENT_ERRORS * error[1], DRIFT * size)
    # A tick that joins points from both sides of the step may be in between.
    found &= np.abs(logs[0, position] - logs[0, position - 2]) > DETECTABLE * size
    return int(position[np.where(found, size, 0.0).argmax()]) if found.any() else 0
