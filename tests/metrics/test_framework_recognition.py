"""Who wrote a run, told from its names alone."""

from __future__ import annotations

import pytest

from rltui.metrics.frameworks.recognise import recognise
from rltui.metrics.resolve import MetricNames
from tests.support import catalogue as shared
from tests.support.catalogue import needs_catalogue
from tests.support.shared import manifest, needs_shared

# How the labels of the recorded runs are called here; the first word that fits decides.
LABELS = (
    ("TRL SFTTrainer", "trl-sft"),
    ("TRL GRPOTrainer", "trl-grpo"),
    ("TRL RLOOTrainer", "trl-grpo"),  # writes the same names as GRPO
    ("TRL DPOTrainer", "trl-dpo"),
    ("TRL KTOTrainer", "trl-kto"),
    ("TRL RewardTrainer", "trl-reward"),
    ("TRL OnlineDPOTrainer", "trl-online-dpo"),
    ("TRL ORPOTrainer", "trl-orpo"),
    ("TRL PPOTrainer (0.11", "trl-legacy-ppo"),
    ("TRL PPOTrainer (0.19", "trl-ppo"),
    ("stable-baselines3", "stable-baselines3"),
    ("SB3 Monitor", "stable-baselines3"),
    ("CleanRL", "cleanrl"),
    ("RLlib", "rllib"),
    ("rsl_rl", "rsl-rl"),
    ("tianshou", "tianshou"),
    ("skrl", "skrl"),
    ("RLinf", "rlinf"),
    ("OpenRLHF", "openrlhf"),
    ("verl", "verl"),
    ("tinker-cookbook", "tinker-cookbook"),
    ("Dreamer", "dreamerv3"),
    ("LLaMA-Factory", "llama-factory"),
    ("damaged copy", None),
    ("", "unknown"),
)


def expected(said: str) -> str | None:
    """The label for a run of the manifest; None where it says nothing."""
    return next(label for start, label in LABELS if said.startswith(start))


@needs_shared
def test_every_recorded_run_is_recognised() -> None:
    """Each of the 66 runs, from its event files and from its text logs alike."""
    said = {run["path"]: run["framework"] for run in manifest()}
    wrong = []
    for run, kind, keys in shared.logs():
        label = expected(said[run])
        found = recognise(keys)
        if label is not None and found.label != label:
            wrong.append(f"{run} ({kind}): {found.label}, not {label}; {found.reason}")
    assert len(said) == 66
    assert not wrong, "\n".join(wrong)


@needs_catalogue
def test_every_framework_is_recognised_by_its_own_names() -> None:
    """A run with all names of a framework is known as that framework's."""
    keys: dict[str, list[str]] = {}
    for entry in shared.catalogue():
        keys.setdefault(entry["framework"], []).extend(shared.instances(entry))
    wrong = {}
    for framework, some in keys.items():
        if framework in ("glossary",):  # nobody's
            continue
        found = recognise(some)
        if found.framework != framework:
            wrong[framework] = (found.label, found.reason)
    assert not wrong, wrong


def test_the_answer_comes_with_confidence_and_reason() -> None:
    """Confidence lies within 0 and 1 and the reason quotes names."""
    found = recognise(["actor/pg_clipfrac", "actor/ppo_kl", "timing_s/step", "critic/score/mean"])
    assert found.label == "verl"
    assert 0.5 < found.confidence <= 1
    assert "actor/pg_clipfrac" in found.reason


def test_few_names_tell_nothing() -> None:
    """Names that anyone may write leave a run unknown."""
    for some in ([], ["loss"], ["reward", "kl"], ["train/loss", "train/lr"], ["a", "b"]):
        found = recognise(some)
        assert (found.framework, found.label, found.variant) == ("unknown", "unknown", None), some
        assert found.confidence < 0.5


def test_the_range_of_rewards_tells_no_trainer() -> None:
    """Many loops log the smallest, mean and largest reward, which TRL's reward trainer does as well."""
    keys = ["mean_reward", "min_reward", "max_reward", "success_rate", "value_loss"]
    assert recognise(keys).framework == "unknown"


def test_the_order_of_the_tags_does_not_matter() -> None:
    """The same tags in any order are those of the same framework and variant."""
    tags = [
        "train/loss", "train/completions/mean_length", "train/reward", "train/kl",
        "train/frac_reward_zero_std", "train/epoch", "train/grad_norm",
    ]  # fmt: skip
    assert [recognise(order).label for order in (tags, tags[::-1])] == ["trl-grpo"] * 2


def test_the_users_word_wins() -> None:
    """An override in any spelling is believed; one that names no framework is not."""
    tags = ["actor/pg_clipfrac", "timing_s/step", "actor/ppo_kl"]
    for said, label in (("prime_rl", "prime-rl"), ("trl-grpo", "trl-grpo"), ("sb3", "stable-baselines3")):
        found = recognise(tags, override=said)
        assert (found.label, found.confidence) == (label, 1.0)
    assert recognise(tags, override="no-such-framework").label == "verl"


