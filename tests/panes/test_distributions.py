"""Lengths and rewards as distributions: bands, ridges of histograms, quantiles and samples, components."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rltui.config import Config
from rltui.logs.batch import QUANTILES, Histogram
from rltui.logs.sample_layouts.sample import Sample, head_of
from rltui.panes.answers.answer import Answer, Ridge
from rltui.panes.answers.answer_inputs import AnswerInputs
from rltui.panes.answers.pane_answers import answer_of
from rltui.panes.answers.values.distributions import BINS, band, quantile_ridge, sample_ridge
from rltui.panes.answers.values.recent_values import RunValues
from rltui.panes.render.answer_pictures import band_lines, ridge_lines
from rltui.panes.render.lines.answer_lines import answer_lines
from rltui.run_context.samples.run_samples import RunSamples
from tests.support.runs.pane_answers import answer, run


def samples(rewards: dict[int, list[float]], split: str = "train") -> RunSamples:
    """Samples with rewards by step."""
    made = {
        step: tuple(
            head_of(Sample(step, split, reward=value, length=10), 0, at, 1, at)
            for at, value in enumerate(values)
        )
        for step, values in rewards.items()
    }
    return RunSamples(made)


def test_a_band_holds_extremes_and_mean() -> None:
    """Where minimum, mean and maximum are logged the band has them in the same stretches of steps."""
    series = {"response_length/min": 10.0, "response_length/max": [100.0 + at for at in range(60)]}
    found = band(RunValues(run(series)), "lengths.response")
    assert found is not None
    assert (found.low[0], found.middle[0], found.high[0], found.high[-1]) == (10, 100, 100, 159)
    assert (found.steps, len(found.low)) == ((0, 59), 60)
    assert found.words == "min–max ░  mean █"


def test_a_constant_is_no_distribution() -> None:
    """Ends that are one value all along are no picture."""
    assert (
        band(RunValues(run({"response_length/min": 100.0, "response_length/max": 100.0})), "lengths.response")
        is None
    )


def test_tenths_and_extremes_make_a_ridge() -> None:
    """Logged quantiles say where the values of each stretch of steps lie."""
    at = {"min": 0.0, "p10": 10.0, "median": 50.0, "p90": 90.0, "max": 100.0, "mean": 50.0}
    config = Config(aliases={f"own/{name}": f"lengths.response.{name}" for name in at})
    series = {f"own/{name}": value for name, value in at.items()}
    found = quantile_ridge(RunValues(run(series, others={}, config=config)), "lengths.response")
    assert found is not None
    assert all(np.allclose(row, 1 / BINS) for row in found.rows)


@given(st.lists(st.lists(st.floats(-100, 100), min_size=7, max_size=7).map(sorted), min_size=1, max_size=9))
@example([[0.0] * 6 + [2.2e-311]])
def test_rows_of_a_ridge_add_up_to_one(quantiles: list[list[float]]) -> None:
    """Whatever histograms were logged, each stretch of steps is a whole distribution."""
    view = run({})
    view.run.histograms.add(
        Histogram("advantages", step, float(step), tuple(row), 10.0) for step, row in enumerate(quantiles)
    )
    found = answer_of(view, "reward")
    assert found is not None
    for ridge in found.ridges:
        assert all(sum(row) == pytest.approx(1) and min(row) >= 0 for row in ridge.rows)
        assert ridge.steps[-1][1] == len(quantiles) - 1


def test_equal_quantiles_are_one_value() -> None:
    """A reward of zero or one lies in the first and the last bin, not between them."""
    view = run({})
    row = tuple(0.0 if share < 0.6 else 1.0 for share in QUANTILES)
    view.run.histograms.add([Histogram("rollout/advantages", 5, 5.0, row, 10.0)])
    found = answer_of(view, "reward")
    assert found is not None
    (ridge,) = found.ridges
    assert ridge.rows[0][0] >= 0.5
    assert ridge.rows[0][-1] >= 0.25


def test_samples_make_a_ridge_of_training_alone() -> None:
    """Rewards of samples by step are histograms; samples of an evaluation are no training."""
    values = {step: [0.0, 0.0, 1.0, 1.0] if step < 5 else [1.0] * 4 for step in range(10)}
    found = sample_ridge(samples(values), "reward", "Reward", "score")
    assert found is not None
    assert found.rows[0][0] == 0.5 and found.rows[-1][-1] == 1.0
    assert found.source == "40 samples of 10 steps"
    assert sample_ridge(samples(values, split="eval"), "reward", "Reward", "score") is None
    assert sample_ridge(RunSamples(), "reward", "Reward", "score") is None


def test_many_samples_are_thinned_and_that_is_said() -> None:
    """Of a long run the samples of some steps are taken, the first and the last among them."""
    found = sample_ridge(samples({step: [0.0, 1.0] * 2 for step in range(300)}), "reward", "Reward", "score")
    assert found is not None
    assert found.source == "96 samples of 24 of 300 steps"
    assert (found.steps[0][0], found.steps[-1][1]) == (0, 299)


def reward(series: dict[str, object], **more: object) -> Answer:
    """The answer of the pane reward."""
    return answer("reward", series, **more)


def test_components_have_their_share_of_the_total() -> None:
    """Components that add up to the reward are told as shares of it; the largest is in the sentence."""
    series = {"train/rewards/correct/mean": 0.6, "train/rewards/format/mean": 0.2, "train/reward": 0.8}
    found = reward(series, others={"train/frac_reward_zero_std": 0.0, "train/completions/mean_length": 9.0})
    assert [(one.title, round(one.share or 0, 3)) for one in found.amounts] == [
        ("correct", 0.75),
        ("format", 0.25),
    ]
    assert "correct makes 75 % of it" in found.sentence
    assert found.notes == ()


def test_weights_that_are_not_logged_are_said() -> None:
    """Components that do not add up to the reward still add up to one, and the sentence claims nothing."""
    series = {"train/rewards/a/mean": 0.5, "train/rewards/b/mean": -0.5, "train/reward": 0.8}
    found = reward(series, others={"train/frac_reward_zero_std": 0.0, "train/completions/mean_length": 9.0})
    assert sum(one.share or 0 for one in found.amounts) == pytest.approx(1)
    assert "makes" not in found.sentence
    assert found.notes == ("components do not add up to the reward: their weights are not logged",)


def test_score_and_total_stand_apart() -> None:
    """A penalty is the difference of score and reward, marked as derived; without one there is one score."""
    found = reward({"critic/score/mean": 0.8, "critic/rewards/mean": 0.7})
    gap = next(one for one in found.facts if one.title == "reward - score")
    assert (round(gap.value, 6), bool(gap.formula)) == (-0.1, True)
    assert any(gap.title in text for text in found.formulas)
    same = reward({"critic/score/mean": 0.8, "critic/rewards/mean": 0.8})
    assert [one.title for one in same.facts] == ["score"]


def test_truncation_stands_beside_length() -> None:
    """How many responses are cut off, and at which length, is in the sentence and a line of its own."""
    series = {"response_length/max": 512.0, "response_length/clip_ratio": 0.3, "response_length/min": 3.0}
    found = answer("lengths", series)
    assert "30 % are cut off at 512 tokens" in found.sentence
    assert [(one.title, one.share) for one in found.amounts] == [("cut off", pytest.approx(0.3))]


@pytest.mark.parametrize("width", [140, 80, 40])
@pytest.mark.parametrize("height", [40, 17, 7])
def test_pictures_keep_to_their_room(width: int, height: int) -> None:
    """At any size the lines fit, and the sentence is there."""
    series = {"critic/score/mean": 0.8, "critic/rewards/mean": 0.7,
              "critic/rewards/min": [at / 60 for at in range(60)], "critic/rewards/max": 2.0}  # fmt: skip
    found = answer("reward", series, AnswerInputs(samples=samples({1: [0.0, 0.5, 1.0, 1.0], 5: [0.5] * 9})))
    lines = answer_lines(found, width, height)
    assert len(lines) <= height
    assert max(line.width for line in lines) <= width
    assert any("Reward is 0.7" in line.text for line in lines)


@given(st.integers(24, 160), st.integers(2, 8), st.integers(1, 60))
def test_drawn_ridges_and_bands_fill_their_lines(width: int, rows: int, columns: int) -> None:
    """A ridge has a line for each stretch and its scale, a band as many as asked for."""
    ridge = Ridge("R", "r", "", 0.0, 1.0, ((0, 1), (2, 3)), (tuple([1 / 32] * 32),) * 2, "samples")
    assert len(ridge_lines(ridge, width, rows)) == 2 + 2
    values = [float(at % 5) for at in range(columns)] + [9.0]
    series = {"response_length/min": values, "response_length/max": [one + 20 for one in values]}
    found = band(RunValues(run(series, steps=len(values))), "lengths.response")
    if found is not None:
        lines = band_lines(found, width, rows)
        assert len(lines) == rows + 2
        assert max(line.width for line in lines) <= width


def test_bands_of_different_steps_are_both_shown() -> None:
    """A score logged at other steps than the reward has a band of its own, however many points it has."""
    series = {
        f"critic/{name}/{part}": {at: low + at * slope for at in steps}
        for name, steps in (("rewards", range(10)), ("score", range(0, 10, 2)))
        for part, low, slope in (("min", 0, 0), ("mean", 0.5, 1), ("max", 20, 0))
    }
    found = answer("reward", series, steps=10, others={})
    assert [one.tag for one in found.bands] == ["critic/rewards/mean", "critic/score/mean"]
