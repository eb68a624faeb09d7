"""Synthetic runs: healthy ones of several kinds, scales, noise levels and lengths, and each pathology on top.

Series are named by canonical ids. Shapes come from what healthy runs of real frameworks look like: reward
that saturates, entropy that falls slowly, KL that grows and levels off, lognormal gradient norms with
single outliers, correlated noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Series = dict[str, np.ndarray]


@dataclass(frozen=True)
class Shape:
    """What varies between runs."""

    n: int = 300
    noise: float = 0.5  # share of the usual noise level, 0.2 .. 1.5
    scale: float = 1.0  # of rewards
    offset: float = 0.0  # of rewards
    entropy: float = 2.0
    correlated: float = 0.0  # 0 white .. 0.9 slow noise
    seed: int = 0

    def rng(self) -> np.random.Generator:
        """The run's own dice."""
        return np.random.default_rng([self.seed, self.n])


def random_shape(seed: int) -> Shape:
    """A run drawn at random."""
    rng = np.random.default_rng(seed)
    return Shape(
        n=int(rng.choice([5, 20, 60, 150, 300, 800, 3000])),
        noise=float(rng.uniform(0.2, 1.5)),
        scale=float(rng.choice([0.3, 1.0, 10.0, 300.0])),
        offset=float(rng.choice([0.0, -1.0, 2.0])),
        entropy=float(rng.choice([0.25, 0.7, 2.0, 4.0])),
        correlated=float(rng.choice([0.0, 0.0, 0.5, 0.8])),
        seed=seed,
    )


def correlated_noise(shape: Shape, rng: np.random.Generator, n: int | None = None) -> np.ndarray:
    """Normal noise of the run's level, its neighbours correlated as the shape says."""
    n = shape.n if n is None else n
    white = rng.standard_normal(n)
    if not shape.correlated:
        return white * shape.noise
    keep, state, out = shape.correlated, 0.0, []
    for each in (np.sqrt(1 - keep * keep) * white).tolist():  # floats: ten times as fast as cells of an array
        state = keep * state + each
        out.append(state)
    return np.array(out) * shape.noise


def _outliers(x: np.ndarray, rng: np.random.Generator, factor: float) -> np.ndarray:
    """Single wild samples, about one in a hundred and fifty, never two together."""
    x = x.copy()
    for k in range(3, len(x), 150):
        at = k + int(rng.integers(0, 100))
        if at < len(x):
            x[at] *= factor
    return x


def learning(n: int, rng: np.random.Generator) -> np.ndarray:
    """0 to 1, saturating somewhere in the run, or not at all."""
    t = np.arange(n) / max(n, 1)
    pace = rng.uniform(1.0, 6.0)
    return np.asarray((1 - np.exp(-pace * t)) / (1 - np.exp(-6.0)))


