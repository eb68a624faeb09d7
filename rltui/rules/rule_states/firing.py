"""Which rules fire at present, on which series, and which of them inhibit others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain
from operator import itemgetter

import numpy as np

from rltui.common.problem import SEVERITIES
from rltui.rules.evaluated_series.ended_series import Silence, ended
from rltui.rules.evaluated_series.ticks import START, NonFinitePeriod, Ticks
from rltui.rules.kinds import non_finite
from rltui.rules.metric_roles import metric_roles
from rltui.rules.rule import (
    ENDED,
    NON_FINITE,
    AtResume,
    FollowsOutcome,
    Gap,
    HParamCondition,
    KnownReturn,
    Rescaling,
    Rule,
    Symptom,
)
from rltui.rules.rule_states.hparam_conditions import ENVIRONMENT
from rltui.rules.rule_states.joint_firings import (
    Firing,
    follows_firing,
    gap_firing,
    hparam_firing,
    known_return_firing,
    rescaling_firing,
    resume_firing,
    sides_of,
)
from rltui.rules.rule_states.rescaling import reward_scales
from rltui.rules.rule_states.rule_state import ActivePeriod, RuleState
from rltui.rules.rule_states.series_state import RuledTicks, SeriesState
from rltui.rules.rule_states.user_rule_state import UserRuleState
from rltui.rules.rulebook import JointCondition, Rulebook
from rltui.run_context.hparams.hparams import HParam

BEGINS = 0.1  # share of the steps of a log that may be missing before it
# Share of the run so far for which recording rules must have fired without a break to inhibit a symptom that
# held: most tests of a gain hold for some time in noise, and symptoms would come and go with them.
LASTING = 0.1
COUNTED = frozenset({NON_FINITE, ENDED})  # kinds without periods
Groups = tuple[tuple[str, ...], ...]  # groups of rules; one of each must fire


class JudgedSeries:
    """The judged series of a run, and the states that count; valid until a series begins or has enough ticks.

    `derived`: ratios and step times, which are not tags. `beyond_limits`: result of `hparams_beyond_limits`.
    `resumes`: steps at which the training was resumed. `silence`: as of `ended_series`.
    """

    def __init__(
        self,
        book: Rulebook,
        series: Mapping[str, SeriesState],
        derived: Sequence[RuledTicks],
        beyond_limits: Mapping[str, HParam],
        silence: Silence,
        resumes: tuple[int, ...] = (),
    ) -> None:
        self.book, self._beyond_limits, self._silence, self._resumes = book, beyond_limits, silence, resumes
        self.evaluated = [*(each.ruled for each in series.values()), *derived]
        self.evaluated += [each.nonzero for each in series.values() if each.nonzero is not None]
        self._made_of = len(series), len(derived)
        self._short = [each.ticks for each in self.evaluated if each.ticks.n < START]
        self.states: list[
            RuleState | UserRuleState
        ] = []  # without recording rules and rules judged elsewhere
        self.states += [state for each in series.values() for state in each.user_states]
        self.recording_rules: dict[str, list[tuple[RuledTicks, RuleState]]] = {}
        for each in self.evaluated:
            self.states += [state for state in each.shown if not state.left_out]
            for state in each.recording_rules:
                if not state.left_out:
                    self.recording_rules.setdefault(state.rule.id, []).append((each, state))
        self._tags = [each.ruled for each in series.values()]  # without derived series
        known = {each.ticks.canonical for each in self._tags}
        self.joint_conditions = {
            name: each
            for name, each in book.joint_conditions.items()
            if _known(each, known, beyond_limits, resumes)
        }
        trained = {each.ticks.canonical: each.ticks for each in reversed(self._tags) if not each.held_out}
        self._scales = {
            name: reward_scales(each, trained)
            for name, each in self.joint_conditions.items()
            if isinstance(each, Rescaling)
        }
        self._gaps: dict[str, tuple[list[int], Firing | None]] = {}  # with the ticks that they are for
        self._possible: set[str] = set()
        self._candidates: list[tuple[Symptom, list[Groups]]] = []

    def is_current(
        self,
        series: Mapping[str, SeriesState],
        derived: Sequence[RuledTicks],
        beyond_limits: Mapping[str, HParam],
        resumes: tuple[int, ...],
    ) -> bool:
        """Whether no series, setting or resume has been added, and no series has become long enough."""
        if beyond_limits is not self._beyond_limits or resumes != self._resumes:
            return False
        grown = any(ticks.n >= START for ticks in self._short)
        return not grown and self._made_of == (len(series), len(derived))

    def candidates(self, possible: set[str]) -> list[tuple[Symptom, list[Groups]]]:
        """The symptoms with a rule in each group that may fire; mostly the same as before."""
        if possible != self._possible:
            self._candidates = [
                (symptom, groups)
                for symptom in self.book.symptoms
                if (groups := [each for each in (symptom.all, symptom.or_all) if _may_meet(each, possible)])
            ]
            self._possible = possible
        return self._candidates

    @np.errstate(invalid="ignore", divide="ignore", over="ignore")  # as in `Evaluator.feed`
    def joint_firing(self, name: str) -> list[Firing]:
        """The firings of a condition on several metrics, or on a setting."""
        condition = self.joint_conditions[name]
        if isinstance(condition, Gap):
            found = self._gap(condition)
        elif isinstance(condition, HParamCondition):
            found = hparam_firing(condition, self._beyond_limits[name], self.span()[0])
        elif isinstance(condition, AtResume):
            found = resume_firing(condition, self._tags, self._resumes)
        elif isinstance(condition, FollowsOutcome):
            found = follows_firing(condition, self._periods_of(condition.rule), self._tags)
        elif isinstance(condition, KnownReturn):
            found = known_return_firing(condition, self._tags, self._beyond_limits[ENVIRONMENT])
        else:
            found = rescaling_firing(condition, self._scales[name])
        return [found] if found is not None else []

    def _periods_of(self, rule_id: str) -> list[ActivePeriod]:
        """The present periods in which a rule fires."""
        periods = [state.period for state in self.states if state.rule.id == rule_id]
        return [each for each in periods if each is not None and each.firing]

    def _gap(self, gap: Gap) -> Firing | None:
        train, held_out = sides_of(gap, self._tags)
        serials = [each.serial for each in (*train, *held_out)]
        known = self._gaps.get(gap.id)
        if known is None or known[0] != serials:
            known = self._gaps[gap.id] = serials, gap_firing(gap, train, held_out)
        return known[1]

    def ended(self) -> list[Ticks]:
        """Series that are no longer written, nor any other series of their metric, although others are."""
        tags = [each.ticks for each in self._tags if each.ticks.n and not each.held_out]
        return [
            each
            for each in ended(tags, self._silence)
            if not any(
                other.canonical == each.canonical and other.last_step > each.last_step for other in tags
            )
        ]

    def span(self) -> tuple[int, int]:
        """The first step and the last one with a tick."""
        held = [each.ticks for each in self.evaluated if each.ticks.n]
        first = min((int(each.first[0]) for each in held), default=0)
        return first, max((int(each.last[each.n - 1]) for each in held), default=first)

    def is_whole(self) -> bool:
        """Whether the log begins with the training, not with what was resumed."""
        first, last = self.span()
        return first <= (last - first) * BEGINS


class FiringState:
    """The rules that fire after a feed. run_over: whether nothing will follow."""

    def __init__(self, series: JudgedSeries, *, run_over: bool = False) -> None:
        self.series = series
        self._run_over = run_over
        self.firing: dict[str, list[Firing]] = {}  # by rule; recording rules only after they were asked for
        self._unasked = dict(series.recording_rules)
        self._joint_conditions = set(series.joint_conditions)  # those not asked for
        causes: list[RuleState | UserRuleState] = []
        for state in self._states():
            if state.rule.holds_while and state.past and state.period is None:
                causes.append(state)
            self._add(state)
        for name in [
            name
            for name, each in series.joint_conditions.items()
            if isinstance(each, HParamCondition) and each.title
        ]:
            self.of(name)
        self._keep_causes(causes)

    def of(self, rule_id: str) -> Sequence[Firing]:
        """The firings of a rule, which is evaluated if it is a recording rule."""
        for each, state in self._unasked.pop(rule_id, ()):
            each.ask(state)
            self._add(state)
        if rule_id in self._joint_conditions:
            self._joint_conditions.remove(rule_id)
            if found := self.series.joint_firing(rule_id):
                self.firing[rule_id] = found
        return self.firing.get(rule_id, ())

    @cached_property
    def _ended(self) -> list[Ticks]:
        return self.series.ended()

    def _add(self, state: RuleState | UserRuleState) -> None:
        """Add the firing of a rule on a series, if it fires."""
        found = None
        if state.period is not None:
            found = _firing(state, state.period)
        elif state.rule.kind == NON_FINITE:
            found = _non_finite_firing(state)
        elif state.rule.kind == ENDED and state.ticks in self._ended:
            ticks = state.ticks
            found = Firing(
                state.rule, ticks, ticks.last_step, ticks.level(), np.nan, np.nan, state.rule.severity
            )
        if found is not None:
            self.firing.setdefault(found.rule.id, []).append(found)

    def _keep_causes(self, states: Sequence[RuleState | UserRuleState]) -> None:
        """Let resolved rules fire while their consequences (`holds_while`) do."""
        for state in states:
            onsets = [self.since(name) for name in state.rule.holds_while if self.of(name)]
            if onsets:
                earlier = [each for each in state.past if each.since_step <= max(onsets)]
                if earlier:
                    found = _firing(state, earlier[-1])
                    self.firing.setdefault(state.rule.id, []).extend([found] if found is not None else [])

    def _states(self) -> list[RuleState | UserRuleState]:
        """The states with present or past periods, without those of recording rules."""
        return [
            state
            for state in self.series.states
            if state.period is not None
            or state.past
            or (state.rule.kind in COUNTED and _may_be_counted(state))
        ]

    def any(self, rule_ids: Sequence[str]) -> bool:
        """Whether one of them fires."""
        return not self.firing.keys().isdisjoint(rule_ids) or any(map(self.of, rule_ids))

    def possible(self) -> set[str]:
        """The rules that fire, and those not yet asked for that may."""
        return {*self.firing, *self._unasked, *self._joint_conditions}

    def applying(self, rule_ids: Sequence[str], held: int) -> list[Firing]:
        """The firings of some rules, without rules that a recording rule inhibits; `held` as for `lets`.

        A rule that is inhibited by a finding is only redundant, and may still be part of a symptom.
        """
        found: list[Firing] = []
        for rule_id in rule_ids:
            if firings := self.of(rule_id):
                by = firings[0].rule.inhibited_by
                recording_rules = [
                    name for name in by if (other := self.of(name)) and not other[0].rule.shown
                ]
                if not recording_rules or self._lets(recording_rules, recording_rules, held):
                    found += firings
        return found

    def held_since(self, groups: Sequence[Sequence[str]]) -> int | None:
        """The first step at which one rule of each group was known to fire; None if not all do now."""
        parts: list[list[Firing]] = []
        for group in groups:
            parts.append([each for rule_id in group for each in self.of(rule_id)])
            if not parts[-1]:
                return None
        return held_since(parts)

    def since(self, rule_id: str) -> int:
        """The first step at which a firing rule's condition held."""
        return min(firing.since_step for firing in self.firing[rule_id])

    def shows(self, rule: Rule) -> bool:
        """Whether a rule that fires is a finding: not inhibited, and one of the rules it requires fires."""
        return rule.shown and not self.inhibits(rule.inhibited_by) and self._has_required(rule)

    def inhibits(self, rule_ids: Sequence[str]) -> bool:
        """Whether one of them fires, and so does a rule that it requires."""
        return self.any(rule_ids) and any(
            self._has_required(firings[0].rule) for firings in map(self.of, rule_ids) if firings
        )

    def is_remark(self, firings: Sequence[Firing]) -> bool:
        """Whether the firings of a rule are only a remark while others fire (`info_when`).

        When the run is over they count at once: what holds at its end is its result.
        """
        others = firings[0].rule.info_when
        return (self._run_over and self.inhibits(others)) or not self.lets(others, held_since([firings]))

    def lets(self, rule_ids: Sequence[str], held: int) -> bool:
        """Whether none of some rules inhibits, or makes a remark of, what has held since a step.

        Recording rules that began to fire later do so only after a share of the run, through which one of
        them or another fired.
        """
        if not self.any(rule_ids):
            return True
        return self._lets([name for name in rule_ids if self.inhibits((name,))], rule_ids, held)

    def _lets(self, firing: Sequence[str], rule_ids: Sequence[str], held: int) -> bool:
        if not firing:
            return True
        if any(self.firing[name][0].rule.shown or not self.firing[name][0].held_step for name in firing):
            return False
        return self._covered_since(rule_ids) > max(held, self._last - LASTING * self._length)

    def _covered_since(self, rule_ids: Sequence[str]) -> float:
        """The step since which one recording rule or another among some has fired without a break."""
        began: float = self._last
        for held, end in sorted(chain(*map(self._spans, rule_ids)), key=itemgetter(1), reverse=True):
            if end < began:
                break
            began = min(began, held)
        return began

    def _spans(self, rule_id: str) -> list[tuple[int, int]]:
        """First and last step of each time that a recording rule fired, as did a rule that it requires."""
        self.of(rule_id)  # its periods are those of the last evaluation
        states = [state for _, state in self.series.recording_rules.get(rule_id, ())]
        periods = [each for state in states for each in (*state.past, state.period) if each and each.firing]
        spans = [(each.held_from, each.resolved_step or self._last) for each in periods]
        required = [name for state in states[:1] for name in state.rule.requires]
        if not required or any(
            name not in self.series.recording_rules and self.of(name) for name in required
        ):
            return spans
        others = list(chain(*map(self._spans, required)))
        both = ((max(a, c), min(b, d)) for a, b in spans for c, d in others)
        return [(first, last) for first, last in both if first <= last]

    @cached_property
    def _last(self) -> int:
        return self.series.span()[1]

    @cached_property
    def _length(self) -> int:
        first, last = self.series.span()
        return last - first

    def _has_required(self, rule: Rule) -> bool:
        return not rule.requires or self.any(rule.requires)

    def shown(self) -> list[str]:
        """The rules that fire and are findings."""
        firing = list(self.firing.items())  # a copy, since asking for recording rules adds to it
        return [rule_id for rule_id, firings in firing if self.shows(firings[0].rule)]

    def resolved(self) -> Iterator[tuple[Rule, Ticks, ActivePeriod | NonFinitePeriod]]:
        """Past periods of rules that are findings."""
        for state in self._states():
            past = non_finite.past(state.rule, state.ticks) if state.rule.kind == NON_FINITE else state.past
            if past and self.shows(state.rule):
                for period in past:
                    yield state.rule, state.ticks, period


