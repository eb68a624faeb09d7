"""Healthy runs of many kinds that look unlike a textbook curve: what rules must stay quiet about.

Each is a run of `tests.support.runs.synthetic_runs` of the same shape, with what is particular about the
kind on top.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tests.support.runs.synthetic_runs import (
    Series,
    Shape,
    agent,
    classic,
    correlated_noise,
    dpo,
    grpo,
    learning,
    off_policy,
)

RETURN = "reward.episode_return.mean"


def _dice(shape: Shape, kind: int) -> np.random.Generator:
    return np.random.default_rng([shape.seed, shape.n, kind])


def _time(shape: Shape) -> np.ndarray:
    return np.arange(shape.n) / max(shape.n, 1)


def _cycle(n: int, cycles: int) -> np.ndarray:
    """Where each point lies within its cycle, 0 to 1."""
    return (np.arange(n) * cycles / max(n, 1)) % 1.0


def self_play(shape: Shape) -> Series:
    """Against older copies of itself the return stays about even; the rating says what is gained."""
    rng, up = _dice(shape, 31), learning(shape.n, _dice(shape, 31))
    even = 0.15 * correlated_noise(shape, rng) + 0.1 * np.sin(2 * np.pi * rng.uniform(2, 9) * _time(shape))
    return classic(shape) | {
        RETURN: even,
        "reward.rating": 1200 + rng.uniform(80, 900) * up + 8 * correlated_noise(shape, rng),
        "lengths.episode.mean": 200 * (1 + rng.uniform(-0.4, 1.0) * up) + 20 * correlated_noise(shape, rng),
        "critic.explained_variance": np.clip(0.3 + 0.2 * up + 0.1 * correlated_noise(shape, rng), -1, 1),
    }


def self_play_shares(shape: Shape) -> Series:
    """The share of games won against older copies, of 32 games a point: about a half throughout."""
    rng = _dice(shape, 32)
    chance = np.clip(0.52 + 0.05 * correlated_noise(shape, rng), 0.05, 0.95)
    won = rng.binomial(32, chance) / 32
    return classic(shape) | {RETURN: 2 * won - 1, "reward.success_rate": won}


def first_success_late(shape: Shape) -> Series:
    """No success for long, then more and more: the share of the last hundred episodes."""
    rng, t = _dice(shape, 33), _time(shape)
    begin, span = rng.uniform(0.2, 0.6), rng.uniform(0.05, 0.3)
    chance = rng.uniform(0.5, 0.98) / (1 + np.exp(-(t - begin - span) / (span / 5))) * (t > begin / 2)
    success = rng.binomial(100, np.clip(chance, 0, 1)) / 100
    return classic(shape) | {RETURN: success, "reward.success_rate": success}


def lucky_successes(shape: Shape) -> Series:
    """A hard sparse task: few episodes in a hundred succeed, slowly more."""
    rng, up = _dice(shape, 34), learning(shape.n, _dice(shape, 34))
    success = rng.binomial(int(rng.choice([10, 20, 100])), 0.01 + rng.uniform(0.05, 0.3) * up) / 100
    return classic(shape) | {RETURN: success}


def few_evaluations(shape: Shape) -> Series:
    """Three to eight evaluations on few tasks, each with a wide error."""
    rng = _dice(shape, 35)
    count = min(int(rng.integers(3, 9)), max(shape.n // 4, 1))
    tasks = int(rng.choice([30, 100, 500]))
    seen = learning(shape.n, _dice(shape, 3))[np.linspace(0, shape.n - 1, count).astype(int)]
    score = rng.binomial(tasks, np.clip(0.3 + 0.4 * seen, 0, 1)) / tasks
    return agent(shape) | {"validation.accuracy": score}


def population(shape: Shape) -> Series:
    """One member of a population: weights of a better member and other rates every tenth of the run."""
    rng, n = _dice(shape, 36), shape.n
    series, part = classic(shape), np.arange(n) * 10 // max(n, 1)
    gain = np.cumsum(np.where(rng.random(10) < 0.5, rng.uniform(0, 0.15, 10), 0.0))[part]
    rate = 3e-4 * np.cumprod(rng.choice([0.8, 1.2, 1.0], 10))[part]
    return series | {
        RETURN: series[RETURN] + shape.scale * gain,
        "optimizer.learning_rate": rate,
        "policy.entropy_coef": 0.01 * np.cumprod(rng.choice([0.8, 1.2, 1.0], 10))[part],
    }


def resumed(shape: Shape) -> Series:
    """A new process without the optimizer's state: a warm-up, a short dip, larger gradients for a while."""
    rng, n = _dice(shape, 37), shape.n
    series, at = grpo(shape), int(n * rng.uniform(0.3, 0.8))
    since = np.arange(n) - at
    dip = np.where(since >= 0, np.exp(-since / max(n / rng.uniform(40, 100), 1)), 0.0)
    span = float(np.ptp(series["reward.mean"]))
    return series | {
        "reward.mean": series["reward.mean"] - rng.uniform(0, 0.25) * span * dip,
        "optimizer.grad_norm": series["optimizer.grad_norm"] * (1 + 2 * dip),
        "optimizer.learning_rate": 1e-5 * np.minimum(np.where(since >= 0, since, n) / max(n // 50, 1), 1.0),
    }


def rate_to_zero(shape: Shape) -> Series:
    """A learning rate that falls linearly to nothing: updates get smaller with it."""
    left = 1 - _time(shape)
    series = grpo(shape) | classic(shape)
    return series | {
        "optimizer.learning_rate": 3e-4 * left,
        "policy.approx_kl": np.abs(series["policy.approx_kl"]) * left**2,
        "policy.clip_fraction": series["policy.clip_fraction"] * left,
    }


def entropy_annealed(shape: Shape) -> Series:
    """The bonus for entropy is taken back on purpose: entropy falls to a tenth while the return goes on."""
    rng, left = _dice(shape, 38), 1 - _time(shape)
    series = classic(shape)
    entropy = 1.6 * (0.1 + 0.9 * left ** rng.uniform(0.7, 1.5)) * (1 + 0.02 * correlated_noise(shape, rng))
    return series | {"policy.entropy": entropy, "policy.entropy_coef": 0.02 * left + 1e-4}


def reasoning(shape: Shape) -> Series:
    """Responses grow three- to tenfold with the reward, some reach the limit."""
    rng, up = _dice(shape, 39), learning(shape.n, _dice(shape, 3))
    length = 400 * np.exp(np.log(rng.uniform(3, 10)) * up) * np.exp(0.04 * correlated_noise(shape, rng))
    cut = np.clip(0.01 + 0.06 * up + 0.01 * correlated_noise(shape, rng), 0, 1)
    reward = 0.25 + 0.45 * up + 0.02 * correlated_noise(shape, rng)
    return agent(shape) | {
        "reward.mean": reward,
        "lengths.response.mean": length,
        "lengths.response.max": np.minimum(4 * length, 8192),
        "lengths.response_clip_fraction": cut,
    }


def late_breakthrough(shape: Shape) -> Series:
    """Nothing visible for up to two thirds of the run, then all at once."""
    rng, t = _dice(shape, 40), _time(shape)
    up = 1 / (1 + np.exp(-(t - rng.uniform(0.3, 0.65)) / rng.uniform(0.01, 0.06)))
    level = shape.scale * (shape.offset + up + 0.05 * correlated_noise(shape, rng))
    return classic(shape) | {RETURN: level}


def whitened(shape: Shape) -> Series:
    """Rewards that are centred in each batch: their mean says nothing, accuracy says what is learnt."""
    rng, up = _dice(shape, 41), learning(shape.n, _dice(shape, 41))
    return grpo(shape) | {
        "reward.mean": 0.02 * correlated_noise(shape, rng),
        "reward.accuracy": np.clip(0.3 + 0.4 * up + 0.03 * correlated_noise(shape, rng), 0, 1),
    }


def heavy_tails(shape: Shape) -> Series:
    """Returns with rare values ten deviations away, up as well as down."""
    rng, up = _dice(shape, 42), learning(shape.n, _dice(shape, 42))
    noise = rng.standard_t(2.5, shape.n) * 0.08 * shape.noise
    return classic(shape) | {RETURN: shape.scale * (shape.offset + up + noise)}


def single_episodes(shape: Shape) -> Series:
    """One point an episode, most of them either won or lost."""
    rng, up = _dice(shape, 43), learning(shape.n, _dice(shape, 43))
    won = rng.random(shape.n) < 0.1 + 0.8 * up
    level = np.where(won, 200.0, -100.0) + 40 * rng.standard_normal(shape.n)
    return classic(shape) | {
        RETURN: level,
        "lengths.episode.mean": np.where(won, 300, 120) + 40 * rng.random(shape.n),
    }


def negative_returns(shape: Shape) -> Series:
    """Costs that shrink, their spread with them."""
    rng, up = _dice(shape, 44), learning(shape.n, _dice(shape, 44))
    cost = 1200 * (1 - 0.88 * up)
    return off_policy(shape) | {RETURN: -cost * (1 + 0.2 * correlated_noise(shape, rng))}


def epsilon_greedy(shape: Shape) -> Series:
    """Deep Q-learning: exploration falls linearly, the return and the loss of the critic grow."""
    rng, t = _dice(shape, 45), _time(shape)
    epsilon = np.maximum(1 - t / rng.uniform(0.1, 0.7), 0.05)
    up = learning(shape.n, rng) * (1 - 0.8 * epsilon)
    return {
        RETURN: 20 + 300 * up + (10 + 60 * up) * correlated_noise(shape, rng),
        "policy.exploration_rate": epsilon,
        "critic.q.mean": 1 + 60 * up + 2 * correlated_noise(shape, rng),
        "critic.loss": np.exp(2.5 * up + 0.7 * correlated_noise(shape, rng)),
        "lengths.episode.mean": 20 + 300 * up + 20 * np.abs(correlated_noise(shape, rng)),
    }


def seasons(shape: Shape) -> Series:
    """The tasks change in a period: the reward swings by a seventh of its gain around a rise."""
    rng, up = _dice(shape, 46), learning(shape.n, _dice(shape, 46))
    swing = 0.07 * np.sin(2 * np.pi * rng.uniform(3, 15) * _time(shape))
    level = 0.25 + 0.5 * up + swing + 0.02 * correlated_noise(shape, rng)
    return grpo(shape) | {"reward.mean": shape.scale * (shape.offset + level)}


def new_tasks(shape: Shape) -> Series:
    """Two to four tasks join late: each takes its share of the mean, and is learnt."""
    rng, t = _dice(shape, 47), _time(shape)
    begins = [0.0, *sorted(rng.uniform(0.15, 0.8, int(rng.integers(2, 5))))]
    known = [t >= begin for begin in begins]
    each = [
        np.where(there, 0.15 + 0.6 * (1 - np.exp(-6 * np.maximum(t - begin, 0))), 0.0)
        for begin, there in zip(begins, known, strict=True)
    ]
    level = np.sum(each, axis=0) / np.sum(known, axis=0)
    return grpo(shape) | {"reward.mean": shape.scale * (level + 0.02 * correlated_noise(shape, rng))}


def both_less_likely(shape: Shape) -> Series:
    """DPO as it mostly goes: chosen and rejected responses both become less likely, the margin grows."""
    rng, up = _dice(shape, 48), learning(shape.n, _dice(shape, 48))
    chosen = -80 - 25 * up + 4 * correlated_noise(shape, rng)
    margin = 1.5 * up + 0.2 * correlated_noise(shape, rng)
    return dpo(shape) | {
        "preference.chosen_logp": chosen,
        "preference.rejected_logp": -90 - 60 * up + 4 * correlated_noise(shape, rng),
        "preference.margin": margin,
        "preference.chosen_reward": -0.25 * up + 0.05 * correlated_noise(shape, rng),
        "preference.rejected_reward": -0.25 * up - margin,
    }


def entropy_rises(shape: Shape) -> Series:
    """A wider clip range upwards: entropy rises by a fifth to four fifths while the reward does, too."""
    rng, up = _dice(shape, 49), learning(shape.n, _dice(shape, 49))
    entropy = shape.entropy * (1 + rng.uniform(0.2, 0.8) * up) * (1 + 0.02 * correlated_noise(shape, rng))
    return grpo(shape) | {"policy.entropy": entropy}


def large_gradients(shape: Shape) -> Series:
    """Norms of hundreds without clipping, larger with the returns."""
    rng, up = _dice(shape, 50), learning(shape.n, _dice(shape, 50))
    norm = rng.uniform(20, 300) * (1 + 2 * up) * np.exp(0.5 * correlated_noise(shape, rng))
    return classic(shape) | {"optimizer.grad_norm": norm}


def loss_with_returns(shape: Shape) -> Series:
    """The loss of the critic grows with the square of the return, as the targets do."""
    rng, up = _dice(shape, 51), learning(shape.n, _dice(shape, 51))
    return classic(shape) | {
        RETURN: 10 + 2000 * up + (5 + 150 * up) * correlated_noise(shape, rng),
        "critic.loss": (1 + 80 * up**2) * np.exp(0.4 * correlated_noise(shape, rng)),
    }


def stale_rollouts(shape: Shape) -> Series:
    """Rollouts of older weights: the ratio to the trainer swings with the distance in versions."""
    rng, n = _dice(shape, 52), shape.n
    age = np.arange(n) % int(rng.integers(2, 9))
    return grpo(shape) | {
        "rollout.mismatch_kl": (0.001 + 0.0008 * age) * np.exp(0.2 * correlated_noise(shape, rng)),
        "policy.clip_fraction": np.clip(
            (0.01 + 0.006 * age) * np.exp(0.3 * correlated_noise(shape, rng)), 0, 1
        ),
    }


def stands_still(shape: Shape) -> Series:
    """Solved early, and trained on: nothing is gained any more, nothing is lost."""
    rng, t = _dice(shape, 53), _time(shape)
    up = 1 - np.exp(-t / rng.uniform(0.03, 0.15))
    return classic(shape) | {RETURN: shape.scale * (shape.offset + up + 0.06 * correlated_noise(shape, rng))}


def slow_learning(shape: Shape) -> Series:
    """Over the whole run no more is gained than one to three deviations of single points."""
    rng, t = _dice(shape, 54), _time(shape)
    level = rng.uniform(1, 3) * shape.noise * t + correlated_noise(shape, rng)
    return classic(shape) | {RETURN: shape.scale * (shape.offset + 0.1 * level)}


def warm_up(shape: Shape) -> Series:
    """Random actions until the buffer is full: losses and Q-values are 0 until then, the return is even."""
    rng, n = _dice(shape, 55), shape.n
    series, begin = off_policy(shape), int(n * rng.uniform(0.02, 0.15))
    learns = np.arange(n) >= begin
    up = np.concatenate((np.zeros(begin), learning(n - begin, rng)))
    return series | {
        RETURN: shape.scale * (up - 1 + 0.08 * correlated_noise(shape, rng)),
        "policy.alpha": np.where(learns, np.maximum(np.exp(-5 * up), 0.01), 1.0),
        **{
            tag: np.where(learns, series[tag], 0.0) for tag in ("critic.loss", "policy.loss", "critic.q.mean")
        },
    }


def training_and_evaluation(shape: Shape) -> Series:
    """Training explores and earns less than evaluations do, of five episodes each: some of them fail."""
    rng, n = _dice(shape, 56), shape.n
    up, count = learning(n, rng), max(n // 20, 1)
    seen = up[np.linspace(0, n - 1, count).astype(int)]
    fails = rng.binomial(5, 0.06, count) / 5
    return off_policy(shape) | {
        RETURN: shape.scale * (0.8 * up - 1 + 0.08 * correlated_noise(shape, rng)),
        "validation.return.mean": shape.scale
        * (seen * (1 - fails) - 1 + 0.05 * correlated_noise(shape, rng, count)),
    }


def best_of_n(shape: Shape) -> Series:
    """Rounds of fine-tuning on the best of n responses: each begins with a higher loss and score."""
    rng, n = _dice(shape, 57), shape.n
    rounds = int(rng.integers(3, 9))
    at, part = _cycle(n, rounds), np.arange(n) * rounds // max(n, 1)
    gain = (1 - 0.6 ** np.arange(rounds))[part]
    score = np.clip(0.35 + 0.35 * gain + 0.02 * correlated_noise(shape, rng), 0, 1)
    return {
        "reward.mean": score,
        "reward.max": np.clip(score + 0.2 + 0.02 * correlated_noise(shape, rng), 0, 1),
        "optimizer.loss": (0.9 - 0.3 * gain) * (0.6 + 0.4 * np.exp(-5 * at))
        + 0.03 * correlated_noise(shape, rng),
        "optimizer.learning_rate": 1e-5 * (1 - at),
        "policy.entropy": shape.entropy * (1 - 0.4 * gain) * (1 + 0.02 * correlated_noise(shape, rng)),
        "lengths.response.mean": 300 + 40 * gain + 8 * correlated_noise(shape, rng),
    }


def stronger_opponents(shape: Shape) -> Series:
    """A league: the share of games won falls whenever stronger opponents join, the rating goes on rising."""
    rng, n = _dice(shape, 58), shape.n
    at = _cycle(n, int(rng.integers(4, 12)))
    won = rng.binomial(64, np.clip(0.8 - rng.uniform(0.2, 0.45) * np.exp(-4 * at), 0, 1)) / 64
    rating = 1000 + rng.uniform(200, 900) * learning(n, rng) - 25 * np.exp(-4 * at)
    return classic(shape) | {
        RETURN: 2 * won - 1,
        "reward.success_rate": won,
        "reward.rating": rating + 8 * correlated_noise(shape, rng),
    }


def updates_cut_short(shape: Shape) -> Series:
    """PPO that ends an update once KL passes its target: KL and clip fraction stay near what that allows."""
    rng, n = _dice(shape, 59), shape.n
    target = rng.choice([0.01, 0.015, 0.02])
    kl = target * np.clip(1.1 + 0.25 * correlated_noise(shape, rng), 0.2, 1.5 + 0.5 * rng.random(n))
    return classic(shape) | {
        "policy.approx_kl": kl,
        "policy.clip_fraction": np.clip(7 * kl * np.exp(0.1 * correlated_noise(shape, rng)), 0, 0.19),
    }


def two_plateaus(shape: Shape) -> Series:
    """Learning in two steps, with a long stretch between and after them in which nothing is gained."""
    rng, t = _dice(shape, 60), _time(shape)
    first, second = rng.uniform(0.05, 0.15), rng.uniform(0.5, 0.8)
    up = 0.5 / (1 + np.exp(-(t - first) / 0.02)) + 0.5 / (1 + np.exp(-(t - second) / 0.03))
    return grpo(shape) | {
        "reward.mean": shape.scale * (shape.offset + 0.25 + 0.5 * up + 0.03 * correlated_noise(shape, rng))
    }


# ---- healthy runs whose circumstances change on purpose: what looks like a fault is none


def cyclic_rate(shape: Shape) -> Series:
    """The learning rate starts anew four times or more; each time a part of the gain is shaken."""
    rng, n = np.random.default_rng([shape.seed, shape.n, 11]), shape.n
    series, at = grpo(shape), _cycle(n, int(rng.integers(4, 9)))
    high = 0.5 * (1 + np.cos(np.pi * at))
    reward, shaken = series["reward.mean"], rng.uniform(0.05, 0.25) * shape.scale * 0.5 * learning(n, rng)
    return series | {
        "optimizer.learning_rate": 1e-6 + 9e-6 * high,
        "reward.mean": reward - shaken * high**3,
        "policy.entropy": series["policy.entropy"] * (1 + 0.15 * high),
        "policy.approx_kl": series["policy.approx_kl"] * (0.5 + 2 * high),
        "policy.clip_fraction": np.clip(series["policy.clip_fraction"] * (0.5 + 2 * high), 0, 1),
        "optimizer.grad_norm": series["optimizer.grad_norm"] * (1 + 0.5 * high),
    }


def curriculum(shape: Shape) -> Series:
    """Tasks get harder in three to five stages: up to two fifths of the level are lost, and learnt again."""
    rng, n = np.random.default_rng([shape.seed, shape.n, 12]), shape.n
    stages = int(rng.integers(3, 6))
    at, stage = _cycle(n, stages), (np.arange(n) * stages // max(n, 1))
    lost = np.where(stage > 0, rng.uniform(0.2, 0.4, stages)[stage], 0.0)
    up = 1 - np.exp(-rng.uniform(3, 8) * at)
    level = np.where(stage > 0, 0.75 * (1 - lost * (1 - up)), 0.25 + 0.5 * up)
    return grpo(shape) | {
        "reward.mean": shape.scale * (shape.offset + level + 0.03 * correlated_noise(shape, rng))
    }


def alternating(shape: Shape) -> Series:
    """Evaluations on two or three sets of tasks in turn under one name: their levels differ."""
    rng = np.random.default_rng([shape.seed, shape.n, 13])
    series = agent(shape)
    score = series["validation.accuracy"]
    levels = rng.uniform(-0.15, 0.15, int(rng.integers(2, 4)))
    return series | {
        "validation.accuracy": np.clip(score + levels[np.arange(len(score)) % len(levels)], 0, 1)
    }


def normalised(shape: Shape) -> Series:
    """The scale of rewards is set anew in the middle: mean and spread change by one factor at one step."""
    rng = np.random.default_rng([shape.seed, shape.n, 14])
    series, at = grpo(replace(shape, offset=0.0)), int(shape.n * rng.uniform(0.3, 0.7))
    factor = np.where(np.arange(shape.n) < at, 1.0, rng.choice([0.1, 0.3, 0.5, 2.0, 10.0]))
    return series | {tag: series[tag] * factor for tag in ("reward.mean", "reward.std")}


def sparse(shape: Shape) -> Series:
    """Rewards of 0 and 1 over 8 to 32 responses a step, in groups of four."""
    rng, n = np.random.default_rng([shape.seed, shape.n, 15]), shape.n
    responses = int(rng.choice([8, 16, 32]))
    chance = rng.uniform(0.02, 0.3) + rng.uniform(0.2, 0.6) * learning(n, rng)
    tasks = np.clip(chance[:, None] + 0.25 * rng.standard_normal((n, responses // 4)), 0.005, 0.995)
    right = rng.binomial(4, tasks)
    reward = right.mean(axis=1) / 4
    return grpo(shape) | {
        "reward.mean": reward,
        "reward.std": np.sqrt(reward * (1 - reward)),
        "reward.zero_std_fraction": ((right == 0) | (right == 4)).mean(axis=1),
    }


def kl_controller(shape: Shape) -> Series:
    """An adaptive KL weight that swings about its target, and takes KL, penalty and reward with it."""
    rng, n = np.random.default_rng([shape.seed, shape.n, 16]), shape.n
    swing = np.sin(2 * np.pi * _cycle(n, int(rng.integers(3, 20))))
    series, up = grpo(shape), np.minimum(np.arange(n) / max(n // 10, 1), 1.0)
    kl = rng.choice([0.02, 0.06]) * up * np.exp(0.5 * swing + 0.1 * correlated_noise(shape, rng))
    weight = 0.05 * np.exp(-0.7 * swing)
    return series | {
        "policy.kl_ref": kl,
        "policy.kl_coef": weight,
        "reward.score.mean": series["reward.mean"] + 0.01 * shape.scale * swing,
        "reward.mean": series["reward.mean"] - shape.scale * weight * kl,
        "policy.entropy": series["policy.entropy"] * (1 + 0.05 * swing),
    }


def shortened(shape: Shape) -> Series:
    """A penalty on length from the start: responses shrink to a third or a half, and the score holds."""
    rng, n = np.random.default_rng([shape.seed, shape.n, 17]), shape.n
    series, up = agent(shape), learning(n, rng)
    length = 600 * np.exp(np.log(rng.uniform(0.3, 0.5)) * up) * np.exp(0.04 * correlated_noise(shape, rng))
    return series | {
        "lengths.response.mean": length,
        "lengths.response.max": 3 * length * np.exp(0.1 * correlated_noise(shape, rng)),
        "reward.penalty.mean": -0.1 * shape.scale * length / 600,
    }


def early_ceiling(shape: Shape) -> Series:
    """The highest reward is reached within a twentieth of the run: nothing is left to learn."""
    rng, n = np.random.default_rng([shape.seed, shape.n, 18]), shape.n
    up = 1 - np.exp(-np.arange(n) / max(n / rng.uniform(40, 100), 1))
    missing = (1 - up) * 0.6 + rng.uniform(0.0, 0.02) * np.abs(correlated_noise(shape, rng))
    reward = np.clip(np.round(128 * (1 - missing)) / 128, 0, 1)
    alike = np.clip(1 - 4 * (1 - reward), 0, 1)
    series = grpo(shape)
    return series | {
        "reward.mean": reward,
        "reward.std": np.sqrt(reward * (1 - reward)),
        "reward.zero_std_fraction": alike,
        "optimizer.grad_norm": series["optimizer.grad_norm"] * np.sqrt(1 - alike),
    }


UNUSUAL: dict[str, Callable[[Shape], Series]] = {
    each.__name__: each
    for each in (
        self_play, self_play_shares, first_success_late, lucky_successes, few_evaluations, population,
        resumed, rate_to_zero, entropy_annealed, reasoning, late_breakthrough, whitened, heavy_tails,
        single_episodes, negative_returns, epsilon_greedy, seasons, new_tasks, both_less_likely,
        entropy_rises, large_gradients, loss_with_returns, stale_rollouts, stands_still, cyclic_rate,
        slow_learning, warm_up, training_and_evaluation, best_of_n, stronger_opponents, updates_cut_short,
        two_plateaus, curriculum, alternating, normalised, sparse, kl_controller, shortened, early_ceiling,
    )
}  # fmt: skip
# In some runs of these the outcome does fall for a while, or nothing tells that it need not rise: a warning
# says what is so, and the sweep counts them.
ALARMED_AT_TIMES = ("seasons", "new_tasks", "normalised", "early_ceiling")
