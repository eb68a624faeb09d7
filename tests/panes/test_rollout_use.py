"""Which share of the rollouts was of use: outcomes by reason, who waits, what lost rollouts cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.config import Config
from rltui.config.user_config import UserHardware
from rltui.panes.answers.accelerators.resources import accelerators, hours, tokens_so_far
from rltui.panes.answers.answer import Answer
from rltui.panes.answers.answer_inputs import AnswerInputs
from rltui.panes.answers.pane_answers import answer_of
from rltui.panes.answers.values.recent_values import RunValues
from rltui.run_context.hparams.hparams import hparams_of
from tests.support.runs.pane_answers import answer, run, shares

TELESCOPE = {"kl_divergence_inference": 0.01, "timing_step_total": 10.0, "reward_sum_mean": 0.5}
PRIME = {"optim/lr": 1e-6, "mismatch_kl/all/mean": 0.001, "time/wait_for_batch": 0.0}
TRL = {"train/frac_reward_zero_std": 0.0, "train/completions/mean_length": 100.0, "train/loss": 0.1}


def fact(found: Answer, title: str) -> str:
    """The text of a fact."""
    return next(one.text for one in found.facts if one.title == title)


def test_counts_become_shares_of_used_and_lost() -> None:
    """Dropped rollouts are shares of those that are used and lost together."""
    series = {
        "progress/rollouts": 80.0,
        "off_policy/dropped": 20.0,
        "off_policy/mean": 1.5,
        "off_policy/max": 4.0,
    }
    found = answer("rollout", series, others=PRIME)
    assert shares(found) == {"used": 0.8, "stale": 0.2}
    assert found.sentence.startswith("80 % of the rollouts are used; lost: stale 20 %.")
    assert fact(found, "policy lag") == "1.5 versions (at most 4)"
    assert [(one.title, one.text) for one in found.amounts] == [("used", ""), ("stale", "20 rollouts")]


def test_a_count_since_the_start_is_no_count_of_a_step() -> None:
    """Counters that never fall are told by their differences."""
    series = {
        "fully_async/count/total_generated_samples": [100.0 * (at + 1) for at in range(60)],
        "fully_async/count/dropped_stale_samples": [25.0 * (at + 1) for at in range(60)],
    }
    assert shares(answer("rollout", series)) == {"used": 0.75, "stale": 0.25}


def test_groups_without_spread_carry_no_signal() -> None:
    """What is trained on without an advantage is told apart from what is used."""
    series = {
        "batch/solve_none": 0.2, "batch/solve_all": 0.1,
        "progress/rollouts": 80.0, "off_policy/dropped": 20.0,
    }  # fmt: skip
    found = answer("rollout", series, others=PRIME)
    assert shares(found) == {"with a signal": 0.56, "stale": 0.2, "all failed": 0.16, "all succeeded": 0.08}
    only = answer("rollout", {"train/frac_reward_zero_std": 0.25}, others=TRL)
    assert shares(only) == {"with a signal": 0.75, "equal rewards": 0.25}


def test_filtered_groups_are_not_counted_twice() -> None:
    """Where groups without advantage are dropped, the share of such groups is a note, no second loss."""
    series = {
        "discarded_zero_advantage_pct": 30.0, "discarded_max_async_pct": 10.0, "zero_advantage_pct": 30.0,
        "discarded_zero_advantage_all_zero_pct": 60.0, "discarded_zero_advantage_all_positive_pct": 40.0,
    }  # fmt: skip
    found = answer("rollout", series, others=TELESCOPE, framework="telescope")
    assert shares(found) == {"used": 0.6, "all failed": 0.18, "all succeeded": 0.12, "stale": 0.1}


def test_shares_that_add_up_to_one_are_of_the_discarded() -> None:
    """Reasons that always add up to one hundred percent say why, not how many; with counts they say both."""
    series: dict[str, object] = {
        "discarded_zero_advantage_pct": [60.0 + at % 3 for at in range(60)],
        "discarded_max_async_pct": [40.0 - at % 3 for at in range(60)],
    }
    among = answer("rollout", series, others=TELESCOPE, framework="telescope")
    assert among.shares_of.startswith("discarded rollouts")
    assert among.sentence.startswith("Discarded rollouts: no advantage 61 %, stale 39 %")
    assert "used" not in shares(among)
    counted = answer(
        "rollout", {**series, "discarded_count": 25.0, "rollout/num_samples": 75.0}, others=TELESCOPE,
        config=Config(frameworks={"*": "telescope"}, aliases={"rollout/num_samples": "rollout.samples"}),
    )  # fmt: skip
    assert shares(counted)["used"] == 0.75
    assert shares(counted)["no advantage"] == pytest.approx(0.25 * 0.61, abs=0.002)


def test_a_loss_without_a_total_is_counted() -> None:
    """A count that nothing is known to be a part of becomes no share."""
    found = answer("rollout", {"off_policy/dropped": [3.0, 5.0] * 30}, others=PRIME)
    assert found.shares == ()
    assert found.sentence == "Lost in a step: stale 4 rollouts; of how many is not logged."
    assert [(one.title, one.share, one.note) for one in found.amounts] == [
        ("stale", None, "the log has no total")
    ]


def test_truncated_responses_are_told_but_not_lost() -> None:
    """Responses that are cut off are trained on; the sentence says how many."""
    series = {"train/completions/clipped_ratio": 0.4}
    found = answer("rollout", series, others=TRL)
    assert shares(found) == {"with a signal": 1.0}
    assert "40 % of the responses are cut off at their limit" in found.sentence


def test_who_starves() -> None:
    """The side that waits more is named; where neither does, that is said."""
    waits = {"timing_waiting_for_data": 4.0, "timing_idle_pct": 2.0}
    found = answer("rollout", waits, others=TELESCOPE, framework="telescope")
    assert "Training starves: it waits 40 % of the time" in found.sentence
    assert next(one.formula for one in found.facts if one.title == "training waits")
    idle = answer(
        "rollout", {**waits, "timing_waiting_for_data": 0.1, "timing_idle_pct": 30.0}, others=TELESCOPE
    )
    assert "Generation starves: it idles 30 % of the time" in idle.sentence
    neither = answer("rollout", {**waits, "timing_waiting_for_data": 0.1}, others=TELESCOPE)
    assert "Neither side waits for the other" in neither.sentence


def test_hours_tokens_and_what_the_lost_share_cost() -> None:
    """Accelerators come from throughputs, hours from step times; lost rollouts cost generation."""
    series = {
        "timing_s/step": 60.0, "timing_s/gen": 30.0, "timing_s/update_actor": 30.0,
        "response/aborted_ratio": 0.2, "perf/total_num_tokens": 96_000.0, "perf/throughput": 200.0,
    }  # fmt: skip
    view = run(series)
    used = accelerators(RunValues(view))
    assert used is not None and (used.value, bool(used.source)) == (8, True)
    spent, tokens = hours(RunValues(view)), tokens_so_far(RunValues(view))
    assert spent is not None and spent.value == pytest.approx(1.0)
    assert tokens is not None and tokens.value == pytest.approx(60 * 96_000.0)
    found = answer_of(view, "rollout")
    assert found is not None
    cost = next(one for one in found.facts if one.title == "lost rollouts cost")
    assert cost.value == pytest.approx(8 * 1.0 * 0.2 * 0.5)
    assert fact(found, "GPU-hours so far") == "8 GPU-hours so far"


def test_the_user_and_the_settings_say_how_many_accelerators() -> None:
    """The configuration counts first, then settings of nodes and accelerators in a node."""
    settings_of = AnswerInputs(hparams_of({"trainer": {"nnodes": 4, "n_gpus_per_node": 8}}, "config.yaml"))
    told = accelerators(RunValues(run({}), inputs=settings_of))
    assert told is not None and told.value == 32
    user = Config(hardware={"*": UserHardware(gpus=3)})
    told = accelerators(RunValues(run({}, config=user), inputs=settings_of))
    assert told is not None and (told.value, told.source) == (3, "configuration")


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "discarded_zero_advantage_pct", "discarded_max_async_pct",
                "discarded_zero_advantage_all_zero_pct",
                "discarded_zero_advantage_all_positive_pct", "zero_advantage_pct", "discarded_count",
                "canceled_count", "zero_advantage_all_zero_pct", "num_samples",
            ]
        ),
        st.lists(st.floats(0, 100), min_size=8, max_size=8),
    )
)  # fmt: skip
def test_outcomes_add_up_to_one_and_derived_numbers_carry_formulas(series: dict[str, list[float]]) -> None:
    """Whatever is logged, outcomes are a partition, and an overlap of reasons is stated."""
    config = Config(frameworks={"*": "telescope"}, aliases={"num_samples": "rollout.samples"})
    found = answer_of(run(series, steps=8, others=TELESCOPE, config=config), "rollout")
    if found is None:
        return
    if found.shares:
        assert sum(one.share for one in found.shares) == pytest.approx(1)
        assert all(0 <= one.share <= 1 + 1e-9 for one in found.shares)
        assert found.formulas
    both = sum(sum(series.get(f"discarded_{why}_pct", [0.0])) for why in ("zero_advantage", "max_async"))
    if both > 801 and "discarded_count" not in series and found.shares:
        assert any("overlap" in note for note in found.notes) or found.shares_of.startswith("discarded")
    told = " ".join(found.formulas)
    assert all(one.title in told for one in found.facts if one.formula)