def held_since(groups: Sequence[Sequence[Firing]]) -> int:
    """The first step at which one rule of each group was known to fire."""
    return max(min(each.held_step or each.since_step for each in group) for group in groups)


def _may_be_counted(state: RuleState | UserRuleState) -> bool:
    """Whether a state without periods may fire."""
    return state.rule.kind == ENDED or state.ticks.nonfinite is not None


def _may_meet(groups: Groups, possible: set[str]) -> bool:
    """Whether each group has a rule that may fire; False without groups."""
    return bool(groups) and not any(map(possible.isdisjoint, groups))


def _firing(state: RuleState | UserRuleState, period: ActivePeriod) -> Firing | None:
    rule = state.rule
    if not period.firing:
        return None
    return Firing(
        rule, state.ticks, period.since_step, period.value, period.limit, period.before,
        _severity(state, period), period.worst, period.worst_step, period.held_from,
        period.upward, period.opening,
    )  # fmt: skip


def _severity(state: RuleState | UserRuleState, period: ActivePeriod) -> str:
    """That of the rule, or info while its condition has held for less than `remark_for` of the run so far."""
    rule, ticks = state.rule, state.ticks
    if not rule.remark_for:
        return rule.severity
    lasted, trained = period.held_until - period.held_from, ticks.last_step - int(ticks.first[0])
    return rule.severity if lasted >= rule.remark_for * trained else SEVERITIES[0]


