"""PPO on a grid world (discrete) and on a linear system with Gaussian actions (continuous), in numpy."""

from __future__ import annotations

import numpy as np

from tests.support.toys.language import Adam, Array, Logs, Recipe, log_softmax, put


class Grid:
    """Sixteen walkers on a 5 by 5 grid: each step costs, the far corner pays; four moves."""

    SIDE, MOVES = 5, ((0, 1), (1, 0), (0, -1), (-1, 0))

    def __init__(self, rng: np.random.Generator, count: int) -> None:
        self.rng, self.place = rng, np.zeros((count, 2), int)

    def features(self) -> Array:
        """(count, 25) which field each walker stands on."""
        found: Array = np.eye(self.SIDE**2)[self.place[:, 0] * self.SIDE + self.place[:, 1]]
        return found

    def act(self, action: Array) -> tuple[Array, Array]:
        """Rewards and ends of episodes."""
        slip = self.rng.random(len(action)) < 0.05
        action = np.where(slip, self.rng.integers(0, 4, len(action)), action)
        self.place = np.clip(self.place + np.array(self.MOVES)[action], 0, self.SIDE - 1)
        there = (self.place == self.SIDE - 1).all(1)
        self.place[there] = 0
        return np.where(there, 10.0, -0.5), there


class Line:
    """A linear system with noise: keep it at rest with a small force. Costs only, so rewards are negative."""

    def __init__(self, rng: np.random.Generator, count: int) -> None:
        self.rng, self.state = rng, rng.standard_normal((count, 2))

    def features(self) -> Array:
        """(count, 5) for policy and critic: state, and squares for the critic."""
        x, v = self.state.T
        found: Array = np.stack([x, v, x * x, v * v, x * v], axis=1) * np.array([1, 1, 0.3, 0.3, 0.3])
        return found

    def act(self, action: Array) -> tuple[Array, Array]:
        """Rewards; episodes end by time only."""
        x, v = self.state.T
        force = np.clip(action, -4, 4)
        cost = x * x + 0.1 * v * v + 0.05 * force**2
        v = 0.95 * v + 0.2 * force + 0.02 * self.rng.standard_normal(len(x))
        self.state = np.clip(np.stack([x + 0.2 * v, v], axis=1), -4, 4)
        return -cost, np.zeros(len(x), bool)

    def reset(self, which: Array) -> None:
        """Start episodes anew."""
        self.state[which] = 1.5 * self.rng.standard_normal((int(which.sum()), 2))


WALKERS, HORIZON, MAX_STEPS = 16, 40, 60


