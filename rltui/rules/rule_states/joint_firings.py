"""Firings of rules, and those of conditions that are not on one metric alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rltui.common.arrays import Bools, Floats, median
from rltui.common.named_tuple import NamedTuple
from rltui.rules.evaluated_series.change_point import NEIGHBOURS
from rltui.rules.evaluated_series.ticks import START, Ticks
from rltui.rules.metric_roles import metric_roles
from rltui.rules.rule import (
    HPARAM,
    RECORDING,
    AtResume,
    FollowsOutcome,
    Gap,
    HParamCondition,
    KnownReturn,
    Rescaling,
    Rule,
)
from rltui.rules.rule_states.at_resume import change_at_resume
from rltui.rules.rule_states.environment_returns import holds, level_of
from rltui.rules.rule_states.rescaling import RewardScale
from rltui.rules.rule_states.rule_state import ActivePeriod
from rltui.rules.rule_states.series_state import RuledTicks
from rltui.run_context.hparams.environments import environment_in
from rltui.run_context.hparams.hparams import HParam

EVALUATIONS = 6  # consecutive ones below training: one or two over few episodes may be by chance
GAIN_OF_RANGE, GAIN_SHARE = 0.5, 0.2  # least gain, as a share of the range and of the size of a level
# Deviations of single ticks that a gain must have, by differences of neighbours. In flat runs of 40 to 200
# ticks, looked at after each, the level of six evaluations in a row is so far above the start in 0 to 0.8 %
# (normal and exponential noise) or 1 to 7 % (neighbours that correlate by 0.5); else in 15 to 60 %.
GAIN_NOISES = 3.0
GAIN_PART = 20  # parts of the run, of which the first is its start
LEVEL = 16  # ticks of the training level at an evaluation
TINY = 1e-12  # in place of no spread


class Firing(NamedTuple):
    """One rule that fires on one series."""

    rule: Rule
    ticks: Ticks
    since_step: int
    value: float
    limit: float
    before: float
    severity: str
    worst: float = np.nan  # of the values while it fires
    worst_step: int = 0
    held_step: int = 0  # the first step at which it was known, if that is not `since_step`
    upward: bool = True  # whether high values are bad
    opening: float = np.nan  # of the values while it fires the first one


def hparam_firing(condition: HParamCondition, entry: HParam, begin: int) -> Firing:
    """The firing of a condition on a hyperparameter, as a series of one point at the first step."""
    assert isinstance(entry.value, int | float)
    value, severity = float(entry.value), "info" if condition.title else RECORDING
    rule = Rule(
        condition.id, (), HPARAM, severity, title=condition.title,
        message="{tag} is set to {value}: " + condition.message,
        advice="Compare with the defaults of the trainer.", source=condition.source, pane=condition.pane,
    )  # fmt: skip
    ticks = Ticks(entry.key, None)
    ticks.start.append(value)
    return Firing(rule, ticks, begin, value, np.nan, np.nan, severity)


def rescaling_firing(rescaling: Rescaling, scales: Sequence[RewardScale]) -> Firing | None:
    """The firing of a condition on the scale of rewards, from the step at which it changed."""
    for each in scales:
        if found := each.change():
            rule = Rule(rescaling.id, (rescaling.mean,), "rescaling", RECORDING)
            return Firing(rule, each.mean, found.since_step, found.value, np.nan, found.before, RECORDING)
    return None


def sides_of(gap: Gap, evaluated: Sequence[RuledTicks]) -> tuple[list[Ticks], list[Ticks]]:
    """The series of the training metric, and of its held-out counterpart."""
    train = [each.ticks for each in evaluated if each.ticks.canonical == gap.train and not each.held_out]
    held_out = [
        each.ticks
        for each in evaluated
        if each.ticks.canonical == gap.held_out and (each.held_out or gap.held_out.startswith("validation."))
    ]
    return train, held_out


def gap_firing(gap: Gap, train: Sequence[Ticks], held_out: Sequence[Ticks]) -> Firing | None:
    """The firing of a gap, from the step since which the held-out level is behind the training level."""
    for evaluation in held_out:
        for ticks in train:
            if not evaluation.n or ticks.n < 8:
                continue
            values, steps = (each[evaluation.filled][-64:] for each in (evaluation.value, evaluation.last))
            level = np.array([ticks.level_at(int(step), LEVEL) for step in steps])
            if gap.gained:
                level[~_has_gained(ticks, level)] = np.nan
            distance = (level - values) * (1 if gap.above > 0 else -1)
            if gap.relative:
                distance = distance / np.maximum(np.abs(level), 1e-12)
            wide = distance > abs(gap.above) * (level - _first_level(ticks) if gap.gained else 1.0)
            least = EVALUATIONS if gap.gained else 2
            if len(wide) >= least and wide[-least:].all():
                begun = len(wide) - int(np.argmin(wide[::-1])) if not wide.all() else 0
                rule = Rule("", (gap.held_out,), "gap", RECORDING)
                value, limit, before = float(median(values[-least:])), float(level[-1]), float(level[begun])
                return Firing(rule, evaluation, int(steps[begun]), value, limit, before, RECORDING)
    return None


def _first_level(ticks: Ticks) -> float:
    """The level of the first twentieth of a run."""
    return median(ticks.value[: max(ticks.n // GAIN_PART, START)])


def _has_gained(ticks: Ticks, level: Floats) -> Bools:
    """Which levels are above the first by half of their range, a share of their size, and noise."""
    first = _first_level(ticks)
    noise = NEIGHBOURS * float(np.abs(np.diff(ticks.value[: ticks.n])).mean())
    known = level[np.isfinite(level)]
    span = max(float(np.ptp(known)), 0.0) if len(known) else 0.0
    least = np.maximum(GAIN_OF_RANGE * span, GAIN_SHARE * np.maximum(np.abs(level), abs(first)))
    found: Bools = level - first > np.maximum(least, GAIN_NOISES * noise)
    return found


def resume_firing(
    condition: AtResume, evaluated: Sequence[RuledTicks], resumes: Sequence[int]
) -> Firing | None:
    """The firing of a condition on the level of a metric before and after a resume."""
    trained = [each.ticks for each in evaluated if not each.held_out]
    for metric in condition.metric:
        for ticks in trained:
            if ticks.canonical == metric and (found := change_at_resume(condition, ticks, resumes)):
                rule = Rule(condition.id, (metric,), "at-resume", RECORDING)
                return Firing(rule, ticks, found.since_step, found.value, np.nan, found.before, RECORDING)
    return None


def known_return_firing(
    condition: KnownReturn, evaluated: Sequence[RuledTicks], hparam: HParam
) -> Firing | None:
    """The firing of a condition on a return beside those that are known of its environment."""
    environment = environment_in(hparam.text)
    roles = metric_roles()
    series = _series_of(roles.returns, evaluated) or _series_of(roles.returns_else, evaluated)
    if environment is None or not series or not holds(condition, environment, series):
        return None
    message = condition.message.replace("{environment}", environment.id)
    rule = Rule(condition.id, roles.returns[:1], "known-return", RECORDING, message=message)
    before, limit = environment.random, environment.good
    if condition.mirrored:
        before, limit = environment.lowest, environment.highest
    begin = int(series[0].first[0])
    return Firing(rule, series[0], begin, level_of(series[0]), limit, before, RECORDING)


def follows_firing(
    condition: FollowsOutcome, periods: Sequence[ActivePeriod], evaluated: Sequence[RuledTicks]
) -> Firing | None:
    """The firing of a condition on a loss that has grown, in these periods, no more than the returns explain.

    Errors of values grow with the square of the spread of the returns. The newest return must be in the upper
    half of all or above all before the loss grew: a loss that grows where the return falls is a cause and no
    consequence.
    """
    trained = [each for each in evaluated if not each.held_out]
    series = next((found for name in condition.outcome if (found := _series_of([name], trained))), None)
    if not periods or series is None:
        return None
    ticks = series[0]
    values = ticks.value[: ticks.n]
    for period in periods:
        early = values[ticks.last[: ticks.n] < period.since_step]
        if len(early) < START or not period.preceding > 0:
            return None
        lowest, highest = float(values.min()), float(values.max())
        grown = np.square((highest - lowest) / max(float(np.ptp(early)), TINY))
        risen = ticks.level() >= min((lowest + highest) / 2, float(early.max()))
        if not (risen and period.value <= condition.margin * grown * period.preceding):
            return None
    rule = Rule(condition.id, (condition.outcome[0],), "follows-outcome", RECORDING)
    return Firing(rule, ticks, periods[0].since_step, ticks.level(), np.nan, np.nan, RECORDING)


def _series_of(metrics: Sequence[str], evaluated: Sequence[RuledTicks]) -> list[Ticks]:
    """The series of some metrics in their order, those of the training first."""
    held = [each for each in evaluated if each.ticks.n and each.ticks.canonical in metrics]
    held.sort(key=lambda each: (each.held_out, metrics.index(each.ticks.canonical or "")))
    return [each.ticks for each in held]