def grpo(shape: Shape) -> Series:
    """A healthy run of a language model with grouped samples."""
    rng, n = shape.rng(), shape.n
    up = learning(n, rng)
    reward = 0.25 + 0.5 * up + 0.03 * correlated_noise(shape, rng)
    length = 200 * (1 + rng.uniform(-0.25, 0.4) * up) + 8 * correlated_noise(shape, rng)
    return {
        "reward.mean": shape.scale * (reward + shape.offset),
        "reward.std": shape.scale * np.abs(0.35 - 0.2 * up + 0.03 * correlated_noise(shape, rng))
        + 0.01 * shape.scale,
        "reward.zero_std_fraction": np.clip(0.1 + 0.25 * up + 0.06 * correlated_noise(shape, rng), 0, 1),
        "policy.entropy": shape.entropy
        * np.maximum(1 - rng.uniform(0, 0.4) * up + 0.02 * correlated_noise(shape, rng), 0.05),
        "policy.kl_ref": np.abs(
            rng.choice([0.02, 0.08, 0.6]) * up * (1 + 0.3 * correlated_noise(shape, rng))
        ),
        "policy.approx_kl": 0.002 * np.exp(0.4 * correlated_noise(shape, rng)) * rng.choice([1, -1, 1], n),
        "policy.clip_fraction": np.clip(0.03 * np.exp(0.4 * correlated_noise(shape, rng)), 0, 1),
        "policy.loss": 0.02 * correlated_noise(shape, rng),
        "optimizer.grad_norm": _outliers(0.4 * np.exp(0.25 * correlated_noise(shape, rng)), rng, 30),
        "optimizer.learning_rate": 1e-5 * np.minimum(np.arange(n) / max(n // 20, 1), 1.0),
        "lengths.response.mean": np.maximum(length, 1),
        "lengths.response_clip_fraction": np.clip(0.02 + 0.01 * correlated_noise(shape, rng), 0, 1),
        "timing.step": _outliers(10 * np.exp(0.08 * correlated_noise(shape, rng)), rng, 4),
        "perf.throughput": 1500 * np.exp(0.08 * correlated_noise(shape, rng)),
        "perf.mfu.actor": np.zeros(n),
        "rollout.mismatch_kl": 0.001 * np.exp(0.2 * correlated_noise(shape, rng)),
    }


def classic(shape: Shape) -> Series:
    """A healthy run of PPO with a critic on a small task."""
    rng, n = shape.rng(), shape.n
    up = learning(n, rng)
    spread = 0.04 + 0.08 * up
    discrete = rng.random() < 0.5
    entropy = 0.69 * (1 - 0.4 * up) if discrete else 1.419 - rng.uniform(0.5, 3.0) * up
    series = {
        "reward.episode_return.mean": shape.scale
        * (shape.offset + up + spread * correlated_noise(shape, rng)),
        "lengths.episode.mean": 100 + 20 * correlated_noise(shape, rng),
        "policy.entropy": entropy + 0.01 * correlated_noise(shape, rng),
        "policy.approx_kl": 0.006 * np.exp(0.3 * correlated_noise(shape, rng)),
        "policy.clip_fraction": np.clip(0.06 * np.exp(0.2 * correlated_noise(shape, rng)), 0, 1),
        "critic.loss": shape.scale * np.exp(0.5 * correlated_noise(shape, rng) - 1.5 * up),
        "critic.explained_variance": 1 - np.abs(0.9 * np.exp(-4 * up) + 0.05 * correlated_noise(shape, rng)),
        "perf.fps": 900 * np.exp(0.05 * correlated_noise(shape, rng)),
    }
    if not discrete:
        series["policy.action_std"] = np.exp(-0.5 * up)
    return series


def dpo(shape: Shape) -> Series:
    """A healthy run of preference optimisation with a few evaluations."""
    rng, n = shape.rng(), shape.n
    up = learning(n, rng)
    evals = max(min(8, n // 5), 1)
    seen = up[np.linspace(0, n - 1, evals).astype(int)]  # evaluations see the same progress
    return {
        "optimizer.loss": np.maximum(0.69 - 0.25 * up + 0.1 * correlated_noise(shape, rng), 0.02),
        "preference.margin": 1.2 * up + 0.3 * correlated_noise(shape, rng),
        "preference.accuracy": np.clip(
            np.round(8 * (0.5 + 0.35 * up + 0.12 * correlated_noise(shape, rng))) / 8, 0, 1
        ),
        "preference.chosen_logp": -40 + 5 * correlated_noise(shape, rng),
        "preference.rejected_logp": -70 - 10 * up + 8 * correlated_noise(shape, rng),
        "optimizer.grad_norm": 1.2 * np.exp(0.25 * correlated_noise(shape, rng)),
        "policy.entropy": 1.9 + 0.05 * correlated_noise(shape, rng),
        "eval/preference.accuracy": np.clip(0.5 + 0.33 * seen + 0.01 * rng.standard_normal(evals), 0, 1),
        "validation.loss": 0.65 - 0.2 * seen + 0.005 * rng.standard_normal(evals),
    }


def off_policy(shape: Shape) -> Series:
    """A healthy run of SAC or DQN."""
    rng, n = shape.rng(), shape.n
    up = learning(n, rng)
    return {
        "reward.episode_return.mean": shape.scale * (up - 1 + 0.08 * correlated_noise(shape, rng)),
        "critic.loss": np.exp(1.5 * up + 0.4 * correlated_noise(shape, rng)),
        "policy.loss": -50 * up + 2 * correlated_noise(shape, rng),
        "policy.alpha": np.maximum(0.3 * np.exp(-3 * up), 0.01),
        "critic.q.mean": 50 * up + 2 * correlated_noise(shape, rng),
    }


def timed(shape: Shape) -> Series:
    """A healthy run whose writer times its phases; answers change by up to half, the first step compiles."""
    rng, n = shape.rng(), shape.n
    up = learning(n, rng)
    length = 300 * (1 + rng.uniform(-0.35, 0.5) * up) * np.exp(0.06 * correlated_noise(shape, rng))
    tokens = 64 * length
    generation = (2 + 0.02 * length * rng.uniform(0.7, 1.3)) * np.exp(0.06 * correlated_noise(shape, rng))
    update = (1 + 1.5e-4 * tokens * rng.uniform(0.7, 1.3)) * np.exp(0.04 * correlated_noise(shape, rng))
    reward, sync, wait = (
        mean * np.exp(0.2 * correlated_noise(shape, rng)) for mean in (0.4, 0.6, rng.uniform(0.1, 2.0))
    )
    step = _outliers(generation + update + reward + sync + wait + 0.3, rng, 3)
    step[0] *= rng.uniform(1, 30)
    slow = rng.uniform(1.5, 4.5)
    return {
        "timing.step": step,
        "timing.generation": generation,
        "timing.update_actor": update,
        "timing.reward": reward,
        "timing.weight_sync": sync,
        "timing.wait_for_data": wait,
        "timing.sample_generation.mean": 0.4 * generation,
        "timing.sample_generation.max": 0.4 * generation * slow * np.exp(0.1 * correlated_noise(shape, rng)),
        "perf.tokens": tokens,
        "perf.throughput": tokens / step / 8,
        "perf.mfu.actor": 0.5 * np.exp(0.05 * correlated_noise(shape, rng)),
        "perf.wait_fraction": np.clip(wait / step, 0, 1),
        "perf.idle_fraction": np.clip(0.2 + 0.05 * correlated_noise(shape, rng), 0, 1),
        "perf.memory.allocated": 40
        + 8 * np.minimum(np.arange(n) / 5, 1)
        + 0.3 * correlated_noise(shape, rng),
        "load.imbalance": 1 + 0.12 * np.exp(0.3 * correlated_noise(shape, rng)),
        "discarded.filter_pass_rate": np.clip(0.65 - 0.2 * up + 0.06 * correlated_noise(shape, rng), 0, 1),
        "lengths.response.mean": length,
    }


def agent(shape: Shape) -> Series:
    """A healthy run of an agent with tools, evaluated about twenty times."""
    rng, n = np.random.default_rng([shape.seed, shape.n, 3]), shape.n
    up = learning(n, rng)
    evals = min(20, max(n // 3, 1))
    seen = up[np.linspace(0, n - 1, evals).astype(int)]
    return grpo(shape) | {
        "turns.tool_calls.mean": np.maximum(
            2 + rng.uniform(-0.6, 1.0) * up + 0.2 * correlated_noise(shape, rng), 0
        ),
        "turns.tool_success_rate": np.clip(0.75 + 0.15 * up + 0.05 * correlated_noise(shape, rng), 0, 1),
        "validation.accuracy": np.clip(0.3 + 0.4 * seen + 0.02 * correlated_noise(shape, rng, evals), 0, 1),
    }


KINDS: dict[str, Callable[[Shape], Series]] = {
    "timed": timed,
    "agent": agent,
    "grpo": grpo,
    "classic": classic,
    "dpo": dpo,
    "off_policy": off_policy,
}


def healthy(kind: str, shape: Shape, missing: float = 0.0) -> Series:
    """A healthy run, a share of its metrics left out."""
    series = KINDS[kind](shape)
    if missing:
        rng = np.random.default_rng([shape.seed, 9])
        series = {tag: values for tag, values in series.items() if rng.random() >= missing}
    return series


# ---- pathologies: each takes a healthy run and an onset (a point) and returns a sick one


def _tail(series: Series, tag: str, onset: int) -> tuple[np.ndarray, int]:
    return series[tag].copy(), len(series[tag]) - onset


def _ramp(count: int, over: int) -> np.ndarray:
    """0 to 1 over some points, then 1."""
    return np.minimum(np.arange(count) / max(over, 1), 1.0)


def kl_runaway(series: Series, onset: int) -> Series:
    """KL to the reference leaves for tens of nats."""
    kl, count = _tail(series, "policy.kl_ref", onset)
    kl[onset:] += 25 * _ramp(count, count // 20)
    return series | {"policy.kl_ref": kl}


def update_kl_high(series: Series, onset: int) -> Series:
    """Every update moves too far."""
    kl, _ = _tail(series, "policy.approx_kl", onset)
    kl[onset:] = np.abs(kl[onset:]) * 60 + 0.08
    clip, _ = _tail(series, "policy.clip_fraction", onset)
    clip[onset:] = np.clip(clip[onset:] * 8 + 0.2, 0, 1)
    return series | {"policy.approx_kl": kl, "policy.clip_fraction": clip}


def entropy_collapse(series: Series, onset: int) -> Series:
    """Entropy falls to a fiftieth."""
    entropy, count = _tail(series, "policy.entropy", onset)
    entropy[onset:] *= 0.02 ** _ramp(count, count // 20)
    return series | {"policy.entropy": entropy}


def reward_crash(series: Series, onset: int) -> Series:
    """Reward falls back to a little below where it began, and stays there."""
    tag = "reward.mean" if "reward.mean" in series else "reward.episode_return.mean"
    reward, count = _tail(series, tag, onset)
    low, high = np.median(reward[: max(onset // 10, 3)]), np.median(reward[max(onset - 20, 0) : onset])
    rng = np.random.default_rng(onset)
    noise = np.median(np.abs(np.diff(reward))) * rng.standard_normal(count)
    reward[onset:] = high + (low - high - 0.1 * abs(high - low)) * _ramp(count, count // 20) + noise
    return series | {tag: reward}


def grad_explosion(series: Series, onset: int) -> Series:
    """Gradient norms thirty times as large."""
    grad, _ = _tail(series, "optimizer.grad_norm", onset)
    grad[onset:] *= 30
    return series | {"optimizer.grad_norm": grad}


def truncation(series: Series, onset: int) -> Series:
    """Responses grow into the limit."""
    cut, count = _tail(series, "lengths.response_clip_fraction", onset)
    cut[onset:] = np.clip(cut[onset:] + 0.7 * _ramp(count, count // 20), 0, 1)
    length, _ = _tail(series, "lengths.response.mean", onset)
    length[onset:] *= 1 + 1.5 * _ramp(count, count // 20)
    return series | {"lengths.response_clip_fraction": cut, "lengths.response.mean": length}


def length_collapse(series: Series, onset: int) -> Series:
    """Responses shrink to a tenth while the reward rises."""
    length, count = _tail(series, "lengths.response.mean", onset)
    length[onset:] *= 0.1 ** _ramp(count, count // 20)
    reward, _ = _tail(series, "reward.mean", onset)
    span = np.ptp(reward)
    reward[onset:] += span * _ramp(count, count // 3)
    return series | {"lengths.response.mean": length, "reward.mean": reward}


def no_signal(series: Series, onset: int) -> Series:
    """All groups score the same, the reward is gone."""
    zero, _ = _tail(series, "reward.zero_std_fraction", onset)
    zero[onset:] = 1.0
    reward, _ = _tail(series, "reward.mean", onset)
    reward[onset:] = reward.min() - 0.1 * np.ptp(reward)
    return series | {"reward.zero_std_fraction": zero, "reward.mean": reward}


def not_finite(series: Series, onset: int) -> Series:
    """Losses and gradients are NaN."""
    grad, _ = _tail(series, "optimizer.grad_norm", onset)
    grad[onset:] = np.nan
    return series | {"optimizer.grad_norm": grad}


def slow(series: Series, onset: int) -> Series:
    """Steps take four times as long."""
    step, _ = _tail(series, "timing.step", onset)
    step[onset:] *= 4
    return series | {"timing.step": step}


def mismatch(series: Series, onset: int) -> Series:
    """The engine drifts away from the trainer."""
    kl, count = _tail(series, "rollout.mismatch_kl", onset)
    kl[onset:] += 0.3 * _ramp(count, count // 10)
    return series | {"rollout.mismatch_kl": kl}


def low_mfu(series: Series, onset: int) -> Series:
    """MFU of a tenth, from the start."""
    return series | {"perf.mfu.actor": np.full(len(series["perf.mfu.actor"]), 0.1)}


def value_blow_up(series: Series, onset: int) -> Series:
    """The value loss grows fifty-fold."""
    loss, _ = _tail(series, "critic.loss", onset)
    loss[onset:] = 60 * np.max(np.abs(loss[:onset])) * np.exp(0.1 * np.sin(np.arange(len(loss) - onset)))
    return series | {"critic.loss": loss}


def overfit(series: Series, onset: int) -> Series:
    """Held-out loss rises, held-out accuracy is a coin flip, training accuracy is perfect."""
    accuracy, _ = _tail(series, "preference.accuracy", onset)
    accuracy[onset:] = 1.0
    return series | {
        "preference.accuracy": accuracy,
        "eval/preference.accuracy": np.full(8, 0.52) + 0.01 * np.sin(np.arange(8)),
        "validation.loss": np.linspace(0.7, 1.8, 8),
    }


def not_moving(series: Series, onset: int) -> Series:
    """Nothing is learnt at all: KL is nothing, the reward stays where it began."""
    reward = series["reward.mean"]
    noise = np.diff(reward, append=reward[-1]) / np.sqrt(2)
    return series | {
        "policy.kl_ref": np.full(len(reward), 1e-7),
        "reward.mean": np.median(reward[:3]) + noise,
    }


def bottleneck_shift(series: Series, onset: int) -> Series:
    """The reward becomes slow and takes most of a step."""
    more, count = _tail(series, "timing.reward", onset)
    more[onset:] += 2 * np.median(series["timing.step"]) * _ramp(count, 5)
    return series | {
        "timing.reward": more,
        "timing.step": series["timing.step"] + more - series["timing.reward"],
    }


def slower_tokens(series: Series, onset: int) -> Series:
    """The machine slows down: the same tokens take 1.9 times as long."""
    found = {}
    for tag in ("timing.step", "timing.generation", "timing.update_actor"):
        values, count = _tail(series, tag, onset)
        values[onset:] *= 1 + 0.9 * _ramp(count, 5)
        found[tag] = values
    return series | found


def starved_training(series: Series, onset: int) -> Series:
    """The trainer waits two thirds of a step for rollouts."""
    wait, count = _tail(series, "timing.wait_for_data", onset)
    wait[onset:] += 2 * series["timing.step"][onset:] * _ramp(count, 5)
    return series | {
        "timing.wait_for_data": wait,
        "timing.step": series["timing.step"] + wait - series["timing.wait_for_data"],
    }


def idle_generation(series: Series, onset: int) -> Series:
    """Engines have nothing to do most of the time."""
    idle, count = _tail(series, "perf.idle_fraction", onset)
    idle[onset:] = np.clip(idle[onset:] + 0.6 * _ramp(count, 5), 0, 1)
    return series | {"perf.idle_fraction": idle}


def uneven_load(series: Series, onset: int) -> Series:
    """One rank gets far more than its share."""
    load, count = _tail(series, "load.imbalance", onset)
    load[onset:] += 0.6 * _ramp(count, 5)
    return series | {"load.imbalance": load}


def memory_leak(series: Series, onset: int) -> Series:
    """Memory creeps up to the end of the run."""
    memory, count = _tail(series, "perf.memory.allocated", onset)
    memory[onset:] += np.linspace(0, 60, count)
    return series | {"perf.memory.allocated": memory}


def reward_sag(series: Series, onset: int) -> Series:
    """Two thirds of what was gained are lost over a tenth of the run."""
    tag = "reward.mean" if "reward.mean" in series else "reward.episode_return.mean"
    reward, count = _tail(series, tag, onset)
    low, high = np.median(reward[: max(onset // 10, 3)]), np.median(reward[max(onset - 20, 0) : onset])
    reward[onset:] -= 0.67 * (high - low) * _ramp(count, len(reward) // 10)
    return series | {tag: reward}


def slow_decline(series: Series, onset: int) -> Series:
    """All that was gained is lost, little by little until the end of the run."""
    tag = "reward.mean" if "reward.mean" in series else "reward.episode_return.mean"
    reward, count = _tail(series, tag, onset)
    low, high = np.median(reward[: max(onset // 10, 3)]), np.median(reward[max(onset - 20, 0) : onset])
    reward[onset:] -= (high - low) * _ramp(count, count)
    return series | {tag: reward}


def below_start(series: Series, onset: int) -> Series:
    """A model that was good at the start is made worse: nothing was gained before."""
    reward = series["reward.mean"]
    noise = np.diff(reward, append=reward[-1]) / np.sqrt(2)
    level = np.full(len(reward), reward[:3].mean())
    level[onset:] -= 0.6 * np.ptp(reward) * _ramp(len(reward) - onset, len(reward) // 20)
    return series | {"reward.mean": level + noise}


def entropy_explosion(series: Series, onset: int) -> Series:
    """Entropy grows to six times what it was."""
    entropy, count = _tail(series, "policy.entropy", onset)
    entropy[onset:] *= 1 + 5 * _ramp(count, count // 10)
    return series | {"policy.entropy": entropy}


def noise_explosion(series: Series, onset: int) -> Series:
    """The deviation of continuous actions grows without bound."""
    spread = series.get("policy.action_std", np.ones(len(series["policy.entropy"]))).copy()
    count = len(spread) - onset
    spread[onset:] *= 30 ** _ramp(count, count)
    return series | {"policy.action_std": spread}


def rate_raised(series: Series, onset: int) -> Series:
    """The learning rate is raised thirtyfold: KL jumps, and the reward is gone soon."""
    rate, _ = _tail(series, "optimizer.learning_rate", onset)
    rate[onset:] *= 30
    return reward_crash(kl_runaway(series, onset), onset) | {"optimizer.learning_rate": rate}


def tool_use_dies(series: Series, onset: int) -> Series:
    """Tools are called less and less, and the held-out score falls with them."""
    calls, count = _tail(series, "turns.tool_calls.mean", onset)
    calls[onset:] *= 0.02 ** _ramp(count, count // 4)
    return held_out_falls(series, onset) | {"turns.tool_calls.mean": calls}


def held_out_falls(series: Series, onset: int) -> Series:
    """The training reward goes on, the held-out score falls to where it began."""
    score = series["validation.accuracy"].copy()
    begin = int(np.ceil(onset / len(series["reward.mean"]) * len(score)))
    count = len(score) - begin
    score[begin:] -= (score[max(begin - 1, 0)] - score[0]) * _ramp(count, max(count // 2, 1))
    return series | {"validation.accuracy": score}


def answers_cut(series: Series, onset: int) -> Series:
    """All answers run into the length limit, and the reward goes back to its lowest."""
    cut, count = _tail(series, "lengths.response_clip_fraction", onset)
    cut[onset:] = np.clip(cut[onset:] + _ramp(count, count // 20), 0, 0.99)
    reward, _ = _tail(series, "reward.mean", onset)
    reward[onset:] -= (reward[onset:] - reward.min()) * _ramp(count, count // 20)
    return series | {"lengths.response_clip_fraction": cut, "reward.mean": reward}


@dataclass(frozen=True)
class Pathology:
    """A fault, the kind of run it befalls, and what counts as having found it."""

    make: Callable[[Series, int], Series]
    kind: str
    answers: tuple[str, ...]
    least: int = 60  # points below which it cannot be told
    begins: bool = True  # at an onset; else it is there from the start


PATHOLOGIES: dict[str, Pathology] = {
    "kl_runaway": Pathology(kl_runaway, "grpo", ("kl-ref-*", "kl-*")),
    "update_kl_high": Pathology(
        update_kl_high, "grpo", ("approx-kl-*", "clip-fraction-high", "updates-too-large")
    ),
    "entropy_collapse": Pathology(
        entropy_collapse, "grpo", ("entropy-collapse", "entropy-zero", "policy-collapsed")
    ),
    "reward_crash": Pathology(reward_crash, "grpo", ("reward-*", "no-stop")),
    "return_crash": Pathology(reward_crash, "classic", ("return-*",)),
    "grad_explosion": Pathology(grad_explosion, "grpo", ("grad-explosion", "update-instability")),
    "truncation": Pathology(truncation, "grpo", ("truncation*", "runaway-length")),
    "length_collapse": Pathology(length_collapse, "grpo", ("length-collapse", "length-hacking")),
    "no_signal": Pathology(no_signal, "grpo", ("zero-advantage", "reward-*", "no-signal")),
    "not_finite": Pathology(not_finite, "grpo", ("non-finite", "numerical-breakdown")),
    "slow": Pathology(slow, "grpo", ("step-slow", "slow-training")),
    "mismatch": Pathology(mismatch, "grpo", ("engine-mismatch*",)),
    "low_mfu": Pathology(low_mfu, "grpo", ("mfu-low",), begins=False),
    "value_blow_up": Pathology(value_blow_up, "classic", ("value-loss-spike",)),
    "overfit": Pathology(overfit, "dpo", ("preference-overfit", "validation-loss-rising"), begins=False),
    "starved_training": Pathology(
        starved_training, "timed", ("training-waits", "training-starves", "step-slow", "slow-training")
    ),
    "idle_generation": Pathology(idle_generation, "timed", ("generation-starves",)),
    "uneven_load": Pathology(uneven_load, "timed", ("load-heaviest",)),
    "not_moving": Pathology(not_moving, "grpo", ("not-moving",), begins=False),
}
_FALLS = ("reward-*", "return-*", "outcome-*", "policy-collapsed", "ended-below-*")
# Faults that are not told at every size, so that only the sweep asks for them.
SLOW_FAULTS: dict[str, Pathology] = {
    "reward_sag": Pathology(reward_sag, "grpo", _FALLS),
    "return_sag": Pathology(reward_sag, "classic", _FALLS),
    "slow_decline": Pathology(slow_decline, "grpo", _FALLS),
    "return_decline": Pathology(slow_decline, "classic", _FALLS),
    "below_start": Pathology(below_start, "grpo", _FALLS),
    "entropy_explosion": Pathology(entropy_explosion, "grpo", ("entropy-*",)),
    "noise_explosion": Pathology(noise_explosion, "classic", ("action-noise-*", "entropy-explosion")),
    "rate_raised": Pathology(rate_raised, "grpo", ("learning-rate-*",)),
    "tool_use_dies": Pathology(tool_use_dies, "agent", ("tool-*",)),
    "held_out_falls": Pathology(
        held_out_falls, "agent", ("validation-*", "over-optimis*", "eval-stalls", "eval-flat")
    ),
    "answers_cut": Pathology(answers_cut, "grpo", ("truncation*", "no-stop", "runaway-length")),
}
