"""A return beside those that are known of its environment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rltui.common.arrays import Floats, median
from rltui.rules.evaluated_series.means_with_errors import sums_of
from rltui.rules.evaluated_series.ticks import START, Ticks
from rltui.rules.rule import KnownReturn
from rltui.run_context.hparams.environments import KnownEnvironment

LEVEL, PARTS = 8, 16  # ticks of a level at least, and levels in a run
# How far the start may be from the return of random actions, as a share of its size and of the way to a good
# one. Else rewards are shaped or scaled, or the policy was trained before.
SIZE, WAY = 0.75, 0.35
EPISODES = 0.5  # share of successive points that differ where each is of other episodes


def holds(condition: KnownReturn, environment: KnownEnvironment, series: Sequence[Ticks]) -> bool:
    """Whether a condition holds for a return, and for those of evaluations, which come after it."""
    first = series[0]
    values = first.value[: first.n]
    if len(values) < LEVEL or _experience(first, environment) < condition.experience * environment.steps:
        return False
    if condition.mirrored:
        lowest, highest = environment.lowest, environment.highest
        inside = (values >= lowest) & (values <= highest)
        return bool(np.all((-values >= lowest) & (-values <= highest) & ~inside))
    if condition.above is not None:
        return environment.part(level_of(first)) >= condition.above
    most = condition.below * (environment.good - environment.random)
    if condition.size is not None:
        most = min(most, condition.size * abs(environment.random) + most / 10)
    best = max(_best_level(each.value[: each.n]) for each in series)
    return _starts_at_random(values, environment) and best < environment.random + most


def level_of(ticks: Ticks) -> float:
    """The newest level."""
    return median(ticks.value[: ticks.n][-LEVEL:])


def _best_level(values: Floats) -> float:
    """The highest mean of a sixteenth of the run, of `LEVEL` ticks at least: single episodes vary much."""
    length = min(max(LEVEL, len(values) // PARTS), len(values))
    sums = sums_of(values)
    return float((sums[length:] - sums[:-length]).max()) / length


def _starts_at_random(values: Floats, environment: KnownEnvironment) -> bool:
    off = abs(median(values[:START]) - environment.random)
    return off <= min(SIZE * abs(environment.random), WAY * (environment.good - environment.random))


def _experience(ticks: Ticks, environment: KnownEnvironment) -> float:
    """Steps of the environment, at least: by the step, or by episodes if each point is of other ones."""
    values = ticks.value[: ticks.n]
    steps = float(ticks.last_step)
    if np.count_nonzero(np.diff(values)) >= EPISODES * (len(values) - 1):
        return max(steps, ticks.points * environment.length)
    return steps
