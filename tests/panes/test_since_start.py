"""Where a metric began, where it was best, and where it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from rltui.draw.numbers import format_short
from rltui.panes.answers.pane_answers import answer_of
from rltui.panes.answers.values.recent_values import RunValues
from rltui.panes.answers.values.since_start import since_start
from tests.support.runs.pane_answers import answer, run


def noisy(course: Sequence[float], noise: float) -> list[float]:
    """Values with normal noise of that standard deviation."""
    return (np.asarray(course) + np.random.default_rng(7).normal(0, noise, len(course))).tolist()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (noisy(np.linspace(-2, -1, 200), 0.1), "eward is about -1.0"),
        (noisy(np.linspace(-2, -1, 200), 0.1), "up from -1.9"),
        (noisy([1.0] * 200, 0.01), ", steady."),
        ([*noisy(np.linspace(0, 8, 100), 0.1), *noisy(np.linspace(8, 1, 100), 0.1)], "below its best of 7."),
        ([8.0] * 3 + [0.0] * 197, "down from"),
        ([0.0, 1.0] * 100, "eward is about 0.500, steady."),
        (([1.8] * 10 + [0.2] * 10) * 10, "no change beyond its noise."),
    ],
)
def test_reward_is_told_beside_its_start_and_its_best(values: list[float], said: str) -> None:
    """A rise below zero, none, a fall after the best, one at the start, outcomes that are 0 or 1, noise."""
    assert said in answer("reward", {"critic/rewards/mean": values}, steps=200).sentence


def test_return_is_told_where_the_reward_of_a_step_is_always_the_same() -> None:
    """RLinf logs a reward of one for each step beside the return of episodes."""
    rise = np.linspace(20, 200, 100).tolist()
    found = answer("reward", {"critic/rewards/mean": 1.0, "rollout/ep_rew_mean": rise}, steps=100)
    assert found.sentence.startswith("Episode return is about 182.7, up from 2")


def test_noise_tells_no_change() -> None:
    """Where noise could hide a change, it tells that, and neither a change nor that there is none."""
    found = answer("reward", {"critic/rewards/mean": noisy([0.1] * 200, 1.0)}, steps=200)
    assert "start" not in found.sentence and "too noisy to tell a trend" in found.sentence
    assert "steady" not in found.sentence.partition("; reward is")[2]  # before it stands the constant score


def test_a_way_back_is_no_noise() -> None:
    """A return that fell fourfold and came back is told by its lowest level, not as too noisy for a trend."""
    course = [*[-160.0] * 20, *[-600.0] * 20, *np.linspace(-600, -160, 70), *[-160.0] * 40]
    found = answer("reward", {"rollout/ep_rew_mean": noisy(course, 8)}, steps=150)
    assert re.search(
        r"is about -1[56]\S+, up from -6\S+ around step \d+ \(-1\S+ at the start\)", found.sentence
    )


@pytest.mark.parametrize(
    ("values", "level"),
    [
        ([*noisy([7.5] * 130, 0.5), *noisy([0.3] * 8, 0.1)], "0.2"),
        ([*noisy([7.5] * 134, 0.5), *noisy([0.3] * 4, 0.1)], "5."),  # too few to say that it has changed
        (noisy([7.5] * 138, 0.5), "7."),
        (noisy(np.linspace(0, 138, 138), 0.5), "128"),  # a slope has no jump
        ([9.0, 10.0, 10.0, 9.7, 9.0, 83.0, 170.0], "126"),  # all of so few points say nothing of now
    ],
)
def test_the_level_is_that_since_the_newest_jump(values: list[float], level: str) -> None:
    """Where a return of 7 became 0.3, a mean of both beside the last value in the row reads as a mistake."""
    found = answer("reward", {"rollout/ep_rew_mean": values}, steps=len(values))
    assert re.search(rf"Episode return is (?:about )?{re.escape(level)}", found.sentence), found.sentence


def test_start_is_that_of_the_run_not_of_the_recent_window() -> None:
    """A run longer than its exact window is compared with its first tenth; up to a step, with that seen."""
    values = np.linspace(0, 100, 20_000).tolist()
    view = run({"critic/rewards/mean": values}, steps=20_000)
    whole = since_start(RunValues(view), "critic/rewards/mean")
    assert whole is not None
    assert (whole.start, whole.end) == pytest.approx((5, 95), rel=0.05)
    then = since_start(RunValues(view, 10_000), "critic/rewards/mean")
    assert then is not None
    assert (then.start, then.end) == pytest.approx((2.5, 47.5), rel=0.1)


def test_outliers_turn_no_change_around() -> None:
    """A mean of the end that a few values carried off is not told beside a median that says the opposite."""
    values = [*[0.5] * 100, *[0.9] * 100]
    values[185::5] = [-90.0] * 3
    found = answer("critic", {"critic/vf_explained_var": values}, steps=200)
    assert found.sentence == "The critic explains 90 % of the variance of the returns (above 80 % is good)."


def test_few_steps_have_no_start() -> None:
    """Of fewer than ten stretches with points no trend is told; of an outcome that is said."""
    assert (
        since_start(RunValues(run({"critic/rewards/mean": list(range(9))}, steps=9)), "critic/rewards/mean")
        is None
    )
    few = answer("reward", {"critic/rewards/mean": [0.1 * at for at in range(9)]}, steps=9)
    assert "with too few points to tell a trend" in few.sentence


def test_a_fall_within_the_first_tenth_is_told_from_where_it_began() -> None:
    """Answers of 16 tokens that become one of a token within ten steps are not told by means of parts."""
    values = [*np.linspace(16, 1, 10).tolist(), *[1.0] * 190]
    found = answer("lengths", {"response_length/mean": values}, steps=200)
    assert found.sentence.endswith("Responses have 1 token on average, down from 16 tokens at the start.")


def test_values_that_fall_one_after_the_other_have_no_level() -> None:
    """A return that falls from 300 to 141 is not about 220: the last value and the mean are both given."""
    falling = [*np.linspace(20, 300, 30), 280.0, 260.0, 240.0, 220.0, 200.0, 180.0, 160.0, 141.0]
    said = answer("reward", {"rollout/ep_rew_mean": falling}, steps=len(falling)).sentence
    assert said.startswith("Episode return is 141.0, on average 200.1 over the last 7 points"), said


def test_the_start_of_an_answer_is_that_of_a_finding() -> None:
    """A sentence of a finding and the answer of the pane name one level at the start, not two."""
    values = [*np.linspace(0.7, 0.02, 30).tolist(), *[0.02] * 170]
    view = run({"actor/entropy": values}, steps=200)
    (told,) = {
        each
        for one in view.evaluator.findings()
        for each in re.findall(r"([\d.]+) at the start", one.message)
    }
    found = answer_of(view, "policy")
    assert found is not None
    (said,) = re.findall(r"ntropy is .*? from ([\d.]+) at the start", found.sentence)
    assert format_short(float(said)) == told


def test_the_start_of_a_run_that_breaks_at_once_is_that_before_it_broke() -> None:
    """A score of 0.125 that is 0 from the second of a hundred steps on was not 0.0125 at the start."""
    values = {"critic/score/mean": [0.125, *[0.0] * 99], "actor/lr": [0.05] * 100}
    view = run(values, steps=100)
    (before,) = {
        one.before for found in view.evaluator.findings() for one in found.evidence if "score" in one.tag
    }
    assert before == pytest.approx(0.125)
    found = answer_of(view, "reward")
    assert found is not None and "Score is 0, down from 0.125 at the start" in found.sentence


@pytest.mark.parametrize(
    ("pane", "tag", "before", "after"),
    [
        ("policy", "train/loss", np.geomspace(2, 0.05, 20), np.geomspace(0.05, 1.2, 15)),
        ("lengths", "completions/mean_length", np.linspace(20, 60, 25), np.linspace(60, 10, 8)),
    ],
    ids=["lowest", "highest"],
)
def test_an_extreme_before_an_onset_is_no_start(
    pane: str, tag: str, before: np.ndarray, after: np.ndarray
) -> None:
    """A loss that fell from 2 to 0.05 and rose to 1.2 in the first tenth was not 0.05 in the mean of it."""
    extreme, now = before[-1], after[-1]
    course = np.concatenate((before, np.full(10, extreme), after))
    values = noisy([*course, *[now] * (600 - len(course))], 0.001)
    view = run({tag: values}, steps=600, others={})
    told = [one.before for each in view.evaluator.findings() for one in each.evidence if one.tag == tag]
    assert told == [pytest.approx(extreme, rel=0.02)]
    found = answer_of(view, pane)
    assert found is not None and " at the start" in found.sentence
    (start,) = re.findall(r"from ([\d.]+)(?: tokens)? at the start", found.sentence)
    change = since_start(RunValues(view), tag)
    assert change is not None and float(start) == pytest.approx(change.start, rel=0.01)
