"""Answers without knowledge of a metric: sections of own keys, the overview, rewards of an environment."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from rltui.panes.answers.own_sections import own_section_answer
from rltui.panes.answers.pane_answers import answer_of, outcome_sentence
from rltui.panes.answers.values.recent_values import RunValues
from rltui.panes.pane import pane_view
from rltui.panes.render.plain_text import pane_text
from tests.support.runs.made_run import finding
from tests.support.runs.pane_answers import NOW, answer, run
from tests.support.screen.screens import opened


def test_a_section_of_own_keys_says_what_changed_most() -> None:
    """Counters are not named: they change in any run."""
    fall = [1.0 - at / 80 for at in range(60)]
    rise = [5.0 + at / 60 for at in range(60)]
    keys = {"zork/glow": fall, "zork/heat": rise, "zork/seen": [float(at) for at in range(60)]}
    assert answer("zork", keys).sentence == (
        "3 metrics whose meaning is not known. Most changed: glow about 0.331, down from 0.969 at the start; "
        "heat about 5.892, up from 5.042 at the start."
    )


def test_a_quantity_that_became_nan_is_not_told_by_its_level_before() -> None:
    """The row shows NaN: the sentence says so, and since when; a single NaN among numbers changes nothing."""
    fall = [1.0 - at / 80 for at in range(60)]
    broken = fall[:40] + [math.nan] * 20
    keys = {"actor/entropy": broken, "critic/vf_explained_var": broken}
    assert "Entropy is NaN (0.556 before step 40); policy loss" in answer("policy", keys).sentence
    assert "Explained variance is NaN (56 % before step 40)" in answer("critic", keys).sentence
    single = {"actor/entropy": [*fall[:-1], math.nan]}
    assert "Entropy is about 0.338, down from" in answer("policy", single).sentence


def test_numbers_are_told_as_people_say_them() -> None:
    """Digits of what is negligible, changes below half a percent, and means over a schedule are left out."""
    small = [1e-6 * (1 + at % 3) for at in range(60)]
    policy = answer("policy", {"actor/ppo_kl": small, "actor/lr": [1e-4 * (1 - at / 60) for at in range(60)]})
    assert policy.sentence.startswith("KL of an update is almost 0 (healthy below 0.05)")
    assert "learning rate 1.67e-6" in [one.words for one in policy.facts]
    nearly = [1.003 - at * 4e-5 for at in range(60)]
    lengths = {
        "response_length/mean": [100 * one for one in nearly],
        "response_length/clip_ratio": [0.1] * 60,
    }
    told = answer("lengths", {**lengths, "response_length/max": [400.6] * 60}).sentence
    assert "on average, steady; 10 % are cut off" in told and "400" not in told
    assert "at 512 tokens" in answer("lengths", {**lengths, "response_length/max": [512.0] * 60}).sentence
    calls = answer("turns", {"tool_call_counts/mean": [2.0] * 30 + [0.02] * 30}).sentence
    assert "Tools are almost never called, down from 2" in calls


def test_a_section_in_which_nothing_moves_says_so() -> None:
    """In the singular, too; with few points no change is claimed."""
    noise = [1.0 + 0.1 * (-1) ** at for at in range(60)]
    said = "1 metric whose meaning is not known; it did not change beyond its noise."
    assert answer("zork", {"zork/glow": noise}).sentence == said
    few = answer("zork", {"zork/glow": noise}, steps=4).sentence
    assert few == "1 metric whose meaning is not known; too few points to compare."


def test_sections_say_neither_it_of_several_metrics_nor_one_name_twice() -> None:
    """Of three unknown metrics one may have a start to compare; two counters may have one title."""
    unknown = {"axis/a": 1.0, "axis/b": {3: 1.0}, "axis/c": {3: 1.0}}
    said = answer("axis", unknown).sentence
    assert said == "3 metrics whose meaning is not known; none changed beyond its noise."
    steps = {tag: [float(at) for at in range(60)] for tag in ("train/env_step", "info/train_step")}
    counted = answer("other", steps, others={}, framework="tianshou").sentence
    assert counted.lower().count("environment steps") == 1, counted


def test_the_overview_of_a_healthy_run_begins_with_its_outcome() -> None:
    """What a run achieves is the first question where nothing is wrong."""
    rise = [0.1 + at / 100 for at in range(60)]
    view = run({"critic/rewards/mean": rise, "critic/score/mean": rise})
    sentence = "Score is about 0.635, up from 0.125 at the start."
    assert outcome_sentence(view) == sentence
    assert sentence in [one.text.strip() for one in pane_text(view, "overview", NOW)]


def test_an_outcome_of_few_points_stands_back_on_the_overview() -> None:
    """Evaluations at each epoch say more than episodes that ended during training by chance."""
    few = {"rollout/ep_rew_mean": dict(zip((1, 9, 30, 44), (9.0, 10.0, 80.0, 170.0), strict=True))}
    view = run({**few, "eval/mean_reward": [4.0 * at for at in range(60)]}, framework="stable-baselines3")
    assert outcome_sentence(view).startswith("Evaluation return is 236.0 at step 59, the best so far")
    assert "too few points" in outcome_sentence(run(few, framework="stable-baselines3"))


def test_the_return_of_the_only_environment_is_the_reward() -> None:
    """A tag that names its environment answers the question of the pane as well."""
    rise = [10.0 + at for at in range(60)]
    found = answer("reward", {"step_rewards_CartPole-v1": rise}, others={}, framework="unknown")
    assert found.sentence.startswith("Episode return · CartPole-v1 is about 6")


def test_copies_of_an_environment_have_one_return() -> None:
    """Each ends few episodes, so that the last ones of a single copy reach far back; agents are no copies."""
    rise = {
        f"Train-Episode-Rewards/rank_0/env-{k}": [float(at + 10 * k) for at in range(60)] for k in range(3)
    }
    found = answer("reward", rise, others={}, framework="xuance")
    assert found.sentence.startswith("Episode return is about 6")
    agents = {key.replace("env-", "agent_"): values for key, values in rise.items()}
    assert "agent_0 is" in answer("reward", agents, others={}, framework="xuance").sentence


def test_tools_that_are_hardly_ever_called_are_said_so() -> None:
    """Nobody calls a tool 9.77e-4 times."""
    fall = [2.0] * 30 + [0.0009] * 30
    said = answer("turns", {"rollout/tool_calls_avg": fall}, framework="verl").sentence
    assert said.endswith(" Tools are almost never called, down from 2 at the start.")


def test_responses_are_cut_at_the_length_that_cut_ones_reach() -> None:
    """Means over batches without a cut response are below the limit."""
    longest = [512.0 if at % 7 == 0 else 300.0 for at in range(60)]
    cut = [0.1 if at % 7 == 0 else 0.0 for at in range(60)]
    keys = {"response_length/max": longest, "response_length/clip_ratio": [0.05] * 60}
    assert "cut off at 512 tokens" in answer("lengths", keys).sentence
    assert "none is cut off" in answer("lengths", keys | {"response_length/clip_ratio": cut}).sentence


def test_no_percentage_is_told_of_a_fall_to_zero_or_below() -> None:
    """A gradient of zero is no change by -100 %, and -13 is none by -1588 %."""
    fall = [1.0] * 30 + [0.0] * 30
    below = [0.9] * 30 + [-13.0] * 30
    (norm,) = (fact for fact in answer("policy", {"actor/grad_norm": fall}).facts if "norm" in fact.title)
    assert (norm.text, norm.trend()) == ("0", "")
    critic = answer("critic", {"critic/vf_explained_var": below})
    assert [fact.trend() for fact in critic.facts] == [""]


def test_remarks_stand_below_the_outcome_and_warnings_in_its_place() -> None:
    """Of a healthy run the first line of the overview is what it achieves; of a sick one what is wrong."""
    rise = [0.1 + at / 100 for at in range(60)]
    view = run({"critic/rewards/mean": rise, "critic/score/mean": rise})

    def first_lines(severity: str) -> Iterator[str]:
        view.set_findings("sisters", [finding(severity=severity, title="KL")])
        for lines in (pane_text(view, "overview", NOW), opened(view).frame(100, 30).lines[1:]):
            yield next(line.text for line in lines[3:] if line.text.strip())

    assert all(text.startswith(" Score is about 0.635") for text in first_lines("info"))
    assert all("KL · since step" in text for text in first_lines("critical"))


def test_a_reward_that_is_the_score_again_has_one_card() -> None:
    """VeRL logs both; without a penalty they are the same curve. All metrics still list both."""
    rise = [0.1 + at / 100 for at in range(60)]
    for reward, listed in ((rise, False), ([one - 0.05 for one in rise], True)):
        view = run({"critic/rewards/mean": reward, "critic/score/mean": rise})
        tags = {row.tag for row in pane_view(view, "reward", NOW).rows}
        assert ("critic/rewards/mean" in tags) is listed and "critic/score/mean" in tags
        assert {"critic/rewards/mean", "critic/score/mean"} <= {
            row.tag for row in pane_view(view, "all", NOW).rows
        }


def test_a_pane_that_does_not_answer_its_question_says_what_changed() -> None:
    """How upright a robot stands is no use of rollouts, but what the pane shows."""
    upright = np.linspace(0.03, 0.7, 60).tolist()
    found = answer("rollout", {"Metrics/upright": upright}, others={}, framework="rsl-rl")
    assert (
        found.sentence.startswith("Upright ") and "at the start. The log does not say how" in found.sentence
    )
    still = answer("rollout", {"Metrics/upright": 0.5}, others={}, framework="rsl-rl")
    assert still.sentence == "The log does not say how many rollouts are stale, failed or discarded."


def test_what_is_counted_at_a_step_is_no_change_of_the_pane() -> None:
    """Fewer episodes end in 16 steps as they get longer, and a ratio of zero has not begun."""
    ends = [int(at % 5 < (4 if at < 80 else 1)) for at in range(200)]
    begins = [0.0] * 15 + [0.5] * 185
    for tag, values, framework in (
        ("train/n_collected_episodes", ends, "tianshou"),
        ("replay/replay_ratio", begins, "dreamerv3"),
    ):
        view = run({tag: values}, steps=200, others={}, framework=framework)
        (row,) = pane_view(view, "rollout", NOW).rows
        assert row.tag == tag
        found = answer_of(view, "rollout")
        assert found is not None
        assert found.sentence == "The log does not say how many rollouts are stale, failed or discarded."


def test_a_rollout_with_its_parts_is_told_without_times_of_steps() -> None:
    """18,000 ms are 18 s: values in the unit of the metric do not get that of the key."""
    took = np.linspace(18_000, 54_000, 60)
    series = {"timing/generation_ms": took.tolist(), "timing/total_ms": (2 * took).tolist()}
    view = run(series, others={"reward/std": 0.3, "advantage/absmean": 0.4}, framework="verifiers")
    said = answer_of(view, "timing")
    assert said is not None and said.sentence.startswith("Rollout takes 1m 42s, up 1")
    assert ", 50 % of it generation; the log has no time of whole steps" in said.sentence
    changed = own_section_answer(RunValues(view), "timing")
    assert changed is not None and "Generation time about 50.6 s, up from 19.5 s" in changed.sentence
