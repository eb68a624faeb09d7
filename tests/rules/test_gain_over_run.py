"""Rules on an outcome over the whole run: what they detect at any length, and their rate of false alarms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from rltui.rules.evaluated_series.means_with_errors import long_run_variance, of_bins
from rltui.rules.evaluator import Evaluator
from rltui.rules.kinds.gain_over_run import fell_at_once
from rltui.rules.rulebook import Rulebook
from tests.support.runs.evaluators import evaluator_of, fresh, ids, new_evaluator, only
from tests.support.runs.synthetic_runs import Shape
from tests.support.runs.unusual_runs import curriculum

RETURN = "reward.episode_return.mean"
SCORE = "reward.score.mean"
FALLS = {"return-crash", "return-drop", "reward-crash", "reward-drop"}
LOSSES = only(*sorted(FALLS), "reward-below-start")
SHAPES = {
    "flat": lambda at: 0 * at,
    "straight": lambda at: 3 * at,
    "saturating": lambda at: 4 * (1 - np.exp(-5 * at)),
    "S-shaped": lambda at: 2 / (1 + np.exp(-20 * (at - 0.4))),
}


def _correlated(rng: np.random.Generator, size: int, keep: float) -> np.ndarray:
    """Normal noise of deviation 1, neighbours of which correlate by `keep`."""
    value, *draws = rng.normal(size=size + 1).tolist()
    found, share = [], float(np.sqrt(1 - keep**2))
    for draw in draws:
        value = keep * value + share * draw
        found.append(value)
    return np.array(found)


def _judged(
    tag: str, values: ArrayLike, steps: ArrayLike | None = None, book: Rulebook | None = None
) -> Evaluator:
    """The evaluator of a whole run."""
    evaluator = new_evaluator(book=book)
    evaluator.feed([fresh(tag, values, steps)])
    return evaluator


def _ever(evaluator: Evaluator) -> set[str]:
    """What has been found at any time."""
    return {finding.id for finding in (*evaluator.findings(), *evaluator.history())}


def _lost(tag: str, values: ArrayLike) -> bool:
    """Whether a run has a fall at its end: an alarm, or a remark while it is young or only a part."""
    return bool(FALLS & ids(_judged(tag, values, book=LOSSES)))


def _learnt_and_lost(rng: np.random.Generator, size: int) -> np.ndarray:
    """A return that rises from 0 to 500, stays, and is back at 0 in the last fifth."""
    at = np.arange(size) / size
    level = np.clip((at - 0.1) / 0.4, 0, 1) * (at < 0.8) * 500
    return level + rng.normal(0, 60 if size > 100 else 20, size)


@pytest.mark.parametrize("size", [20, 60, 500, 20_000, 2_000_000])
@pytest.mark.parametrize("every", [1, 1000])
def test_a_lost_gain_is_found_in_runs_of_any_length(size: int, every: int) -> None:
    """20 points or 2 million, logged at every step or at every thousandth: the gain is gone."""
    values = _learnt_and_lost(np.random.default_rng(3), size)
    evaluator = _judged(RETURN, values, every * np.arange(1, size + 1), LOSSES)
    found = [finding for finding in evaluator.findings() if finding.id in FALLS]
    assert found
    assert size == 20 or found[0].rank  # the newest twentieth of 20 points is one of them
    assert 0.7 * size <= found[0].since_step / every <= 0.9 * size
    assert found[0].value == pytest.approx(0, abs=60)


def test_a_lost_gain_fires_until_it_is_recovered() -> None:
    """The finding is the same however long the outcome stays low, and is resolved when it has recovered."""
    rng, evaluator = np.random.default_rng(5), new_evaluator(book=LOSSES)
    levels = (np.linspace(0.1, 0.8, 100), np.full(60, 0.8), np.full(240, 0.1), np.full(80, 0.8))
    values = np.concatenate(levels) + rng.normal(0, 0.03, 480)
    told = []
    for begin in range(0, len(values), 10):
        evaluator.feed(
            [fresh("reward.success_rate", values[begin : begin + 10], np.arange(begin + 1, begin + 11))]
        )
        told.append({finding.key for finding in evaluator.findings() if finding.id == "reward-crash"})
    first = next(k for k, keys in enumerate(told) if keys)
    assert 160 <= 10 * first <= 230
    assert all(keys == told[first] for keys in told[first:40])
    assert not told[-1]


@pytest.mark.parametrize("keep", [0, 0.4, 0.6])
@pytest.mark.parametrize("size", [20, 60, 300])
def test_healthy_outcomes_are_rarely_called_lost(size: int, keep: float) -> None:
    """Of learning curves with correlated noise, at most two in a hundred are ever called worse."""
    rng = np.random.default_rng([size, int(10 * keep)])
    wrong = []
    for number in range(25):
        for name, shape in SHAPES.items():
            values = shape(np.arange(size) / size) + _correlated(rng, size, keep)
            wrong += [(name, number)] * bool(_ever(_judged(SCORE, values, book=LOSSES)))
    assert len(wrong) <= 2, wrong


# Three means of 100 episodes that share nothing are a rise and a fall as often as not.
@pytest.mark.parametrize(("size", "wide", "most"), [(60, 20, 4), (60, 100, 4), (300, 20, 2), (300, 100, 12)])
def test_running_means_of_noise_are_rarely_called_lost(size: int, wide: int, most: int) -> None:
    """Returns that only vary, as means of so many episodes: few of forty runs are ever called lost."""
    wrong = []
    for number in range(40):
        draws = np.random.default_rng([size, wide, number]).standard_normal(size + wide - 1)
        values = np.convolve(draws, np.full(wide, wide**-0.5), "valid")
        wrong += [number] * bool(FALLS & _ever(_judged(RETURN, values, book=LOSSES)))
    assert len(wrong) <= most, wrong


def test_a_collapse_is_found_in_a_running_mean() -> None:
    """A return that falls from 400 to 20 is reported before the mean of 100 episodes has fallen that far."""
    rng = np.random.default_rng(6)
    level = np.concatenate((np.linspace(20, 400, 300), np.full(200, 400.0), np.full(100, 20.0)))
    values = np.convolve(np.concatenate((np.full(99, 20.0), level)), np.full(100, 0.01), "valid")
    values += np.convolve(rng.normal(0, 80, len(level) + 99), np.full(100, 0.01), "valid")
    evaluator = _judged(RETURN, values[:500])
    assert not FALLS & ids(evaluator)
    evaluator.feed([fresh(RETURN, values[500:590], np.arange(501, 591))])
    assert FALLS & ids(evaluator)


def test_a_fall_after_a_rise_is_found_in_correlated_noise() -> None:
    """Neighbours that correlate by 0.8 are no running mean: a loss of nine tenths is found in most runs."""
    at = np.arange(300) / 300
    level = 8 * (np.clip((at - 0.05) / 0.35, 0, 1) - 0.9 * np.clip((at - 0.6) / 0.02, 0, 1))
    noises = (_correlated(np.random.default_rng([8, number]), 300, 0.8) for number in range(10))
    assert sum(_lost(RETURN, level + noise) for noise in noises) >= 6


@pytest.mark.parametrize("size", [100, 300, 2000])
@pytest.mark.parametrize(("wide", "episodes"), [(20, 1), (100, 8)])
def test_a_fall_after_a_rise_is_found_in_running_means(size: int, wide: int, episodes: int) -> None:
    """Means every few episodes: they rise by 4 deviations of an episode, stay, and lose nine tenths of it."""
    at = np.arange(size * episodes) / (size * episodes)
    level = 4 * (np.clip((at - 0.05) / 0.35, 0, 1) - 0.9 * np.clip((at - 0.6) / 0.02, 0, 1))
    found = []
    for number in range(10):
        draws = np.random.default_rng([size, wide, number]).standard_normal(size * episodes + wide - 1)
        draws[wide - 1 :] += level
        values = np.convolve(draws, np.full(wide, 1 / wide), "valid")[::episodes]
        evaluator = _judged(RETURN, values[: int(0.6 * size)], book=LOSSES)
        assert not FALLS & _ever(evaluator)
        evaluator.feed([fresh(RETURN, values[int(0.6 * size) :], np.arange(int(0.6 * size), size) + 1)])
        found += [bool(FALLS & ids(evaluator, "warning"))]
    assert sum(found) >= 9


@pytest.mark.parametrize("lost", [False, True])
def test_later_noise_counts_after_a_quiet_start(lost: bool) -> None:
    """Returns of 10, then of 250 that vary as much: stretches of bad luck are no loss while that goes on."""
    told = 0
    for seed in range(20):
        rng, late = np.random.default_rng([4 if lost else 3, seed]), 270
        level = 250 * np.minimum(np.arange(late) / 27, 1)
        if lost:
            level[162:] = 0.0
        values = 10 + np.concatenate((5 * rng.normal(size=630), level * rng.exponential(size=late)))
        told += bool(FALLS & _ever(_judged(RETURN, values, book=LOSSES)))
    assert told >= 18 if lost else told <= 1


def test_a_fall_to_a_quiet_level_is_found_sooner() -> None:
    """Returns that vary by what they earn: once it is lost they are quiet, and so few of them are sure."""
    delays = []
    for seed in range(8):
        level = np.concatenate((np.linspace(20, 100, 120), np.full(180, 100.0), np.full(160, 30.0)))
        values = level * (1 + 0.8 * np.random.default_rng([9, seed]).normal(size=len(level)))
        evaluator, end = _judged(RETURN, values[:300], book=LOSSES), 300
        while not FALLS & ids(evaluator) and end < len(values):
            evaluator.feed([fresh(RETURN, values[end : end + 4], np.arange(end, end + 4) + 1)])
            end += 4
        delays.append(end - 300)
    assert np.median(delays) <= 40, delays  # 60 and more by the noise of the whole run


@pytest.mark.parametrize("seed", range(6))
def test_a_fall_at_once_to_a_quiet_floor_is_found_in_slow_waves(seed: int) -> None:
    """A reward that wanders by more than a test of means allows, then stays below all that it ever was."""
    rng = np.random.default_rng([11, seed])
    wave = 0.75 + 0.15 * _correlated(rng, 31, 0.9)
    rising = np.concatenate((np.linspace(0.2, 0.7, 5), np.clip(wave, 0.3, 1)))
    fallen = np.concatenate((rising, [0.4], rng.uniform(0, 0.05, 9)))
    assert "reward-crash" in ids(_judged(SCORE, fallen, book=LOSSES))
    assert "reward-crash" not in ids(_judged(SCORE, rising, book=LOSSES))


@pytest.mark.parametrize("rare", [0.04, 0.1])
def test_rare_rewards_are_not_called_lost(rare: float) -> None:
    """If one episode in ten or in twenty-five has a reward, a period without any is not a loss."""
    wrong = []
    for number in range(30):
        rng = np.random.default_rng([int(100 * rare), number])
        values = (rng.random(400) < rare) * rng.exponential(10, 400)
        wrong += [number] * bool(FALLS & _ever(_judged(RETURN, values, book=LOSSES)))
    assert len(wrong) <= 1, wrong


def test_a_sum_that_is_reset_with_each_episode_is_no_loss() -> None:
    """A sum logged within episodes rises from zero each time, which is not a loss."""
    episode = np.cumsum(np.random.default_rng(3).uniform(0.5, 1.5, (12, 40)), axis=1)
    evaluator, told = new_evaluator(), set()
    for begin in range(0, 480, 5):
        evaluator.feed([fresh(RETURN, episode.ravel()[begin : begin + 5], np.arange(begin, begin + 5) + 1)])
        told |= ids(evaluator, "warning")
    assert not told & FALLS


def test_a_level_of_a_few_first_points_is_forgotten() -> None:
    """The first means over episodes are those of one or two: a fall from them ends as the run grows."""
    first = np.concatenate((np.zeros(4), np.full(8, 0.56), np.full(12, 0.12)))
    rest = 0.25 + 0.01 * np.random.default_rng(1).normal(size=400)
    evaluator = _judged(SCORE, first, book=LOSSES)
    assert "reward-crash" in ids(evaluator)
    evaluator.feed([fresh(SCORE, rest, len(first) + 1 + np.arange(len(rest)))])
    assert not FALLS & ids(evaluator)


def test_one_lucky_first_episode_is_no_start() -> None:
    """A first score that no later one comes near is an outlier: the policy has not become worse."""
    rng, told = np.random.default_rng(5), set()
    evaluator, values = new_evaluator(), np.concatenate(([9.0], rng.normal(1, 0.1, 60)))
    for end in range(1, 61):
        evaluator.feed([fresh(SCORE, values[end - 1 : end], [end])])
        told |= ids(evaluator, "warning")
    assert "reward-below-start" not in told


def test_a_short_dip_is_no_loss() -> None:
    """Three points far below a high level that comes back are no loss of what was gained."""
    assert not FALLS & _ever(_judged(SCORE, [*np.linspace(0.1, 0.8, 60), *[0.1] * 3, *[0.8] * 20]))


def test_what_was_never_gained_is_not_lost() -> None:
    """A policy that explores falls below its start and comes back: it has lost nothing."""
    values = np.concatenate((np.linspace(-80, -600, 20), np.full(10, -600), np.linspace(-600, -150, 120)))
    assert not FALLS & _ever(_judged(RETURN, values + np.random.default_rng(1).normal(0, 10, 150)))


def test_few_different_values_are_noise_too() -> None:
    """Games won or lost: streaks of either are no gain and no loss."""
    values = np.where(np.random.default_rng(8).random(200) < 0.3, 1.0, -1.0)
    assert not FALLS & _ever(_judged(RETURN, values))


def test_no_gain_is_a_remark_until_a_million_steps() -> None:
    """A flat return may be a hard task: after the usual budget of benchmarks it is an alarm."""
    values = np.random.default_rng(2).normal(780, 60, 600)
    for every, told in ((1000, "outcome-no-gain"), (5000, "return-no-gain")):
        evaluator = _judged(RETURN, values, every * np.arange(1, 601))
        assert told in ids(evaluator)
        assert bool(ids(evaluator, "warning")) is (told == "return-no-gain")


def test_no_gain_is_an_alarm_after_long_or_many_episodes() -> None:
    """A thousand of 300 steps, or three times as many; never if they are a step or two."""
    values = np.random.default_rng(2).normal(780, 60, 4000)
    cases = [(4000, 1, False), (4000, 2, False), (4000, 50, True)]
    for count, every, told in (*cases, (1500, 50, False), (1500, 300, True), (900, 600, False)):
        for tag in (RETURN, "reward.mean"):
            evaluator = _judged(tag, values[:count], every * np.arange(1, count + 1))
            assert bool(ids(evaluator, "warning")) is told
            assert ("outcome-no-gain-long" in ids(evaluator)) is told


def test_a_sure_gain_is_not_called_nothing() -> None:
    """Episodes differ by 4,000 and the return grew from 2,000 to 5,000: thousands of them show it."""
    rng, at = np.random.default_rng(6), np.arange(9000) / 9000
    values = 2000 + 3000 * np.minimum(at / 0.08, 1) + rng.normal(0, 4000, len(at))
    for learnt in (True, False):
        shown = values if learnt else values[rng.permutation(9000)]
        evaluator = _judged(RETURN, shown, 600 * np.arange(1, 9001))
        assert ("return-no-gain" in _ever(evaluator)) is not learnt


def test_a_run_that_goes_on_from_a_checkpoint_may_stay_where_it_is() -> None:
    """Its start is no untrained policy, so that nothing is gained is only a remark."""
    values = np.random.default_rng(2).normal(780, 60, 600)
    assert not ids(_judged(RETURN, values, 3_000_000 + 5000 * np.arange(1, 601)), "warning")


def test_a_gain_within_the_spread_of_episodes_cannot_be_lost() -> None:
    """Forty more where episodes differ by a hundred is no gain, however sure; 240 more can be lost."""
    rng = np.random.default_rng(4)
    level = np.concatenate((np.zeros(4000), np.full(4000, 40.0), np.zeros(4000)))
    little = 300 + level + rng.normal(0, 100, len(level))
    much = 300 + 6 * level + rng.normal(0, 100, len(level))
    assert not FALLS & _ever(_judged(RETURN, little, book=LOSSES))
    assert FALLS & ids(_judged(RETURN, much, book=LOSSES))


def _deviation(values: np.ndarray, ticks: int, stride: int = 1) -> float:
    sums = np.concatenate((np.zeros(1), np.cumsum(values)))
    end = np.array((ticks,))
    return float(np.sqrt(long_run_variance(values, end, of_bins(sums, end), stride)[0]))


def test_a_fall_adds_little_to_the_noise_that_it_is_measured_by() -> None:
    """Eight ticks far below a climb make the error of a mean larger by less than a quarter."""
    for size in (60, 100):
        ratios = []
        for seed in range(40):
            values = np.linspace(0, 1, size) + np.random.default_rng([9, seed]).normal(0, 0.08, size)
            before = _deviation(values, size)
            values[-8:] -= 1
            ratios.append(_deviation(values, size) / before)
        assert np.median(ratios) < 1.3


@pytest.mark.parametrize("stride", [2, 4, 16])
@pytest.mark.parametrize("keep", [0, 0.5, 0.9])
def test_the_errors_of_joined_points_are_those_of_their_noise(stride: int, keep: float) -> None:
    """Means of consecutive points differ more slowly than the points do: that is no larger error."""
    ratios = []
    for seed in range(10):
        noise = _correlated(np.random.default_rng([stride, seed]), 500 * stride, keep)
        ticks = noise.reshape(-1, stride).mean(axis=1)
        ratios.append(_deviation(ticks, 500, stride) / np.sqrt((1 + keep) / (1 - keep) / stride))
    assert 0.9 < np.median(ratios) < 1.5  # 3 for a correlation of 0.9 without regard to the stride


def test_a_slow_fall_is_found_in_a_long_run_of_smooth_returns() -> None:
    """Thousands of points whose neighbours correlate by 0.95: a loss of two fifths is found in most runs."""
    at = np.arange(4000) / 4000
    level = 16 * (np.clip(at / 0.4, 0, 1) - 0.4 * np.clip((at - 0.5) / 0.5, 0, 1))
    noises = (_correlated(np.random.default_rng([5, seed]), 4000, 0.95) for seed in range(10))
    assert sum(_lost(RETURN, level + noise) for noise in noises) >= 8


def test_a_success_rate_that_was_never_reached_is_not_lost() -> None:
    """Less than two of a hundred episodes are chance; the same curve twenty times as high is a crash."""
    curve = np.concatenate((np.zeros(100), np.linspace(0, 0.012, 60), np.full(60, 0.012), np.zeros(200)))
    curve[100:220] += 0.0005 * np.random.default_rng(0).normal(size=120)
    told = {}
    for times in (1, 20):
        told[times] = {"reward-crash", "reward-drop"} & ids(
            _judged("reward.success_rate", times * np.abs(curve))
        )
    assert not told[1] and told[20]


def test_what_harder_tasks_cost_is_no_loss_while_it_is_learnt_again() -> None:
    """Stages that cost up to three fifths of the gain, and give it back: at most one run of twelve alarms."""
    told = []
    for seed in range(12):
        values = curriculum(Shape(n=400, noise=0.7, seed=seed))["reward.mean"]
        told.append(FALLS & _ever(_judged(SCORE, values, book=LOSSES)))
    assert sum(map(bool, told)) <= 1


@pytest.mark.parametrize("offset", [0, 2])
def test_a_lasting_loss_of_two_fifths_is_found(offset: float) -> None:
    """A loss that lasts a tenth of the run is reported, whatever offset the rewards have."""
    at = np.arange(400) / 400
    level = offset + 0.25 + 0.5 * np.clip(at / 0.5, 0, 1) - 0.2 * np.clip((at - 0.6) / 0.1, 0, 1)
    noises = (np.random.default_rng([9, seed]).normal(0, 0.03, 400) for seed in range(10))
    assert sum(_lost(SCORE, level + noise) for noise in noises) >= 9


@pytest.mark.parametrize(("short", "severity"), [(3, "info"), (30, "critical")])
def test_a_crash_is_an_alarm_once_it_has_lasted(short: int, severity: str) -> None:
    """Runs that are well have short dips: a crash of 3 points of 100 is a remark, one of 30 an alarm."""
    values = np.append(np.linspace(0, 100, 100 - short), np.full(short + 6, 2.0))
    values += np.random.default_rng(3).normal(0, 2, len(values))
    told = {one.severity for one in _judged(RETURN, values).findings() if one.id == "return-crash"}
    assert told == {severity}


def test_a_crash_from_a_short_peak_becomes_an_alarm() -> None:
    """What it fell from is soon a small part of the run: no newest mean is far below those just before it."""
    parts = (np.linspace(0, 50, 120), np.linspace(50, 100, 25), np.full(10, 100.0), np.linspace(100, 33, 10))
    level = np.concatenate((*parts, np.linspace(33, -5, 160)))
    told: list[str] = []
    for seed in range(12):
        noise = np.random.default_rng(seed).normal(0, 20, len(level) + 19)
        evaluator = _judged(RETURN, level + np.convolve(noise, np.full(20, 0.05), "valid"))
        told += [one.severity for one in evaluator.findings() if one.id == "return-crash"]
    assert len(told) >= 8
    assert set(told) == {"critical"}


@pytest.mark.parametrize(
    ("before", "low", "size", "lost"),
    [(-240.0, -900.0, 30, False), (-240.0, -900.0, 90, True), (200.0, -400.0, 30, True)],
)
def test_exploring_at_first_loses_no_gain(before: float, low: float, size: int, lost: bool) -> None:
    """A young agent that falls far below its start had gained little; a long run or a large gain is lost."""
    level = np.concatenate((np.linspace(-320, before, size // 2), np.full(size - size // 2, low)))
    assert _lost(RETURN, level + np.random.default_rng(8).normal(0, 5, size)) is lost


@pytest.mark.parametrize(("explores", "told"), [(True, False), (False, True)])
def test_a_reward_below_its_start_is_told_of_trained_models(explores: bool, told: bool) -> None:
    """The start of an agent that explores is chance, and below it is where exploring leads at first."""
    level = np.concatenate((np.full(30, 0.6), np.linspace(0.6, 0.3, 40), np.full(40, 0.3)))
    series = {"reward.mean": level + np.random.default_rng(1).normal(0, 0.02, 110)}
    if explores:
        series["policy.exploration"] = np.linspace(1.0, 0.9, 110)
    assert ("reward-below-start" in ids(evaluator_of(series))) is told


@pytest.mark.parametrize(("last", "told"), [(40.0, True), (85.0, False)])
def test_a_run_that_ends_far_below_its_best_is_told_at_its_end(last: float, told: bool) -> None:
    """Three fifths of the gain are lost in the last points; while the run goes on that may be a dip."""
    values = np.concatenate((np.linspace(0, 100, 100), np.linspace(100, last, 20), np.full(10, last)))
    evaluator = _judged(RETURN, values + np.random.default_rng(4).normal(0, 2, len(values)))
    assert "ended-below-best" not in ids(evaluator)
    evaluator.set_run_over(True)
    assert ("ended-below-best" in ids(evaluator, "warning")) is told


def test_an_early_crash_is_told_for_as_long_as_it_lasts() -> None:
    """A return whose peak was in the first tenth and that stays far below its start, for a million steps."""
    rng = np.random.default_rng(5)
    level = np.concatenate((np.linspace(30, 70, 60), np.linspace(70, 4, 60), np.full(880, 4.0)))
    values = level + rng.normal(0, 1.5, 1000)
    assert "return-never-came-back" in ids(_judged(RETURN, values, np.arange(1000) * 5_000), "critical")


def test_a_rating_is_worse_by_points_not_by_a_share() -> None:
    """A hundred points of Elo below the start are told, forty are not: they are shares of 8 and 3 %."""
    rng = np.random.default_rng(3)
    for loss, told in ((100, True), (40, False)):
        values = 1200 - loss * np.clip(np.linspace(0, 2, 200), 0, 1) + rng.normal(0, 4, 200)
        assert ("reward-below-start" in ids(_judged("reward.rating", values), "warning")) is told


@pytest.mark.parametrize("seed", [3, 5])
def test_a_crash_is_over_where_a_running_mean_has_long_been_back(seed: int) -> None:
    """Slow waves leave large errors, but nothing of the last fifth of the run is below the level again."""
    rng = np.random.default_rng(seed)
    waves = np.convolve(rng.normal(0, 20, 900), np.ones(60) / 60, "valid")
    level = np.concatenate((np.linspace(-30, 0, 120), np.full(120, -20.0), np.full(len(waves) - 240, -6.0)))
    evaluator = new_evaluator()
    evaluator.feed([fresh(RETURN, (level + waves)[:235])])
    assert FALLS & ids(evaluator)
    evaluator.feed([fresh(RETURN, (level + waves)[235:], np.arange(235, len(waves)))])
    assert not FALLS & ids(evaluator, "warning")


def test_a_fall_at_once_is_found_behind_a_rise_like_slow_noise() -> None:
    """A return wanders up to some 500, stays there, and is 23 at the next point, as it was at the start."""
    told = 0
    for seed in range(10):
        rng = np.random.default_rng([12, seed])
        risen = 23 + np.abs(np.cumsum(rng.normal(1.6, 15, 300)))
        values = np.concatenate((risen, risen[-1] + rng.normal(0, 10, 30), 23 + rng.normal(0, 5, 12)))
        assert not FALLS & ids(_judged(RETURN, values[:330], book=LOSSES))
        told += bool(FALLS & ids(_judged(RETURN, values, book=LOSSES)))
    assert told >= 9


def test_slow_waves_have_no_fall_at_once() -> None:
    """Random walks, slow autoregressions and running means, seen as they grow: none falls at once."""
    for seed in range(40):
        rng = np.random.default_rng([13, seed])
        walk, draws = np.cumsum(rng.normal(size=400)), rng.normal(size=499)
        mean = np.convolve(draws, np.full(100, 0.01), "valid")
        for values in (walk, _correlated(rng, 400, 0.95), mean, rng.lognormal(size=400)):
            assert not any(fell_at_once(values[:end]) for end in range(40, 401, 8))
