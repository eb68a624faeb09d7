"""Kinds of training: which one a run is, and what of it is looked at first."""

from __future__ import annotations

import pytest

from rltui.metrics.glossary_files import glossary
from rltui.panes.scenarios import scenario_of, scenarios


@pytest.mark.parametrize(
    ("canonical", "expected"),
    [
        ({"reward.mean", "lengths.response.mean", "policy.entropy"}, "grpo"),
        ({"critic.explained_variance", "lengths.response.mean", "policy.kl_coef"}, "grpo"),
        ({"critic.explained_variance", "reward.penalty.mean", "policy.ratio.mean"}, "rlhf-ppo"),
        ({"preference.margin", "optimizer.loss"}, "preference"),
        ({"reward_model.accuracy", "optimizer.loss"}, "reward-model"),
        ({"reward.success_rate", "policy.approx_kl"}, "embodied"),
        ({"reward.episode_return.mean", "critic.q.mean"}, "off-policy"),
        ({"reward.episode_return.mean", "policy.clip_fraction"}, "classic"),
        ({"optimizer.loss", "policy.token_accuracy"}, "sft"),
        (set(), "other"),
    ],
)
def test_the_kind_of_training_is_told(canonical: set[str], expected: str) -> None:
    """What a run logs decides what its overview shows first."""
    assert scenario_of(canonical).id == expected


def test_scenarios_name_metrics_of_the_glossary() -> None:
    """What is to be looked at first is known, and the last scenario is any training."""
    for one in scenarios():
        named = {*one.any, *one.none, *(metric for group in one.groups for metric in group.metrics)}
        assert named <= glossary().metrics.keys(), one.id
    assert not scenarios()[-1].any and not scenarios()[-1].none and not scenarios()[-1].frameworks
