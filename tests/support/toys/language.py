"""Small language policies that are really trained, in numpy: true KL, clip fractions, entropies, groups.

`language(Recipe)` is a bandit with sequences: a softmax over a few tokens, one of which ends the answer,
linear in features that tasks share; GRPO or PPO with Adam, clipping and a KL weight. `control(Recipe)`, in
`tests.support.toys.control`, is PPO on worlds of steps. Series go by canonical id, one value a step; the same
recipe gives the same numbers. A run takes about a fifth of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Logs = dict[str, list[float]]

TOKENS = 6  # 0 ends the answer
TASKS = 24
FEATURES = 16  # what tasks share: fewer than tasks, so that a step for one disturbs others


@dataclass(frozen=True)
class Recipe:
    """How a toy is trained. What is not named by a field is drawn from the seed, within healthy bounds."""

    seed: int = 0
    steps: int = 150
    prompts: int = 12
    group: int = 8
    lr: float = 0.03
    epochs: int = 2
    clip: float = 0.2
    beta: float = 0.0  # weight of the KL to the first policy
    entropy: float = 0.0  # weight of the entropy bonus
    limit: int = 12  # longest answer, tokens
    sparse: bool = True  # right last token, or share of right tokens
    critic: bool = False  # PPO with a value per task, in place of groups
    continuous: bool = False  # for `control`
    gamma: float = 0.97
    scale: float = 1.0  # of rewards
    schedule: Callable[[float], float] = lambda share: 1.0  # factor of the rate, by share of the run
    reward: Callable[[float, Array, Array], Array] | None = None  # (share, reward, lengths) -> reward
    stale: Callable[[float], int] = lambda share: 0  # steps that samples are old
    engine: float = 0.01  # noise of the sampler's logits


class Adam:
    """Adam with clipping by norm; gives the norm before."""

    def __init__(self, shape: tuple[int, ...], most: float = 1.0) -> None:
        self.m, self.v, self.t, self.most = np.zeros(shape), np.zeros(shape), 0, most

    def step(self, weights: Array, gradient: Array, lr: float) -> float:
        """Climb the gradient in place."""
        norm = float(np.sqrt((gradient**2).sum()))
        gradient = gradient * min(1.0, self.most / (norm + 1e-8))
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * gradient
        self.v = 0.99 * self.v + 0.01 * gradient**2
        weights += lr * (self.m / (1 - 0.9**self.t)) / (np.sqrt(self.v / (1 - 0.99**self.t)) + 1e-8)
        return norm


def log_softmax(logits: Array) -> Array:
    """Over the last axis."""
    high = logits - logits.max(-1, keepdims=True)
    found: Array = high - np.log(np.exp(high).sum(-1, keepdims=True))
    return found


def put(logs: Logs, **values: float) -> None:
    """Note one step; `__` in a name stands for a dot."""
    for name, value in values.items():
        logs.setdefault(name.replace("__", "."), []).append(float(value))


def _chosen(table: Array, token: Array) -> Array:
    """(prompts, group, limit) log-probabilities of tokens, from (prompts, limit, TOKENS)."""
    prompt, _, place = np.ogrid[: token.shape[0], : token.shape[1], : token.shape[2]]
    found: Array = table[prompt, place, token]
    return found


def _answers(
    rng: np.random.Generator, table: Array, right: Array, group: int, sparse: bool
) -> tuple[Array, Array, Array]:
    """Tokens (tasks, group, limit), lengths (limit + 1: cut off) and scores of sampled answers.

    The last token before the end must be right, or the share of right tokens counts; what is cut earns 0.
    """
    wide = np.repeat(table[:, None], group, axis=1)
    limit = table.shape[1]
    token = np.argmax(wide + rng.gumbel(size=wide.shape), axis=-1)
    ends = token == 0
    cut = ~ends.any(-1)
    length = np.where(cut, limit + 1, ends.argmax(-1) + 1)
    good = token == right[:, None, None]
    if sparse:
        last = np.take_along_axis(good, np.clip(length - 2, 0, limit - 1)[..., None], -1)[..., 0]
        return token, length, (last & ~cut & (length > 1)).astype(float)
    inside = np.arange(limit) < length[..., None]
    return token, length, (good & inside).sum(-1) / np.maximum(length - 1, 1) * ~cut


def language(recipe: Recipe) -> dict[str, Array]:
    """GRPO or PPO on short token sequences."""
    rng = np.random.default_rng([recipe.seed, 17])
    limit, group, prompts = recipe.limit, recipe.group, recipe.prompts
    right = rng.integers(1, TOKENS, TASKS)
    pretrained = 0.3 * rng.standard_normal((TASKS, limit, TOKENS))
    pretrained[:, :, 0] += rng.uniform(-0.6, 0.4) - 0.5
    pretrained[np.arange(TASKS), :, right] += rng.normal(rng.uniform(0.0, 1.0), 0.7, (TASKS, 1))
    about = rng.standard_normal((TASKS, FEATURES)) / np.sqrt(FEATURES)
    change = np.zeros((FEATURES, limit, TOKENS))
    reference, values = log_softmax(pretrained), np.zeros(TASKS)
    optimiser = Adam(change.shape)
    logs: Logs = {}
    older: list[Array] = []

    def table_of(learnt: Array) -> Array:
        """(TASKS, limit, TOKENS) log-probabilities."""
        return log_softmax(pretrained + np.tensordot(about, learnt, 1))

    token_time = rng.uniform(0.05, 0.5)
    for step in range(recipe.steps):
        share = step / recipe.steps
        older = [*older[-40:], change.copy()]
        behind = min(recipe.stale(share), len(older) - 1)
        sampler = table_of(older[-1 - behind])
        sampler = log_softmax(sampler + recipe.engine * rng.standard_normal(sampler.shape))
        which = rng.permutation(TASKS)[:prompts]
        token, length, score = _answers(rng, sampler[which], right[which], group, recipe.sparse)
        cut = length > limit
        length = np.minimum(length, limit)
        mask = (np.arange(limit) < length[..., None]).astype(float)
        count = mask.sum()
        if recipe.reward is not None:
            score = recipe.reward(share, score, length)
        score = recipe.scale * score
        spread = score.std(1)
        if recipe.critic:
            guess = np.repeat(values[which][:, None], group, axis=1)
            advantage = score - guess
            residual = score - guess
            put(
                logs,
                critic__loss=0.5 * float((residual**2).mean()),
                critic__explained_variance=1 - residual.var() / max(float(score.var()), 1e-12),
                critic__value__mean=guess.mean(),
                critic__return__mean=score.mean(),
            )
            values[which] += 0.3 * residual.mean(1)
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        else:
            advantage = (score - score.mean(1, keepdims=True)) / (spread[:, None] + 1e-4 * recipe.scale)
        before = table_of(change)[which]
        old, engine, ref = (_chosen(each, token) for each in (before, sampler[which], reference[which]))
        away = (old - ref)[mask > 0]
        entropy = -(np.exp(before) * before).sum(-1)[:, None] * mask
        apart = (engine - old)[mask > 0]
        lr = recipe.lr * recipe.schedule(share)
        seen: list[tuple[float, ...]] = []
        for _ in range(recipe.epochs):
            current = table_of(change)[which]
            moved = _chosen(current, token) - old
            ratio = np.exp(np.clip(moved, -20, 20))
            gain = advantage[..., None] * mask
            clipped = ((ratio > 1 + recipe.clip) & (gain > 0)) | ((ratio < 1 - recipe.clip) & (gain < 0))
            factor = np.where(clipped, 0.0, ratio * gain) / count
            one = np.eye(TOKENS)[token]
            gradient = (factor[..., None] * (one - np.exp(current)[:, None])).sum(1)
            if recipe.beta:
                pull = (current - reference[which]) * np.exp(current)
                pull -= np.exp(current) * pull.sum(-1, keepdims=True)
                gradient -= recipe.beta * pull * mask.sum(1)[..., None] / count
            if recipe.entropy:
                spice = -np.exp(current) * (current + (-(np.exp(current) * current).sum(-1, keepdims=True)))
                gradient += recipe.entropy * spice * mask.sum(1)[..., None] / count
            inner = np.clip(ratio, 1 - recipe.clip, 1 + recipe.clip)
            loss = -np.minimum(ratio * gain, inner * gain).sum() / count
            norm = optimiser.step(change, np.tensordot(about[which].T, gradient, 1), lr)
            inside = mask > 0
            seen.append(
                (
                    norm,
                    loss,
                    float(-moved[inside].mean()),
                    float((ratio - 1 - moved)[inside].mean()),
                    float(clipped[inside].mean()),
                    float(ratio[inside].mean()),
                )
            )
        norm, loss, k1, k3, clip_share, ratio_mean = np.mean(seen, axis=0)
        slow = token_time * float(length.max()) * np.exp(0.1 * rng.standard_normal())
        train = 2.0 * float(length.mean()) * token_time * np.exp(0.05 * rng.standard_normal())
        put(
            logs,
            reward__mean=score.mean(),
            reward__std=score.std(),
            reward__min=score.min(),
            reward__max=score.max(),
            reward__group_std=spread.mean(),
            reward__zero_std_fraction=(spread < 1e-9).mean(),
            reward__solve_all_fraction=(score.min(1) >= recipe.scale).mean(),
            reward__solve_none_fraction=(score.max(1) <= 0).mean(),
            policy__entropy=entropy.sum() / count,
            policy__approx_kl=k1,
            policy__approx_kl_k3=k3,
            policy__clip_fraction=clip_share,
            policy__loss=loss,
            policy__ratio__mean=ratio_mean,
            policy__kl_ref=away.mean(),
            policy__kl_ref_k3=(np.exp(-away) - 1 + away).mean(),
            policy__advantage__mean=advantage.mean(),
            policy__advantage__max=advantage.max(),
            policy__advantage__min=advantage.min(),
            policy__advantage__std=advantage.std(),
            optimizer__grad_norm=norm,
            optimizer__learning_rate=lr,
            lengths__response__mean=length.mean(),
            lengths__response__max=length.max(),
            lengths__response__min=length.min(),
            lengths__response_clip_fraction=cut.mean(),
            rollout__mismatch_kl=apart.mean(),
            rollout__mismatch_k3_kl=(np.exp(-apart) - 1 + apart).mean(),
            rollout__staleness__mean=behind,
            timing__generation=slow,
            timing__update_actor=train,
            timing__step=slow + train + 0.3,
            perf__throughput=count / (slow + train + 0.3),
        )
        if step % 10 == 9:
            put(logs, validation__accuracy=_answers(rng, table_of(change), right, 8, recipe.sparse)[2].mean())
    return {name: np.array(values) for name, values in logs.items()}
