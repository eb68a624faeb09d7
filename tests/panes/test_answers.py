"""What the panes timing, load and MFU answer: shares, overlap, phases now and then, derived numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.config import Config
from rltui.draw.cells import Line
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.load_balance import idle_share, imbalance
from rltui.panes.answers.pane_answers import ANSWERS, answer_of
from rltui.panes.answers.step_time.step_time import step_time
from rltui.panes.answers.values.per_rank import per_rank
from rltui.panes.answers.values.recent_values import RunValues
from rltui.panes.pane import pane_view
from rltui.panes.pane_report import as_record, pane_report
from rltui.panes.render.lines.answer_lines import answer_lines
from rltui.panes.render.markdown import as_markdown
from rltui.panes.rows.key_rows import key_rows
from rltui.session.session import Session
from tests.support.runs.deliveries import Row, delivery
from tests.support.runs.made_run import finding
from tests.support.runs.pane_answers import NOW, VERL, answer, run, shares
from tests.support.screen.expected_screens import recorded

LOGS = Path(__file__).parents[1] / "logs"


def test_what_is_wrong_in_a_pane_is_told_first() -> None:
    """A sentence that begins with a finding goes on with the metric of it, also where little fits."""
    view = run({"actor/entropy": 1.0, "actor/ppo_kl": [0.004] * 30 + [0.9] * 30}, steps=60)
    assert any(one.rank and "actor/ppo_kl" in one.metrics for one in view.evaluator.findings())
    found = answer_of(view, "policy")
    assert found is not None
    assert found.sentence.index("KL of an update is 0.900") < found.sentence.index("entropy is 1.000")
    narrow = "\n".join(one.text for one in answer_lines(found, 40, 3))
    assert "an update is 0.900" in narrow


def test_a_pane_of_returns_alone_says_that_there_is_no_critic() -> None:
    """A log of a clip fraction of values has a critic, though it does not say how well that predicts."""
    returns = answer_of(run({"critic/returns/mean": 0.5}), "critic")
    clipped = answer_of(run({"critic/vf_clipfrac": 0.1, "critic/returns/mean": 0.5}), "critic")
    assert returns is not None and returns.sentence.startswith("Only the returns are logged")
    assert clipped is not None and clipped.sentence.startswith("The log does not say how well")


def test_shares_of_a_step_and_its_bottleneck() -> None:
    """The largest phase comes first, time in no phase last, and the sentence names the bottleneck."""
    found = answer("timing", {"timing_s/step": 10.0, "timing_s/gen": 6.0, "timing_s/update_actor": 3.0})
    assert shares(found) == {"Generation": 0.6, "Actor update": 0.3, "other": 0.1}
    assert found.sentence == "The bottleneck is generation: 60 % of a step; actor update 30 %."
    assert [fact.text for fact in found.facts][:2] == ["10.0 s", "6 steps/min"]


@given(
    phases=st.dictionaries(
        st.sampled_from(["gen", "update_actor", "reward", "old_log_prob", "ref", "adv", "own_phase"]),
        st.lists(st.floats(0, 100), min_size=8, max_size=8),
        max_size=7,
    ),
    step=st.one_of(st.none(), st.lists(st.floats(0.01, 200), min_size=8, max_size=8)),
)
def test_shares_add_up_to_one_or_the_overlap_is_stated(
    phases: dict[str, list[float]], step: list[float] | None
) -> None:
    """Whatever is logged, shares are a partition; where phases exceed the step the sentence says so."""
    series: dict[str, object] = {f"timing_s/{name}": values for name, values in phases.items()}
    if step is not None:
        series["timing_s/step"] = step
    found = step_time(RunValues(run(series, steps=8)))
    if found is None or not found.answer.shares:
        return
    assert sum(share.share for share in found.answer.shares) == pytest.approx(1)
    assert all(0 <= share.share <= 1 + 1e-9 for share in found.answer.shares)
    large = [share.share for share in found.answer.shares if share.named]
    assert large == sorted(large, reverse=True)
    if step is not None:
        top = sum(share.seconds for share in found.answer.shares)
        says = "at the same time" in found.answer.sentence
        assert says or top <= 1.03 * np.mean(step[1:]) or "without" in found.answer.shares_of


def test_overlap_is_stated_and_never_above_one() -> None:
    """Phases of asynchronous training that exceed the step overlap; shares are of their sum."""
    found = answer("timing", {"timing_s/step": 10.0, "timing_s/gen": 9.0, "timing_s/update_actor": 5.0})
    assert "at the same time: 14.0 s of work in a step of 10.0 s" in found.sentence
    assert found.shares_of.startswith("all phases together")
    assert shares(found) == {"Generation": 0.643, "Actor update": 0.357}


def test_waiting_for_others_is_no_work() -> None:
    """Where phases and waiting exceed the step, waiting is the time in which the others work."""
    series = {"timing_s/step": 10.0, "timing_s/gen": 6.0, "timing_s/update_actor": 3.0,
              "timing_s/wait_for_enough_samples": 5.0}  # fmt: skip
    found = answer("timing", series)
    assert shares(found) == {"Generation": 0.6, "Actor update": 0.3, "other": 0.1}
    assert any("50 % of a step, while other phases run" in note for note in found.notes)


def test_what_runs_every_n_steps_is_no_share_of_a_step() -> None:
    """Evaluation every 10 steps is told with its period and cost, inside or outside the step time."""
    at = dict.fromkeys(range(10, 60, 10), 5.0)
    outside = answer("timing", {"timing_s/step": 10.0, "timing_s/gen": 6.0, "timing_s/testing": at})
    part = next(part for part in outside.parts if part.title == "Evaluation")
    assert part.note == "every 10 steps, +5.0 % a step, outside the step time"
    assert part.share is None
    longer = [15.0 if step in at else 10.0 for step in range(60)]
    inside = answer("timing", {"timing_s/step": longer, "timing_s/gen": 6.0, "timing_s/testing": at})
    part = next(part for part in inside.parts if part.title == "Evaluation")
    assert part.note == "every 10 steps, +5.0 % a step"
    assert shares(inside) == shares(outside) == {"Generation": 0.6, "other": 0.4}


def test_the_first_step_counts_nowhere() -> None:
    """A first step that compiles for an hour changes no share, no median and no curve; it is mentioned."""
    quiet = {"timing_s/step": 10.0, "timing_s/gen": 6.0}
    slow = {"timing_s/step": [3600.0, *[10.0] * 59], "timing_s/gen": [3000.0, *[6.0] * 59]}
    usual, found = answer("timing", quiet), answer("timing", slow)
    assert (found.shares, found.parts, found.facts) == (usual.shares, usual.parts, usual.facts)
    assert found.notes == ("step 0 is left out: it took 1h 00m",)


def test_the_first_step_after_a_restart_counts_nowhere() -> None:
    """A resumed training compiles again; its first step changes neither shares nor medians."""

    def rows(steps: range, slow: int) -> list[Row]:
        each = {**VERL, "timing_s/step": 10.0, "timing_s/gen": 6.0}
        much = {("timing_s/step", slow): 100.0}
        return [(tag, at, value * much.get((tag, at), 1.0)) for at in steps for tag, value in each.items()]

    session = Session()
    session.apply((delivery(rows(range(50), 0), wall=NOW - 2000, starts=[(0, 0)]),))
    session.apply((delivery(rows(range(40, 56), 40), wall=NOW - 1000, starts=[(0, 40)]),))
    session.evaluate(force=True)
    (view,) = session.ordered()
    assert [attempt.first_step for attempt in view.run.attempts] == [0, 40]
    found = answer_of(view, "timing")
    assert found is not None
    assert shares(found) == {"Generation": 0.6, "other": 0.4}
    assert (found.parts[0].median, found.parts[0].p95) == (6.0, 6.0)


def test_nested_phases_are_listed_once() -> None:
    """Two keys of one phase, and keys below another key, are parts of it and add nothing to the shares."""
    found = answer(
        "timing",
        {
            "timing_s/step": 10.0,
            "timing_s/gen": 6.0,
            "timing_s/generate_sequences": 5.5,
            "timing_s/sync": 3.0,
            "timing_s/sync/pack": 2.0,
        },
    )
    assert [(part.title, part.depth) for part in found.parts] == [
        ("Generation", 0), ("generate_sequences", 1), ("sync", 0), ("pack", 1),
    ]  # fmt: skip
    assert shares(found) == {"Generation": 0.6, "sync": 0.3, "other": 0.1}


def test_a_part_is_never_longer_than_its_whole() -> None:
    """A metric that may be inside another one is not, where it was longer than that at any step."""
    long = [3.0 if step == 7 else 1.0 for step in range(60)]
    found = answer("timing", {"timing_s/step": 10.0, "timing_s/gen": long, "timing_s/rollout": 2.0})
    assert all(part.depth == 0 for part in found.parts)


def test_small_phases_are_gathered() -> None:
    """Phases below one percent are one line that names them."""
    found = answer(
        "timing", {"timing_s/step": 10.0, "timing_s/gen": 9.0, "timing_s/adv": 0.01, "timing_s/x": 0.02}
    )
    assert found.notes == ("2 phases below 1 %, together 0.3 %: Advantage, x",)
    assert [part.title for part in found.parts] == ["Generation"]


def test_time_per_token_is_derived_where_it_is_not_logged() -> None:
    """Seconds by tokens, marked as derived; what the log says itself is taken as it is."""
    found = answer(
        "timing",
        {
            "timing_s/step": 10.0, "timing_s/gen": 5.0, "timing_s/update_actor": 2.0,
            "timing_per_token_ms/gen": 0.7, "perf/total_num_tokens": 1000.0,
        },
    )  # fmt: skip
    by_title = {part.title: (part.per_token, part.per_token_derived) for part in found.parts}
    assert by_title == {"Generation": (0.7, False), "Actor update": (2.0, True)}
    rate = next(fact for fact in found.facts if fact.title == "tokens per second")
    assert (rate.value, rate.formula) == (100.0, "tokens of a step / step time")
    assert any(text.startswith("per token =") for text in found.formulas)


def test_a_count_of_tokens_since_the_start_is_no_count_of_a_step() -> None:
    """A key that only grows is not divided by the time of a step."""
    tokens = [1000.0 * (step + 1) for step in range(60)]
    found = answer("timing", {"timing_s/step": 10.0, "timing_s/gen": 5.0, "perf/total_num_tokens": tokens})
    assert [fact.title for fact in found.facts] == ["step", "steps per minute"]


def test_trend_of_the_step_time() -> None:
    """A step time that doubles is told with the steps over which it did; noise is steady."""
    grown = answer("timing", {"timing_s/step": [10.0 + (step >= 30) * 10.0 for step in range(60)]})
    assert grown.facts[0].change == pytest.approx(1.0)
    noisy = np.random.default_rng(1).normal(10, 1, 60).tolist()
    assert answer("timing", {"timing_s/step": noisy}).facts[0].change == 0.0
    exploded = [0.1] * 30 + (np.geomspace(1.0, 1e4, 30)[np.arange(30) * 7 % 30]).tolist()
    change = answer("timing", {"timing_s/step": exploded}).facts[0].change
    assert change is not None
    assert change > 10  # however far its values lie apart
    wild = [0.1, 10.0] * 15 + [0.1, 10.0, 14.0] * 10
    assert answer("timing", {"timing_s/step": wild}).facts[0].change is None


def test_an_earlier_step_knows_nothing_of_later_ones() -> None:
    """As of a step the answer is that of a run which ended there."""
    later = [6.0] * 30 + [1.0] * 30
    whole = run({"timing_s/step": 10.0, "timing_s/gen": later})
    cut = run({"timing_s/step": 10.0, "timing_s/gen": [6.0] * 30}, steps=30)
    assert answer_of(whole, "timing", 29) == answer_of(cut, "timing")


def test_nothing_is_said_without_times() -> None:
    """An earlier step of a run without times has no answer, a run with a single phase only its length."""
    assert answer_of(run({}), "timing", at_step=30) is None
    found = answer("timing", {"timing_s/gen": 3.0})
    assert found.sentence.startswith("Generation takes 3.00 s, steady; the log has no time of whole steps")
    assert not found.shares and not found.parts


def test_phases_of_nan_are_told_and_not_taken_for_others() -> None:
    """A phase that is NaN at many steps has no share, and does not run every N steps."""
    nan = [float("nan") if at % 2 else 3.0 for at in range(60)]
    found = answer("timing", {"timing_s/step": 10.0, "timing_s/gen": 6.0, "timing_s/update_actor": nan,
                              "timing_s/ref": float("nan")})  # fmt: skip
    assert shares(found) == {"Generation": 0.6, "other": 0.4}
    assert [part.title for part in found.parts] == ["Generation"]
    assert sum("is NaN at" in note for note in found.notes) == 2


def test_a_log_without_times_is_timed_by_its_points() -> None:
    """The wall times of points give the length of a step where neither steps nor phases are timed."""
    found = answer("timing", {})
    assert found.sentence.startswith("By the times of its points a step takes 300 ms (3.33 a second);")


def test_a_pane_without_answer_says_what_its_log_lacks() -> None:
    """Metrics that answer no question are headed by what is missing, tokens without times as well."""
    assert answer("load", {"global_seqlen/mean": 5.0}).sentence.startswith(
        "The log does not say how the load"
    )
    assert "tokens of a step, but no times" in answer("perf", {"perf/total_num_tokens": 1e5}).sentence


def test_preference_says_what_holds_of_held_out_pairs() -> None:
    """Accuracy of the training pairs stands beside that of held-out ones."""
    rise = [min(0.5 + at / 40, 1.0) for at in range(60)]
    logged = {"train/rewards/accuracies": rise, "eval/rewards/accuracies": 0.52, "train/rewards/margins": 2.0}
    assert answer("preference", logged, others={}, framework="trl-dpo").sentence.endswith(
        "The chosen response is preferred in 100 % of the pairs (50 % would be chance), up from 56 % "
        "at the start, and 52 % of held-out ones; margin is 2.000, steady."
    )


def test_policy_and_critic_say_level_and_trend() -> None:
    """Entropy and KL, explained variance and loss: in words, with what they were at the start."""
    fall = [2.0 - at / 60 for at in range(60)]
    found = answer("policy", {"actor/entropy": fall, "actor/ppo_kl": 0.004})
    assert found.sentence == (
        "Entropy is about 1.108, down from 1.958 at the start; "
        "KL of an update is 0.00400 (healthy below 0.05), steady."
    )
    rise = [-0.5 + at / 60 for at in range(60)]
    found = answer("critic", {"critic/vf_explained_var": rise, "critic/vf_loss": 0.2})
    assert found.sentence.startswith(
        "The critic explains about 39 % of the variance of the returns (above 80 % is good), up from none at"
    )
    nothing = answer("critic", {"critic/vf_explained_var": -0.2})
    assert (
        nothing.sentence
        == "The critic explains none of the variance of the returns (above 80 % is good), steady."
    )


def test_what_is_never_finite_is_told_first() -> None:
    """A critic pane whose explained variance is NaN says so, not only that the value loss fell."""
    values = {
        "critic/vf_explained_var": [float("nan")] * 60,
        "critic/vf_loss": np.linspace(9, 1, 60).tolist(),
    }
    said = answer("critic", values, steps=60).sentence
    assert said.startswith("Explained variance is NaN; value loss is 1.000, "), said


def test_self_play_is_told_by_its_rating() -> None:
    """The rating comes before the return, which opponents that learn keep even."""
    rise = [1200.0 + 5 * at for at in range(60)]
    even = [0.1 * (-1) ** at for at in range(60)]
    found = answer("reward", {"elo": rise, "episode_return": even}, others={}, framework="unknown")
    assert found.sentence.startswith("Rating is about 1468, up from 1212 at the start; episode return is")


def test_validation_says_the_last_value_and_the_best() -> None:
    """Where the last one is not the best, the best and its step are told."""
    scores = dict(zip(range(0, 60, 10), (0.2, 0.5, 0.7, 0.6, 0.6, 0.55), strict=True))
    found = answer("validation", {"val-core/data/reward/mean@1": scores})
    assert "0.55" in found.sentence and "the best was 0.70" in found.sentence.replace("0.700", "0.70")
    assert "at step 20" in found.sentence


def test_validation_tells_a_score_that_is_still_measured() -> None:
    """An accuracy of the first step alone says nothing about the run now."""
    scores = dict(zip(range(0, 60, 10), (0.2, 0.5, 0.7, 0.6, 0.6, 0.75), strict=True))
    found = answer(
        "validation", {"val-core/data/acc/mean@1": {0: 0.1}, "val-core/data/reward/mean@1": scores}
    )
    assert "0.75" in found.sentence and "0.1" not in found.sentence


def test_load_before_and_after_balancing() -> None:
    """Ranges of both, imbalance and idle share with their formula, and a sentence about the present state."""
    found = answer(
        "load",
        {
            "global_seqlen/min": 80.0, "global_seqlen/mean": 100.0, "global_seqlen/max": 160.0,
            "global_seqlen/balanced_min": 90.0, "global_seqlen/balanced_max": 120.0,
        },
    )  # fmt: skip
    assert [(one.title, one.low, one.middle, one.high) for one in found.ranges] == [
        ("before balancing", 80, 100, 160), ("after balancing", 90, 100, 120),
    ]  # fmt: skip
    assert [round(fact.value, 3) for fact in found.facts] == [1.6, 0.5, 1.2, 0.25]
    assert found.sentence == (
        "After balancing the lightest rank waits 25 % of the time for the heaviest (50 % before)."
    )
    assert found.formulas == glossary().metrics["load.seqlen.max"].derived


@given(st.tuples(*[st.floats(0, 1e9)] * 3).map(lambda three: tuple(sorted(three))))
def test_imbalance_and_idle_share_are_possible_numbers(load: tuple[float, float, float]) -> None:
    """The heaviest is never below the mean, and nobody waits longer than the whole time."""
    assert imbalance(load) >= 1
    assert 0 <= idle_share(load) <= 1


def test_values_of_ranks_are_a_strip() -> None:
    """Keys that differ in the number of a rank alone are one strip in the order of ranks."""
    series: dict[str, object] = {f"global_seqlen/rank_{rank}": 100.0 + rank for rank in (0, 10, 2)}
    view = run(series)
    pane = view.names.name("global_seqlen/rank_2").pane
    strips = per_rank(RunValues(view), pane)
    assert [(one.ranks, one.values) for one in strips] == [((0, 2, 10), (100.0, 102.0, 110.0))]
    assert strips[0].title.endswith("by rank")


def test_utilisation_with_its_limits_and_what_bounds_a_step() -> None:
    """MFU stands on a scale with its limits; generation that takes most of a step is named."""
    found = answer(
        "perf",
        {
            "perf/mfu/actor": [0.9, *[0.25] * 59], "perf/throughput": 1000.0,
            "timing_s/step": 10.0, "timing_s/gen": 7.0,
        },
    )  # fmt: skip
    assert [(one.title, one.middle, one.high) for one in found.ranges] == [("MFU actor", 0.25, 0.25)]
    assert found.sentence == (
        "MFU actor is 25.0 %, below 30 %: the accelerators wait. Generation bounds a step: 70 % of its time."
    )
    band = glossary().metrics["perf.mfu.actor"].healthy_range
    assert band is not None and set(band) <= set(found.marks)


def test_rows_and_answer_have_the_same_unit() -> None:
    """MFU is in percent in the answer and in its row; data for programs keep the fraction."""
    view = run({"perf/mfu/actor": [0.25] * 60, "perf/throughput": 1000.0})
    report = pane_report(view, "perf", NOW)
    row = next(row for row in report.pane.rows if row.tag == "perf/mfu/actor")
    assert report.pane.answer is not None and row.value_text in report.pane.answer.sentence
    record = next(one for one in as_record(report)["rows"] if one["tag"] == row.tag)
    assert (record["unit"], record["value"]) == ("fraction", 0.25)


def test_a_utilisation_of_zeros_is_not_reported() -> None:
    """Zeros that a writer fills in are no measurement."""
    found = answer("perf", {"perf/mfu/actor": 0.0, "perf/throughput": 1000.0})
    assert found.ranges == ()
    assert "(MFU) is not known: the log has only zeros" in found.sentence


@pytest.mark.parametrize("pane", sorted(ANSWERS))
@pytest.mark.parametrize("name", ["verl-ppo", "slowdown", "late-collapse"])
def test_all_forms_say_the_same(pane: str, name: str) -> None:
    """Text, Markdown and JSON of recorded runs have the sentence, each fact and each phase."""
    view = recorded(name).session.ordered()[0]
    report = pane_report(view, pane, NOW)
    found = report.pane.answer
    record = json.loads(json.dumps(as_record(report), default=str))
    if found is None:
        assert record["answer"] is None
        return
    text = " ".join("\n".join(line.text for line in answer_lines(found, 140)).split())
    for out in (text, as_markdown(report).replace("\\", "")):
        assert found.sentence in out
        assert all(fact.text in out for fact in found.facts if not fact.in_sentence)
        assert all(part.title in out for part in found.parts)
    assert record["answer"]["sentence"] == found.sentence
    assert len(record["answer"]["parts"]) == len(found.parts)


def test_shares_of_real_logs_add_up_to_one() -> None:
    """Every small real log with phases gets shares that are a partition; none of them overlaps."""
    session = Session.load((str(LOGS),), Config())
    found = {view.name: step_time(RunValues(view)) for view in session.ordered()}
    told = {name: one.answer for name, one in found.items() if one is not None and one.answer.shares}
    assert any("verl" in name for name in told)
    for one in told.values():
        assert sum(share.share for share in one.shares) == pytest.approx(1)
        assert "at the same time" not in one.sentence


@pytest.mark.parametrize("width", [20, 38, 60, 80, 100, 140, 300])
@pytest.mark.parametrize("height", [1, 2, 3, 5, 8, 13, None])
def test_an_answer_fits(width: int, height: int | None) -> None:
    """No line is wider than asked, the lines are no more than asked, and the sentence is among them."""
    view = recorded("verl-ppo").session.ordered()[0]
    told = {pane: found for pane in ANSWERS if (found := answer_of(view, pane)) is not None}
    assert {"timing", "load", "perf", "reward", "lengths"} <= told.keys()
    for found in told.values():
        lines: list[Line] = answer_lines(found, width, height)
        assert all(line.width <= width for line in lines)
        assert height is None or len(lines) <= max(height, 2)
        assert found.sentence.split()[0] in "\n".join(line.text for line in lines) or width < 30


def test_parts_of_steps_are_data() -> None:
    """Every metric that may be inside another one names metrics of time, and ends in the step."""
    for metric in glossary().metrics.values():
        if metric.within:
            assert metric.unit == "s"
            assert metric.within[-1] == "timing.step"
            assert metric.id not in metric.within


def test_the_reward_of_the_only_policy_is_no_component() -> None:
    """What equals the total is that total again, for each of several names."""
    rise = np.linspace(10, 200, 60).tolist()
    logged = {
        "env_runners/episode_return_mean": rise,
        "env_runners/agent_episode_returns_mean/default_agent": rise,
        "env_runners/module_episode_returns_mean/default_policy": rise,
    }
    found = answer("reward", logged, others={}, framework="rllib")
    assert found.sentence.startswith("Episode return is") and not found.amounts and not found.notes


def test_an_answer_begins_with_what_is_wrong_and_why() -> None:
    """The worst finding of the pane comes first, with the title of the one that explains it."""
    made = run({"critic/rewards/mean": np.linspace(1, 0, 60).tolist(), "actor/lr": 1e-6})
    cause = finding("actor/lr", "critical", id="lr", title="learning rate raised", pane="policy")
    fell = finding("critic/rewards/mean", id="fell", title="reward fell", since_step=30)
    made.evaluator.findings = lambda: [cause, fell._replace(pane="reward", explained_by="lr")]
    found = answer_of(made, "reward")
    assert found is not None
    assert found.sentence.startswith(
        "▲ reward fell since step 30, explained by: learning rate raised. Reward is"
    )


def test_a_finding_on_the_score_is_followed_by_the_score() -> None:
    """A total with penalties may rise while the score stays at its worst: both are named."""
    total, score = np.linspace(-13, -1.3, 60).tolist(), np.linspace(-0.7, -1, 60).tolist()
    made = run({"critic/rewards/mean": total, "critic/score/mean": score, "actor/lr": 1e-6})
    stuck = finding("critic/score/mean", id="stuck", title="reward is stuck", since_step=30, pane="reward")
    made.evaluator.findings = lambda: [stuck]
    found = answer_of(made, "reward")
    assert found is not None
    first, second = found.sentence.split("; ")
    assert first.startswith("▲ reward is stuck since step 30. Score is about -0.9") and "down from" in first
    assert second.startswith("reward is -1.3") and "up from -12.5" in second


def test_a_finding_on_an_accuracy_is_followed_by_the_accuracy() -> None:
    """A warning before a reward that shows no trend reads as a contradiction."""
    made = run({"reward": [0.1, 0.3] * 30, "accuracy": [0.9] * 5 + [0.6] * 55}, others={})
    fell = finding("accuracy", id="fell", title="worse than at the start", since_step=5, pane="reward")
    made.evaluator.findings = lambda: [fell]
    found = answer_of(made, "reward")
    assert found is not None
    told = "▲ worse than at the start since step 5. Training accuracy is 0.600, down from 0."
    assert found.sentence.startswith(told) and " at the start; reward is " in found.sentence


def test_the_only_component_is_listed_once() -> None:
    """One reward function without a weight is the total; a second one makes both worth a row."""
    rise = np.linspace(0, 1, 60).tolist()
    logged = {"train/reward": rise, "train/rewards/fmt/mean": rise, "train/rewards/fmt/std": 0.1}
    others = {"train/frac_reward_zero_std": 0.0, "train/completions/mean_length": 9.0}
    for more, listed in (({}, False), ({"train/rewards/other/mean": 0.0}, True)):
        view = run({**logged, **more}, others=others)
        rows = [*pane_view(view, "reward", 100.0).metrics, *key_rows(view, 16)]
        assert any("rewards/fmt" in row.tag for row in rows) == listed
        assert any(row.tag == "train/rewards/fmt/mean" for row in pane_view(view, "all", 100.0).metrics)
