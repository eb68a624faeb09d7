"""Symptoms: findings that belong together become one sentence, with what moved as evidence."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rltui.draw.numbers import format_short, format_value
from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery, Source
from rltui.metrics.resolve import MetricNames
from rltui.rules.evaluator import Evaluator
from rltui.rules.finding import as_json, from_json, order
from rltui.rules.rulebook import load, rulebook
from rltui.store.points import NewPoints, Points
from rltui.store.run import Run
from tests.support.runs.evaluators import (
    canonical_names,
    evaluator_of,
    fresh,
    ids,
    new_evaluator,
    only,
    run_with,
)
from tests.support.runs.synthetic_runs import PATHOLOGIES, Shape, healthy

NOISE = np.random.default_rng(11)


def flat(level: float, n: int = 200, noise: float = 0.03) -> np.ndarray:
    """A steady series."""
    return level * (1 + noise * NOISE.normal(size=n))


def step(before: float, after: float, at: int = 120, n: int = 200, noise: float = 0.03) -> np.ndarray:
    """A series that changes its level."""
    return np.concatenate((flat(before, at, noise), flat(after, n - at, noise)))


RISE = np.linspace(0.3, 0.9, 200) + 0.01 * NOISE.normal(size=200)
SYMPTOMS = {
    "policy-collapsed": {
        "reward.mean": np.concatenate((RISE[:120], flat(0.1, 80))),
        "policy.entropy": step(2.0, 0.02),
    },
    "reward-crash-with-kl": {
        "reward.mean": np.concatenate((RISE[:120], flat(0.1, 80))),
        "policy.kl_ref": step(0.1, 6.0),
    },
    "no-stop": {
        "reward.mean": np.concatenate((RISE[:120], flat(0.1, 80))),
        "lengths.response_clip_fraction": step(0.01, 0.97, noise=0.005),
    },
    "length-hacking": {"reward.mean": RISE, "lengths.response.mean": step(200, 12, at=80)},
    "length-collapse-lowers-score": {
        "reward.mean": np.concatenate((RISE[:120], np.linspace(0.65, 0.35, 20), np.full(12, 0.35))),
        "lengths.response.mean": np.concatenate((flat(300, 120), np.linspace(300, 60, 20), flat(60, 12))),
        "lengths.response_clip_fraction": np.concatenate((flat(0.4, 60), np.full(92, 0.02))),
    },
    "reward-hacking": {"reward.mean": RISE, "reward.component.mean": step(0.6, 0.01, at=80)},
    "runaway-length": {
        "reward.mean": RISE,
        "lengths.response.mean": step(200, 800, at=80),
        "lengths.response_clip_fraction": step(0.01, 0.97, at=80, noise=0.005),
    },
    "learning-rate-blow-up": {
        "optimizer.learning_rate": step(1e-5, 1e-3, noise=0.0),
        "policy.kl_ref": step(0.1, 6.0),
    },
    "learning-stopped": {
        "optimizer.learning_rate": np.concatenate((np.full(60, 1e-3), np.zeros(30))),
        "policy.approx_kl": np.concatenate((flat(0.01, 60), np.zeros(30))),
    },
    "gradient-lost": {
        "optimizer.grad_norm": np.concatenate((flat(0.8, 60), np.zeros(40))),
        "reward.zero_std_fraction": flat(0.1, 100),
        "reward.mean": np.concatenate((RISE[:60], flat(0.02, 40))),
    },
    "samples-alike": {
        "lengths.response.min": np.concatenate((4.0 + np.arange(60) % 3, np.full(40, 13.0))),
        "lengths.response.max": np.concatenate((14.0 - np.arange(60) % 3, np.full(40, 13.0))),
        "policy.entropy": 2.0 + 0.05 * np.sin(np.arange(100)),
        "reward.mean": np.concatenate((0.6 + 0.02 * np.sin(np.arange(60)), np.ones(40))),
        "reward.std": np.concatenate((0.2 + 0.02 * np.cos(np.arange(60)), np.zeros(40))),
    },
    "learning-rate-too-high-texts": {
        "optimizer.learning_rate": np.linspace(0.03, 0.001, 100),
        "lengths.response.mean": np.concatenate((flat(9, 6), np.full(94, 16.0))),
        "policy.entropy": np.concatenate((flat(2.5, 6), flat(1e-4, 94))),
    },
    "update-instability": {"policy.kl_ref": step(0.1, 6.0), "optimizer.grad_norm": step(0.4, 30)},
    "saturated-policy": {
        "policy.approx_kl": np.concatenate(([12.0, 9.0, 5.0, 4.0], np.zeros(60))),
        "policy.entropy": np.concatenate(([0.6, 0.3, 0.05], np.full(61, 0.0005))),
    },
    "not-moving": {"reward.mean": flat(0.5), "policy.kl_ref": np.full(200, 1e-7)},
    "over-optimisation": {
        "reward.mean": RISE,
        "policy.kl_ref": np.linspace(0.1, 2.5, 200),
        "validation.accuracy": 0.5 + 0.005 * NOISE.normal(size=20),
    },
    "eval-stalls": {
        "reward.mean": RISE,
        "validation.accuracy": 0.4 + 0.005 * NOISE.normal(size=40),
    },
    "preference-overfit": {
        "preference.accuracy": np.concatenate((np.linspace(0.5, 1, 30), np.ones(100))),
        "eval/preference.accuracy": flat(0.52, 8, 0.01),
        "validation.loss": np.linspace(0.7, 1.9, 8),
    },
    "reward-model-overfit": {
        "reward_model.accuracy": np.concatenate((np.linspace(0.5, 0.95, 30), flat(0.95, 100, 0.01))),
        "eval/reward_model.accuracy": flat(0.62, 8, 0.01),
    },
    "slow-training": {"timing.step": step(10, 40)},
    "stale-rollouts": {
        "rollout.staleness.mean": np.concatenate((flat(1.0, 100), np.linspace(1, 12, 100))),
        "rollout.is_weight.mean": step(1.0, 3.0),
    },
    "idle-accelerators": {
        "perf.mfu.actor": flat(0.15),
        "load.seqlen_spread": flat(600.0),
        "load.seqlen.mean": flat(1000.0),
    },
    "runaway-turns": {
        "turns.max": step(6, 40),
        "turns.tool_failure_rate": step(0.05, 0.6),
    },
    "truncation-no-signal": {
        "lengths.response_clip_fraction": flat(0.99, 200, 0.005),
        "reward.std": np.concatenate(([0.1, 0.12, 0.09], np.full(197, 1e-8))),
        "reward.mean": flat(0.4, 200, 0.001),
    },
    "entropy-and-gradient-gone": {
        "policy.entropy": np.concatenate((flat(0.9, 20), np.full(60, 1e-15))),
        "optimizer.grad_norm": np.concatenate((flat(4.0, 20), np.full(60, 1e-17))),
    },
    "numerical-breakdown": {"optimizer.loss": np.concatenate((flat(0.5, 50), np.full(10, np.nan)))},
    "penalty-holds-back": {
        "reward.penalty.mean": flat(-0.6, 1000),
        "reward.score.mean": 0.3 + 0.03 * np.sin(np.arange(1000.0)),  # no noise that might rise by chance
    },
    "trained-values-vanished": {
        "optimizer.grad_norm": flat(0.3, 120),
        "reward.mean": np.concatenate((RISE[:120], flat(0.05, 80))),
        "lengths.response.mean": flat(200),
        "timing.step": flat(10),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", SYMPTOMS)
def test_a_symptom_is_told(name: str) -> None:
    """Its parts together are said in one sentence that names what moved, from where to where, since when."""
    evaluator = evaluator_of(SYMPTOMS[name])
    told = {finding.id: finding for finding in evaluator.findings()}
    assert name in told
    assert told[name].symptom and told[name].evidence and told[name].since_step > 0
    assert all(item.since_step > 0 and item.tag for item in told[name].evidence)


@pytest.mark.parametrize("name", SYMPTOMS)
def test_half_of_a_symptom_is_not_the_symptom(name: str) -> None:
    """Without its first metric the symptom is not told."""
    series = dict(list(SYMPTOMS[name].items())[1:])
    assert name not in ids(evaluator_of(series))


def test_what_is_explained_stands_below() -> None:
    """Findings that a symptom explains carry its id, so that the overview shows one line, not four."""
    sick = PATHOLOGIES["length_collapse"]
    evaluator = evaluator_of(sick.make(healthy("grpo", Shape(n=300, seed=4)), 150))
    top = [f for f in evaluator.findings() if f.rank and f.explained_by is None]
    assert [f.id for f in top] == ["length-hacking"]
    assert any(f.explained_by == "length-hacking" for f in evaluator.findings())
    assert evaluator.health == "critical"
    assert "since step" in evaluator.sentence()


def test_evidence_on_a_ratio_names_both_series() -> None:
    """Q values over returns: the finding is on the former, and its evidence names the latter."""
    series = {
        "critic.q.mean": np.linspace(50, 20_000, 200),
        "critic.loss": np.linspace(5, 1000, 200) ** 2,
        "reward.episode_return.mean": flat(300, noise=0.3),
    }
    told = next(each for each in evaluator_of(series).findings() if each.id == "q-beyond-returns")
    (ratio,) = [each for each in told.evidence if each.per]
    assert (ratio.tag, ratio.per) == ("critic.q.mean", "reward.episode_return.mean")
    assert ratio in from_json(as_json(told)).evidence


def test_what_repeats_a_symptom_is_one() -> None:
    """A symptom stands below others that tell the same fact: they exist, and stand below none themselves."""
    symptoms = {symptom.id: symptom for symptom in rulebook().symptoms}
    others = {other for symptom in symptoms.values() for other in symptom.repeated_by}
    assert others and all(not symptoms[other].repeated_by for other in others)


def _rate_told(rates: np.ndarray, kl_from: int, symptom: str) -> tuple[str, list[float | None]]:
    """A symptom of a run whose KL and return break at a step: its message, and the evidence of the rate."""
    noise = np.random.default_rng(20).normal(size=120)
    kl = 0.01 + 0.001 * noise
    kl[kl_from:] += 5
    returns = np.linspace(20, 200, 120) + noise
    returns[kl_from + 1 :] = (20 + 2 * noise)[kl_from + 1 :]
    series = {
        "optimizer.learning_rate": rates, "policy.approx_kl": kl, "reward.episode_return.mean": returns,
        "policy.entropy": np.where(np.arange(120) < kl_from + 4, 0.69 + 0.001 * noise, 1e-4),
    }  # fmt: skip
    told = next(each for each in evaluator_of(series).findings() if each.id == symptom)
    (rate,) = [each for each in told.evidence if each.canonical == "optimizer.learning_rate"]
    return told.message, [rate.before, rate.now]


@pytest.mark.parametrize(
    "rates",
    [
        np.r_[np.full(50, 3e-4), np.geomspace(3e-2, 3e-5, 70)],  # a restart, and the decay after it
        np.r_[np.full(50, 3e-4), np.full(30, 3e-2), np.full(40, 0.5)],
        np.r_[np.full(50, 3e-4), np.full(20, 3e-2), np.full(50, 3e-4)],
    ],
    ids=["decays", "rises-again", "goes-back"],
)
def test_a_raised_learning_rate_is_that_of_the_step_at_which_it_was_raised(rates: np.ndarray) -> None:
    """What the schedule does after the training has broken is not what broke it."""
    message, evidence = _rate_told(rates, 51, "learning-rate-blow-up")
    assert "was raised from 3.00e-4 to 0.03 at step 51," in message
    assert evidence == pytest.approx([3e-4, 3e-2])


@pytest.mark.parametrize(
    ("rates", "kl_from", "symptom"),
    [
        (np.linspace(0.5, 0.06, 120), 15, "learning-rate-too-high"),
        (np.linspace(0, 0.5, 120), 30, "learning-rate-crash"),
    ],
    ids=["falls", "rises"],
)
def test_a_learning_rate_that_is_too_high_is_that_at_which_training_broke(
    rates: np.ndarray, kl_from: int, symptom: str
) -> None:
    """A hundredth of it is advised: of a rate that falls to nothing the newest one is no measure."""
    message, evidence = _rate_told(rates, kl_from, symptom)
    assert message.startswith(f"A learning rate of {format_short(rates[kl_from])} is far above ")
    assert evidence[1] == pytest.approx(rates[kl_from])


def test_evidence_that_came_back_is_told_by_its_worst_level() -> None:
    """A reward that crashed and is as high as before says how low it was beside what it is now."""
    reward = np.concatenate((RISE[:120], flat(0.1, 76), flat(0.9, 4)))
    evaluator = evaluator_of(SYMPTOMS["learning-rate-blow-up"] | {"reward.mean": reward})
    told = next(each for each in evaluator.findings() if each.id == "learning-rate-blow-up")
    moved = next(each for each in told.evidence if each.canonical == "reward.mean")
    assert moved.now is not None and moved.now > 0.8
    assert moved.worst is not None and moved.worst < 0.2
    assert moved.course().endswith(f", now {format_value(moved.now)}")
    assert from_json(as_json(told)).evidence[0].worst == told.evidence[0].worst
    assert moved._replace(before=1.0, now=1.0, worst=None).course() == "1.000"  # it did not move


def test_evidence_begins_with_the_symptom_and_not_with_the_run() -> None:
    """Of a reward that crashed and so gained nothing since the first step, the crash is told."""
    reward = np.concatenate((np.linspace(0.3, 0.8, 150) + 0.02 * NOISE.normal(size=150), flat(0.03, 1300)))
    entropy = np.concatenate((flat(0.6, 150), flat(0.01, 1300)))
    found = evaluator_of({"reward.mean": reward, "policy.entropy": entropy}).findings()
    symptom = next(one for one in found if one.id == "policy-collapsed")
    onsets = {one.tag: one.since_step for one in symptom.evidence}
    assert symptom.since_step > 100
    assert onsets["reward.mean"] >= symptom.since_step, onsets


def test_a_held_out_score_is_told_from_its_own_level() -> None:
    """It was never where the training pairs are that it trails."""
    told = next(f for f in evaluator_of(SYMPTOMS["preference-overfit"]).findings() if f.symptom)
    moved = next(each for each in told.evidence if each.tag.startswith("eval/"))
    assert moved.before is not None and moved.before < 0.6


def test_steps_that_take_eight_times_as_long_are_told_without_a_tag_of_times() -> None:
    """By the times of its points alone; the evidence names seconds per step, not the tag that was written."""
    wall = np.cumsum(np.concatenate((np.full(60, 0.1), np.full(30, 2.0))))
    evaluator, step = new_evaluator(), np.arange(1, 91)
    points = Points(step, wall, np.full(90, 3e-4))
    evaluator.feed([NewPoints("optimizer.learning_rate", points, None)])
    told = next(each for each in evaluator.findings() if each.id == "slow-training")
    assert 58 <= told.since_step <= 64
    assert [each.tag for each in told.evidence] == ["seconds per step"]
    cause = next(each for each in evaluator.findings() if each.explained_by == told.id)
    assert [each.tag for each in cause.evidence] == ["seconds per step"]
    assert told.metrics == ("optimizer.learning_rate",)


def test_a_schedule_that_ends_at_zero_is_meant() -> None:
    """A rate that came down to zero over the run, as printed with few digits, is no learning that stopped."""
    rate = np.round(np.concatenate((np.linspace(1e-4, 0, 100), np.zeros(20))), 5)
    evaluator = evaluator_of({"optimizer.learning_rate": rate, "policy.approx_kl": np.round(100 * rate, 4)})
    assert "learning-stopped" not in ids(evaluator)


def test_responses_that_stop_early_for_nothing_are_told() -> None:
    """A model that was cut off at first and learns to stop earns more by it, or it leaves out what counts."""
    series = {
        "lengths.response.mean": np.concatenate((np.linspace(350, 80, 18), flat(75, 22))),
        "lengths.response_clip_fraction": np.concatenate((np.linspace(0.35, 0.02, 4), np.full(36, 0.01))),
        "policy.kl_ref": np.minimum(0.03 * np.arange(40), 0.4),
    }
    wave = 0.03 * np.sin(2.0 * np.arange(40))
    for reward, told in ((0.4 + wave, True), (np.linspace(0.3, 0.9, 40) + wave, False)):
        alarms = ids(evaluator_of(series | {"reward.mean": reward}), "warning")
        assert ("length-collapse-without-gain" in alarms) is told


def test_more_and_more_cut_responses_are_told_also_where_most_were_cut_at_first() -> None:
    """A share that rises from two thirds to all is told before it has lasted for long."""
    rising = np.concatenate((flat(0.66, 8, 0.04), np.linspace(0.8, 1.0, 8), np.ones(8)))
    for share, told in ((rising, True), (flat(0.66, 24, 0.04), False)):
        series = {"lengths.response_clip_fraction": share, "reward.mean": flat(0.5, 24, 0.2)}
        assert ("truncation-rises" in ids(evaluator_of(series), "warning")) is told


@pytest.mark.parametrize(
    "schedule", [np.full(60, 2e-4), np.linspace(2e-4, 1e-4, 60)], ids=["constant", "linear"]
)
def test_a_rate_that_is_set_to_zero_is_the_cause(schedule: np.ndarray) -> None:
    """Whether it was constant or on its way down, and though nothing else shows that updates have stopped."""
    rate = np.concatenate((schedule, np.zeros(30)))
    evaluator = evaluator_of({"optimizer.learning_rate": rate, "preference.margin": np.linspace(0, 1, 90)})
    told = next(finding for finding in evaluator.findings() if finding.rank)
    assert told.id == "learning-stopped"
    assert abs(told.since_step - 61) <= 1


def test_a_reward_model_that_overflowed_is_said_to_score_all_alike() -> None:
    """Margin and accuracy of exactly zero are one fault, not lost accuracy."""
    series = {
        "reward_model.margin": np.concatenate((np.linspace(0, 1, 80), np.zeros(30))),
        "reward_model.accuracy": np.concatenate((np.linspace(0.5, 0.95, 80), np.zeros(30))),
        "optimizer.grad_norm": np.concatenate((flat(2, 80), np.zeros(30))),
    }
    told = min((found for found in evaluator_of(series).findings() if found.rank), key=order)
    assert told.id == "rm-margin-zero"
    assert abs(told.since_step - 81) <= 2


def test_preferences_lost_with_the_gradient_are_what_followed() -> None:
    """A gradient of zero while pairs are told apart no more is the cause; at accuracy 1 it is none."""
    series = {
        "preference.margin": np.concatenate((np.linspace(0, 1, 80), flat(-0.9, 80))),
        "preference.accuracy": np.concatenate((np.linspace(0.5, 0.95, 80), flat(0.06, 80))),
        "optimizer.grad_norm": np.concatenate((flat(2, 80), np.zeros(80))),
    }
    told = min((found for found in evaluator_of(series).findings() if found.rank), key=order)
    assert told.id == "gradient-lost"
    assert abs(told.since_step - 81) <= 2
    saturated = {
        "preference.margin": np.linspace(0, 20, 160),
        "preference.accuracy": np.concatenate((np.linspace(0.5, 1, 80), np.ones(80))),
        "optimizer.grad_norm": 2 * np.exp(-np.arange(160) / 8),
    }
    assert "gradient-lost" not in ids(evaluator_of(saturated))


def test_swapped_pairs_are_told_from_what_is_forgotten() -> None:
    """Pairs that are preferred the wrong way round were swapped, of training or of the evaluation."""
    wave = 0.02 * np.sin(np.arange(160))
    learnt = {
        "preference.margin": np.linspace(0, 2, 160) + wave,
        "preference.accuracy": np.minimum(np.linspace(0.5, 1.2, 160), 0.96) + wave,
        "eval/preference.accuracy": np.full(8, 0.06),
    }
    told = min((found for found in evaluator_of(learnt).findings() if found.rank), key=order)
    assert told.id == "held-out-pairs-swapped"
    del learnt["eval/preference.accuracy"]
    assert not [found for found in evaluator_of(learnt).findings() if found.rank]
    turned = np.where(np.arange(160) < 80, 1.0, -1.0)
    swapped = learnt | {
        "preference.margin": turned * (1 + wave),
        "preference.accuracy": 0.5 + 0.45 * turned + wave,
    }
    told = min((found for found in evaluator_of(swapped).findings() if found.rank), key=order)
    assert told.id == "pairs-swapped"
    assert abs(told.since_step - 81) <= 3
    forgotten = swapped | {"preference.accuracy": np.where(turned > 0, 0.95, 0.55) + wave}
    assert "pairs-swapped" not in ids(evaluator_of(forgotten))


def test_scores_that_become_equal_at_their_usual_level_are_told() -> None:
    """A constant near the mean so far is seen by the spread, which was there until one step."""
    wave = np.sin(np.arange(100))
    series = {
        "reward.mean": np.concatenate((np.linspace(0.2, 0.55, 60) + 0.02 * wave[:60], np.full(40, 0.5))),
        "reward.std": np.concatenate((0.2 + 0.02 * wave[:60], np.zeros(40))),
    }
    told = min((found for found in evaluator_of(series).findings() if found.rank), key=order)
    assert told.id == "scoring-broke"
    assert abs(told.since_step - 61) <= 2
    learnt = {
        "reward.mean": np.minimum(np.linspace(0.2, 1.3, 100), 1.0),
        "reward.std": np.maximum(np.linspace(0.3, -0.1, 100), 0.0),
    }
    assert not [found for found in evaluator_of(learnt).findings() if found.rank]


def test_groups_that_tie_lose_no_gradient() -> None:
    """A gradient of zero where all samples of a group score the same is none that was lost."""
    lost = next(
        found for found in evaluator_of(SYMPTOMS["gradient-lost"]).findings() if found.id == "gradient-lost"
    )
    assert abs(lost.since_step - 61) <= 2
    tied = SYMPTOMS["gradient-lost"] | {"reward.zero_std_fraction": step(0.1, 1.0, at=60, n=100, noise=0.0)}
    assert "gradient-lost" not in ids(evaluator_of(tied))


def test_a_healthy_run_is_said_to_be_well() -> None:
    """The header of a healthy run says so."""
    assert evaluator_of({"reward.mean": RISE}).sentence() == "nothing is wrong"


def test_every_symptom_names_rules_and_has_words() -> None:
    """Each symptom of the data has advice, a source, and something to look at."""
    for symptom in rulebook().symptoms:
        assert symptom.advice and symptom.source and symptom.check_next, symptom.id


def test_faulty_rule_files_are_told_all_at_once(tmp_path) -> None:
    """Every fault of every file is named; what is right still loads."""
    (tmp_path / "a.toml").write_text(
        '[[rule]]\nid = "good"\nmetric = ["x.y"]\nkind = "threshold"\nabove = 1\nseverity = "recording"\n'
        '[[rule]]\nid = "bad"\nmetric = ["x.y"]\nkind = "guess"\nseverity = "recording"\n'
        '[[rule]]\nid = "worse"\nmetric = "x.y"\nkind = "threshold"\nabov = 1\nseverity = "loud"\n'
    )
    (tmp_path / "b.toml").write_text("not toml")
    book = load(tmp_path)
    assert list(book.rules) == ["good"]
    said = " ".join(problem.message for problem in book.problems)
    assert "guess" in said and "abov" in said and "severity" in said and len(book.problems) >= 5


@pytest.mark.parametrize(
    ("symptom", "series", "began"),
    [
        ("length-hacking", {"reward.mean": RISE, "lengths.response.mean": step(200, 12, at=80)}, 81),
        ("policy-collapsed", {"reward.mean": flat(0.3), "policy.entropy": step(2.0, 0.02)}, 121),
        ("eval-stalls", {"reward.mean": RISE, "validation.accuracy": flat(0.4, 40, 0.01)}, 1),
    ],
)
def test_what_has_no_beginning_dates_no_symptom(
    symptom: str, series: dict[str, np.ndarray], began: int
) -> None:
    """A reward that rises, or never rose, is evidence without a step: the rest says when it began."""
    found = {finding.id: finding for finding in evaluator_of(series).findings()}
    assert abs(found[symptom].since_step - began) <= 4


def test_a_collapse_takes_no_older_crash_over() -> None:
    """A policy that became deterministic long after the reward was lost is not what lost it."""
    reward = np.concatenate((RISE[:60], flat(0.1, 140)))
    for at, cause in ((70, True), (150, False)):
        told = ids(evaluator_of({"reward.mean": reward, "policy.entropy": step(2.0, 0.02, at=at)}))
        assert "reward-crash" in told
        assert ("policy-collapsed" in told) is cause


@pytest.mark.parametrize(
    ("clipped", "returns", "told"),
    [
        (np.linspace(0.15, 0.55, 80), np.linspace(10, 200, 80), True),
        (flat(0.4, 80, 0.05), np.linspace(10, 200, 80), False),
        (flat(0.4, 80, 0.05), np.append(np.linspace(10, 200, 40), flat(12.0, 40, 0.1)), True),
    ],
)
def test_large_updates_are_told_where_they_have_grown_or_the_return_is_lost(
    clipped: np.ndarray, returns: np.ndarray, told: bool
) -> None:
    """What is as large from the start on is a setting, and a policy that learns with it is well."""
    moved = flat(0.04, 80, 0.1)
    both = {"policy.clip_fraction": clipped, "policy.approx_kl": moved, "reward.episode_return.mean": returns}
    found = ids(evaluator_of(both), "warning")
    assert bool({"updates-too-large", "reward-crash-with-kl"} & found) is told
    for quiet in ("policy.clip_fraction", "policy.approx_kl"):
        alone = ids(evaluator_of({**both, quiet: both[quiet] / 3}), "warning")
        assert "updates-too-large" not in alone


def test_a_symptom_is_as_severe_as_what_it_explains() -> None:
    """Large updates are a warning until one of them is extreme: then the one finding of them is critical."""
    series = {"policy.clip_fraction": np.linspace(0.15, 0.55, 80), "policy.approx_kl": flat(0.04, 80, 0.1)}
    series["policy.approx_kl"][-10:] = 0.5
    top = [
        finding for finding in evaluator_of(series).findings() if finding.rank and not finding.explained_by
    ]
    assert [(finding.id, finding.severity) for finding in top] == [("updates-too-large", "critical")]


@pytest.mark.parametrize(
    ("before", "learns", "severity"),
    [(0.15, True, "info"), (0.15, False, "warning"), (0.005, True, "warning")],
)
def test_a_run_that_learns_vouches_for_its_update_kl(before: float, learns: bool, severity: str) -> None:
    """A KL of 0.15 per update from the start on is a remark while the return rises; one that rose is not."""
    returns = np.linspace(10, 200, 80) if learns else flat(10.0, 80, 0.1)
    moved = np.append(flat(before, 40, 0.1), flat(0.15, 40, 0.1))
    series = {"policy.approx_kl": moved, "reward.episode_return.mean": returns}
    told = {one.severity for one in evaluator_of(series).findings() if one.id == "approx-kl-very-high"}
    assert told == {severity}


def test_a_value_loss_like_that_of_the_first_update_is_no_alarm_of_a_critic_that_explains_returns() -> None:
    """While no episode earns anything the loss is tiny; with the first rewards it is as large as it was."""
    loss = np.concatenate(([0.3], flat(0.003, 20, 0.2), flat(0.3, 30, 0.2)))
    for explained, severity in ((0.8, "info"), (0.0, "critical")):
        series = {"critic.loss": loss, "critic.explained_variance": flat(explained, 51, 0.02)}
        told = {one.severity for one in evaluator_of(series).findings() if one.id == "value-loss-spike"}
        assert told == {severity}


def test_evaluations_that_never_differ_are_told_where_no_return_of_training_is_logged() -> None:
    """Every evaluation returns -3. Where training logs returns, greedy episodes may be alike at first."""
    same = {"validation.return.mean": np.full(60, -3.0), "critic.loss": flat(0.1, 60, 0.2)}
    assert "return-constant" in ids(evaluator_of(same))
    varied = same | {"reward.episode_return.mean": flat(-4.0, 60, 0.1)}
    assert "return-constant" not in ids(evaluator_of(varied))


def test_half_of_a_schedule_without_gain_is_told() -> None:
    """A return that stands still when the learning rate is down to half; not before, nor where it rose."""
    rate, same = np.linspace(1e-3, 1e-5, 300), flat(-20.0, 300, 0.3)
    for length, values, told in (
        (300, same, True),
        (130, same, False),
        (300, same + np.linspace(0, 18, 300), False),
    ):
        evaluator = evaluator_of(
            {"optimizer.learning_rate": rate[:length], "reward.episode_return.mean": values[:length]}
        )
        assert ("half-spent-without-gain" in ids(evaluator)) is told


def test_half_of_a_schedule_without_reward_is_told_of_language_models() -> None:
    """A reward that stands still when the rate is down to half; not before, and not where it is full."""
    rate, same = np.linspace(1e-6, 1e-8, 400), flat(0.3, 400, 0.1)
    for length, values, told in (
        (400, same, True),
        (180, same, False),
        (400, same + np.linspace(0, 0.3, 400), False),
        (400, flat(0.99, 400, 0.003), False),
    ):
        series = {"optimizer.learning_rate": rate[:length], "reward.accuracy": values[:length]}
        assert "half-spent-reward-flat" not in ids(evaluator_of(series))  # fine-tuning, perhaps in rounds
        series["reward.std"] = flat(0.2, length, 0.02)
        assert ("half-spent-reward-flat" in ids(evaluator_of(series))) is told


def test_half_of_a_schedule_needs_fewer_points_if_no_level_says_otherwise() -> None:
    """A noisy reward hides small gains; that neither its level nor its newest fifth is higher is enough."""
    rate, noise = np.linspace(1e-6, 1e-8, 300)[:170], np.random.default_rng(4).normal(size=170)
    for gain, told in ((0.0, True), (1.5, False)):
        reward = -2.5 + 0.7 * noise + gain * np.linspace(0, 1, 170)
        series = {"optimizer.learning_rate": rate, "reward.mean": reward, "reward.std": flat(0.8, 170, 0.1)}
        assert ("half-spent-reward-flat" in ids(evaluator_of(series), "warning")) is told


def test_entropy_may_collapse_where_nearly_all_answers_are_right() -> None:
    """One response to each prompt solves an easy task: then it is a remark."""
    entropy = np.concatenate(([2.0, 2.0, 1.9, 1.0, 0.3], flat(0.01, 55, 0.1)))
    for right, severity in ((0.99, "info"), (0.4, "critical")):
        accuracy = np.concatenate((np.linspace(0.4, right, 5), flat(right, 55, 0.003)))
        evaluator = evaluator_of(
            {"policy.entropy": entropy, "reward.accuracy": accuracy, "reward.mean": accuracy}
        )
        assert {one.severity for one in evaluator.findings() if "collapse" in one.id} >= {severity}
        assert bool(ids(evaluator, "warning")) is (severity != "info")


@pytest.mark.parametrize(
    ("hparams", "said"),
    [
        ({"gamma": 0}, "gamma is set to 0: only the next rewards of an action count"),
        ({"args": {"clip_coef": 5e-4}}, "args/clip_coef is set to 5.00e-4: hardly an update"),
        ({"exploration_final_eps": "1.0"}, ""),  # a text is no number
        ({"gamma": 0.99, "clip_coef": 0.2, "ent_coef": 0.01, "tau": 0.005, "end_e": 0.05}, ""),
        ({"gamma": False, "tau": None}, ""),
    ],
)
def test_a_setting_that_leaves_nothing_to_learn_with_is_the_cause(
    hparams: dict[str, object], said: str
) -> None:
    """It stands above all else where nothing is gained, with key and value, and is not told where much is."""
    for gain in (0, 200):
        run = run_with()
        run.hparams.update(hparams)
        evaluator = Evaluator(run, canonical_names())
        returns = 22 + np.linspace(0, gain, 300) + 6 * np.random.default_rng(4).standard_normal(300)
        evaluator.feed([fresh("reward.episode_return.mean", returns), fresh("lengths.episode.mean", returns)])
        told = [finding for finding in evaluator.findings() if finding.id == "setting-without-gain"]
        assert [finding.message[: len(said)] for finding in told] == ([said] if said and not gain else [])
        assert all(finding.explained_by for finding in evaluator.findings() if told and finding not in told)


@pytest.mark.parametrize(
    ("series", "told"),
    [
        ({"optimizer.grad_norm": [*flat(0.5, 20), np.nan, *flat(0.5, 9)]}, {"grad-non-finite-once": "info"}),
        ({"policy.loss": [*flat(0.5, 20), np.nan, *flat(0.5, 9)]}, {"non-finite-once": "info"}),
        ({"policy.loss": [*flat(0.5, 20), np.nan]}, {"numerical-breakdown": "critical"}),
        ({"optimizer.grad_norm": [*[np.inf] * 4]}, {}),
        ({"optimizer.grad_norm": [*[np.inf] * 9]}, {"numerical-breakdown": "critical"}),
        (
            {
                "optimizer.grad_norm": [*flat(0.5, 20), np.nan],
                "policy.kl_ref": [*flat(0.01, 20), np.inf],
            },
            {"numerical-breakdown": "critical"},
        ),
    ],
)
def test_a_run_is_lost_only_where_numbers_do_not_come_back(
    series: dict[str, list[float]], told: dict[str, str]
) -> None:
    """A NaN that passes is a remark of gradients, a warning of losses; in the policy it ends the run."""
    evaluator = evaluator_of({name: np.asarray(values) for name, values in series.items()})
    assert {finding.id: finding.severity for finding in evaluator.findings()} == told


def test_a_value_that_is_no_number_is_one_finding() -> None:
    """NaN is told by the symptom alone, and once in the header."""
    evaluator = evaluator_of({"optimizer.loss": np.concatenate((flat(0.5, 50), np.full(10, np.nan)))})
    assert [finding.id for finding in evaluator.findings()] == ["numerical-breakdown"]
    assert "more" not in evaluator.sentence()


def test_an_older_fall_does_not_hide_a_learning_rate_that_is_raised() -> None:
    """A fall that lasts since step 41 is no part of what a jump of the rate at step 121 brings about."""
    older = np.concatenate((np.linspace(0.3, 0.9, 40), flat(0.2, 160)))
    evaluator = evaluator_of(SYMPTOMS["learning-rate-blow-up"] | {"reward.mean": older})
    head = evaluator.findings()[0]
    assert head.id == "learning-rate-blow-up"
    assert 118 <= head.since_step <= 125


@pytest.mark.parametrize("first", ["critic.loss", "reward.episode_return.mean"])
def test_numbers_break_from_the_first_metric_on(first: str) -> None:
    """A return that is no number is no cause beside a loss that is none; what broke first stands first."""
    length = {"critic.loss": 50, "reward.episode_return.mean": 50} | {first: 44}
    series = {tag: np.concatenate((flat(0.5, n), np.full(60 - n, np.nan))) for tag, n in length.items()}
    evaluator = evaluator_of(series)
    head, *others = evaluator.findings()
    assert (head.id, head.since_step, head.evidence[0].tag) == ("numerical-breakdown", 45, first)
    assert not any(finding.rank and not finding.explained_by for finding in others)


@pytest.mark.parametrize(("fell", "explained"), [(121, True), (60, False)])
def test_numbers_that_break_explain_what_falls_with_them(fell: int, explained: bool) -> None:
    """A reward that is lost as losses become NaN is an effect, one that was lost long before is none."""
    reward = np.concatenate((np.linspace(0.2, 0.9, fell), flat(0.05, 200 - fell)))
    evaluator = evaluator_of(
        {"reward.mean": reward, "optimizer.loss": [*flat(0.5, 120), *np.full(80, np.nan)]}
    )
    told = {finding.id: finding for finding in evaluator.findings()}
    assert abs(told["numerical-breakdown"].since_step - 121) <= 1
    assert (told["reward-crash"].explained_by == "numerical-breakdown") is explained


def test_a_rule_that_lacks_what_it_requires_hides_none() -> None:
    """A held-out score that falls with the training reward is no over-optimisation, and is told."""
    held_out = np.concatenate((np.linspace(0.3, 0.9, 24), flat(0.3, 16)))
    reward = np.concatenate((RISE[:120], flat(0.35, 80)))
    evaluator = evaluator_of({"reward.mean": reward, "validation.accuracy": held_out})
    assert "over-optimised" not in ids(evaluator)
    assert "validation-drop" in ids(evaluator)


def test_evaluation_that_sees_nothing_of_what_training_gained_is_told() -> None:
    """Training earns 1,788 and evaluation -214: told with both numbers; not where evaluation follows."""
    rng = np.random.default_rng(3)
    training = -200 + 1988 / (1 + np.exp(-np.linspace(-6, 10, 400))) + 20 * rng.standard_normal(400)
    apart = {
        "reward.episode_return.mean": training,
        "validation.return.mean": -214 + 30 * rng.standard_normal(40),
    }
    evaluator = evaluator_of(apart)
    found = next(finding for finding in evaluator.findings() if finding.rank)
    assert found.id == "evaluation-gap"
    assert found.message.startswith("Training earns 1,7")
    assert "evaluation only -2" in found.message
    assert 100 <= found.since_step <= 250
    together = apart | {"validation.return.mean": training[9::10] + 60 * rng.standard_normal(40)}
    assert "evaluation-gap" not in ids(evaluator_of(together))


def test_evaluation_below_a_training_that_has_gained_nothing_is_no_gap() -> None:
    """Greedy actions may earn less than random ones: 40 means of few episodes that wander about 21, and 9."""
    for seed in range(12):
        training = 10 + np.random.default_rng(seed).exponential(12, 40)
        held_out = flat(9.4, 93)
        told = ids(evaluator_of({"reward.episode_return.mean": training, "validation.return.mean": held_out}))
        assert "evaluation-gap" not in told


def test_a_crash_of_a_rate_that_is_too_high_is_dated_to_the_rate() -> None:
    """However late, and if it rises a little again; not for a usual rate, nor for a return that rises."""
    fall = np.concatenate((np.linspace(6, 20, 60), flat(4, 60), np.linspace(4, 8, 40)))
    curves = {
        "reward.episode_return.mean": fall + 0.3 * np.random.default_rng(5).standard_normal(160),
        "policy.approx_kl": [900.0, *np.full(159, 2.0)],
        "optimizer.learning_rate": np.full(160, 0.1),
    }
    found = min(evaluator_of(curves).findings(), key=order)
    assert found.id == "learning-rate-crash" and found.severity == "critical" and found.since_step <= 1
    assert "learning-rate-crash" not in ids(
        evaluator_of(curves | {"optimizer.learning_rate": np.full(160, 1e-3)})
    )
    rising = {"reward.episode_return.mean": np.linspace(6, 200, 160)}
    assert "learning-rate-crash" not in ids(evaluator_of(curves | rising))


def test_a_rate_of_zero_from_the_first_step_is_told_with_updates_that_move_nothing() -> None:
    """Twenty returns say little; a rate that the console rounds to zero, with a KL, is no rate of zero."""
    curves = {
        "reward.episode_return.mean": 22 + 4 * np.random.default_rng(3).standard_normal(20),
        "policy.approx_kl": np.full(20, 3e-7),
        "optimizer.learning_rate": np.zeros(20),
    }
    assert "not-moving" in ids(evaluator_of(curves))
    assert "not-moving" not in ids(evaluator_of(curves | {"policy.approx_kl": flat(0.005, 20, 0.1)}))
    warm_up = {"optimizer.learning_rate": [0.0, *np.linspace(1e-5, 3e-4, 19)]}
    assert "not-moving" not in ids(evaluator_of(curves | warm_up))


def _noise(n: int, level: float, spread: float) -> np.ndarray:
    """Lognormal noise about a level."""
    return level * np.exp(spread * np.random.default_rng(n).standard_normal(n))


REPORTED = {  # faults that users report to frameworks, as what their metrics show: what names them, and when
    "gradient-missing": (1, {"optimizer.grad_norm": np.zeros(60), "reward.std": _noise(60, 0.4, 0.1)}),
    "update-out-of-bounds": (
        61,
        {
            "policy.kl_ref": np.concatenate((np.linspace(0, 0.05, 60), _noise(60, 3.5, 0.3))),
            "optimizer.grad_norm": np.concatenate((_noise(60, 0.4, 0.2), _noise(61, 1927, 0.4)[:60])),
        },
    ),
    "values-explode": (
        76,
        {
            "critic.q.mean": 20 * np.exp(np.maximum(0, np.arange(200) - 60) / 7),
            "critic.loss": 5 * np.exp(np.maximum(0, np.arange(200) - 60) / 3.5),
        },
    ),
    "q-beyond-returns": (
        30,
        {
            "critic.q.mean": np.linspace(50, 20_000, 200),
            "critic.loss": np.linspace(5, 1000, 200) ** 2,
            "reward.episode_return.mean": flat(300, noise=0.3),
        },
    ),
    "temperature-grows": (50, {"policy.alpha": 0.1 * np.exp(np.arange(200) / 20)}),
    "loss-risen": (
        105,
        {
            "optimizer.loss": np.concatenate(
                (_noise(80, 0.01, 0.2), 0.01 * np.exp(np.linspace(0, 4.6, 60)), _noise(61, 1, 0.2))
            )
        },
    ),
    "values-stopped": (
        20,
        {
            "reward.episode_return.mean": 12 + np.random.default_rng(6).standard_normal(300),
            "critic.loss": 10 ** np.linspace(1, -4, 300),
            "policy.exploration": np.full(300, 0.1),
        },
    ),
    "greedy-without-gain": (
        25,
        {
            "reward.episode_return.mean": -20.7 + 0.1 * np.random.default_rng(7).standard_normal(300),
            "policy.exploration": np.maximum(0.01, 1 - np.arange(300) / 30),
        },
    ),
}


@pytest.mark.parametrize("name", REPORTED)
def test_a_reported_fault_is_named_from_where_it_began(name: str) -> None:
    """What users report to veRL, TRL, ms-swift, rlkit and Stable-Baselines3 is said first, with its step."""
    onset, series = REPORTED[name]
    head = min(
        (found for found in evaluator_of(series).findings() if found.rank and not found.explained_by),
        key=order,
    )
    assert head.id == name
    assert abs(head.since_step - onset) <= 30


def test_waves_of_a_running_mean_are_no_gain_of_a_greedy_policy() -> None:
    """Means over 100 episodes that are logged every few rise for a while by chance, and by a twentieth."""
    noise = np.random.default_rng(3).standard_normal((40, 400))
    returns = 22 + 5 * np.stack([np.convolve(row, np.ones(25) / 25, "valid") for row in noise])
    told = 0
    for row in returns:
        series = {
            "reward.episode_return.mean": row,
            "policy.exploration": np.maximum(0.05, 1 - np.arange(len(row)) / 20),
        }
        told += "greedy-without-gain" in ids(evaluator_of(series))
    assert told >= 30


def test_a_return_that_falls_as_actions_become_greedy_is_told_before_they_are() -> None:
    """With half of the actions random it earns far less than at first; a return that rises, does not."""
    noise = np.random.default_rng(8).normal(size=200)
    for change, told in ((-10, True), (10, False)):
        series = {
            "reward.episode_return.mean": 15 + change * (1 - np.exp(-np.arange(200) / 40)) + 2 * noise,
            "policy.exploration": np.maximum(0.3, 1 - np.arange(200) / 150),
        }
        assert ("greedy-without-gain" in ids(evaluator_of(series), "warning")) is told


def test_entropy_lost_before_any_success_is_no_solved_task() -> None:
    """A reward that rises by avoiding losses excuses no lost exploration; one that wins does."""
    series = {"reward.mean": np.concatenate((np.linspace(-16, -0.5, 60), flat(-0.5, 140)))}
    series["policy.entropy"] = np.concatenate((np.linspace(1.9, 0.01, 60), flat(0.01, 140)))
    lost = evaluator_of({**series, "reward.success_rate": np.zeros(200)})
    assert "collapsed-without-success" in ids(lost, "warning")
    won = evaluator_of({**series, "reward.success_rate": np.linspace(0, 1, 200)})
    assert not ids(won, "warning")


def test_a_return_that_stays_below_that_of_random_actions_is_told() -> None:
    """Only where nobody can say any more that it explores: after many episodes and steps."""
    returns = np.concatenate((flat(-150, 60, 0.2), flat(-5000, 900, 0.2)))
    for every, told in ((100, True), (3, False)):
        evaluator = new_evaluator(canonical_names(None))
        evaluator.feed([fresh("reward.episode_return.mean", returns, every * np.arange(1, 961))])
        assert ("return-long-below-start" in ids(evaluator, "warning")) is told


def test_a_return_below_its_start_is_told_with_values_that_broke() -> None:
    """Exploring alone costs at first; where the loss of the values leaps as well, they are what is wrong."""
    returns, same = np.concatenate((flat(4, 45, 0.3), flat(-40, 100, 0.2))), flat(10, 145, 0.2)
    for loss, told in ((np.concatenate((same[:45], 15 * same[45:])), True), (same, False)):
        alarms = ids(evaluator_of({"reward.episode_return.mean": returns, "critic.loss": loss}), "warning")
        assert ("values-far-off" in alarms) is told


def test_a_return_below_its_start_is_one_finding_however_it_is_told() -> None:
    """It is no second finding beside a missing gain, nor beside the symptom that has its cause."""
    noise = np.random.default_rng(12).normal(size=960)
    returns = np.repeat((150.0, 5.0), (60, 900)) * (1 + np.repeat((0.01, 0.2), (60, 900)) * noise)
    greedy = np.maximum(0.01, 1 - np.arange(960) / 200)
    for cause, told in (
        ({}, "return-long-below-start"),
        ({"policy.exploration": greedy}, "greedy-without-gain"),
    ):
        evaluator = new_evaluator(canonical_names(None))
        for tag, values in {"reward.episode_return.mean": returns, **cause}.items():
            evaluator.feed([fresh(tag, values, 1000 * np.arange(1, 961))])
        leading = [one.id for one in evaluator.findings() if not one.explained_by]
        assert leading == [told]


def test_a_share_of_wins_near_zero_is_no_alarm_while_the_return_gains() -> None:
    """Battles are won long after the return, which counts damage, too, has begun to rise."""
    series = {
        "reward.episode_return.mean": np.linspace(2, 10, 300) + NOISE.normal(size=300) / 5,
        "reward.success_rate": np.abs(0.004 * NOISE.normal(size=300)),
        "policy.exploration": np.maximum(0.05, 1 - np.arange(300) / 20),
    }
    assert "greedy-without-gain" not in ids(evaluator_of(series))


def test_a_loss_that_an_outcome_excuses_is_no_alarm() -> None:
    """The loss of a policy that learns rises with its KL; so does that of values with the return."""
    rise = np.concatenate((_noise(80, 0.01, 0.2), 0.01 * np.exp(np.linspace(0, 4.6, 60)), _noise(60, 1, 0.2)))
    for other in ("reward.mean", "critic.q.mean", "validation.accuracy"):
        assert "loss-risen" not in ids(
            evaluator_of({"optimizer.loss": rise, other: np.linspace(0.1, 0.9, 200)})
        )


def test_the_entropy_of_given_tokens_is_no_exploration() -> None:
    """What a supervised run is asked for is not called a collapse; of a policy that samples it is."""
    entropy = np.concatenate((flat(0.9, 20), np.linspace(0.9, 0.01, 8), flat(0.01, 60)))
    assert "entropy-collapse" in ids(evaluator_of({"policy.entropy": entropy}))
    supervised = {"policy.entropy": entropy, "policy.token_accuracy": np.linspace(0.6, 1, 88)}
    assert not [found for found in evaluator_of(supervised).findings() if found.rank]


def test_equal_responses_do_not_invert_preferences() -> None:
    """Pairs that a policy writes become equal: fewer have a margin above zero, but those that differ do."""
    fewer = np.linspace(0.6, 0.1, 200) + 0.02 * NOISE.normal(size=200)
    assert "preference-inverted" in ids(evaluator_of({"preference.accuracy": fewer}))
    pairs = {"preference.accuracy": fewer, "preference.margin": flat(0.05, noise=0.3)}
    assert "preference-inverted" not in ids(evaluator_of(pairs))


def test_overfitted_pairs_begin_with_the_held_out_loss() -> None:
    """All training pairs were told apart long before: that alone was no fault."""
    held_out = np.concatenate((np.linspace(0.7, 0.3, 8), np.linspace(0.35, 0.9, 12)))
    accuracy = np.concatenate((np.linspace(0.5, 1, 20), np.ones(180)))
    told = evaluator_of({"preference.accuracy": accuracy, "validation.loss": held_out})
    found = next(each for each in told.findings() if each.id == "preference-overfit")
    assert 80 <= found.since_step <= 120


def test_a_reward_that_is_not_logged_any_more_is_told() -> None:
    """TRL writes no reward that is NaN: the others go on, and so must a reward of another name."""
    on = {name: flat(1.0) for name in ("optimizer.loss", "optimizer.grad_norm", "policy.entropy")}
    evaluator = new_evaluator(canonical_names(None))
    for tag, values in {**on, "reward.mean": RISE[:120]}.items():
        evaluator.feed([fresh(tag, values)])
    assert "reward-ended" in ids(evaluator, "warning")
    evaluator.feed([fresh("eval/reward.mean", RISE)])
    assert "reward-ended" in ids(evaluator, "warning")
    assert "reward-ended" not in ids(evaluator_of({**on, "reward.mean": RISE}))


@pytest.mark.parametrize(("last", "told"), [(200.0, False), (120.0, True)])
def test_a_reward_with_steps_of_its_own_has_not_ended(last: float, told: bool) -> None:
    """Episodes are fewer than updates: the newest of both are written at one time, whatever their numbers."""
    run = Run("run", 1024, 64)
    evaluator = Evaluator(run, canonical_names(None))
    logged = {name: flat(1.0) for name in ("optimizer.loss", "optimizer.grad_norm", "policy.entropy")}
    for tag, values in {**logged, "reward.mean": RISE[:120]}.items():
        steps = np.arange(1, len(values) + 1)
        walls = 1e9 + steps * (last / 120 if tag == "reward.mean" else 1.0)
        batch = Batch.of_doubles((tag,), np.zeros(len(steps)), steps, walls, values)
        run.apply(Delivery(Source("run", f"{tag}.jsonl", "jsonl"), batch))
        evaluator.feed([fresh(tag, values)])
    assert ("reward-ended" in ids(evaluator, "warning")) is told
    assert ("vanished" in {problem.code for problem in evaluator.diagnostics()}) is told


@pytest.mark.parametrize(
    ("last_return", "severity"), [(5600.0, "info"), (900.0, "critical"), (-3000.0, "critical")]
)
def test_a_value_loss_may_grow_with_the_square_of_the_returns(last_return: float, severity: str) -> None:
    """A loss grows 200-fold: explained by returns that rise tenfold, not by twofold ones nor by a fall."""
    noise = np.random.default_rng(3).standard_normal((2, 100))
    way = np.clip((np.arange(100) - 30) / 10, 0, 1)
    returns = np.concatenate((np.linspace(-150, 420, 30), np.full(70, 420.0)))
    returns += way * (last_return - 420) + 15 * noise[0]
    loss = 400 * (1 + way * 199) * np.exp(0.1 * noise[1])
    series = {"reward.episode_return.mean": returns, "critic.loss": loss}
    book = only("value-loss-spike")  # an outcome that is well makes a remark of it, too
    rule = book.rules["value-loss-spike"]._replace(info_when=("value-loss-follows-return",))
    book = book._replace(rules={rule.id: rule}, joint_conditions=rulebook().joint_conditions)
    found = evaluator_of(series, book=book).findings()
    assert [each.severity for each in found if each.id == "value-loss-spike"] == [severity]


def test_a_finding_names_the_whole_key_whatever_blanks_it_has() -> None:
    """The ratio of two series is named after its numerator; a key of skrl looks like one and is none."""
    key = "Loss / Value loss"
    evaluator = new_evaluator(MetricNames("skrl"))
    evaluator.feed([fresh(key, np.append(np.geomspace(1, 1e-5, 60), np.full(60, 1e-5)), range(1, 121))])
    assert {found.metrics for found in evaluator.findings()} == {(key,)}


@pytest.mark.parametrize(
    ("levels", "name"),
    [
        ((40, 40), "ended-without-gain"),
        ((21, 21, 9, 9, 9, 9), "ended-below-start"),
        ((0, 0), "ended-constant"),
        ((20, 200), ""),
        ((40, 40, 80), ""),
    ],
)
def test_a_run_that_is_over_is_judged_as_a_whole(levels: tuple[float, ...], name: str) -> None:
    """What a live run may still make up is a warning once the run is over, and none if it goes on."""
    noise = np.random.default_rng(5).normal(size=240)
    way = np.interp(np.linspace(0, 1, 240), np.linspace(0, 1, len(levels)), levels)
    evaluator = evaluator_of({"reward.episode_return.mean": way * (1 + 0.1 * noise)})
    assert not ids(evaluator, "warning")
    assert evaluator.set_run_over(True)
    assert ids(evaluator, "warning") == ({name} if name else set())
    assert evaluator.set_run_over(False) and not ids(evaluator, "warning")


def test_what_follows_from_values_that_became_nan_is_no_second_cause() -> None:
    """A return that falls with the NaN is no worse policy, nor are returns constant if the critic is NaN."""
    noise = np.random.default_rng(4).normal(size=150)
    lost = np.arange(150) >= 90
    evaluator = evaluator_of(
        {
            "reward.episode_return.mean": np.where(lost, 9.3, 20 + 1.5 * np.arange(150) + 5 * noise),
            "critic.explained_variance": np.where(lost, np.nan, 0.6 + 0.1 * noise),
            "policy.entropy": np.where(lost, np.nan, 0.6 + 0.01 * noise),
            "optimizer.loss": np.where(lost, np.nan, 3 + noise),
        }
    )
    told = {found.id: found.explained_by for found in evaluator.findings()}
    assert told["explained-variance-undefined"] == "numerical-breakdown"
    assert "policy-gets-worse" not in told


def test_evidence_begins_where_the_numbers_of_its_sentence_do() -> None:
    """That a return has gained nothing holds from the first step on; its fall from its best does not."""
    level = np.concatenate((np.linspace(30, 70, 60), np.linspace(70, 4, 60), np.full(880, 4.0)))
    values = level + np.random.default_rng(5).normal(0, 1.5, 1000)
    evaluator = new_evaluator()
    evaluator.feed([fresh("reward.episode_return.mean", values, np.arange(1000) * 5_000)])
    (told,) = (found for found in evaluator.findings() if found.id == "return-never-came-back")
    (fall,) = told.evidence
    assert fall.before is not None and fall.before > 60 and fall.since_step >= 60 * 5_000


def test_of_a_run_that_is_over_nothing_is_so_only_so_far() -> None:
    """Neither the symptom of its end nor the remarks below it wait for what may follow."""
    reward = 0.5 + 0.1 * np.random.default_rng(6).normal(size=300)
    evaluator = evaluator_of({"reward.mean": reward})
    assert "nothing gained so far" in {found.title for found in evaluator.findings()}
    evaluator.set_run_over(True)
    words = [f"{found.title} {found.message}" for found in evaluator.findings()]
    assert any(one.startswith("nothing gained The outcome") for one in words)
    assert not any("so far" in one for one in words)


def test_what_was_gained_on_held_out_tasks_is_a_gain_of_a_run_that_is_over() -> None:
    """A training reward may stay flat where tasks become harder as the policy learns."""
    reward = 0.5 + 0.1 * np.random.default_rng(6).normal(size=300)
    for held_out, told in ((np.linspace(0.3, 0.7, 30), False), (np.full(30, 0.3), True)):
        evaluator = new_evaluator()
        evaluator.feed([fresh("reward.mean", reward)])
        evaluator.feed([fresh("eval/validation.accuracy", held_out, range(10, 301, 10))])
        evaluator.set_run_over(True)
        assert ("ended-without-gain" in ids(evaluator)) is told


def test_an_entropy_that_was_never_measured_is_no_collapse_of_a_run_that_gains() -> None:
    """Loops write zero where they compute none; without a gain it may be true from the first update on."""
    noise = 0.2 * np.random.default_rng(8).normal(size=500)
    for rise, told in ((0.3, False), (0.0, True)):
        reward = np.linspace(0.6, 0.6 + rise, 500) + noise
        evaluator = evaluator_of({"policy.entropy": np.zeros(500), "reward.accuracy": reward})
        assert bool(ids(evaluator, "warning") | ids(evaluator, "critical")) is told


def test_what_was_a_warning_before_the_end_stays_the_one_that_is_told() -> None:
    """That nothing was learnt in thousands of episodes says more than that the run ended without a gain."""
    noise = np.random.default_rng(9).normal(size=3600)
    evaluator = new_evaluator()
    evaluator.feed([fresh("reward.episode_return.mean", 40 + 10 * noise, 20 * np.arange(1, 3601))])
    before = ids(evaluator, "warning")
    evaluator.set_run_over(True)
    assert before == ids(evaluator, "warning") == {"outcome-no-gain-long"}


def test_the_sentence_of_a_symptom_and_its_evidence_have_the_same_numbers() -> None:
    """The outcome of a run that ended as its last fifth is, not as its last tenth, which noise moved."""
    levels = np.concatenate((np.full(216, 40.0), np.full(24, 46.0)))
    evaluator = evaluator_of(
        {"reward.episode_return.mean": levels + 10 * np.random.default_rng(5).normal(size=240)}
    )
    evaluator.set_run_over(True)
    (told,) = (found for found in evaluator.findings() if found.id == "ended-without-gain")
    (change,) = told.evidence
    assert change.before is not None and change.now is not None
    before, now = format_short(change.before), format_short(change.now)
    assert f"its outcome is {now} and was {before} at the start" in told.message


@pytest.mark.parametrize(("gain", "told"), [((150, 160), True), ((150, 200), False)])
def test_a_short_gain_ends_no_symptom_that_held_before(gain: tuple[int, int], told: bool) -> None:
    """What is told of a greedy agent does not come and go with its success; a gain that lasts ends it."""
    noise = np.random.default_rng(12).normal(size=(2, 200))
    success = np.full(200, 0.05)
    success[gain[0] : gain[1]] = 0.4
    series = {
        "reward.episode_return.mean": -48 + noise[0],
        "reward.success_rate": success + 0.003 * noise[1],
        "policy.exploration": np.concatenate((np.linspace(1, 0.05, 30), np.full(170, 0.05))),
    }
    evaluator, ends, gains = new_evaluator(), [], []
    steps = np.arange(1000, 201_000, 1000)
    for k in range(200):
        evaluator.feed([fresh(tag, values[k : k + 1], steps[k : k + 1]) for tag, values in series.items()])
        if k >= 149:
            ends.append("greedy-without-gain" in ids(evaluator))
            gains.append(evaluator.state.any(("success-at-best", "success-rises")))
    assert ends[0] and any(gains) and (all(ends) if told else not ends[-1])


@pytest.mark.parametrize(("last", "told"), [(0.688, True), (0.5, False)])
def test_a_preference_run_that_ended_at_the_loss_of_guessing_is_told(last: float, told: bool) -> None:
    """Three of five pairs are told apart, by next to nothing: while the run goes on it may only be slow."""
    loss = np.linspace(0.693, last, 60)
    evaluator = evaluator_of({"preference.loss": loss, "preference.accuracy": flat(0.6, 60, 0.05)})
    assert not ids(evaluator, "warning")
    evaluator.set_run_over(True)
    assert ("ended-pairs-not-told-apart" in ids(evaluator, "warning")) is told


@pytest.mark.parametrize(("apart", "most"), [(25, 2), (100, 3)])
def test_spikes_that_recur_are_told_until_they_stay_away(apart: int, most: int) -> None:
    """Three bursts with short pauses: the alarm ends after the first one and after the last one."""
    burst = np.concatenate((flat(1.0, apart, 0.05), flat(30.0, 12, 0.05)))
    loss = np.concatenate((flat(1.0, 60, 0.05), *[burst] * 3, flat(1.0, 90, 0.05)))
    evaluator, told = new_evaluator(), []
    for begin in range(0, len(loss), 2):
        evaluator.feed([fresh("critic.loss", loss[begin : begin + 2], np.arange(begin, begin + 2) + 1)])
        told.append("value-loss-spike" in ids(evaluator))
    assert not told[-1]
    assert sum(before and not after for before, after in pairwise(told)) == most


@pytest.mark.parametrize(("accuracy", "told"), [(0.8, False), (0.3, True)])
def test_a_run_whose_rewards_are_centred_ended_with_a_gain_of_accuracy(accuracy: float, told: bool) -> None:
    """Rewards that are centred in each batch have no gain: what is right tells."""
    right = np.linspace(0.3, accuracy, 200) + 0.03 * NOISE.normal(size=200)
    evaluator = evaluator_of({"reward.mean": 0.02 * NOISE.normal(size=200), "reward.accuracy": right})
    evaluator.set_run_over(True)
    assert ("ended-without-gain" in ids(evaluator, "warning")) is told


@pytest.mark.parametrize(("small", "alarm"), [((150, 162), True), ((150, 200), False)])
def test_what_makes_a_remark_of_an_alarm_must_last(small: tuple[int, int], alarm: bool) -> None:
    """Most ratios are clipped: a few updates that move the policy little do not end the alarm, many do."""
    moved = flat(0.02)
    moved[small[0] : small[1]] = 0.005
    series = {"policy.clip_fraction": flat(0.65), "policy.approx_kl": moved}
    evaluator, alarms, usual = new_evaluator(), [], []
    for k in range(200):
        evaluator.feed([fresh(tag, values[k : k + 1], np.array([k])) for tag, values in series.items()])
        if k >= 149:
            alarms.append("clip-fraction-most" in ids(evaluator, "warning"))
            usual.append(evaluator.state.any(("approx-kl-usual",)))
    assert alarms[0] and any(usual) and (all(alarms) if alarm else not alarms[-1])