def _non_finite_firing(state: RuleState | UserRuleState) -> Firing | None:
    """The firing of a rule about non-finite values, if there are any now."""
    rule, ticks = state.rule, state.ticks
    period = non_finite.present(rule, ticks)
    if period is None:
        return None
    return Firing(rule, ticks, period.since_step, period.value, np.nan, ticks.level(), rule.severity)


def _known(
    condition: JointCondition,
    metrics: Set[str | None],
    beyond_limits: Mapping[str, HParam],
    resumes: tuple[int, ...],
) -> bool:
    """Whether a run logs the metrics of a condition, has its setting, or was resumed."""
    if isinstance(condition, AtResume):
        return bool(resumes) and not metrics.isdisjoint(condition.metric)
    if isinstance(condition, FollowsOutcome):
        return not metrics.isdisjoint(condition.outcome)
    if isinstance(condition, KnownReturn):
        return ENVIRONMENT in beyond_limits and not metrics.isdisjoint(
            (*metric_roles().returns, *metric_roles().returns_else)
        )
    if isinstance(condition, HParamCondition):
        return condition.id in beyond_limits
    if isinstance(condition, Gap):
        return {condition.train, condition.held_out} <= metrics
    return condition.mean in metrics and any(metrics >= set(each) for each in condition.spread)
