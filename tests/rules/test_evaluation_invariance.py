"""Findings depend on the points, not on how they are divided into pieces."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltui.common.arrays import medians, quantile
from rltui.rules.evaluated_series.evaluated_moments import Moments
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.evaluated_series.ticks import CAP, Ticks
from rltui.rules.evaluator import Evaluator
from rltui.rules.kind_fields import NUMBERS, WORDS
from rltui.rules.kinds import IDLE_RANGES, KINDS, ConditionStates
from rltui.rules.rule_states.rule_selection import Rules
from rltui.rules.rule_states.series_state import RuledTicks
from rltui.rules.rulebook import rulebook
from tests.support.runs.evaluators import fresh, new_evaluator
from tests.support.runs.synthetic_runs import PATHOLOGIES, Shape, healthy

SICK = sorted(PATHOLOGIES)


def said(evaluator: Evaluator) -> list[tuple[object, ...]]:
    """All findings of an evaluator, in comparable form."""
    found = [*evaluator.findings(), *evaluator.history()]
    return [
        (
            f.id, f.severity, f.since_step, f.state, f.resolved_step, f.metrics, repr(f.value),
            f.explained_by, f.message, repr(f.evidence),
        )
        for f in found
    ]  # fmt: skip


@settings(max_examples=12)
@given(name=st.sampled_from(SICK), seed=st.integers(0, 999), cuts=st.lists(st.floats(0, 1), max_size=6))
def test_any_split_gives_the_same_findings(name: str, seed: int, cuts: list[float]) -> None:
    """Points fed at once, in any pieces, or with tags in another order give the same findings."""
    sick = PATHOLOGIES[name]
    series = sick.make(healthy(sick.kind, Shape(n=700, seed=seed)), 400)
    whole = new_evaluator()
    whole.feed([fresh(tag, values) for tag, values in series.items()])
    pieces = new_evaluator()
    edges = sorted({0.0, 1.0, *cuts})
    for low, high in pairwise(edges):
        for tag, values in series.items():
            part = slice(int(low * len(values)), int(high * len(values)))
            steps = np.arange(1, len(values) + 1)
            pieces.feed([fresh(tag, values[part], steps[part])])
    assert said(pieces) == said(whole)


@pytest.mark.parametrize("name", ["kl_runaway", "grad_explosion", "truncation", "return_crash"])
def test_point_by_point_is_the_same_as_at_once(name: str) -> None:
    """A live run, one point at a time, has the findings of its finished log."""
    sick = PATHOLOGIES[name]
    series = sick.make(healthy(sick.kind, Shape(n=600, seed=3)), 350)
    whole, single = new_evaluator(), new_evaluator()
    whole.feed([fresh(tag, values) for tag, values in series.items()])
    for k in range(600):
        single.feed([fresh(tag, values[k : k + 1], [k + 1]) for tag, values in series.items()])
    assert said(single) == said(whole)
    assert said(whole)


@pytest.mark.parametrize("points", [530, 600, 1029, 5 * CAP + 9])
def test_late_ticks_change_nothing_once_they_are_made(points: int) -> None:
    """After `make_late_ticks` a live run has the findings of its log, then and after it has gone on."""
    sick = PATHOLOGIES["grad_explosion"]
    series = sick.make(healthy(sick.kind, Shape(n=points + 40, seed=3)), points - 90)
    live, was_late = new_evaluator(), False
    live.feed([fresh(tag, values[:500]) for tag, values in series.items()])
    for k in range(500, points + 40):
        live.feed([fresh(tag, values[k : k + 1], [k + 1]) for tag, values in series.items()], live=True)
        if k + 1 in (points - 7, points, points + 40):
            whole = new_evaluator()
            whole.feed([fresh(tag, values[: k + 1]) for tag, values in series.items()])
            held = {tag: each.ticks.serial for tag, each in whole.series.items()}
            was_late |= held != {tag: each.ticks.serial for tag, each in live.series.items()}
            live.make_late_ticks()
            assert held == {tag: each.ticks.serial for tag, each in live.series.items()}
            assert said(live) == said(whole)
    assert was_late and said(live)


def test_no_live_step_makes_the_ticks_of_most_series() -> None:
    """Of sixty series with ticks of sixteen points, each step makes those of three or four."""
    tags, points = [f"x/{number}" for number in range(60)], 5 * 8 * CAP // 4
    live, made = new_evaluator(), []
    live.feed([fresh(tag, np.zeros(points)) for tag in tags])
    for k in range(points, points + 48):
        before = [each.ticks.serial for each in live.series.values()]
        live.feed([fresh(tag, [0.0], [k + 1]) for tag in tags], live=True)
        after = [each.ticks.serial for each in live.series.values()]
        made.append(sum(now > was for was, now in zip(before, after, strict=True)))
    assert live.series["x/0"].ticks.stride == 16
    assert set(made[16:]) == {3, 4}


def test_a_restart_after_late_ticks_is_one_after_all_ticks() -> None:
    """A tick that a restart removes is removed whole, whether or not it was late."""
    values = np.random.default_rng(0).standard_normal((20, 1100)).cumsum(axis=1)
    found = []
    for live in (True, False):
        evaluator = new_evaluator()
        for k in range(1029):
            evaluator.feed([fresh(f"x/{n}", one[k : k + 1], [k]) for n, one in enumerate(values)], live=live)
        evaluator.feed(
            [fresh(f"x/{n}", one[1025:], range(1025, 1100), 1025) for n, one in enumerate(values)], live=live
        )
        evaluator.make_late_ticks()
        ticks = [each.ticks for each in evaluator.series.values()]
        found.append([(each.serial, each.value[each.filled].tolist(), each.points) for each in ticks])
    assert found[0] == found[1]


def test_what_is_said_between_two_evaluations_is_of_the_newest_points() -> None:
    """Rules are evaluated at every fourth tick; what a level is now is told of the last one, live too."""
    noise = np.random.default_rng(0).standard_normal(240)[120:]
    values = np.concatenate((np.full(60, 0.1), np.full(30, 50.0), 3 + 0.2 * noise))
    live = new_evaluator()
    for k in range(len(values)):
        live.feed([fresh("policy.kl_ref", values[k : k + 1], [k + 1])])
        live.findings()
        if k > len(values) - 10:
            whole = new_evaluator()
            whole.feed([fresh("policy.kl_ref", values[: k + 1])])
            assert said(live) == said(whole)
    assert "; now 2." in live.findings()[0].message


@pytest.mark.parametrize("points", [CAP + 1, CAP + 100, 2 * CAP + 100, 5 * CAP])
@pytest.mark.parametrize("offset", [0, 1, 2, 3])
def test_a_waiting_rule_is_evaluated_at_ticks_before_they_were_joined(offset: int, points: int) -> None:
    """A recording rule first asked for after 512 points gives the same as one asked for at each point."""
    rule = rulebook().rules["explained-variance-zero"]
    steps = np.arange(points)
    values = 0.5 + 0.05 * np.random.default_rng(0).standard_normal(len(steps))
    values[200:300] *= 0.01
    past = []
    for size in (len(steps), 1):
        evaluated = RuledTicks(Ticks("x", rule.metrics[0]), False, offset, Rules(recording_rules=(rule,)))
        with np.errstate(invalid="ignore", divide="ignore"):
            for at in range(0, len(steps), size):
                evaluated.feed(steps[at : at + size], values[at : at + size])
            evaluated.evaluate_missed(evaluated.recording_rules[0])
        past.append(evaluated.recording_rules[0].past)
    assert past[0] and past[0] == past[1]


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-170, 1e160, 1e300, 1.7e308])
def test_values_near_the_ends_of_floats_are_judged(size: float) -> None:
    """Squares that are zero or infinite raise nothing, and numpy does not warn."""
    noise = np.random.default_rng(0).uniform(-1, 1, (3, 600))
    course = np.concatenate((np.linspace(0.1, 1, 300), np.linspace(1, 0.2, 300)))
    evaluator = new_evaluator()
    for tag, values in zip(("mean", "max", "min"), noise, strict=True):
        evaluator.feed([fresh(f"reward.{tag}", size * np.clip(course + 0.1 * values, -1, 1))])
    for tag, values in zip(
        ("reward.episode_return.mean", "policy.entropy", "critic.loss"), noise, strict=True
    ):
        evaluator.feed([fresh(tag, size * values)])
    assert isinstance(said(evaluator), list)
    assert evaluator.sentence()


@pytest.mark.parametrize("size", [1, 2, CAP // 2, CAP - 1, CAP, CAP + 1, 2 * CAP])
def test_ticks_do_not_depend_on_how_points_are_cut(size: int) -> None:
    """A piece may end where ticks are joined, with fewer points left than the next tick waits for."""
    values, found = np.sin(np.arange(5 * CAP)), []
    for length in (size, len(values)):
        ticks = Ticks("x", None)
        for begin in range(0, len(values), length):
            part = slice(begin, begin + length)
            ticks.feed(np.arange(len(values))[part], values[part], lambda _: None)
        held = ticks.filled
        found.append((ticks.stride, ticks.value[held].tolist(), ticks.last[held].tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("every", [1, 3, CAP])
def test_a_recording_is_the_same_however_often_it_is_asked_for(every: int) -> None:
    """A recording rule that was asked for is evaluated at the next tick, waits again, and misses nothing."""
    rule = rulebook().rules["explained-variance-zero"]
    values = 0.5 + 0.05 * np.random.default_rng(0).standard_normal(CAP + 60)
    values[200:300] *= 0.01
    values[6:18:3] = 0.0  # it may hold there
    evaluated = RuledTicks(Ticks("x", rule.metrics[0]), False, 0, Rules(recording_rules=(rule,)))
    state = evaluated.recording_rules[0]
    waited = []
    with np.errstate(invalid="ignore", divide="ignore"):
        for at in range(len(values)):
            evaluated.feed(np.array([at]), values[at : at + 1])
            if 10 <= at < 16:  # a rule sees each of the first ticks
                waited.append(state.waiting is not None)
            if at % every == 0:
                evaluated.ask(state)
    evaluated.ask(state)
    assert len(state.past) == 1
    assert (state.past[0].since_step, state.past[0].resolved_step) == (200, 324)
    assert waited == {1: [False] * 6, 3: [False, True, True] * 2, CAP: [True] * 6}[every]


def test_a_recording_that_surely_does_not_hold_waits_although_it_is_asked_for() -> None:
    """While it cannot hold it is not evaluated at each question; it misses nothing when it can."""
    rule = rulebook().rules["reward-dead"]
    assert rule.kind in IDLE_RANGES
    evaluated = RuledTicks(Ticks("x", rule.metrics[0]), False, 0, Rules(recording_rules=(rule,)))
    state = evaluated.recording_rules[0]
    for at in range(100):
        evaluated.feed(np.array([at]), np.array([1 + at % 7.0 if at < 60 else 0.0]))
        evaluated.ask(state)
        assert at < 10 or at >= 60 or state.waiting is not None
    assert state.period is not None
    assert (state.period.since_step, state.waiting) == (60, None)


def test_the_worst_value_of_limits_on_two_sides_is_the_farthest() -> None:
    """A value that fell farther below its range than it lay above is the worst, in any pieces."""
    rule = rulebook().rules["ppl-ratio-off"]
    values = np.repeat((1.0, 1.3, 0.2, 1.3), 20)
    steps = np.arange(len(values))
    for size in (len(steps), 1):
        evaluated = RuledTicks(Ticks("x", rule.metrics[0]), False, 0, Rules(shown=(rule,)))
        with np.errstate(invalid="ignore", divide="ignore"):
            for at in range(0, len(steps), size):
                evaluated.feed(steps[at : at + size], values[at : at + size])
        period = evaluated.shown[0].period
        assert period is not None
        assert (period.worst, period.since_step) == (0.2, 20)


@pytest.mark.parametrize("every", [1, 2, 3])
def test_a_window_is_the_same_for_one_moment_and_for_many(every: int) -> None:
    """Levels, noise, extremes and trends of all moments at once are, to the bit, those of each alone."""
    values = np.random.default_rng(every).normal(size=400).cumsum()
    at = np.arange(2, 400, every)

    def asked(window: RollingWindow) -> list[np.ndarray]:
        rows = window.rows(30)
        return [
            *(window.level(length) for length in (1, 3, 8, 30)), *(window.usual(skip) for skip in (0, 5, 40)),
            window.noise(5), window.noise(40), window.jitter(0), window.jitter(8), window.loudest(8),
            window.bend(), window.spread(30), *window.extremes(1), *window.extremes(8), window.trend(),
            window.trend_change(), window.trend_noise(), medians(rows), rows[:, -1], rows[:, 0],
        ]  # fmt: skip

    def ticks() -> Ticks:
        made = Ticks("x", None)
        made.feed(np.arange(400), values, lambda begun: None)
        return made

    many, single = ticks(), ticks()
    whole = asked(RollingWindow(many, Moments(at)))
    parts = [asked(RollingWindow(single, Moments(at[k : k + 1]))) for k in range(len(at))]
    for place, found in enumerate(whole):
        alone = np.concatenate([part[place] for part in parts])
        assert alone.tobytes() == found.tobytes() or np.array_equal(alone, found, equal_nan=True), place
    assert many.marks == single.marks or repr(many.marks) == repr(single.marks)


def odd_series(n: int, seed: int) -> list[np.ndarray]:
    """Series of n ticks on which every kind of condition holds sometimes, and on which none does."""
    noise = np.random.default_rng(seed)
    place, steady = np.arange(n), noise.standard_normal(n)
    jump = 1 + 0.05 * steady
    jump[n // 2 :] *= noise.choice([0.01, 0.3, 4, 30, -1])
    spikes = np.abs(steady) + 0.1
    spikes[noise.random(n) < 0.1] *= 100
    return [
        0.5 + 0.1 * steady, steady.cumsum() - 3, np.round(steady.cumsum() / 3), jump, spikes,
        np.full(n, 0.5), np.where(place < n // 2, np.abs(steady), 0.0), (-1.0) ** place + 0.01 * steady,
        np.linspace(0, 1, n) + 0.02 * steady, np.linspace(1.4189, -1, n), np.exp(-place / 9),
        50 * steady - 900, np.clip(0.9 + 0.3 * steady, 0, 1), np.where(place < n // 2, 0.5, 5.0),
    ]  # fmt: skip


@pytest.mark.parametrize(("n", "every", "seed"), [(17, 2, 1), (60, 5, 1), (140, 9, 3)])
def test_a_kind_is_the_same_for_one_moment_and_for_many(n: int, every: int, seed: int) -> None:
    """The states at all moments at once are those at each alone; idle and resting rules miss nothing."""
    # Limits alone choose no other path through a kind: one rule for each set of parameters.
    different = {
        repr((rule.kind, sorted(rule.numbers), rule.words)): rule
        for rule in rulebook().rules.values()
        if rule.kind in KINDS
    }
    at, held, rests = np.arange(2, n, every), set(), set()

    def ticks(values: np.ndarray) -> Ticks:
        made = Ticks("x", None)
        made.feed(np.arange(n), values, lambda begun: None)
        return made

    def said(found: ConditionStates | None, k: int) -> tuple[object, ...] | None:
        if found is None:
            return None
        return bool(found.on[k]), bool(found.off[k]), float(found.value[k]) + 0, float(found.limit[k]) + 0

    with np.errstate(invalid="ignore", divide="ignore"):
        for values in odd_series(n, seed):
            many, single = ticks(values), ticks(values)
            window, moments = (
                RollingWindow(many, Moments(at)),
                [RollingWindow(single, Moments(at[k : k + 1])) for k in range(len(at))],
            )
            for rule in different.values():
                evaluator = KINDS[rule.kind]
                whole, alone = (
                    evaluator(rule, window, False),
                    [evaluator(rule, each, False) for each in moments],
                )
                on = [whole is not None and bool(whole.on[k]) for k in range(len(at))]
                for k, each in enumerate(alone):
                    assert repr(said(each, 0)) == repr(said(whole, k)), (rule.id, k)
                    if on[k] and whole is not None and whole.began is not None:
                        assert each is not None and each.began is not None
                        assert each.began(0) == whole.began(k), (rule.id, k)
                    assert not on[k] or evaluator(rule, moments[k], True) is not None, (rule.id, k)
                assert not any(on) or evaluator(rule, window, True) is not None, rule.id
                if (idle_range := IDLE_RANGES.get(rule.kind)) is not None:
                    assert not (any(on) and idle_range(rule, window)), rule.id
                    for k, each in enumerate(moments):
                        if (found := idle_range(rule, each)) is None:
                            continue
                        rests.add(rule.kind)
                        left = (values[at[k] + 1 :] < found.lowest) | (values[at[k] + 1 :] > found.highest)
                        end = at[k] + 1 + int(left.argmax()) if left.any() else n
                        resting = (at >= at[k]) & (at < end) & (at + 1 < found.until)
                        assert not np.any(np.array(on) & resting), (rule.id, k)
                held |= {rule.kind} if any(on) else set()
            assert repr(sorted(many.marks.items())) == repr(sorted(single.marks.items()))
    assert n < 140 or held == set(KINDS)
    assert n < 140 or rests == set(IDLE_RANGES)


class ReadNames(dict[str, Any]):
    """Parameters of a rule that note which of them are asked for."""

    def __init__(self, given: Mapping[str, Any], names: set[str]) -> None:
        super().__init__(given)
        self.names = names

    def get(self, name: str, default: Any = None) -> Any:
        """As of any mapping."""
        self.names.add(name)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)


def test_a_kind_reads_every_parameter_that_it_permits() -> None:
    """A parameter that nothing reads would be accepted in a rule and do nothing."""
    permitted = {kind: {*NUMBERS[kind], *WORDS.get(kind, ())} for kind in KINDS}
    read: dict[str, set[str]] = {kind: set() for kind in KINDS}
    rules = [rule for rule in rulebook().rules.values() if rule.kind in KINDS]
    for values in odd_series(140, 3):
        rules = [rule for rule in rules if not permitted[rule.kind] <= read[rule.kind]]
        noted = [
            rule._replace(
                numbers=ReadNames(rule.numbers, read[rule.kind]), words=ReadNames(rule.words, read[rule.kind])
            )
            for rule in rules
        ]
        evaluated = RuledTicks(Ticks("x", None), False, 0, Rules(shown=tuple(noted)))
        with np.errstate(invalid="ignore", divide="ignore"):
            for at in range(len(values)):
                evaluated.feed(np.array([at]), values[at : at + 1])
    assert {kind: names - read[kind] for kind, names in permitted.items() if names - read[kind]} == {}


def test_a_quantile_is_numpys() -> None:
    """The fast quantile equals numpy's."""
    noise = np.random.default_rng(2)
    for size in range(1, 60):
        values = noise.normal(size=size)
        for share in (0.0, 0.25, 0.5, 0.98, 1.0):
            assert quantile(values, share) == np.quantile(values, share)
    assert np.isnan(quantile(np.array([1.0, np.nan]), 0.5))
    assert np.isnan(quantile(np.empty(0), 0.5))


