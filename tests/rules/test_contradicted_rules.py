"""Alarms that other metrics of the run contradict are none; without these metrics they are told."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.runs.evaluators import evaluator_of, fresh, ids, names_of, new_evaluator


def _around(noise: np.random.Generator, size: int, level: float, share: float) -> np.ndarray:
    return level * (1 + share * noise.normal(size=size))


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ({}, True),
        ({"policy.clip_range": np.full(60, 0.2), "policy.clip_fraction": np.full(60, 0.15)}, True),
        ({"policy.clip_range": np.linspace(0.4, 0.32, 60)}, False),
        ({"policy.clip_fraction": np.full(60, 0.004)}, False),
    ],
)
def test_a_large_update_kl_is_judged_by_what_is_clipped(
    others: dict[str, np.ndarray], told: bool, noise: np.random.Generator
) -> None:
    """A clip range of 0.4 permits four times the KL of 0.2; if nothing is clipped the KL is another one."""
    series = {"policy.approx_kl": _around(noise, 60, 0.15, 0.05), **others}
    assert ("approx-kl-very-high" in ids(evaluator_of(series), "warning")) is told


def _evaluated(noise: np.random.Generator, returns: np.ndarray, score: np.ndarray) -> set[str]:
    evaluator = new_evaluator()
    evaluator.feed(
        [fresh("reward.episode_return.mean", np.linspace(2, 18, 400) + noise.normal(size=400) / 3)]
    )
    steps = range(10, 10 * len(score) + 1, 10)
    evaluator.feed([fresh("eval/validation.return.mean", returns, steps)])
    evaluator.feed([fresh("eval/validation.success_rate", score, steps)])
    return set(ids(evaluator, "warning"))


def test_a_held_out_score_that_falls_is_no_alarm_while_the_held_out_return_is_at_its_best(
    noise: np.random.Generator,
) -> None:
    """Few episodes are won or lost by chance; their return tells whether the policy became worse."""
    score = np.append(np.linspace(0.2, 0.9, 30), np.full(10, 0.5)) + 0.01 * noise.normal(size=40)
    rise = np.linspace(2, 18, 40) + noise.normal(size=40) / 10
    fall = np.append(rise[:30], np.linspace(13, 8, 10))
    assert _evaluated(noise, fall, score) & {
        "over-optimised",
        "validation-lost",
        "validation-drop",
        "memorised",
    }
    assert not _evaluated(noise, rise, score)


@pytest.mark.parametrize(("gain", "told"), [(0.0, True), (0.3, False)])
def test_evaluation_that_follows_late_is_no_gap(gain: float, told: bool, noise: np.random.Generator) -> None:
    """Evaluation has seen an eighth of the gain of the training, but is at its best."""
    training = np.append(np.linspace(0, 100, 200), np.full(200, 100.0)) + noise.normal(size=400)
    held_out = np.linspace(0, 40 * gain, 40) + 0.3 * noise.normal(size=40)
    evaluator = new_evaluator()
    evaluator.feed([fresh("reward.episode_return.mean", training)])
    evaluator.feed([fresh("eval/validation.return.mean", held_out, range(10, 401, 10))])
    assert ("evaluation-gap" in ids(evaluator)) is told


@pytest.mark.parametrize(("ties", "told"), [(0.9, True), (0.3, False)])
def test_a_policy_whose_samples_differ_has_entropy(
    ties: float, told: bool, noise: np.random.Generator
) -> None:
    """Where most groups of responses to one prompt differ in reward, an entropy of zero is not measured."""
    series = {"policy.entropy": np.zeros(30), "reward.zero_std_fraction": _around(noise, 30, ties, 0.05)}
    assert ("entropy-zero" in ids(evaluator_of(series), "warning")) is told


@pytest.mark.parametrize(("gain", "told"), [(0.0, True), (0.3, False)])
def test_a_policy_that_settles_on_more_right_answers_has_gained(
    gain: float, told: bool, noise: np.random.Generator
) -> None:
    """The score may stay where it was, with penalties that grow, while more of the answers are right."""
    series = {
        "policy.entropy": np.append(np.linspace(1.0, 0.4, 300), np.full(300, 0.4)),
        "reward.score.mean": 1 + noise.normal(size=600) / 5,
        "reward.accuracy": 0.4 + np.linspace(0, gain, 600) + 0.05 * noise.normal(size=600),
    }
    assert ("settled-without-gain" in ids(evaluator_of(series))) is told


@pytest.mark.parametrize(("last", "told"), [(90.0, True), (108.0, False)])
def test_many_clipped_ratios_are_a_remark_once_the_return_has_gained(
    last: float, told: bool, noise: np.random.Generator
) -> None:
    """Clipping limits the update: 14 points show that the return gained, not yet that it is at its best."""
    series = {
        "policy.clip_fraction": np.append(np.full(5, 0.15), np.full(9, 0.66)),
        "policy.approx_kl": np.full(14, 0.025),
        "reward.episode_return.mean": np.linspace(90, last, 14) + 0.2 * noise.normal(size=14),
    }
    assert ("clip-fraction-most" in ids(evaluator_of(series), "warning")) is told


@pytest.mark.parametrize(("last", "told"), [(140.0, True), (300.0, False)])
def test_a_return_that_falls_in_one_series_and_not_in_the_other_is_no_alarm(
    last: float, told: bool, noise: np.random.Generator
) -> None:
    """Of single episodes and of their running mean one is at its best: the other shows a bad spell."""
    returns = {"episode": "reward.episode_return.mean", "mean": "reward.episode_return.mean"}
    evaluator = new_evaluator(names_of(aliases=returns))
    rise = np.linspace(20, 300, 120)
    evaluator.feed([fresh("episode", np.append(rise, np.full(60, 180.0)) + 3 * noise.normal(size=180))])
    evaluator.feed([fresh("mean", np.append(rise, np.linspace(300, last, 60)) + noise.normal(size=180))])
    assert "return-drop" in ids(evaluator) and not ids(evaluator, "warning")  # a remark on one of the two
    evaluator.set_run_over(True)
    assert ("ended-below-best" in ids(evaluator, "warning")) is told


@pytest.mark.parametrize(("last", "told"), [(0.0, True), (900.0, False)])
def test_a_value_loss_follows_returns_that_vary(last: float, told: bool, noise: np.random.Generator) -> None:
    """One high return does not make those after it a fall, if they are above all before the loss grew."""
    returns = np.concatenate((noise.normal(size=40), np.linspace(50, 900, 20), [3000.0], np.full(19, last)))
    loss = np.append(_around(noise, 40, 0.1, 0.2), _around(noise, 40, 12.0, 0.1))
    series = {"reward.episode_return.mean": returns + 20 * noise.normal(size=80) * (returns > 40)}
    found = evaluator_of(series | {"critic.loss": loss}).findings()
    assert bool([each for each in found if each.id == "value-loss-spike" and each.rank]) is told


@pytest.mark.parametrize(("gain", "told"), [(0.0, True), (0.004, False)])
def test_a_margin_that_is_small_and_grows_is_no_alarm(
    gain: float, told: bool, noise: np.random.Generator
) -> None:
    """After sixty points with a low learning rate the margin is 0.005; without training it stays at zero."""
    margin = 0.001 + np.linspace(0, gain, 60) + 0.0004 * noise.normal(size=60)
    assert ("margin-none" in ids(evaluator_of({"preference.margin": margin}), "warning")) is told


@pytest.mark.parametrize(
    ("tag", "gain", "told"),
    [
        ("reward.episode_return.mean", 300, False),
        ("reward.episode_return.mean", 0, True),
        ("reward.mean", 1, True),
    ],
)
def test_entropy_that_explodes_is_no_alarm_where_the_return_of_an_agent_is_at_its_best(
    tag: str, gain: float, told: bool, noise: np.random.Generator
) -> None:
    """What an agent does at random earns nothing; the reward of texts may be one that randomness earns."""
    entropy = np.append(np.full(40, 0.5), np.linspace(0.5, 2.5, 160)) * (1 + 0.02 * noise.normal(size=200))
    outcome = np.linspace(0, gain, 200) + (noise.normal(size=200) if gain != 1 else 0.0)
    evaluator = evaluator_of({"policy.entropy": entropy, tag: outcome})
    assert ("entropy-explosion" in ids(evaluator, "warning")) is told


@pytest.mark.parametrize("gain", [0.4, 0.0])
@pytest.mark.parametrize(
    ("tag", "level", "rule"),
    [
        ("lengths.response_clip_fraction", 0.3, "truncation"),
        ("policy.ratio.var", 3.0, "ratio-var-high"),
        ("policy.kl_ref", -0.5, "kl-ref-negative"),
        ("reward.solve_none_fraction", 0.85, "solve-none-high"),
        ("lengths.prompt_clip_fraction", 0.2, "prompt-truncation"),
    ],
)
def test_what_may_cost_the_outcome_is_a_remark_where_it_has_not(
    tag: str, level: float, rule: str, gain: float, noise: np.random.Generator
) -> None:
    """An alarm says that something is lost or will be: a reward that rises shows that nothing is so far."""
    cause = np.append(np.full(40, 0.01), np.full(80, level)) * (1 + 0.02 * noise.normal(size=120))
    reward = 0.4 + np.linspace(0, gain, 120) + 0.05 * noise.normal(size=120)
    (told,) = (one for one in evaluator_of({tag: cause, "reward.mean": reward}).findings() if one.id == rule)
    assert told.severity == ("info" if gain else "warning")


@pytest.mark.parametrize(
    ("rise", "told"), [(0.0, "critic-not-trained"), (600.0, "critic-not-trained-so-far")]
)
def test_a_critic_that_explains_nothing_is_an_alarm_where_nothing_is_gained(
    rise: float, told: str, noise: np.random.Generator
) -> None:
    """Policies also learn without one: until a gain is ruled out it is a remark, and so after a gain."""
    count = 60 if rise else 400
    series = {
        "reward.episode_return.mean": 540
        + np.linspace(0, rise, count) ** 0.9
        + 110 * noise.normal(size=count),
        "critic.explained_variance": 1e-6 * noise.normal(size=count),
        "critic.loss": 900 + 20 * noise.normal(size=count),
    }
    found = {one.id: one.severity for one in evaluator_of(series).findings()}
    assert found.get(told) == ("info" if rise else "warning")
    assert ("warning" in found.values()) is (not rise)


@pytest.mark.parametrize(
    ("level", "largest", "told"), [(0.9, None, False), (0.4, None, True), (1.0, 2.0, True)]
)
def test_a_model_that_is_good_from_the_start_needs_no_gain(
    level: float, largest: float | None, told: bool, noise: np.random.Generator
) -> None:
    """Where four of five samples are right there is little left to gain: its absence is no fault."""
    reward = np.minimum(level + 0.05 * noise.normal(size=240), largest or 1.0)
    series = {
        "reward.mean": reward,
        "policy.kl_ref": np.linspace(0, 0.02, 240),
        "reward.zero_std_fraction": np.full(240, 0.5),
        "optimizer.learning_rate": np.linspace(1e-5, 0, 240),
    }
    if largest is not None:
        series["reward.max"] = np.full(240, largest)
    evaluator = evaluator_of(series)
    live = ids(evaluator, "warning")
    evaluator.set_run_over(True)
    assert bool(ids(evaluator, "warning")) is told
    assert ("half-spent-reward-flat" in live) is told


def test_a_penalty_for_all_samples_of_a_group_is_not_near_the_largest_reward(
    noise: np.random.Generator,
) -> None:
    """Where mean and largest reward are the same negative number, a missing gain is told."""
    reward = noise.choice([-1.0, 0.4], size=340, p=[0.75, 0.25])
    evaluator = evaluator_of({"reward.mean": reward, "reward.max": reward})
    evaluator.set_run_over(True)
    assert "ended-without-gain" in ids(evaluator, "warning")


def test_responses_that_are_cut_throughout_are_an_alarm_whatever_the_reward_does(
    noise: np.random.Generator,
) -> None:
    """More than half of them, for longer than a model needs to learn to stop."""
    series = {
        "reward.mean": np.linspace(-6, 4, 200) + 0.5 * noise.normal(size=200),
        "lengths.response_clip_fraction": 0.9 + 0.03 * noise.normal(size=200),
    }
    assert "truncation-lasting" in ids(evaluator_of(series), "warning")


def _alarmed(series: dict[str, np.ndarray], rule: str) -> bool:
    return rule in ids(evaluator_of(series), "warning")


@pytest.mark.parametrize(("epochs", "told"), [(0.05, False), (3.0, True)])
def test_a_margin_that_is_still_small_is_no_alarm_while_the_first_epoch_begins(
    epochs: float, told: bool, noise: np.random.Generator
) -> None:
    """After a twentieth of the pairs a margin near zero is expected; after three passes it is not."""
    margin = 0.001 + 0.0004 * noise.normal(size=60)
    series = {"preference.margin": margin, "progress.epoch": np.linspace(0, epochs, 60)}
    assert _alarmed(series, "margin-none") is told


@pytest.mark.parametrize(("turns", "told"), [(20.0, False), (24.0, True)])
def test_responses_of_an_agent_that_makes_fewer_turns_are_shorter(
    turns: float, told: bool, noise: np.random.Generator
) -> None:
    """Its response is what it writes in all turns: it collapses only where a turn does."""
    fall = np.linspace(0, 1, 200)
    series = {
        "turns.mean": 24 + (turns - 24) * fall,
        "lengths.response.mean": 2400 - (0.72 if turns < 24 else 0.75) * 2400 * fall,
        "reward.mean": 0.4 + 0.5 * fall + 0.02 * noise.normal(size=200),
    }
    assert _alarmed(series, "length-hacking") is told


@pytest.mark.parametrize(("update", "told"), [(2.0, False), (80.0, True)])
def test_a_low_mfu_of_brief_updates_is_no_alarm(
    update: float, told: bool, noise: np.random.Generator
) -> None:
    """Where updates take a third of a step, faster ones would save little; where they take most, much."""
    series = {
        "perf.mfu.actor": _around(noise, 40, 0.06, 0.05),
        "timing.update_actor": _around(noise, 40, update, 0.02),
        "timing.step": _around(noise, 40, update + 5, 0.02),
    }
    assert _alarmed(series, "mfu-low") is told


@pytest.mark.parametrize(("first", "told"), [(10, False), (60, True)])
def test_a_return_at_its_best_vouches_for_updates_that_have_been_large_for_long(
    first: int, told: bool
) -> None:
    """Most of the gain was made with them, unless they became large late."""
    moved = np.append(np.linspace(0.005, 0.03, first), np.linspace(0.03, 0.15, 100 - first))
    series = {"policy.approx_kl": moved, "reward.episode_return.mean": np.linspace(10, 200, 100)}
    assert _alarmed(series, "approx-kl-very-high") is told


@pytest.mark.parametrize(
    ("deviation", "told"), [({"policy.action_std": np.full(60, 0.1)}, False), ({}, True)]
)
def test_entropy_of_continuous_actions_is_no_multiple(
    deviation: dict[str, np.ndarray], told: bool, noise: np.random.Generator
) -> None:
    """It is a logarithm and may begin anywhere: from 1.5 to 4.5 nats is a factor of 1.6 in six dimensions."""
    entropy = np.append(_around(noise, 20, 1.5, 0.03), _around(noise, 40, 4.5, 0.03))
    assert _alarmed({"policy.entropy": entropy, **deviation}, "entropy-explosion") is told


@pytest.mark.parametrize(("gain", "told"), [(2.5, False), (0.0, True)])
def test_games_that_are_never_won_are_no_alarm_while_evaluations_return_more(
    gain: float, told: bool, noise: np.random.Generator
) -> None:
    """A game may have no notion of being won; what evaluations earn tells whether something is learnt."""
    returns = -5 + gain * np.linspace(0, 1, 260) + 0.3 * noise.normal(size=260)
    steps = range(5000, 5000 * 261, 5000)
    evaluator = new_evaluator()
    evaluator.feed([fresh("eval/validation.return.mean", returns, steps)])
    evaluator.feed([fresh("eval/validation.success_rate", np.zeros(260), steps)])
    assert ("validation-zero" in ids(evaluator, "warning")) is told


@pytest.mark.parametrize(("spread", "told"), [(0.05, False), (0.0, True)])
def test_games_that_are_never_won_do_not_make_values_stand_still(
    spread: float, told: bool, noise: np.random.Generator
) -> None:
    """Where returns of episodes differ, values have something to learn although no game is won."""
    series = {
        "critic.loss": 10 ** np.linspace(5, -2, 40),
        "policy.exploration": np.linspace(1, 0.4, 40),
        "reward.success_rate": np.zeros(40),
        "reward.episode_return.mean": np.abs(spread * noise.normal(size=40)),
    }
    assert _alarmed(series, "values-stopped") is told


@pytest.mark.parametrize(("every", "told"), [(1, False), (2000, True)])
def test_a_few_single_episodes_that_end_alike_are_no_alarm(every: int, told: bool) -> None:
    """Thirty rows may be thirty episodes; of a mean that is logged at every 2,000 steps they are many."""
    evaluator = new_evaluator()
    steps = range(every, 31 * every, every)
    evaluator.feed([fresh("reward.episode_return.mean", np.full(30, 4.0), steps)])
    assert ("return-same" in ids(evaluator)) is told


@pytest.mark.parametrize(
    ("scale", "gains", "told"),
    [(0.002, False, ""), (0.03, False, "-small"), (0.03, True, ""), (1.0, True, None)],
)
def test_a_gradient_below_what_trainers_clip_it_to_does_not_explode(
    scale: float, gains: bool, told: str | None, noise: np.random.Generator
) -> None:
    """Twenty times a thousandth is nothing; twenty times a hundredth is an alarm while nothing is gained."""
    norm = scale * np.append(_around(noise, 40, 0.5, 0.05), _around(noise, 20, 10.0, 0.5))
    reward = np.linspace(0, 1, 60) if gains else np.full(60, 0.3)
    alarms = ids(
        evaluator_of({"optimizer.grad_norm": norm, "reward.mean": reward + 0.02 * noise.normal(size=60)}),
        "warning",
    )
    found = {name for name in alarms if name.startswith("grad-explosion")}
    assert found == ({"grad-explosion" + (told or "")} if told != "" else set())


def test_a_gradient_in_another_unit_explodes_by_its_own_level(noise: np.random.Generator) -> None:
    """A root mean square over millions of weights is far below what trainers clip a norm to."""
    values = np.append(_around(noise, 40, 1e-4, 0.05), _around(noise, 20, 1e-2, 0.05))
    evaluator = new_evaluator(names_of("dreamerv3"))
    evaluator.feed([fresh("train/opt/grad_rms", values)])
    assert "grad-explosion-scaled" in ids(evaluator, "warning")


def test_a_policy_far_below_its_start_that_rises_a_little_is_a_remark(noise: np.random.Generator) -> None:
    """It may be learnt again; but it is said, because it is still far worse than at the start."""
    returns = np.concatenate((np.full(40, 100.0), np.linspace(100, 20, 30), np.linspace(20, 40, 230)))
    series = {"reward.episode_return.mean": returns + noise.normal(size=300)}
    series |= {"critic.explained_variance": _around(noise, 300, 0.6, 0.05)}
    assert "policy-gets-worse" in ids(evaluator_of(series)) - ids(evaluator_of(series), "warning")


def test_a_return_that_rises_again_does_not_stay_below_its_start() -> None:
    """The remark says that it rises, and one remark is enough for one fact."""
    noise = np.random.default_rng(2)
    returns = np.concatenate((np.full(30, 100.0), np.linspace(100, 20, 70), np.linspace(20, 45, 200)))
    series = {
        "reward.episode_return.mean": returns + 3 * noise.normal(size=300),
        "policy.approx_kl": _around(noise, 300, 0.01, 0.1),
    }
    critic = {"critic.explained_variance": _around(noise, 300, 0.9, 0.02)}
    for more, told in (({}, "on-policy-below-start"), (critic, "policy-gets-worse")):
        found = evaluator_of(series | more).findings()
        (remark,) = [each for each in found if each.symptom and each.explained_by is None]
        assert (remark.id, remark.severity) == (told, "info")
        assert "rises again" in remark.message and "stays there" not in remark.message


OUTCOMES = ["reward.mean", "reward.episode_return.mean", "reward.success_rate"]


@pytest.mark.parametrize(("beside", "told"), [(None, True), *((outcome, False) for outcome in OUTCOMES)])
def test_the_reward_of_a_step_is_judged_where_it_is_the_only_outcome(
    beside: str | None, told: bool, noise: np.random.Generator
) -> None:
    """It says less than the others, but a run that logs nothing else must not fail unnoticed."""
    series = {"reward.step.mean": np.append(np.linspace(0, 1, 100), np.full(100, -1.0))}
    series |= {beside: np.linspace(0.1, 0.9, 200)} if beside else {}
    noisy = {name: values + 0.02 * noise.normal(size=200) for name, values in series.items()}
    assert _alarmed(noisy, "reward-crash") is told


def test_the_reward_of_a_step_that_falls_as_episodes_get_longer_is_no_alarm(
    noise: np.random.Generator,
) -> None:
    """Where a goal pays once, longer episodes earn less at each step; evaluations tell what is achieved."""
    series = {
        "reward.step.mean": np.append(np.linspace(0, 1, 60), np.linspace(1, 0.05, 140)),
        "eval/validation.return.mean": np.linspace(0, 500, 200),
    }
    noisy = {name: values * (1 + 0.02 * noise.normal(size=200)) for name, values in series.items()}
    assert not ids(evaluator_of(noisy), "warning")
