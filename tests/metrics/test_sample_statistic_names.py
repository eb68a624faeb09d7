"""Names of what rltui makes of samples, and of outcomes of loops that nobody knows."""

from __future__ import annotations

import pytest

from rltui.logs.records.record_keys import COMPUTED
from rltui.logs.records.sample_statistics import SampledStep
from rltui.metrics.frameworks.recognise import recognise
from rltui.metrics.resolve import MetricNames
from rltui.session.tag_index import TagIndex


@pytest.mark.parametrize("framework", [None, "verl", "tinker-cookbook", "nemo-rl", "prime-rl", "skyrl"])
@pytest.mark.parametrize("before", ["", "val/", "eval/math_500/"])
def test_the_statistics_of_samples_are_known(framework: str | None, before: str) -> None:
    """Every tag that a step of samples gives leads to a metric, whatever the framework beside it."""
    step = SampledStep()
    for reward in (0.0, 1.0):
        step.add({"score": reward, "acc": reward, "length": 7, "stop_reason": "length", "group_id": 3})
    names = MetricNames(framework)
    tags = [tag for tag, _ in step.aggregates()]
    assert "score/mean" in tags and "zero_advantage_pct" in tags
    found = [names.name(COMPUTED + before + tag) for tag in tags]
    assert [name.tag for name in found if name.metric is None or name.guessed or not name.computed] == []
    assert all(name.held_out for name in found) is bool(before)
    assert found[0].title.endswith("· samples")


@pytest.mark.parametrize(
    ("tag", "metric"),
    [
        ("RawAverageReturn", "reward.episode_return.mean"),
        ("step_rewards_Hopper-v2", "reward.episode_return.mean"),
        ("evaluate_step_rewards_LunarLander-v2", "validation.return.mean"),
        ("win_rate_100", "reward.success_rate"),
        ("val_win_rate", "validation.success_rate"),
        ("is_success", "reward.success_rate"),
        ("evaluate_reward", "validation.return.mean"),
        ("eval_mean_return", "validation.return.mean"),
        ("TrueAverageReturn", "reward.episode_return.mean"),
        ("env_reward", "reward.episode_return.mean"),
        ("episode_total_reward", "reward.episode_return.mean"),
    ],
)
def test_outcomes_of_unknown_loops_are_found(tag: str, metric: str) -> None:
    """By a word of theirs, marked as guessed."""
    name = MetricNames().name(tag)
    assert name.metric is not None and name.metric.id == metric and name.guessed


@pytest.mark.parametrize(
    ("framework", "tag", "metric"),
    [
        ("verl", "system/gpu.0.gpu", "system.gpu_use"),
        ("trl-grpo", "system/gpu/0/utilization", "system.gpu_use"),
        ("verl", "system/network.sent", "system.other"),
        ("areal", "grpo_actor/task_reward/avg", "reward.score.mean"),
        ("areal", "ppo_actor/update/entropy/avg", "policy.entropy"),
    ],
)
def test_names_of_trackers_and_scopes_are_known(framework: str, tag: str, metric: str) -> None:
    """Measurements of a tracker beside any framework; scopes that recipes name."""
    name = MetricNames(framework).name(tag)
    assert name.metric is not None and name.metric.id == metric


def test_a_mean_of_samples_is_not_the_trainers_own_tag() -> None:
    """Both are the same metric; title and distribution tell whose it is, and no framework is told by it."""
    names = MetricNames("prime-rl")
    own, made = names.name("reward/mean"), names.name("rltui/reward/mean")
    assert own.canonical == made.canonical == "reward.mean"
    assert (own.computed, made.computed) == (False, True)
    assert own.title != made.title
    index = TagIndex(["reward/mean", "reward/max", "rltui/reward/mean", "rltui/reward/max"], names)
    assert index.distribution_of("rltui/reward/mean") == ["rltui/reward/mean", "rltui/reward/max"]
    assert recognise(["rltui/stop_reason_length_pct", "rltui/group_length_gini_mean"]).framework == "unknown"