def control(recipe: Recipe) -> dict[str, Array]:
    """PPO with a linear critic on a small world."""
    rng = np.random.default_rng([recipe.seed, 23])
    world: Grid | Line = Line(rng, WALKERS) if recipe.continuous else Grid(rng, WALKERS)
    inputs = world.features().shape[1]
    weights = 0.1 * rng.standard_normal((inputs, 1 if recipe.continuous else 4))
    log_std, critic = np.zeros(1), np.zeros(inputs + 1)
    optimisers = Adam(weights.shape, 0.5), Adam((1,), 0.5), Adam(critic.shape, 5.0 * max(recipe.scale, 1.0))
    age, earned = np.zeros(WALKERS, int), np.zeros(WALKERS)
    logs: Logs = {}
    returns, lengths = [], []
    usable = np.arange(inputs) < 2 if recipe.continuous else np.ones(inputs, bool)

    def judge(x: Array, action: Array) -> tuple[Array, Array]:
        """Log-probabilities of actions and entropies."""
        if recipe.continuous:
            mean = (x * usable) @ weights[:, 0]
            z = (action - mean) / np.exp(log_std)
            return -0.5 * z**2 - log_std - 0.919, np.full(len(x), 1.419 + log_std[0])
        table = log_softmax(x @ weights)
        return table[np.arange(len(x)), action], -(np.exp(table) * table).sum(-1)

    for step in range(recipe.steps):
        share = step / recipe.steps
        xs: list[Array] = []
        actions: list[Array] = []
        rewards: list[Array] = []
        ends: list[Array] = []
        for _ in range(HORIZON):
            x = world.features()
            if recipe.continuous:
                action = (x * usable) @ weights[:, 0] + np.exp(log_std) * rng.standard_normal(WALKERS)
            else:
                action = np.argmax(x @ weights + rng.gumbel(size=(WALKERS, 4)), axis=1)
            reward, done = world.act(action)
            age += 1
            if recipe.reward is not None:
                reward = recipe.reward(share, reward, age)
            reward = reward * recipe.scale
            earned += reward
            done = done | (age >= MAX_STEPS)
            for k in np.flatnonzero(done):
                returns.append(earned[k])
                lengths.append(age[k])
            if isinstance(world, Line):
                world.reset(done)
            else:
                world.place[done] = 0
            earned[done], age[done] = 0, 0
            for held, now in ((xs, x), (actions, action), (rewards, reward), (ends, done)):
                held.append(now)
        x, action = np.array(xs), np.array(actions)
        wide = np.concatenate([x, np.ones((*x.shape[:2], 1))], axis=2)
        value = wide @ critic
        after = np.concatenate([world.features(), np.ones((WALKERS, 1))], axis=1) @ critic
        advantage, running = np.zeros_like(value), np.zeros(WALKERS)
        for t in reversed(range(HORIZON)):
            alive = 1.0 - ends[t]
            delta = rewards[t] + recipe.gamma * after * alive - value[t]
            running = delta + recipe.gamma * 0.95 * alive * running
            advantage[t], after = running, value[t]
        target = (advantage + value).ravel()
        x, wide, action = x.reshape(-1, inputs), wide.reshape(-1, inputs + 1), action.ravel()
        raw, old = advantage.ravel(), judge(x, action)[0]
        normal = (raw - raw.mean()) / (raw.std() + 1e-8)
        lr, seen = recipe.lr * recipe.schedule(share), []
        for _ in range(recipe.epochs):
            for part in np.array_split(rng.permutation(len(x)), 4):
                new, entropy = judge(x[part], action[part])
                ratio = np.exp(np.clip(new - old[part], -20, 20))
                gain = normal[part]
                beyond = np.abs(ratio - 1) > recipe.clip
                stopped = ((ratio > 1 + recipe.clip) & (gain > 0)) | ((ratio < 1 - recipe.clip) & (gain < 0))
                factor = np.where(stopped, 0.0, ratio * gain) / len(part)
                if recipe.continuous:
                    mean, std = (x[part] * usable) @ weights[:, 0], np.exp(log_std)
                    z = (action[part] - mean) / std
                    gradient = ((x[part] * usable) * (factor * z / std)[:, None]).sum(0)[:, None]
                    optimisers[1].step(log_std, np.array([(factor * (z**2 - 1)).sum() + recipe.entropy]), lr)
                else:
                    table = log_softmax(x[part] @ weights)
                    one = np.eye(4)[action[part]] - np.exp(table)
                    spice = -np.exp(table) * (table + entropy[:, None])
                    gradient = x[part].T @ (factor[:, None] * one + recipe.entropy * spice / len(part))
                norm = optimisers[0].step(weights, gradient, lr)
                miss = target[part] - wide[part] @ critic
                optimisers[2].step(critic, wide[part].T @ miss / len(part), 10 * lr * max(recipe.scale, 1.0))
                inner = np.clip(ratio, 1 - recipe.clip, 1 + recipe.clip)
                loss = -np.minimum(ratio * gain, inner * gain).mean()
                moved = new - old[part]
                seen.append(
                    (
                        norm,
                        loss,
                        (ratio - 1 - moved).mean(),
                        beyond.mean(),
                        entropy.mean(),
                        0.5 * (miss**2).mean(),
                    )
                )
        norm, loss, kl, clip_share, entropy, value_loss = np.mean(seen, axis=0)
        put(
            logs,
            policy__approx_kl=kl,
            policy__clip_fraction=clip_share,
            policy__entropy=entropy,
            policy__loss=loss,
            critic__loss=value_loss,
            optimizer__learning_rate=lr,
            optimizer__grad_norm=norm,
            critic__explained_variance=1 - (target - value.ravel()).var() / max(float(target.var()), 1e-12),
            critic__value__mean=value.mean(),
            critic__return__mean=target.mean(),
            policy__advantage__mean=raw.mean(),
            policy__advantage__std=raw.std(),
            reward__episode_return__mean=np.mean(returns[-40:]) if returns else np.nan,
            lengths__episode__mean=np.mean(lengths[-40:]) if lengths else np.nan,
            policy__action_std=np.exp(log_std[0]),
        )
    return {name: np.array(values) for name, values in logs.items()}
