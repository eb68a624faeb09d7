"""The series of a toy run under the names that frameworks give, and what the evaluator says of such a log."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rltui.metrics.frameworks.recognise import recognise
from rltui.metrics.resolve import MetricNames
from tests.support.runs.evaluators import grow, new_evaluator

_K = "policy.approx_kl"
LANGUAGE: dict[str, dict[str, str]] = {
    "trl": {
        "reward.mean": "train/reward",
        "reward.std": "train/reward_std",
        "policy.kl_ref_k3": "train/kl",
        "reward.zero_std_fraction": "train/frac_reward_zero_std",
        "policy.entropy": "train/entropy",
        "policy.clip_fraction": "train/clip_ratio/region_mean",
        "policy.loss": "train/loss",
        "optimizer.grad_norm": "train/grad_norm",
        "optimizer.learning_rate": "train/learning_rate",
        "lengths.response.mean": "train/completions/mean_length",
        "lengths.response.max": "train/completions/max_length",
        "lengths.response.min": "train/completions/min_length",
        "lengths.response_clip_fraction": "train/completions/clipped_ratio",
        "timing.step": "train/step_time",
    },
    "verl": {
        "reward.mean": "critic/rewards/mean",
        "reward.max": "critic/rewards/max",
        "reward.min": "critic/rewards/min",
        "policy.advantage.mean": "critic/advantages/mean",
        "policy.advantage.max": "critic/advantages/max",
        "policy.advantage.min": "critic/advantages/min",
        "policy.entropy": "actor/entropy",
        _K: "actor/ppo_kl",
        "policy.clip_fraction": "actor/pg_clipfrac",
        "policy.loss": "actor/pg_loss",
        "policy.kl_ref_k3": "actor/kl_loss",
        "optimizer.grad_norm": "actor/grad_norm",
        "optimizer.learning_rate": "actor/lr",
        "lengths.response.mean": "response_length/mean",
        "lengths.response.max": "response_length/max",
        "lengths.response.min": "response_length/min",
        "lengths.response_clip_fraction": "response_length/clip_ratio",
        "critic.explained_variance": "critic/vf_explained_var",
        "critic.loss": "critic/vf_loss",
        "critic.value.mean": "critic/values/mean",
        "critic.return.mean": "critic/returns/mean",
        "timing.step": "timing_s/step",
        "timing.generation": "timing_s/gen",
        "timing.update_actor": "timing_s/update_actor",
        "perf.throughput": "perf/throughput",
        "validation.accuracy": "val-core/toy/acc/mean@8",
    },
    "openrlhf": {
        "reward.mean": "train/reward",
        "reward.group_std": "train/group_reward_std",
        "policy.entropy": "train/entropy_loss",
        _K: "train/ppo_kl",
        "policy.clip_fraction": "train/ppo_clip_ratio",
        "policy.loss": "train/policy_loss",
        "policy.kl_ref": "train/kl",
        "rollout.mismatch_kl": "train/vllm_kl",
        "optimizer.grad_norm": "train/actor_grad_norm",
        "optimizer.learning_rate": "train/actor_lr",
        "lengths.response.mean": "train/response_length",
        "lengths.response_clip_fraction": "train/truncated",
        "timing.step": "train/timing/step_total",
        "timing.generation": "train/timing/generation",
        "critic.loss": "train/critic_loss",
    },
    "prime-rl": {
        "reward.mean": "reward/all/mean",
        "policy.entropy": "entropy/all/mean",
        "rollout.mismatch_k3_kl": "mismatch_kl/all/mean",
        "optimizer.grad_norm": "optim/grad_norm",
        "optimizer.learning_rate": "optim/lr",
        "lengths.response.mean": "decode_len/all/mean",
        "lengths.response_clip_fraction": "is_truncated/all/mean",
        "reward.solve_all_fraction": "solve_all/all",
        "reward.solve_none_fraction": "solve_none/all",
        "policy.loss": "loss/mean",
        "timing.step": "time/step",
        "rollout.staleness.mean": "off_policy/mean",
        "perf.throughput": "perf/throughput",
    },
    "nemo-rl": {
        "reward.mean": "train/reward",
        "policy.loss": "train/loss",
        "policy.kl_ref_k3": "train/kl_penalty",
        "policy.entropy": "train/approx_entropy",
        "policy.ratio.mean": "train/probs_ratio",
        "rollout.mismatch_k3_kl": "train/gen_kl_error",
        "optimizer.grad_norm": "train/grad_norm",
        "optimizer.learning_rate": "train/lr",
        "lengths.response.mean": "train/mean_gen_tokens_per_sample",
        "lengths.response_clip_fraction": "train/truncation_rate",
        "policy.advantage.mean": "train/advantages/mean",
        "timing.step": "timing/train/total_step_time",
        "timing.generation": "timing/train/generation",
        "validation.accuracy": "validation/accuracy",
    },
    "slime": {
        "reward.mean": "rollout/raw_reward",
        "policy.entropy": "train/entropy_loss",
        _K: "train/ppo_kl",
        "policy.clip_fraction": "train/pg_clipfrac",
        "policy.loss": "train/pg_loss",
        "policy.kl_ref_k3": "train/kl_loss",
        "optimizer.grad_norm": "train/grad_norm",
        "optimizer.learning_rate": "train/lr-pg_0",
        "policy.advantage.mean": "rollout/advantages",
        "lengths.response.mean": "rollout/response_len/mean",
        "lengths.response.max": "rollout/response_len/max",
        "lengths.response_clip_fraction": "rollout/truncated_ratio",
        "timing.step": "perf/step_time",
        "timing.update_actor": "perf/actor_train_time",
        "timing.generation": "perf/rollout_time",
        "validation.accuracy": "eval/toy",
    },
    "areal": {
        "reward.mean": "ppo_actor/task_reward/avg",
        "policy.entropy": "ppo_actor/update/entropy/avg",
        "policy.approx_kl_k3": "ppo_actor/update/approx_kl/avg",
        "policy.clip_fraction": "ppo_actor/update/clip_ratio/avg",
        "policy.loss": "ppo_actor/update/actor_loss/avg",
        "policy.ratio.mean": "ppo_actor/update/importance_weight/avg",
        "policy.advantage.mean": "ppo_actor/advantages/avg",
        "optimizer.grad_norm": "ppo_actor/update/grad_norm",
        "optimizer.learning_rate": "ppo_actor/update/lr",
        "lengths.response.mean": "ppo_actor/seq_len/avg",
        "lengths.response_clip_fraction": "ppo_actor/no_eos_ratios/avg",
        "rollout.mismatch_kl": "ppo_actor/update/behave_approx_kl/avg",
        "rollout.staleness.mean": "ppo_actor/update/version_stats/sample_staleness_theta_avg",
        "timing.generation": "timeperf/rollout",
        "timing.update_actor": "timeperf/train_step",
    },
    "tinker": {
        "reward.mean": "env/all/reward/total",
        "policy.entropy": "optim/entropy",
        "rollout.mismatch_kl": "optim/kl_sample_train_v1",
        "rollout.mismatch_k3_kl": "optim/kl_sample_train_v2",
        "optimizer.learning_rate": "optim/lr",
        "lengths.response.mean": "env/all/ac_tokens_per_turn",
        "reward.solve_all_fraction": "env/all/by_group/frac_all_good",
        "reward.solve_none_fraction": "env/all/by_group/frac_all_bad",
        "timing.step": "time/total",
        "validation.accuracy": "test/env/all/correct",
    },
    "rlinf": {
        "reward.mean": "rollout/rewards",
        _K: "actor/training/actor/approx_kl",
        "policy.clip_fraction": "actor/training/actor/clip_fraction",
        "policy.entropy": "actor/training/actor/entropy_loss",
        "policy.loss": "actor/training/actor/policy_loss",
        "optimizer.grad_norm": "actor/training/actor/grad_norm",
        "optimizer.learning_rate": "actor/training/actor/lr",
        "lengths.response.mean": "rollout/response_length",
        "policy.advantage.mean": "rollout/advantages_mean",
        "policy.advantage.max": "rollout/advantages_max",
        "policy.advantage.min": "rollout/advantages_min",
        "timing.step": "time/step",
    },
}
CONTROL: dict[str, dict[str, str]] = {
    "cleanrl": {
        "reward.episode_return.mean": "charts/episodic_return",
        "lengths.episode.mean": "charts/episodic_length",
        "optimizer.learning_rate": "charts/learning_rate",
        _K: "losses/approx_kl",
        "policy.clip_fraction": "losses/clipfrac",
        "policy.entropy": "losses/entropy",
        "policy.loss": "losses/policy_loss",
        "critic.loss": "losses/value_loss",
        "critic.explained_variance": "losses/explained_variance",
        "speed": "charts/SPS",
    },
    "sb3": {
        "reward.episode_return.mean": "rollout/ep_rew_mean",
        "lengths.episode.mean": "rollout/ep_len_mean",
        "optimizer.learning_rate": "train/learning_rate",
        _K: "train/approx_kl",
        "policy.clip_fraction": "train/clip_fraction",
        "-policy.entropy": "train/entropy_loss",
        "policy.loss": "train/policy_gradient_loss",
        "critic.loss": "train/value_loss",
        "critic.explained_variance": "train/explained_variance",
        "speed": "time/fps",
    },
    "skrl": {
        "reward.episode_return.mean": "Reward / Total reward (mean)",
        "lengths.episode.mean": "Episode / Total timesteps (mean)",
        "policy.loss": "Loss / Policy loss",
        "critic.loss": "Loss / Value loss",
        "optimizer.learning_rate": "Learning / Learning rate",
        "policy.action_std": "Policy / Standard deviation",
    },
    "rl_games": {
        "reward.episode_return.mean": "rewards/step",
        "lengths.episode.mean": "episode_lengths/step",
        "policy.loss": "losses/a_loss",
        "critic.loss": "losses/c_loss",
        "policy.entropy": "losses/entropy",
        "optimizer.learning_rate": "info/last_lr",
        _K: "info/kl",
        "speed": "performance/step_fps",
    },
    "rsl_rl": {
        "reward.episode_return.mean": "Train/mean_reward",
        "lengths.episode.mean": "Train/mean_episode_length",
        "policy.loss": "Loss/surrogate",
        "critic.loss": "Loss/value_function",
        "policy.entropy": "Loss/entropy",
        "optimizer.learning_rate": "Loss/learning_rate",
        "policy.action_std": "Policy/mean_noise_std",
        "speed": "Perf/total_fps",
    },
    "rlinf": {
        "reward.episode_return.mean": "env/return",
        "lengths.episode.mean": "env/episode_len",
        _K: "train/actor/approx_kl",
        "policy.clip_fraction": "train/actor/clip_fraction",
        "policy.entropy": "train/actor/entropy_loss",
        "policy.loss": "train/actor/policy_loss",
        "optimizer.grad_norm": "train/actor/grad_norm",
        "optimizer.learning_rate": "train/actor/lr",
        "critic.loss": "train/critic/value_loss",
        "critic.explained_variance": "train/critic/explained_variance",
    },
}
STYLES = {**LANGUAGE, **{name: tags for name, tags in CONTROL.items() if name not in LANGUAGE}}


def written(series: Mapping[str, np.ndarray], names: Mapping[str, str]) -> dict[str, np.ndarray]:
    """The series as a framework would log them; a `-` in front of an id turns the sign."""
    found = {}
    for canonical, tag in names.items():
        bare = canonical.removeprefix("-")
        if bare in series:
            found[tag] = -series[bare] if bare != canonical else series[bare]
    return found


def told_of(log: Mapping[str, np.ndarray], cuts: int = 8, stride: int = 1) -> dict[str, str]:
    """What the evaluator says while a log grows: id -> worst severity. Names are the real resolver's."""
    evaluator = new_evaluator(MetricNames(recognise(log).label))
    told: dict[str, str] = {}
    for _ in grow(evaluator, log, cuts, stride):
        for finding in evaluator.findings():
            if told.get(finding.id) in (None, "info") or finding.severity == "critical":
                told[finding.id] = finding.severity
    return told


def alarms(told: Mapping[str, str]) -> set[str]:
    """The ids of at least a warning."""
    return {name for name, severity in told.items() if severity != "info"}
