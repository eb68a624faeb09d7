"""Faults that a person who watches tells long before a run is over, and what only looks like them."""

from __future__ import annotations

import numpy as np
import pytest

from rltui.metrics.resolve import MetricNames
from tests.support.runs.evaluators import evaluator_of, fresh, ids, new_evaluator

_NOISE = np.random.default_rng(17)
RETURN, LENGTH = "reward.episode_return.mean", "lengths.episode.mean"
KL = {"policy.approx_kl": 0.005 + 0.001 * _NOISE.normal(size=120)}
FALLEN = np.concatenate(([2200, 1600, 900, 500, 300], np.linspace(250, 5, 15), 20 * _NOISE.normal(size=100)))
LEARNT = np.concatenate((FALLEN[:20], np.linspace(5, 2600, 100)))
LOSS = np.concatenate((np.full(60, 0.02), np.linspace(0.02, 1.8, 340))) * (1 + 0.1 * _NOISE.normal(size=400))
FLAT = 40 + 10 * _NOISE.normal(size=400)
SHORTER = np.concatenate(([4.2, 3.8, 3.6], np.linspace(3.5, 2, 12), np.full(25, 2.0)))
EXPLORES = {"policy.exploration": np.linspace(1, 0.5, 400)}
ZEROS = {"optimizer.loss": np.zeros(14), "optimizer.grad_norm": np.zeros(14)}


@pytest.mark.parametrize(
    ("name", "faulty", "well"),
    [
        ("on-policy-below-start", {RETURN: FALLEN, **KL}, {RETURN: LEARNT, **KL}),
        ("on-policy-below-start", {RETURN: FALLEN, **KL}, {RETURN: FALLEN, "critic.q.mean": FALLEN, **KL}),
        (
            "loss-grows-without-gain",
            {RETURN: FLAT, "optimizer.loss": LOSS, **EXPLORES},
            {RETURN: FLAT + np.linspace(0, 300, 400), "optimizer.loss": LOSS, **EXPLORES},
        ),
        (
            "loss-grows-without-gain",
            {RETURN: FLAT, "critic.loss": LOSS, **EXPLORES},
            {RETURN: FLAT, "critic.loss": LOSS[:60], **EXPLORES},
        ),
        (
            "episodes-end-at-once",
            {LENGTH: SHORTER, RETURN: -SHORTER},
            {LENGTH: SHORTER, RETURN: 4 - SHORTER},
        ),
        (
            "episodes-end-at-once",
            {LENGTH: SHORTER, RETURN: -SHORTER},
            {LENGTH: 2 * SHORTER, RETURN: -SHORTER},
        ),
        ("loss-and-gradient-zero", ZEROS, ZEROS | {"optimizer.loss": np.full(14, 0.69)}),
        ("loss-and-gradient-zero", ZEROS, ZEROS | {"reward.zero_std_fraction": np.ones(14)}),
        ("loss-and-gradient-zero", ZEROS, ZEROS | {"policy.exploration": np.ones(14)}),
    ],
)
def test_a_fault_is_told_while_the_run_goes_on(
    name: str, faulty: dict[str, np.ndarray], well: dict[str, np.ndarray]
) -> None:
    """The series that show it are told, those that differ in what makes it a fault are not."""
    assert name in ids(evaluator_of(faulty), "warning")
    assert name not in ids(evaluator_of(well))


def test_a_kl_estimate_below_zero_is_no_distance_from_the_reference(noise: np.random.Generator) -> None:
    """A policy that never left its reference is held back, however noisy the first estimates of KL are."""
    for first, told in ((-0.04, True), (0.04, False)):
        kl = np.concatenate((first + 0.005 * noise.normal(size=12), 1e-4 * noise.normal(size=400)))
        reward = -1.8 + 0.1 * noise.normal(size=412)
        evaluator = evaluator_of({"policy.kl_ref": kl, "reward.mean": reward})
        assert ("policy-held-back" in ids(evaluator, "warning")) is told


def test_a_rate_far_below_its_start_is_told_after_seven_points() -> None:
    """Of 120 tasks a point; not of 8, not where an agent explores, and not once it is right again."""
    fallen = [119, 95, 73, 78, 77, 77, 77]
    rates = np.array(fallen) / 120
    assert ids(evaluator_of({"reward.accuracy": rates}), "warning") == {"reward-rate-below-start"}
    assert not ids(evaluator_of({"reward.accuracy": np.round(8 * rates) / 8}))
    assert not ids(evaluator_of({"reward.success_rate": rates, "policy.exploration": np.ones(7)}), "warning")
    few_prompts = np.array([0.67, 0.62, 0.53, 0.47, 0.73, 0.44, 0.36, 0.42, 0.33])  # answered alike
    assert not ids(evaluator_of({"reward.accuracy": few_prompts}), "warning")
    again = np.concatenate((rates, np.linspace(0.7, 0.98, 8).round(2), np.full(10, 0.98)))
    assert not ids(evaluator_of({"reward.accuracy": again}), "warning")


def test_a_run_one_of_whose_processes_is_at_its_best_has_not_ended_below_it(
    noise: np.random.Generator,
) -> None:
    """Two of five processes that write one table: what one lost, another has."""
    risen = np.concatenate((np.linspace(-900, -400, 60), np.full(200, -400.0))) + 20 * noise.normal(size=260)
    lost = np.concatenate((risen, np.linspace(-400, -670, 10), -670 + 20 * noise.normal(size=40)))
    best = np.append(risen, -395 + 20 * noise.normal(size=50))
    for series, told in (
        ({"pid_1/Reward": lost}, True),
        ({"pid_1/Reward": lost, "pid_2/Reward": best}, False),
    ):
        evaluator = new_evaluator(MetricNames())
        evaluator.feed([fresh(tag, values) for tag, values in series.items()])
        evaluator.set_run_over(True)
        assert ("ended-below-best" in ids(evaluator, "warning")) is told
