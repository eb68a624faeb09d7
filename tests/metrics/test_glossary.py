"""The glossary as people read it: complete, said once, true to its sources."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from functools import cache
from typing import Any

import pytest

from rltui.common.display_text import cell_width
from rltui.metrics.glossary_files import Glossary, general_panes, glossary, pane_id
from rltui.schema.metric import DIRECTIONS, TITLE_WIDTH, Metric
from rltui.schema.units import units
from tests.support.shared import SHARED

CATALOGUE = SHARED / "metric-catalog.json"
needs_catalogue = pytest.mark.skipif(not CATALOGUE.is_file(), reason="the shared catalogue is not here")

PANES = (
    "validation", "reward", "policy", "critic", "lengths", "preference", "reward-model", "turns", "load",
    "timing", "perf", "system", "rollout", "other",
)  # fmt: skip

FOUNDING = {
    "000": "RLinf training metrics docs",
    "001": "Training metrics glossary (veRL, OpenRLHF, TRL)",
    "002": "Telescope metrics docs",
    "003": "TRL logging docs",
    "004": "classic PPO metrics table",
}

# Numbers and facts of the founding documents and of the sources behind the thresholds: where they must stand.
FACTS = (
    ("validation.accuracy", "watch first"),
    ("validation.accuracy", "Do not tune the optimiser"),
    ("validation.reward.mean", "rule-based"),
    ("reward.success_rate", "first curve to look at"),
    ("reward.episode_return.mean", "near zero until the first success"),
    ("reward.step.mean", "divide the episode's reward by its length"),
    ("reward.mean", "entropy dropped suddenly"),
    ("reward.std", "Moderate"),
    ("reward.distribution", "without long tails"),
    ("reward.penalty.mean", "should not dominate"),
    ("reward.gini", "0 when all samples"),
    ("policy.kl_ref", "0.01–0.1"),
    ("policy.kl_ref", "0 to 10"),
    ("policy.kl_ref", "over-optimisation"),
    ("policy.kl_ref", "under-training"),
    ("policy.kl_coef", "raises it while KL is above"),
    ("policy.approx_kl", "0.01 to 0.05"),
    ("policy.approx_kl", "0.02"),
    ("policy.approx_kl", "before a reward collapse"),
    ("policy.approx_kl_k1", "1.5 times"),
    ("policy.clip_fraction", "Below 0.2"),
    ("policy.ratio.mean", "≈ 1"),
    ("policy.ratio.mean", "200"),
    ("policy.ratio.mean", "2 or more, or 0.1"),
    ("policy.ratio.max", "200"),
    ("policy.advantage.mean", "Centred near 0"),
    ("policy.advantage.max", "10, better 3"),
    ("policy.advantage.distribution", "Balanced"),
    ("policy.entropy", "High early"),
    ("policy.entropy", "premature convergence"),
    ("policy.entropy", "stable and not zero"),
    ("policy.loss", "small oscillations"),
    ("policy.total_loss", "learning rate that is too large"),
    ("optimizer.grad_norm", "10x"),
    ("optimizer.learning_rate", "whether the schedule changed"),
    ("optimizer.loss", "gradual fall"),
    ("critic.explained_variance", "> 0.8"),
    ("critic.explained_variance", "approaches 1"),
    ("critic.loss", "NaN"),
    ("critic.loss", "reward scale, the masks"),
    ("critic.error", "Falls smoothly"),
    ("critic.value.var", "Stable"),
    ("critic.clip_fraction", "overfitting"),
    ("critic.return.var", "consistent scale"),
    ("lengths.response_clip_fraction", "0.05"),
    ("lengths.response.mean", "reward hacking through a length bias"),
    ("lengths.response.std", "not exploding"),
    ("lengths.prompt.mean", "drift"),
    ("lengths.group_max_median_ratio", "Close to 1"),
    ("lengths.aborted_fraction", "sampling settings"),
    ("lengths.eos_count", "how many responses are complete"),
    ("preference.margin", "overfitting to the training pairs"),
    ("preference.accuracy", "99 %"),
    ("preference.loss", "0.693"),
    ("reward_model.margin", "near zero"),
    ("reward_model.accuracy", "overfitted"),
    ("reward_model.score.mean", "leaked"),
    ("turns.max", "loops"),
    ("load.seqlen_spread", "does most of the work"),
    ("load.seqlen.max", "out of memory"),
    ("timing.step", "compilation"),
    ("timing.generation", "usually the largest part"),
    ("timing.per_token.generation", "fair number to compare"),
    ("timing.update_critic", "such as PPO"),
    ("perf.mfu.actor", "50–60 %"),
    ("perf.mfu.actor", "Below 30 %"),
    ("perf.mfu.actor_infer", "50–60 %"),
    ("perf.throughput", "per second and accelerator"),
    ("perf.episodes_per_second", "no epsilon"),
    ("rollout.mismatch_kl", "0.01"),
    ("rollout.mismatch_kl", "0.1"),
    ("rollout.prob_diff.mean", "< 0.005"),
    ("rollout.prob_diff.mean", "0.01"),
    ("rollout.prob_error", "1.05"),
    ("rollout.is_weight.mean", "0.5 to 2.0"),
    ("rollout.is_weight.std", "1.0"),
    ("rollout.is_effective_sample_size", "0.3"),
    ("rollout.chi2_token", "1.0"),
    ("rollout.error_rate", "0.05"),
    ("discarded.max_async", "too many steps behind"),
    ("discarded.zero_advantage", "earned the same"),
)


@cache
def _catalogue() -> list[dict[str, Any]]:
    return list(json.loads(CATALOGUE.read_text()))


@pytest.fixture(scope="module")
def shipped() -> Glossary:
    """The glossary as it ships."""
    return glossary()


def _all_text(metric: Metric) -> str:
    return " ".join((metric.meaning, metric.healthy, metric.watch_for))


def test_the_shipped_files_are_without_fault(shipped: Glossary) -> None:
    """Nothing in the shipped glossary is refused by its own checks."""
    assert [f"{problem.path}: {problem.message}" for problem in shipped.problems] == []


def test_panes_come_in_the_promised_order(shipped: Glossary) -> None:
    """The panes are those of the command line, in the order in which one should look at them."""
    assert tuple(pane.id for pane in shipped.panes) == PANES
    assert all(pane.title and 80 < len(pane.intro) < 480 for pane in shipped.panes)
    keys = [pane.key for pane in shipped.panes if pane.key]
    assert len(set(keys)) == len(keys) == len(PANES) - 1, "all but `other`, which is a section among others"


@needs_catalogue
def test_every_canonical_metric_has_an_entry(shipped: Glossary) -> None:
    """No canonical id that a framework's name can lead to is without meaning."""
    assert {entry["canonical"] for entry in _catalogue()} - shipped.metrics.keys() == set()