def test_no_tick_is_minus_zero() -> None:
    """The sign of a median of zeros would depend on the order of sorting, and so on the pieces."""
    values = np.array([-0.0, 0.0, 1.0, -0.0] * 300)
    whole, single = Ticks("x", None), Ticks("x", None)
    whole.feed(np.arange(1200), values, lambda begun: None)
    for k in range(1200):
        single.feed(np.arange(k, k + 1), values[k : k + 1], lambda begun: None)
    for ticks in (whole, single):
        assert not np.signbit([*ticks.value[ticks.filled], *ticks.start]).any()
    assert whole.value[whole.filled].tobytes() == single.value[single.filled].tobytes()


def test_ticks_are_bounded() -> None:
    """A hundred thousand points fit in 512 ticks."""
    values = np.random.default_rng(1).normal(size=100_000)
    ticks = Ticks("x", None)
    ticks.feed(np.arange(100_000), values, lambda begun: None)
    assert ticks.n <= CAP
    assert ticks.stride == 256


def test_a_rewind_removes_superseded_points() -> None:
    """After a resume from a checkpoint each step counts once."""
    evaluator = new_evaluator()
    evaluator.feed([fresh("policy.kl_ref", [0.1] * 60 + [20.0] * 40)])
    assert "kl-ref-runaway" in {finding.id for finding in evaluator.findings()}
    evaluator.feed([fresh("policy.kl_ref", [0.1] * 60, range(61, 121), rewound_to=61)])
    assert evaluator.findings() == []
    assert evaluator.series["policy.kl_ref"].ticks.n == 120


def test_after_a_join_one_waiting_rule_catches_up_per_step() -> None:
    """No live step evaluates all of them; after some steps none of them is behind."""
    evaluator, left = new_evaluator(), []
    series = healthy("grpo", Shape(n=CAP + 150))
    evaluator.feed([fresh(tag, values[: CAP - 1]) for tag, values in series.items()])
    for k in range(CAP - 1, CAP + 150):
        evaluator.feed([fresh(tag, values[k : k + 1], [k + 1]) for tag, values in series.items()])
        waits = [state for each in evaluator.series.values() for state in each.ruled.behind]
        left.append(sum(state.is_recording for state in waits))
    assert left[0] > 10
    assert {before - after for before, after in pairwise(left)} == {0, 1}
    assert left[-1] == 0
