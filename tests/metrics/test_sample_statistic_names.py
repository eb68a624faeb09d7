"""Names of what rltui makes of samples, and of outcomes of loops that nobody knows."""

from __future__ import annotations

import pytest

from rltui.logs.records.sample_statistics import SampledStep
from rltui.metrics.resolve import MetricNames


@pytest.mark.parametrize("framework", [None, "verl", "tinker-cookbook", "nemo-rl"])
def test_the_statistics_of_samples_are_known(framework: str | None) -> None:
    """Every tag that a step of samples gives leads to a metric, whatever the framework beside it."""
    step = SampledStep()
    for reward in (0.0, 1.0):
        step.add({"score": reward, "acc": reward, "length": 7, "stop_reason": "length", "group_id": 3})
    names = MetricNames(framework)
    tags = [tag for tag, _ in step.aggregates() if not tag.endswith(("acc/gini", "length/gini"))]
    assert "score/mean" in tags and "zero_advantage_pct" in tags
    assert [tag for tag in tags if names.name(tag).metric is None] == []


@pytest.mark.parametrize(
    ("tag", "metric"),
    [
        ("RawAverageReturn", "reward.episode_return.mean"),
        ("step_rewards_Hopper-v2", "reward.episode_return.mean"),
        ("evaluate_step_rewards_LunarLander-v2", "validation.return.mean"),
        ("win_rate_100", "reward.success_rate"),
        ("val_win_rate", "validation.success_rate"),
        ("is_success", "reward.success_rate"),
    ],
)
def test_outcomes_of_unknown_loops_are_found(tag: str, metric: str) -> None:
    """By a word of theirs, marked as guessed."""
    name = MetricNames().name(tag)
    assert name.metric is not None and name.metric.id == metric and name.guessed
