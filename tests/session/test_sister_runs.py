"""Runs beside their sisters: who they are, which of them stand out, and since when."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rltui.session.outcome_curve import OutcomeCurve
from rltui.session.session import Session
from rltui.session.sister_runs import FINDING_ID, sister_comparisons, sister_finding
from tests.support.logs.live_logs import write_rows
from tests.support.runs.made_run import finding as made_finding

STEPS = tuple(float(step) for step in range(0, 640, 20))


def run(
    name: str, levels: np.ndarray, hparams: str = "a", names: str = "n", steps: tuple[float, ...] = STEPS
) -> OutcomeCurve:
    """A run of 32 levels."""
    return OutcomeCurve(
        name, "reward.mean", "reward", "trl-grpo", hparams, names, steps, tuple(map(float, levels))
    )


def learning(rng: np.random.Generator, gain: float = 0.6, noise: float = 0.02) -> np.ndarray:
    """A curve that saturates, to a level of its own."""
    t = np.linspace(0, 1, 32)
    return 0.2 + gain * (1 + 0.1 * rng.normal()) * (1 - np.exp(-4 * t)) + noise * rng.normal(size=32)


def seeds(rng: np.random.Generator, count: int) -> list[OutcomeCurve]:
    """Healthy runs of one folder."""
    return [run(f"sweep/seed_{k}", learning(rng)) for k in range(count)]


def test_a_run_that_alone_learns_nothing_is_a_warning() -> None:
    """Its sisters have gained at equal step, it has not: said with their number and the step since when."""
    rng = np.random.default_rng(3)
    found = sister_comparisons([*seeds(rng, 4), run("sweep/seed_9", 0.2 + 0.02 * rng.normal(size=32))])
    comparison = found["sweep/seed_9"]
    assert comparison.learns_nothing and comparison.relation == "share their settings but for the seed"
    finding = sister_finding(comparison)
    assert finding is not None and finding.severity == "warning" and finding.since_step <= 120
    assert finding.message.startswith("Its 4 sisters") and "below their median" in finding.message
    assert finding.evidence[0].before == comparison.median_level
    assert all(sister_finding(found[f"sweep/seed_{k}"]) is None for k in range(4))


def test_a_run_that_falls_behind_is_a_remark_from_the_step_on() -> None:
    """It has gained less than its sisters since a step: worth a look, no alarm."""
    rng = np.random.default_rng(4)
    levels = learning(rng)
    levels[16:] -= 0.25
    finding = sister_finding(
        sister_comparisons([*seeds(rng, 5), run("sweep/seed_9", levels)])["sweep/seed_9"]
    )
    assert finding is not None and finding.severity == "info" and 280 <= finding.since_step <= 400


@pytest.mark.parametrize("count", [1, 2, 3])
def test_fewer_than_three_others_say_nothing(count: int) -> None:
    """Two others have no spread worth the name."""
    rng = np.random.default_rng(5)
    found = sister_comparisons([*seeds(rng, count), run("sweep/seed_9", np.full(32, 0.2))])
    assert ("sweep/seed_9" in found) == (count >= 3)


def test_only_sisters_are_compared() -> None:
    """Other settings, another folder or other names make no sisters; a sweep differs in values alone."""
    rng = np.random.default_rng(6)
    low = np.full(32, 0.2)
    others = seeds(rng, 4)
    assert "else/x" not in sister_comparisons([*others, run("else/x", low, hparams="b", names="m")])
    swept = sister_comparisons([*others, run("sweep/seed_9", low, hparams="b")])
    assert swept["sweep/seed_9"].relation == "form a sweep"
    unnamed = [run(f"PPO_{k}", learning(rng), hparams="", names="") for k in range(4)]
    assert sister_comparisons([*unnamed, run("PPO_9", low, "", "")])["PPO_9"].relation == "are named alike"
    versions = [each._replace(run=f"Ant-v4_{each.run[-1]}") for each in unnamed]
    assert "Ant-v4_9" in sister_comparisons([*versions, run("Ant-v4_9", low, "", "")])
    assert "Ant-v5_9" not in sister_comparisons([*versions, run("Ant-v5_9", low, "", "")])  # another task
    assert "DQN_9" not in sister_comparisons([*unnamed, run("DQN_9", low, "", "")])


def test_runs_are_compared_at_equal_steps() -> None:
    """A young run is no failure: it is where its sisters were at its step."""
    rng = np.random.default_rng(7)
    young = run("sweep/seed_9", learning(rng)[:10], steps=STEPS[:10])
    comparison = sister_comparisons([*seeds(rng, 5), young])["sweep/seed_9"]
    assert comparison.step == int(STEPS[9]) and sister_finding(comparison) is None


def test_healthy_sisters_raise_no_alarm() -> None:
    """Of healthy runs of four to twelve seeds, or of a sweep, fewer than 1 in 100 is a warning."""
    rng = np.random.default_rng(8)
    alarms = runs = 0
    for _ in range(150):
        count = int(rng.integers(4, 12))
        gains = rng.uniform(0.3, 1.0, count) if rng.random() < 0.5 else np.full(count, 0.6)
        noise = rng.uniform(0.005, 0.15)
        group = [run(f"s/seed_{k}", learning(rng, gains[k], noise)) for k in range(count)]
        found = [sister_finding(comparison) for comparison in sister_comparisons(group).values()]
        alarms += sum(finding is not None and finding.rank > 0 for finding in found)
        runs += count
    assert alarms < 0.01 * runs


@pytest.mark.parametrize(
    ("other", "told"), [("info", "warning"), ("warning", "warning"), ("critical", "info")]
)
def test_a_run_whose_cause_is_known_gets_a_remark(other: str, told: str) -> None:
    """That it learns nothing is no second alarm beside a critical finding."""
    rng = np.random.default_rng(9)
    comparison = sister_comparisons([*seeds(rng, 4), run("sweep/seed_9", np.full(32, 0.2))])["sweep/seed_9"]
    found = sister_finding(comparison, [made_finding(severity=other)])
    assert found is not None and found.severity == told


def test_many_runs_are_compared_piece_by_piece(tmp_path: Path) -> None:
    """Whoever cannot wait gets what was known before, and in the end what a comparison at once says."""
    for number in range(8):
        gain = 0.0 if number == 4 else 1.0
        rows = [
            {"step": step, "critic/score/mean": gain * step / 200 + number % 3 / 99} for step in range(200)
        ]
        write_rows(tmp_path / f"seed{number}" / "metrics.jsonl", rows)
    whole = Session.load([tmp_path]).compare_sisters()
    session = Session.load([tmp_path])
    calls = 1
    while not (found := session.compare_sisters(within=0.0)):
        assert session.comparing_sisters and calls < 99
        calls += 1
    assert calls > 8 and found == whole and not session.comparing_sisters
    session.compare_sisters()
    assert any(one.id == FINDING_ID for one in session.runs["seed4"].evaluator.findings())
