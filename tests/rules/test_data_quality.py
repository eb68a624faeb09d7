"""Data quality is reported separately from the training."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.rules.evaluator import Evaluator
from rltui.rules.run_status import data_quality
from tests.support.runs.evaluators import canonical_names, evaluator_of, fresh, ids, new_evaluator, run_with


def codes(evaluator: Evaluator) -> list[str]:
    """The codes of the diagnostics."""
    return [problem.code for problem in evaluator.diagnostics()]


def test_the_first_non_finite_step_is_named() -> None:
    """NaN and infinity are counted, with the step of the first."""
    evaluator = evaluator_of({"other": [1.0, 2.0, float("nan"), 3.0, float("inf")]})
    (problem,) = evaluator.diagnostics()
    assert problem.code == "non-finite" and problem.count == 2 and "step 3" in problem.message


def test_impossible_values_accuse_the_metric() -> None:
    """A clip fraction of 31 is a broken metric; it is reported as such with its first step."""
    evaluator = new_evaluator()
    evaluator.feed([fresh("reward.zero_std_fraction", [0.1, 0.2, 31.0, 0.1, -4.0])])
    (problem,) = evaluator.diagnostics()
    assert problem.code == "impossible-value" and "step 3" in problem.message and "31" in problem.message
    assert not ids(evaluator)


def test_a_share_in_percent_is_no_fault() -> None:
    """Some programs log a win rate of 27.9; most values must be above one, none above 100."""
    for values, code in (
        ([0.0, 27.9, 30.5, 100.0], "percent"),
        ([0.1, 0.2, 27.9, 0.3], "impossible-value"),
        ([27.9, 30.5, 140.0], "impossible-value"),
        ([1.0, 2.5, 4.2, 6.9], "percent"),
    ):
        evaluator = new_evaluator()
        evaluator.feed([fresh("reward.zero_std_fraction", values)])
        assert codes(evaluator) == [code]


@pytest.mark.parametrize(
    ("metric", "highest", "code"),
    [
        ("reward.success_rate", 6.9, "percent"),
        ("validation.accuracy", 6.9, "impossible-value"),
        ("validation.accuracy", 42.0, "percent"),
    ],
)
def test_low_percentages_are_those_of_shares_by_any_name(metric: str, highest: float, code: str) -> None:
    """Only what trainers call accuracy may be a score, and is told as percent from ten on."""
    evaluator = new_evaluator()
    evaluator.feed([fresh(metric, np.linspace(highest / 2, highest, 12))])
    assert [each for each in codes(evaluator) if each in ("percent", "impossible-value")] == [code]


def test_rounding_beyond_a_bound_is_no_fault() -> None:
    """1.00000012 is one."""
    evaluator = new_evaluator()
    evaluator.feed([fresh("reward.zero_std_fraction", [0.1, 1.00000012, -1e-9])])
    assert evaluator.diagnostics() == []


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("metric", "values", "code", "alarm"),
    [
        ("policy.approx_kl", [NAN] * 60, "not-reported", False),
        ("policy.kl_ref", [NAN] * 60, "not-reported", False),
        ("validation.accuracy", [NAN] * 60, "not-reported", False),
        ("policy.approx_kl", [NAN] * 60 + [0.01] * 3, "non-finite", False),
        ("policy.approx_kl", [NAN] * 9 + [0.01] + [NAN] * 9, "non-finite", True),
        ("policy.approx_kl", [0.01] * 30 + [NAN] * 30, "non-finite", True),
        ("policy.approx_kl", [INF] * 59 + [NAN], "non-finite", True),
        ("policy.approx_kl", [NAN] * 59 + [INF], "non-finite", True),
        ("reward.mean", [NAN] * 60, "non-finite", True),
        ("optimizer.loss", [NAN] * 60, "non-finite", True),
        ("validation.loss", [NAN] * 60, "non-finite", True),
    ],
)
def test_what_is_taken_as_not_defined_is_no_alarm(
    metric: str, values: list[float], code: str, alarm: bool
) -> None:
    """A quantity that is NaN throughout, and that a training may lack, is a remark on the numbers alone."""
    evaluator = new_evaluator()
    for place, value in enumerate(values):
        evaluator.feed([fresh(metric, [value], [place])])
    assert codes(evaluator) == [code]
    assert any("NaN" in each.title for each in evaluator.findings()) is alarm


def test_infinity_that_a_restart_removed_is_none() -> None:
    """After a restart from before the infinite value all that is left is NaN."""
    evaluator = new_evaluator()
    evaluator.feed([fresh("policy.approx_kl", [NAN] * 20 + [INF])])
    assert codes(evaluator) == ["non-finite"]
    evaluator.feed([fresh("policy.approx_kl", [NAN] * 10, range(15, 25), rewound_to=15)])
    assert codes(evaluator) == ["not-reported"]


def test_a_tag_that_is_not_written_any_more() -> None:
    """A metric that stopped while others continued is reported."""
    evaluator = evaluator_of({"a": np.ones(300), "b": np.ones(300), "c": np.ones(300)})
    evaluator.feed([fresh("d", np.ones(100))])
    assert codes(evaluator) == ["vanished"]
    assert "d" in evaluator.diagnostics()[0].message


def test_a_copy_over_seconds_is_not_missed() -> None:
    """rsl_rl logs the reward again at elapsed seconds, which end long before the iterations do."""
    iterations = {tag: np.ones(300) for tag in ("Train/mean_reward", "Loss/surrogate", "Loss/value")}
    evaluator = evaluator_of(iterations, framework="rsl-rl")
    evaluator.feed([fresh("Train/mean_reward/time", np.ones(100))])
    assert codes(evaluator) == []


@given(seed=st.integers(0, 10_000), tags=st.integers(3, 25))
def test_each_tag_is_compared_with_the_median_of_similar_ones(seed: int, tags: int) -> None:
    """A tag is silent if most others of a similar pace continued for long; it does not count itself."""
    rng = np.random.default_rng(seed)
    evaluator, logged = new_evaluator(), {}
    for place in range(tags):
        count, every, start = (
            int(rng.choice(some)) for some in ([10, 25, 60, 240], [1, 1, 2, 7, 40], [0, 300])
        )
        logged[f"t{place}"] = steps = start + every * np.arange(count)
        evaluator.feed([fresh(f"t{place}", np.ones(count), steps)])
    paces = {
        tag: (steps[-1] - steps[0]) / (len(steps) - 1) for tag, steps in logged.items() if len(steps) >= 20
    }
    silent = []
    for tag, pace in paces.items():
        others = (other for other, own in paces.items() if other != tag and 0.2 < own / pace < 5)
        ends = sorted(int(logged[other][-1]) for other in others)
        if len(ends) >= 2:
            quiet = (end := ends[len(ends) // 2]) - logged[tag][-1]
            if quiet > 20 * pace and quiet > 0.25 * (end - logged[tag][0]):
                silent.append(tag)
    assert [problem.message.partition(":")[0] for problem in evaluator.diagnostics()] == silent


def test_diagnostics_are_computed_once_per_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Further calls return the cached result until new points are fed."""
    asked = []
    find = data_quality.diagnostics
    monkeypatch.setattr(data_quality, "diagnostics", lambda *args: asked.append(1) or find(*args))
    evaluator = evaluator_of({"a": [1.0, float("nan")]})
    assert codes(evaluator) == codes(evaluator) == ["non-finite"]
    assert len(asked) == 1
    evaluator.feed([fresh("a", [float("nan")], [3])])
    assert [problem.count for problem in evaluator.diagnostics()] == [2]


def test_gaps_and_clocks() -> None:
    """Missing steps and a clock that went back are reported once each."""
    times = [(k, 1e9 + 10.0 * k) for k in range(50)] + [(k, 1e9 + 10.0 * k - 900) for k in range(5000, 5050)]
    times[20:] = [(step, wall - 3600) for step, wall in times[20:]]
    evaluator = Evaluator(run_with(times), canonical_names())
    assert codes(evaluator) == ["clock-jump", "gap"]


def test_a_clean_run_has_no_diagnostics() -> None:
    """Clean data have no diagnostics."""
    evaluator = Evaluator(run_with([(k, 1e9 + 10.0 * k) for k in range(50)]), canonical_names())
    evaluator.feed([fresh("reward.mean", np.linspace(0, 1, 50))])
    assert evaluator.diagnostics() == []
