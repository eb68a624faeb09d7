"""What is shown of any run names metrics that exist."""

from __future__ import annotations

import pytest

from rltui.metrics.glossary_files import glossary
from rltui.panes.pane_tabs import PANES, overview_tables, scenario_of


def test_the_tables_name_metrics_of_the_glossary() -> None:
    """Every canonical id is in the glossary, none twice in a line, and counters have units of their own."""
    tables = overview_tables()
    for line in (*tables.core, *tables.key_metrics):
        assert len(set(line)) == len(line) > 0
        assert set(line) <= glossary().metrics.keys()
    assert {counter.metric for counter in tables.counter} <= glossary().metrics.keys()
    assert len({counter.unit for counter in tables.counter}) == len(tables.counter)
    for one in tables.scenario:
        named = {*one.any, *one.none, *(metric for group in one.groups for metric in group.metrics)}
        assert named <= glossary().metrics.keys(), one.id
    assert tables.scenario[-1]._replace(id="", title="") == ("", "", (), (), (), (), "")


def test_every_pane_with_a_tab_says_why_it_is_empty() -> None:
    """A run without any of its metrics finds a sentence there; the settings have sentences of their own."""
    assert [pane.id for pane in PANES.values() if not pane.empty] == ["config"]


@pytest.mark.parametrize(
    ("canonical", "expected"),
    [
        ({"reward.mean", "lengths.response.mean", "policy.entropy"}, "grpo"),
        ({"critic.explained_variance", "lengths.response.mean", "policy.kl_coef"}, "grpo"),
        ({"critic.explained_variance", "reward.penalty.mean", "policy.ratio.mean"}, "rlhf-ppo"),
        ({"preference.margin", "optimizer.loss"}, "preference"),
        ({"reward_model.accuracy", "optimizer.loss"}, "reward-model"),
        ({"reward.success_rate", "policy.approx_kl"}, "embodied"),
        ({"reward.rating", "reward.episode_return.mean", "critic.q.mean"}, "self-play"),
        ({"reward.episode_return.mean", "critic.q.mean"}, "off-policy"),
        ({"reward.episode_return.mean", "policy.clip_fraction"}, "classic"),
        ({"optimizer.loss", "policy.token_accuracy"}, "sft"),
        (set(), "other"),
    ],
)
def test_the_kind_of_training_is_told(canonical: set[str], expected: str) -> None:
    """What a run logs decides what its overview shows first."""
    assert scenario_of(canonical).id == expected