def test_tunix_is_told_by_the_mode_within_its_names() -> None:
    """Tunix writes the mode behind the first part of a name; the score is the outcome in either mode."""
    expected = {
        "rewards/train/score/mean": "reward.score.mean", "rewards/train/sum": "reward.score.mean",
        "rewards/train/check_answer": "reward.component.mean", "rewards/eval/score/mean": "validation.score",
        "actor/train/perplexity": "other.custom", "actor/train/kl": "policy.kl_ref",
        "actor/train/entropy": "policy.entropy", "actor/train/loss/entropy": "policy.entropy",
        "actor/train/pg_clipfrac": "policy.clip_fraction", "actor/train/grad_norm": "optimizer.grad_norm",
        "completions/train/mean_length": "lengths.response.mean",
        "generation/train/completions/max_length": "lengths.response.max",
        "generation/train/completions/clip_ratio": "lengths.response_clip_fraction",
        "critic/train/vf_clipfrac": "critic.clip_fraction", "perf/train/global_step_time": "timing.step",
        "sampler_trainer/train/logp_diff_mean": "rollout.logprob_diff.mean",
    }  # fmt: skip
    names = MetricNames("tunix")
    assert recognise(expected).label == "tunix"
    assert {key: names.name(key).canonical for key in expected} == expected
    assert {key for key in expected if names.name(key).held_out} == {"rewards/eval/score/mean"}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("benchmarl", {
            "collection/reward/episode_reward_mean": "reward.episode_return.mean",
            "eval/reward/episode_reward_mean": "validation.return.mean",
            "counters/total_frames": "progress.env_steps", "train/agents/loss_objective": "policy.loss",
            "train/agents/loss_critic": "critic.loss", "train/agents/kl_approx": "policy.approx_kl",
        }),
        ("trlx", {
            "rollout_scores/mean": "reward.score.mean", "reward/mean": "validation.reward.mean",
            "policy/sqrt_kl": "policy.kl_ref", "values/values_error": "critic.error",
            "losses/policy_loss": "policy.loss", "kl_ctl_value": "policy.kl_coef",
        }),
        ("oat", {
            "actor/rewards": "reward.mean", "actor/sampling_max_tokens": "other.config_value",
            "actor/response_tok_len": "lengths.response.mean", "train/pg_loss": "policy.loss",
            "train/kl3": "policy.kl_ref_k3", "eval/average/accuracy": "validation.accuracy",
            "misc/prompt_consumed": "progress.samples",
        }),
        ("cosmos-rl", {
            "train/reward_mean": "reward.mean", "train/loss_avg": "optimizer.loss",
            "train/iteration_time": "timing.step", "val/reward_avg": "validation.reward.mean",
            "rollout/completion_length_mean": "lengths.response.mean", "train/kl_loss_avg": "policy.kl_loss",
        }),
        ("art", {
            "train/reward": "reward.mean", "train/exception_rate": "rollout.error_rate",
            "val/reward": "validation.reward.mean", "train/kl_div": "policy.kl_ref",
        }),
        ("harl", {
            "agent0/policy_loss": "policy.loss", "agent0/dist_entropy": "policy.entropy",
            "critic/value_loss": "critic.loss", "critic/average_step_rewards": "reward.step.mean",
            "train_episode_rewards": "reward.episode_return.mean",
            "eval_average_episode_rewards": "validation.return.mean",
        }),
        ("harl", {
            "average_episode_rewards": "reward.episode_return.mean", "dist_entropy": "policy.entropy",
            "value_loss": "critic.loss", "ratio": "policy.ratio.mean",
        }),
        ("jaxmarl", {
            "returned_episode_returns": "reward.episode_return.mean", "env_step": "progress.env_steps",
            "returned_episode_lengths": "lengths.episode.mean", "qvals": "critic.q.mean",
            "test_returned_episode_returns": "validation.return.mean",
        }),
        ("serl", {
            "environment/episode/r": "reward.episode_return.mean", "training/actor_loss": "policy.loss",
            "critic/predicted_qs": "critic.q.mean", "evaluation/average_return": "validation.return.mean",
            "timer/total": "timing.step",
        }),
        ("atropos", {
            "train/percent_correct": "reward.accuracy", "eval/percent_correct": "validation.accuracy",
            "train/completion_lengths": "lengths.response.mean", "train/items_rejected": "discarded.filtered",
        }),
        ("rllm", {  # on the backend veRL
            "reward/solver/mean": "reward.mean", "groups/num_trajs_before_filter": "rollout.generated",
            "batch/solver/fractions/too_hard": "reward.solve_none_fraction", "actor/pg_loss": "policy.loss",
            "critic/score/mean": "reward.score.mean", "timing_s/step": "timing.step",
        }),
        ("torchtitan", {
            "rollout_reward/_mean": "reward.mean", "validation_reward/_mean": "validation.reward.mean",
            "rollout/response_length/mean": "lengths.response.mean", "loss/mean": "policy.total_loss",
            "loss/ratio_clipped_frac": "policy.clip_fraction", "trainer/entropy/mean": "policy.entropy",
            "timing/step/wait_for_training_batch": "timing.wait_for_data",
            "advantage/_std": "policy.advantage.std",
        }),
        ("verl", {  # of Agent Lightning
            "training/reward": "reward.mean", "val/reward": "validation.reward.mean",
            "training/n_zero_adv_groups": "discarded.zero_advantage", "actor/pg_loss": "policy.loss",
            "timing_s/step": "timing.step", "actor/grad_norm": "optimizer.grad_norm",
        }),
        ("slime", {  # of miles
            "perf/fully_async/queue_length": "load.queue_depth",
            "train/train_rollout_kl": "rollout.mismatch_kl", "rollout/raw_reward": "reward.score.mean",
            "perf/actor_train_tflops": "perf.tflops",
            "perf/actor_train_mfu": "perf.mfu.actor",
        }),
        ("verl", {  # of EasyR1
            "reward/overall": "reward.mean", "reward/format": "rollout.format_score",
            "val/reward_score": "validation.reward.mean", "actor/pg_clipfrac_higher": "policy.clip_fraction",
            "val_response_length/mean": "validation.response_length.mean", "actor/pg_loss": "policy.loss",
            "critic/score/mean": "reward.score.mean",
        }),
    ],
)  # fmt: skip
def test_frameworks_are_known_by_their_source(label: str, expected: dict[str, str]) -> None:
    """The framework, its outcome and the metrics of policy and critic, by the names in its source code."""
    assert recognise(expected).label == label
    names = MetricNames(label)
    assert {key: names.name(key).canonical for key in expected} == expected


