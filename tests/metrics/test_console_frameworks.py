"""Names that consoles and tables of frameworks leave: whose they are, and what they mean."""

from __future__ import annotations

import pytest

from rltui.metrics.frameworks.recognise import recognise
from rltui.metrics.resolve import MetricNames

# What each leaves by default, from its sources (rltui/data/frameworks names them): the outcome first.
LEFT = {
    "acme": (
        "eval/Episode Return",
        "actor/Episode Return",
        "learner/Critic Loss",
        "learner/Learner Time Elapsed",
        "eval/Evaluator Episodes",
        "actor/Steps Per Second",
    ),
    "stoix": (
        "eval/Episode return mean",
        "actor/Episode return mean",
        "train/Actor loss",
        "train/Entropy",
        "actor/Steps per second",
    ),
    "d3rlpy": (
        "environment",
        "time_sample_batch",
        "time_algorithm_update",
        "critic_loss",
        "actor_loss",
        "td_error",
    ),
    "pfrl": (
        "mean",
        "episodes",
        "elapsed",
        "median",
        "stdev",
        "max",
        "min",
        "average_q",
        "average_loss",
        "rlen",
    ),
    "dopamine": (
        "Average undiscounted return per evaluation episode",
        "Average undiscounted return per training episode",
        "Average training steps per second",
    ),
    "elegantrl": ("avgR", "stdR", "avgS", "stdS", "expR", "objC", "objA", "Time"),
    "garage": (
        "Evaluation/AverageReturn",
        "TotalEnvSteps",
        "GaussianMLPPolicy/Entropy",
        "GaussianMLPPolicy/KL",
        "LinearFeatureBaseline/ExplainedVariance",
    ),
    "pymarl": (
        "battle_won_mean",
        "return_mean",
        "ep_length_mean",
        "epsilon",
        "loss",
        "td_error_abs",
        "q_taken_mean",
    ),
    "omnisafe": (
        "Metrics/EpRet",
        "Metrics/EpCost",
        "Metrics/EpLen",
        "Loss/Loss_pi",
        "TotalEnvSteps",
        "Train/KL",
    ),
    "di-engine": ("reward_mean", "eval_episode_return_mean", "avg_envstep_per_sec", "avg_time_per_episode"),
    "xuance": ("Test-Episode-Rewards/Mean-Score", "Train-Episode-Rewards/rank_0/env-0", "Qloss", "predictQ"),
}
OUTCOMES = {"validation.return.mean", "reward.episode_return.mean", "reward.success_rate"}


@pytest.mark.parametrize("framework", LEFT)
def test_names_of_consoles_tell_their_framework_and_their_metrics(framework: str) -> None:
    """All that a default run leaves, so that its outcome is in the pane of rewards or of evaluations."""
    tags = LEFT[framework]
    label = recognise(tags).label
    names = MetricNames(label)
    assert label == framework
    assert [tag for tag in tags if not names.name(tag).recognised] == []
    assert names.name(tags[0]).canonical in OUTCOMES


def test_a_mean_reward_alone_is_no_reward_model() -> None:
    """TRL's reward trainer writes the lowest and the highest beside it; loops of one's own the mean alone."""
    assert recognise({"mean_reward", "kl", "loss"}).label == "unknown"
    assert recognise({"min_reward", "mean_reward", "max_reward", "margin", "loss"}).label == "trl-reward"