@needs_catalogue
def test_founding_metrics_name_their_founding_document(shipped: Glossary) -> None:
    """What a founding document defines refers to it by its public name."""
    for entry in _catalogue():
        seed = str(entry.get("seed", ""))[:3]
        if seed in FOUNDING:
            assert FOUNDING[seed] in shipped.metrics[entry["canonical"]].sources, entry["key"]


@pytest.mark.parametrize(("name", "fact"), FACTS)
def test_founding_facts_stand_in_their_entry(shipped: Glossary, name: str, fact: str) -> None:
    """Healthy ranges and warnings of the sources are told where a reader looks for them."""
    assert fact in _all_text(shipped.metrics[name])


def test_every_entry_is_told_in_sentences(shipped: Glossary) -> None:
    """Meaning, healthy and watch-for are sentences of readable length."""
    for metric in shipped.metrics.values():
        assert 20 <= len(metric.meaning) <= 420, metric.id
        for text in filter(None, (metric.meaning, metric.healthy, metric.watch_for)):
            assert text.endswith("."), metric.id
            assert not text[0].islower(), metric.id
            assert "  " not in text, metric.id
            assert len(text) <= 420, metric.id


def test_no_sentence_of_meaning_is_a_filler(shipped: Glossary) -> None:
    """No two metrics are explained by the same sentence."""
    where: defaultdict[str, list[str]] = defaultdict(list)
    for metric in shipped.metrics.values():
        for sentence in re.split(r"(?<=[.!?])\s+", metric.meaning):
            where[sentence].append(metric.id)
    assert {sentence: ids for sentence, ids in where.items() if len(ids) > 1} == {}


def test_titles_are_short_and_tell_rows_apart(shipped: Glossary) -> None:
    """A title fits into its column, and no two rows of a pane look alike."""
    for metric in shipped.metrics.values():
        assert cell_width(metric.title) <= TITLE_WIDTH
        assert metric.title == metric.title.strip()
    counts = Counter((metric.pane, metric.title) for metric in shipped.metrics.values())
    assert [title for title, count in counts.items() if count > 1] == []