@pytest.mark.parametrize(
    ("keys", "label"),
    [
        (["r", "l", "t"], "stable-baselines3"),
        (["train/completions/mean_length", "train/completion_length", "train/reward"], "unsloth"),
        (["completions/mean_length", "memory(GiB)", "train_speed(s/it)", "reward"], "ms-swift"),
        (["ray/tune/env_runners/episode_return_mean", "ray/tune/learners/p/policy_loss"], "rllib"),
        (["episode_reward_mean", "info/learner/p/learner_stats/kl", "timesteps_total"], "rllib"),
        (["Episode_Reward/track", "Episode_Termination/time_out"], "isaaclab"),
        (["time/speed", "train/reward", "train/episode_length", "train/q_loss", "time/collect"], "torchrl"),
        (["time/speed", "train/episode_reward", "train/epsilon", "eval/reward"], "torchrl"),
        (["r_training", "r_total", "r_max", "done_percentage", "optim_steps", "loss_qvalue"], "torchrl"),
        (["train_reward_episode_reward_mean", "train_training_iteration", "train_learner_loss"], "torchrl"),
        (["J", "R", "entropy"], "mushroom-rl"),
        (["J", "entropy"], "mushroom-rl-discounted"),
        (["Reward / Total reward (mean)", "Coefficient / Entropy coefficient"], "skrl-sac"),
        (["Episode_Reward/track", "Train/mean_reward", "Loss/surrogate"], "rsl-rl"),
        (["Train-Results/Episode-Rewards/rank_0/env-0", "agent_0/loss_actor", "noise_scale"], "xuance"),
        (["collector_step/reward_mean", "learner_iter/cur_lr_avg", "learner_step/cur_lr_avg"], "di-engine"),
        (
            ["evaluator_iter/reward_mean", "learner_iter/cur_lr_avg", "learner_step/cur_lr_avg"],
            "di-engine-offline",
        ),
        (["data/actor/pg_clipfrac", "data/timing_s/step", "data/actor/ppo_kl"], "verl"),
    ],
)
def test_relatives_are_told_apart(keys: list[str], label: str) -> None:
    """Frameworks that build on each other are known by what only they write."""
    assert recognise(keys).label == label


@pytest.mark.parametrize(
    "names",
    [
        "serial_timesteps nupdates total_timesteps fps explained_variance eprewmean eplenmean policy_entropy",
        "misc/nupdates misc/total_timesteps eprewmean eplenmean loss/policy_loss loss/approxkl loss/clipfrac",
        "EpLenMean EpRewMean EpThisIter EpisodesSoFar TimestepsSoFar TimeElapsed ev_tdlam_before entropy",
        "ep_len_mean ep_reward_mean serial_timesteps n_updates total_timesteps policy_loss value_loss",
    ],
)
def test_the_algorithms_of_baselines_are_recognised_with_their_returns(names: str) -> None:
    """Each algorithm of OpenAI Baselines has other names; each has a return, and all are known."""
    keys = names.split()
    assert recognise(keys).label == "baselines"
    found = [MetricNames("baselines").name(key) for key in keys]
    assert all(name.recognised for name in found)
    assert "reward.episode_return.mean" in [name.canonical for name in found]
