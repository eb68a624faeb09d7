"""Known traps: what looks like a fault and is none."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.runs.evaluators import evaluator_of, fresh, ids, names_of, new_evaluator
from tests.support.runs.synthetic_runs import Shape, healthy


def quiet(series: dict[str, object], **kwargs: object) -> bool:
    """Whether nothing of at least a warning fires, now or before."""
    evaluator = evaluator_of(series, **kwargs)
    return not ids(evaluator, "warning") and not [f for f in evaluator.history() if f.rank]


def test_rows_of_evaluation_only(noise: np.random.Generator) -> None:
    """Steps at which only evaluation wrote leave holes in training tags, no NaN and no stall of a metric."""
    evaluator = new_evaluator()
    steps = [k for k in range(1, 201) if k % 10]
    evaluator.feed([fresh("optimizer.grad_norm", 0.5 + 0.05 * noise.normal(size=len(steps)), steps)])
    evaluator.feed([fresh("validation.accuracy", np.linspace(0.3, 0.6, 20), range(10, 201, 10))])
    assert evaluator.findings() == []
    assert evaluator.diagnostics() == []


def test_kl_of_zero_with_no_penalty() -> None:
    """KL that is exactly 0 because its weight is 0 is not a policy that does not move."""
    series = healthy("grpo", Shape(n=200, seed=2))
    assert quiet(series | {"policy.kl_ref": np.zeros(200)})
    assert quiet({"policy.kl_ref": np.zeros(300), "preference.margin": np.linspace(0, 2, 300)})


def test_mfu_that_is_always_zero() -> None:
    """MFU 0.0 means not reported: told as data quality, never as a finding."""
    evaluator = evaluator_of({"perf.mfu.actor": np.zeros(200)})
    assert evaluator.findings() == []
    assert [problem.code for problem in evaluator.diagnostics()] == ["not-reported"]


def test_a_spread_of_actions_that_is_always_nan() -> None:
    """Torch has none of discrete actions: not measured. One that becomes NaN is a warning, as others are."""
    undefined = evaluator_of({"policy.action_std": np.full(200, np.nan)})
    assert [(problem.level, problem.code) for problem in undefined.diagnostics()] == [
        ("info", "not-reported")
    ]
    broken = evaluator_of({"policy.action_std": np.append(np.ones(100), np.full(100, np.nan))})
    assert [(problem.level, problem.code) for problem in broken.diagnostics()] == [("warning", "non-finite")]


@pytest.mark.parametrize(
    ("metric", "value", "code"),
    [
        ("validation.return.mean", np.nan, "not-reported"),
        ("policy.approx_kl", np.nan, "not-reported"),
        ("policy.approx_kl", np.inf, "non-finite"),
        ("reward.mean", np.nan, "non-finite"),
        ("critic.loss", np.nan, "non-finite"),
    ],
)
def test_a_column_that_is_always_nan(metric: str, value: float, code: str) -> None:
    """What this training does not measure is NaN throughout; a reward or a loss is broken then."""
    assert [problem.code for problem in evaluator_of({metric: np.full(60, value)}).diagnostics()] == [code]


def test_entropy_of_continuous_actions_falls_below_zero(noise: np.random.Generator) -> None:
    """Differential entropy crosses zero on its way to a narrow policy."""
    fall = np.linspace(8.5, -6, 400) + 0.05 * noise.normal(size=400)
    assert quiet({"policy.entropy": fall, "reward.episode_return.mean": np.linspace(-900, -100, 400)})
    slow = np.linspace(1.42, -0.4, 900) + 0.01 * noise.normal(size=900)
    assert quiet({"policy.entropy": slow, "policy.action_std": np.linspace(1, 0.3, 900)})


def test_very_negative_rewards(noise: np.random.Generator) -> None:
    """Returns from -1500 to -700 are progress."""
    rise = np.linspace(-1500, -700, 120) + 60 * noise.normal(size=120)
    assert quiet({"reward.episode_return.mean": rise})


def test_warm_up_of_the_learning_rate() -> None:
    """A rate that rises from 0 over the first steps, and the KL that follows it, are a schedule."""
    rate = 1e-6 * np.minimum(np.arange(300) / 30, 1)
    assert quiet({"optimizer.learning_rate": rate, "policy.approx_kl": 3e9 * rate**2 + 1e-5})


def test_one_outlier(noise: np.random.Generator) -> None:
    """A single wild sample, whatever its size, is no finding."""
    for tag, usual in (
        ("optimizer.grad_norm", 0.5),
        ("policy.approx_kl", 0.004),
        ("policy.kl_ref", 0.08),
        ("critic.loss", 1.0),
        ("reward.mean", 0.7),
        ("timing.step", 12.0),
        ("policy.ratio.mean", 1.0),
        ("lengths.response_clip_fraction", 0.01),
    ):
        values = usual * (1 + 0.05 * noise.normal(size=150))
        values[90] = 1000 * usual
        assert quiet({tag: values}), tag
        values[90] = 0.0
        assert quiet({tag: values}), tag


def test_restarts_do_not_look_like_jumps(noise: np.random.Generator) -> None:
    """A resumed run writes some steps again; rewards and KL go on from where the checkpoint was."""
    evaluator = new_evaluator()
    rise = np.linspace(0.2, 0.8, 200) + 0.02 * noise.normal(size=200)
    evaluator.feed([fresh("reward.mean", rise[:120])])
    evaluator.feed([fresh("reward.mean", rise[100:], range(101, 201), rewound_to=101)])
    assert not ids(evaluator)


def test_step_axes_that_differ_per_tag(noise: np.random.Generator) -> None:
    """Environment steps, updates and epochs in one log are three axes, none of them stuck."""
    evaluator = new_evaluator()
    evaluator.feed([fresh("reward.episode_return.mean", np.linspace(0, 200, 90), range(1000, 91000, 1000))])
    evaluator.feed([fresh("critic.loss", np.exp(-np.linspace(0, 2, 90)), range(90))])
    evaluator.feed([fresh("perf.fps", 900 + 5 * noise.normal(size=90), [k // 10 for k in range(90)])])
    assert not ids(evaluator)
    assert evaluator.diagnostics() == []


def test_tags_of_every_tenth_step(noise: np.random.Generator) -> None:
    """A ratio of two tags uses the steps that both have."""
    evaluator = new_evaluator()
    evaluator.feed([fresh("timing.step", np.full(300, 10.0))])
    evaluator.feed([fresh("timing.reward", np.full(30, 1.0), range(10, 301, 10))])
    evaluator.feed([fresh("lengths.response.mean", 100 + 3 * noise.normal(size=30), range(10, 301, 10))])
    assert not ids(evaluator)


def test_five_points_say_nothing() -> None:
    """A run of five points is not judged by what needs a past."""
    for seed in range(20):
        assert quiet(healthy("grpo", Shape(n=5, seed=seed)))


def test_a_solved_task_is_no_collapse() -> None:
    """Groups that all succeed, rewards without spread and tiny gradients at the top are success."""
    reward = np.minimum(np.linspace(0.4, 2.4, 200), 2.0)
    spread = np.where(reward < 2, 0.3, 0.0)
    evaluator = evaluator_of(
        {
            "reward.mean": reward,
            "reward.std": spread,
            "reward.zero_std_fraction": np.where(reward < 2, 0.1, 1.0),
            "optimizer.grad_norm": np.where(reward < 2, 0.5, 1e-7),
        }
    )
    assert not ids(evaluator, "warning")
    assert "no-reward-spread" in ids(evaluator)


def test_what_holds_from_the_start_is_dated_from_the_start(noise: np.random.Generator) -> None:
    """A rule that gives a model 36 points to learn to stop says afterwards since when it has not."""
    evaluator = evaluator_of({"lengths.response_clip_fraction": 0.8 + 0.05 * noise.random(60)})
    found = next(finding for finding in evaluator.findings() if finding.id == "truncation-lasting")
    assert found.since_step == 1
    late = evaluator_of({"lengths.response_clip_fraction": 0.8 + 0.05 * noise.random(30)})
    assert not ids(late, "warning")


def test_the_end_of_a_console_does_not_tell_where_the_reward_began(noise: np.random.Generator) -> None:
    """A deterministic policy whose reward stands still is no collapse where training began long before."""
    series = {
        "policy.entropy": 0.004 + 0.001 * noise.normal(size=40),
        "reward.episode_return.mean": 0.84 + 0.004 * noise.normal(size=40),
    }
    for first, collapsed in ((1024, True), (17_661_952, False)):
        evaluator = new_evaluator()
        evaluator.feed([fresh(tag, values, first + 1024 * np.arange(40)) for tag, values in series.items()])
        assert ("policy-collapsed" in ids(evaluator)) is collapsed


def test_a_long_fall_of_entropy_does_not_become_a_quick_one(noise: np.random.Generator) -> None:
    """A policy that narrows over 400 steps and solves its task did not collapse, however long it trains."""
    at = np.arange(4000)
    entropy = np.interp(at, [0, 400], [1.75, 0.04]) + 0.01 * noise.random(len(at))
    reward = np.interp(at, [0, 400], [0.05, 0.97]) + 0.002 * noise.normal(size=len(at))
    evaluator = evaluator_of({"policy.entropy": entropy, "reward.episode_return.mean": reward})
    assert "entropy-collapse" not in ids(evaluator) | {finding.id for finding in evaluator.history()}
    assert not ids(evaluator, "warning")


def test_one_rewarded_episode_among_a_thousand_is_not_none() -> None:
    """Ticks are medians, so a single success is in none of them: what says "exactly 0" knows of it."""
    for success, told in ((0.0, True), (1.0, False)):
        values = np.zeros(4096)
        values[2001] = success
        evaluator = new_evaluator()
        evaluator.feed([fresh("reward.episode_return.mean", values, 500 * np.arange(1, 4097))])
        assert ("return-constant-long" in ids(evaluator)) is told


def test_held_out_scores_are_not_training_scores() -> None:
    """Evaluation under a training name is kept apart from it."""
    evaluator = new_evaluator(names_of(aliases={"eval/reward": "reward.mean"}))
    evaluator.feed([fresh("eval/reward", [0.9] * 30 + [0.1] * 30)])
    assert not ids(evaluator)


def test_an_early_truncation_that_the_model_learns_to_avoid() -> None:
    """All answers cut at first, none later: that is learning."""
    cut = np.concatenate((np.ones(18), np.linspace(1, 0, 16), np.zeros(60)))
    assert quiet({"lengths.response_clip_fraction": cut})


def test_the_total_reward_is_not_judged_beside_the_score() -> None:
    """A crash of the reward with its penalties counts only where no score without them is logged."""
    crash = np.concatenate((np.linspace(0.2, 0.9, 60), np.full(20, 0.9), np.full(20, 0.3)))
    crash += 0.01 * np.random.default_rng(0).normal(size=100)
    assert "reward-crash" in ids(evaluator_of({"reward.mean": crash}))
    assert "reward-crash" not in ids(
        evaluator_of({"reward.mean": crash, "reward.score.mean": crash[:80].repeat(2)})
    )
    assert "reward-crash" in ids(evaluator_of({"reward.mean": crash, "reward.score.mean": crash}))


def test_a_key_that_nobody_knows_is_judged_in_place_of_no_other() -> None:
    """What is found of a score is found beside a series without a meaning, too."""
    crash = np.concatenate((np.linspace(0.2, 0.9, 60), np.full(20, 0.9), np.full(20, 0.3)))
    crash += 0.01 * np.random.default_rng(0).normal(size=100)
    assert "reward-crash" in ids(evaluator_of({"reward.score.mean": crash, "own/number": crash}))


def test_a_value_back_within_its_limit_is_told_by_its_worst() -> None:
    """A size that fell below its limit, though not far, is told by how large it was and what it is now."""
    size = np.concatenate([np.full(60, 0.1), np.full(12, 5.0), np.full(12, 0.7)])
    evaluator = new_evaluator()
    evaluator.feed([fresh("policy.loss", size)])
    told = next(each for each in evaluator.findings() if each.id == "loss-jump")
    assert told.message.startswith("The size of the loss rose to 5, more than ten times")
    assert "now 0.7)" in told.message


def test_a_fall_is_never_told_by_a_value_above_where_it_began() -> None:
    """While a held-out score comes back, the sentence has the value that it had fallen to."""
    noise = np.random.default_rng(3).standard_normal(24)
    told = []
    for back in range(1, 6):
        score = (
            np.concatenate([np.full(6, 0.62), np.zeros(12), np.full(back, 0.69)]) + 0.01 * noise[: 18 + back]
        )
        evaluator = new_evaluator()
        evaluator.feed(
            [fresh("validation.accuracy", score), fresh("reward.mean", np.linspace(0.6, 0.7, 18 + back))]
        )
        told += [each for each in evaluator.findings() if each.id == "validation-below-start"]
    assert len(told) > 2
    assert any("; now 0." in each.message for each in told)
    assert all(each.evidence[0].now < each.evidence[0].before for each in told)


def _told_of_few_prompts(seed: int, gain: float, fall: float) -> set[str]:
    """The alarms of a run of 100 to 250 steps, evaluated twenty times on 64 prompts, while it grows."""
    rng = np.random.default_rng([seed, 21])
    steps = int(rng.choice([100, 150, 250]))
    at = np.arange(steps) / steps
    right = 0.4 + gain * (1 - np.exp(-3 * at))
    reward = rng.binomial(64, right) / 64
    scores = rng.binomial(64, right[steps // 20 - 1 :: steps // 20]) / 64
    entropy = (1 - fall * (1 - np.exp(-3 * at))) * np.exp(0.05 * rng.standard_normal(steps))
    evaluator, told = new_evaluator(), set()
    for end in range(1, len(scores) + 1):
        now = np.arange(steps // 20 * (end - 1), min(steps // 20 * end, steps))
        pieces = [fresh("reward.mean", reward[now], now + 1), fresh("policy.entropy", entropy[now], now + 1)]
        evaluator.feed([*pieces, fresh("validation.accuracy", scores[end - 1 : end], [int(now[-1]) + 1])])
        told |= ids(evaluator, "warning")
    return told


def test_scores_of_few_prompts_are_no_proof_that_nothing_is_gained() -> None:
    """Training rises by a fifth, and so does a held-out score that sixty-four prompts hide."""
    told = [_told_of_few_prompts(seed, 0.2, 0.0) for seed in range(30)]
    assert sum(bool(each & {"eval-stalls", "over-optimisation", "echo-trap"}) for each in told) <= 1


def test_a_small_gain_is_not_denied_while_entropy_falls() -> None:
    """A policy that gives up half of its entropy for a tenth more right answers has not settled."""
    told = [_told_of_few_prompts(seed, 0.1, 0.5) for seed in range(30)]
    assert sum("settled-without-gain" in each for each in told) <= 1


def test_a_tag_of_no_metric_hides_no_rule() -> None:
    """An accuracy that is lost is told beside a tag that nobody knows."""
    lost = np.array([0.95, 0.9, 0.6, 0.55, 0.61, 0.58])
    for others in ({}, {"nobody/knows": np.arange(6.0)}):
        assert "reward-rate-below-start" in ids(evaluator_of({"reward.accuracy": lost, **others}), "warning")


def test_groups_that_tie_from_the_first_step_are_told_once_a_window_has_them() -> None:
    """Shares of many groups that all tie, of cut responses, are no chance: the alarm names both at step 1."""
    ties = np.resize([1.0, 0.9875, 1.0], 10)
    series = {
        "reward.mean": 0.87 + 0.02 * np.random.default_rng(1).standard_normal(10),
        "reward.zero_std_fraction": ties,
        "lengths.response_clip_fraction": np.ones(10),
        "lengths.response.min": np.full(10, 96.0),
        "lengths.response.max": np.full(10, 96.0),
    }
    found = [one for one in evaluator_of(series).findings() if one.severity == "warning"]
    assert [(one.id, one.since_step) for one in found if one.symptom] == [("truncation-no-signal", 1)]
    one_group = evaluator_of(series | {"reward.zero_std_fraction": np.ones(10)})
    assert "zero-advantage" not in ids(one_group, "warning")


def test_one_group_a_step_ties_by_chance() -> None:
    """Where one group is logged, single steps have no spread; an alarm needs more of them than before."""
    wrong = 0
    for seed in range(20):
        rng, evaluator, told = np.random.default_rng([seed, 8]), new_evaluator(), set()
        solved = rng.binomial(8, rng.beta(0.6, 0.9, 200)) / 8
        spread = np.sqrt(solved * (1 - solved))
        series = {
            "reward.mean": solved,
            "reward.std": spread,
            "reward.zero_std_fraction": (spread == 0) * 1.0,
            "policy.advantage.std": (spread > 0) * 1.0,
            "optimizer.grad_norm": np.where(spread > 0, np.exp(0.3 * rng.standard_normal(200)), 0),
        }
        for begin in range(0, 200, 10):
            part = slice(begin, begin + 10)
            evaluator.feed(
                [fresh(tag, each[part], np.arange(begin, begin + 10)) for tag, each in series.items()]
            )
            told |= ids(evaluator, "warning")
        wrong += bool(told)
    assert wrong <= 1


def test_episodes_that_are_won_or_lost_crash_by_no_row_of_losses() -> None:
    """Single episodes of a policy that wins more and more of them: some losses in a row are chance."""
    wrong = 0
    for seed in range(21):
        rng, evaluator, told = np.random.default_rng([seed, 4]), new_evaluator(), set()
        won = (rng.random(400) < np.linspace(0, 0.75, 400)) * 1.0
        for begin in range(0, 400, 10):
            part = slice(begin, begin + 10)
            evaluator.feed([fresh("reward.episode_return.mean", won[part], np.arange(begin, begin + 10))])
            told |= ids(evaluator, "warning")
        wrong += bool(told)
    assert wrong <= 1


def test_rewards_on_another_scale_are_not_lost() -> None:
    """Mean and spread that change by one factor at one step are a remark; a mean alone is a crash."""
    series = healthy("grpo", Shape(n=200, seed=6))
    factor = np.where(np.arange(200) < 120, 1.0, 0.1)
    scaled = series | {tag: factor * series[tag] for tag in ("reward.mean", "reward.std")}
    assert quiet(scaled)
    remark = next(each for each in evaluator_of(scaled).findings() if each.id == "reward-scale-set-anew")
    assert remark.since_step == 121
    assert "reward-crash" in ids(evaluator_of(series | {"reward.mean": factor * series["reward.mean"]}))


def test_a_reward_that_changes_its_sign_is_no_crash(noise: np.random.Generator) -> None:
    """As far on the other side of zero with the same spread is another sign; else it is a fall."""
    series = healthy("grpo", Shape(n=200, seed=6, noise=0.5))
    turned = np.where(np.arange(200) < 120, 1.0, -1.0) * np.abs(series["reward.mean"])
    spread = series["reward.std"]
    told = next(each for each in evaluator_of(series | {"reward.mean": turned}).findings() if each.rank)
    assert told.id == "reward-turned-over"
    assert told.since_step == 121
    other = series | {"reward.mean": turned, "reward.std": np.where(turned > 0, 1.0, 0.3) * spread}
    assert "reward-turned-over" not in ids(evaluator_of(other))
    slow = np.concatenate((np.linspace(0.6, -0.6, 60), np.full(140, -0.6))) + 0.02 * noise.normal(size=200)
    assert "reward-turned-over" not in ids(evaluator_of(series | {"reward.mean": slow}))


def test_a_crash_after_a_change_of_the_scale_is_told() -> None:
    """What is lost on the new scale is lost."""
    series = healthy("grpo", Shape(n=300, seed=6))
    factor = np.where(np.arange(300) < 120, 1.0, 0.3)
    lost = np.where(np.arange(300) < 200, 1.0, 0.1)
    assert "reward-crash" in ids(
        evaluator_of(
            series
            | {
                "reward.mean": factor * lost * series["reward.mean"],
                "reward.std": factor * series["reward.std"],
            }
        )
    )


def test_a_critic_that_explains_nothing_is_told_where_nothing_is_gained() -> None:
    """Returns in the hundred thousands that no critic follows; one that explains some of them is quiet."""
    rng, count = np.random.default_rng(4), 120
    series = {
        "reward.episode_return.mean": 6.6e5 + 3e3 * rng.standard_normal(count),
        "critic.loss": 5e6 * np.exp(0.4 * rng.standard_normal(count)) * np.linspace(2, 0.5, count),
        "policy.approx_kl": 3e-5 * np.exp(rng.standard_normal(count)),
    }
    nothing = 1e-6 * rng.standard_normal(count)
    assert "critic-not-trained" in ids(
        evaluator_of(series | {"critic.explained_variance": nothing}), "warning"
    )
    some = 0.3 + 0.1 * rng.standard_normal(count)
    assert "critic-not-trained" not in ids(evaluator_of(series | {"critic.explained_variance": some}))


def test_responses_cut_since_the_first_log_are_told_after_few_logs(noise: np.random.Generator) -> None:
    """Logs of ten updates each: 36 updates in which neither cut responses nor the reward moved."""
    steps = range(10, 81, 10)
    cut = {"lengths.response_clip_fraction": 0.9 + 0.03 * noise.normal(size=8)}
    reward = {"reward.mean": 0.4 + 0.05 * noise.normal(size=8)}
    fewer = {"lengths.response_clip_fraction": np.linspace(0.95, 0.35, 8)}
    risen = {"reward.mean": np.linspace(0.1, 0.9, 8)}
    for series, told in ((cut | reward, True), (fewer | reward, False), (cut | risen, False), (cut, False)):
        evaluator = new_evaluator()
        evaluator.feed([fresh(tag, values, steps) for tag, values in series.items()])
        assert ("truncation-throughout" in ids(evaluator, "warning")) is told
    assert quiet(cut | reward)  # one update each


def test_where_no_response_ever_ended_there_is_none_to_learn_from(noise: np.random.Generator) -> None:
    """All responses of twelve logs were cut and the reward stands: told, until some end."""
    reward = 0.4 + 0.05 * noise.normal(size=60)
    evaluator = evaluator_of({"reward.mean": reward[:13], "lengths.response_clip_fraction": np.ones(13)})
    assert ids(evaluator, "warning") == {"truncation-throughout"}
    some = np.append(np.ones(7), np.full(6, 0.94))
    assert quiet({"reward.mean": reward[:13], "lengths.response_clip_fraction": some})
    learnt = np.concatenate([np.ones(13), np.linspace(1, 0, 10), np.zeros(37)])
    assert not ids(evaluator_of({"reward.mean": reward, "lengths.response_clip_fraction": learnt}), "warning")


def test_a_ratio_of_two_constants_says_nothing_of_the_reward_of_a_step() -> None:
    """Return and length that are constant at first, and then learn, are no change of the reward function."""
    random = np.random.default_rng(11)
    returns = np.append(np.full(79, 2.0), np.linspace(1.5, 24, 400) + 0.3 * random.normal(size=400))
    lengths = np.append(np.full(79, 31.0), np.linspace(40, 180, 400) + 2 * random.normal(size=400))
    assert quiet({"reward.episode_return.mean": returns, "lengths.episode.mean": lengths})


def test_little_entropy_that_halves_moves_kl_by_little() -> None:
    """Entropy from 0.08 to 0.03 nats is within a KL of 0.004: the reference need not move with the policy."""
    random = np.random.default_rng(12)
    entropy = np.append(np.full(10, 0.08), np.linspace(0.08, 0.03, 90)) + 0.002 * random.normal(size=100)
    kl = np.linspace(0.0005, 0.004, 100)
    assert quiet({"policy.entropy": entropy, "policy.kl_ref": kl})


def test_an_agent_that_fills_its_buffer_has_no_loss_yet() -> None:
    """Losses and Q values that are NaN from the first episode on are not broken while a buffer is filled."""
    returns = 10 + np.random.default_rng(14).normal(size=1200)

    def critical(series: dict[str, np.ndarray]) -> bool:
        points = len(next(iter(series.values())))
        return bool(ids(evaluator_of({"reward.episode_return.mean": returns[:points], **series}), "critical"))

    nothing, broken = np.full(300, np.nan), np.append(np.ones(290), np.full(10, np.nan))
    assert not critical({"critic.loss": nothing, "critic.q.mean": nothing})
    assert critical({"critic.loss": np.full(1200, np.nan), "critic.q.mean": np.full(1200, np.nan)})
    assert critical({"critic.loss": broken, "critic.q.mean": broken})
    assert critical({"critic.loss": nothing})  # of a policy gradient
    assert critical({"critic.loss": nothing, "policy.loss": broken})
    assert not critical({"policy.loss": np.full(6, np.nan)})  # before the first update
    assert critical({"policy.loss": np.full(12, np.nan)})


def test_a_run_that_learnt_within_its_first_episodes_did_not_end_without_a_gain() -> None:
    """An easy task is learnt in a fiftieth of the run; the rest of the first tenth is as good as the end."""
    random = np.random.default_rng(16)
    learnt = np.append(np.linspace(100, 160, 40), np.full(2000, 164.0)) + 12 * random.normal(size=2040)
    for returns, ended in ((learnt, False), (np.full(2040, 100.0) + 12 * random.normal(size=2040), True)):
        evaluator = evaluator_of({"reward.episode_return.mean": returns})
        evaluator.set_run_over(True)
        assert ("ended-without-gain" in ids(evaluator, "warning")) == ended


def test_at_the_end_of_a_run_an_outcome_at_its_best_counts_at_once() -> None:
    """While it goes on, an outcome must be well for a tenth of the run to make a remark of an alarm."""
    random = np.random.default_rng(18)
    width = np.concatenate((np.linspace(1, 0.6, 60), np.linspace(0.6, 2.2, 120)))
    returns = np.append(np.linspace(100, 60, 168), np.full(12, 160.0)) + random.normal(size=180)
    evaluator = evaluator_of({"policy.action_std": width, "reward.episode_return.mean": returns})
    assert "action-noise-widens" in ids(evaluator, "warning")
    evaluator.set_run_over(True)
    assert "action-noise-widens" not in ids(evaluator, "warning")


def test_two_sets_that_are_evaluated_by_turns_are_no_noise(noise: np.random.Generator) -> None:
    """Their losses are apart at each point, which must not hide that both rise."""
    both = np.where(np.arange(60) % 2, 0.9, 0.6) * np.append(np.ones(30), np.linspace(1, 2, 30))
    alarms = ids(evaluator_of({"validation.loss": both * (1 + 0.01 * noise.normal(size=60))}), "warning")
    assert "validation-loss-rising" in alarms


@pytest.mark.parametrize("size", [40, 100, 300])
def test_the_noise_of_evaluations_is_no_rise_of_the_held_out_loss(
    size: int, noise: np.random.Generator
) -> None:
    """Of some hundreds of evaluations the lowest is far below the others by chance; a true rise is told."""
    flat = 0.3 + 0.01 * noise.normal(size=size)
    assert not ids(evaluator_of({"validation.loss": flat}), "warning")
    overfits = np.linspace(0, 0.3, size) * (np.arange(size) > size // 2) + flat
    assert "validation-loss-rising" in ids(evaluator_of({"validation.loss": overfits}), "warning")


@pytest.mark.parametrize(("beside", "told"), [({}, True), ({"reward.mean": np.linspace(0, 1, 80)}, False)])
def test_evaluations_that_gain_nothing_are_a_remark_where_no_other_outcome_is_logged(
    beside: dict[str, np.ndarray], told: bool, noise: np.random.Generator
) -> None:
    """The first evaluation may be of a policy that is trained, so it is no alarm."""
    evaluator = evaluator_of({"validation.return.mean": -150 + 5 * noise.normal(size=80), **beside})
    assert ("held-out-no-gain" in ids(evaluator)) is told
    assert not ids(evaluator, "warning")
    evaluator.set_run_over(True)
    assert not ids(evaluator, "warning")