def test_words_of_the_data_are_the_model_s(shipped: Glossary) -> None:
    """Units and directions are those that have a spelling for people."""
    for metric in shipped.metrics.values():
        assert metric.unit in units().words
        assert metric.direction in DIRECTIONS


def test_importance_counts_the_pane_from_one(shipped: Glossary) -> None:
    """Each pane has its metrics in a definite order of importance."""
    for pane in shipped.panes:
        assert [metric.importance for metric in shipped.of_pane(pane.id)] == list(
            range(1, len(shipped.of_pane(pane.id)) + 1)
        )


@pytest.mark.parametrize(
    ("pane", "first"),
    [
        ("validation", "validation.accuracy"),
        ("reward", "reward.mean"),
        ("policy", "policy.approx_kl"),
        ("critic", "critic.explained_variance"),
        ("lengths", "lengths.response_clip_fraction"),
        ("preference", "preference.margin"),
        ("reward-model", "reward_model.accuracy"),
        ("turns", "turns.mean"),
        ("load", "load.seqlen_spread"),
        ("timing", "timing.step"),
        ("perf", "perf.throughput"),
        ("rollout", "rollout.mismatch_kl"),
    ],
)
def test_the_first_metric_of_a_pane(shipped: Glossary, pane: str, first: str) -> None:
    """The first row of a pane is what its introduction tells to look at first."""
    assert shipped.of_pane(pane)[0].id == first


def test_groups_are_distributions_of_one_thing(shipped: Glossary) -> None:
    """Metrics of one group share pane, and each statistic occurs once, so that one row can draw them."""
    groups: defaultdict[str, list[Metric]] = defaultdict(list)
    for metric in shipped.metrics.values():
        if metric.group:
            groups[metric.group].append(metric)
    assert len(groups) > 40
    for members in groups.values():
        assert len(members) > 1
        assert len({metric.pane for metric in members}) == 1
        assert max(Counter(metric.statistic for metric in members if metric.statistic).values()) == 1
    assert {metric.statistic for metric in groups["lengths.response"]} == {"mean", "min", "max", "std", ""}


def test_bounds_hold_what_can_be(shipped: Glossary) -> None:
    """Shares lie between 0 and 1 or at least above 0, lengths and times are never negative."""
    for metric in shipped.metrics.values():
        low, high = metric.bounds or (0.0, 1.0)
        assert low < high
        if metric.id.startswith("lengths."):
            assert metric.unit == "histogram" or low == 0, metric.id
        if metric.unit == "fraction" and metric.bounds:
            assert low == 0, metric.id
    assert shipped.metrics["critic.explained_variance"].bounds == (float("-inf"), 1.0)
    assert shipped.metrics["policy.kl_ref"].bounds is None, "a plain estimate may be negative"
    assert shipped.metrics["timing.preempted.mean"].bounds is None, "minus one where the engine does not tell"


@pytest.mark.parametrize(
    "name",
    ["optimizer.learning_rate", "policy.kl_coef", "policy.entropy_coef", "progress.step", "policy.alpha"],
)
def test_schedules_and_counters_are_not_smoothed(shipped: Glossary, name: str) -> None:
    """A moving average would lie about a schedule, a counter or a coefficient."""
    assert not shipped.metrics[name].smooth


def test_check_next_leads_on(shipped: Glossary) -> None:
    """Links lead to other metrics, few enough to follow."""
    for metric in shipped.metrics.values():
        assert metric.id not in metric.check_next
        assert len(set(metric.check_next)) == len(metric.check_next) <= 6, metric.id


def test_sources_are_public(shipped: Glossary) -> None:
    """No source is the name of a local file."""
    for metric in shipped.metrics.values():
        for source in metric.sources:
            assert not re.search(r"\b00\d_|\.txt\b|^/|shared", source), (metric.id, source)


@pytest.mark.parametrize(
    ("word", "pane"),
    [("perf", "perf"), ("MFU", "perf"), ("Reward Model", "reward-model"), ("all", "all"), ("zork", None)],
)
def test_a_pane_is_found_by_id_and_alias(word: str, pane: str | None) -> None:
    """Ids and aliases in any letters; the commands and the screen ask in this one place."""
    assert pane_id(word) == pane


def test_no_two_panes_are_called_the_same() -> None:
    """Neither ids nor aliases nor keys of panes clash, those of any run included."""
    panes = [*general_panes().values(), *glossary().panes]
    names = [name for pane in panes for name in (pane.id, *pane.aliases)]
    keys = [pane.key for pane in panes if pane.key]
    assert len(names) == len(set(names)) and len(keys) == len(set(keys))
