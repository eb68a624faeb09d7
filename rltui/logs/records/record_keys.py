"""Which keys of a record say when: its step, its wall time, the planned number of steps.

The key that gives the step is the axis and no series of its own. Keys are compared in lower case with
`_` for blanks and dashes, so hand-made headers (`Episode`, `env step`) count too.
"""

from __future__ import annotations

from collections.abc import Iterable

# The first of these that a record holds with a whole number gives its step. Optimiser and environment
# steps come before iterations, those before episodes, epochs last: the finest axis that a writer declares.
STEP_KEYS = (
    "step",  # veRL, TRL, prime-rl, tinker-cookbook, Dreamer, torchtune, most hand-made logs
    "global_step",
    "_step",  # W&B history
    "trainer/global_step",  # Lightning
    "train/global_step",  # transformers through W&B
    "training/global_step",  # veRL
    "global_step/max_steps",  # ms-swift, text "10/438"
    "current_steps",  # LLaMA-Factory
    "current_step",
    "training_step",
    "train_step",
    "optimizer_step",
    "time/total_timesteps",  # Stable-Baselines3
    "total_timesteps",
    "training_iteration",  # RLlib
    "timesteps_total",  # RLlib, old stack
    "num_env_steps_sampled_lifetime",  # RLlib, where no iteration is kept
    "iteration",  # ms-swift on Megatron, text "10/438"
    "iter",
    "env_step",
    "env_steps",
    "num_timesteps",
    "timestep",
    "timesteps",
    "frame",
    "frames",
    "update",
    "round",
    "episode",
    "episode_num",
    "epoch",  # Spinning Up; only when whole: a fraction of an epoch is no step
)
_RANK = {key: rank for rank, key in enumerate(STEP_KEYS)}

WALL_KEYS = ("_timestamp", "wall_time", "walltime", "timestamp", "time", "ts", "datetime", "created_at")
_WALL_RANK = {key: rank for rank, key in enumerate(WALL_KEYS)}

# `total_steps` alone may be a counter; beside `current_steps` it is the plan (LLaMA-Factory).
TOTAL_BESIDE = {"current_steps": "total_steps", "global_step": "max_steps", "step": "max_steps"}


def plain(key: str) -> str:
    """The key as it is compared."""
    return key.strip().lower().replace(" ", "_").replace("-", "_")


def step_keys(keys: Iterable[str]) -> list[str]:
    """Those of the keys that may give the step, the best first."""
    ranked = [(_RANK[name], key) for key in keys if (name := plain(key)) in _RANK]
    return [key for _, key in sorted(ranked)]


def wall_keys(keys: Iterable[str]) -> list[str]:
    """Those of the keys that may give the wall time, the best first."""
    ranked = [(_WALL_RANK[name], key) for key in keys if (name := plain(key)) in _WALL_RANK]
    return [key for _, key in sorted(ranked)]


def total_key(step_key: str, keys: Iterable[str]) -> str | None:
    """The key that gives the planned number of steps, or None."""
    wanted = TOTAL_BESIDE.get(plain(step_key))
    return next((key for key in keys if plain(key) == wanted), None) if wanted else None
