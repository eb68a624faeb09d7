"""Which settings matter most for reinforcement learning, and which topic each of the others belongs to."""

from __future__ import annotations

import re
from functools import lru_cache

KEY = "Key settings"
UNSET = "Not set"

# In the order of reading. Matched against the end of a key: whole words between slashes.
_KEY_SETTINGS = (
    r"learning[_ ]rate|lr|(policy|actor|pi|value|critic|vf|q)_(lr|learning_rate)",
    r"lr_scheduler_type|lr_schedule|anneal_lr|schedule",
    r"max_grad_norm|grad_clip|clip_grad",
    r"beta|(init_)?kl_(coeff?|penalty_coef|loss_coef|beta)|kl_penalty_coef|kl_ctrl/kl_coef|target_kl|kl_target",
    r"epsilon|epsilon_(low|high)|clip_?range|clip_(coef|param|eps|ratio)|clip_ratio_(low|high)|eps_clip(_low|_high)?"
    r"|cliprange_value|vf_clip_param|clip_range_vf",
    r"ent_coef|entropy_(coeff?|bonus|beta)",
    r"vf_coef|vf_loss_coeff|value_loss_coef|value_coef",
    r"loss_type|loss_fn|adv_estimator|adv_type|scale_rewards",
    r"gamma|discount",
    r"lam|lambda_?|gae_lambda",
    r"(per_device_train_|train_|global_|rollout_|mini_?|micro_|ppo_mini_|ppo_)?batch_size|minibatch_size"
    r"|train_batch_size_per_learner|groups_per_batch|num_minibatches",
    r"gradient_accumulation_steps",
    r"num_generations|group_size|n_samples_per_prompt|rollout/n|num_return_sequences|num_responses_per_prompt",
    r"num_envs|n_envs|total_num_envs|num_steps|n_steps|rollout_fragment_length",
    r"max_(prompt|completion|response|input|seq|model)_len(gth)?|max_(new_)?tokens|max_length|response_length"
    r"|prompt_max_len|generate_max_len|max_episode_steps",
    r"temperature",
    r"(num_)?(ppo|update|train|sgd)_epochs|num_iterations|n_epochs|num_epochs|(total|max)_epochs|num_(train|ppo|sgd)_"
    r"(epochs|iter)|num_substeps",
    r"max_steps|total_(time)?steps|total_env_steps|max_iterations|total_episodes",
    r"lora_(rank|r|alpha)",
    r"model_name(_or_path)?|base_model|pretrain|model/path|_name_or_path|algo(rithm)?(_class)?|policy|actor_model",
    r"env|env_(id|name)|dataset(_name|_path)?|train_files|prompt_data|task",
    r"seed",
)
_RANKED = tuple(re.compile(rf"(?:^|/)(?:{pattern})(?:/value)?$", re.IGNORECASE) for pattern in _KEY_SETTINGS)

# Topics and words of theirs; the first topic wins. A word counts where a part of a key begins with it.
_WORDS = (
    (
        "Logging and saving",
        "log logger logging save output report hub push run_name wandb trackio tensorboard checkpoint "
        "project tracker tqdm disable_tqdm exp_name experiment resume print track capture verbose export",
    ),
    ("Evaluation", "eval evaluation test val validation metric_for best"),
    (
        "Precision and devices",
        "fp16 bf16 tf32 precision dtype fsdp deepspeed ddp cuda gpu gpus cpu cpus device compile "
        "gradient_checkpointing parallel world_size node xla tpu accelerator jit ray worker workers "
        "offload liger learners",
    ),
    ("Reward", "reward rewards score whiten"),
    (
        "Generation and rollouts",
        "generat generation generations top_k top_p min_p repetition vllm sglang rollout completion "
        "completions prompt prompts env envs sampl sampling sample episode explor cache",
    ),
    (
        "Optimiser",
        "adam optim optimizer lr learning weight_decay warmup grad gradient gradients momentum schedul",
    ),
    (
        "Policy and value",
        "kl clip cliprange entropy ratio vf value critic advantage adv gae importance ref sync_ref mask "
        "loss tau target epsilon delta",
    ),
    ("Model", "model lora peft tokenizer chat_template attn"),
    ("Data", "data dataset dataloader batch shuffle pad padding token tokens label column seed split"),
)
_TOPICS = tuple(
    (title, re.compile(rf"(?:^|[/_])(?:{'|'.join(words.split())})", re.IGNORECASE)) for title, words in _WORDS
)


@lru_cache(maxsize=8192)
def rank(key: str) -> int | None:
    """The place of a key among the key settings; None when it is none of them."""
    if key.startswith("model_config/") and not key.endswith("_name_or_path"):
        return None
    return next((index for index, pattern in enumerate(_RANKED) if pattern.search(key)), None)


@lru_cache(maxsize=8192)
def topic(key: str) -> str:
    """The heading under which a key stands when it is no key setting."""
    if key.startswith("model_config/"):
        return "Model"
    return next((title for title, pattern in _TOPICS if pattern.search(key)), "Other")


ORDER = {title: index for index, title in enumerate((
    KEY, "Policy and value", "Reward", "Generation and rollouts", "Optimiser", "Data", "Model", "Evaluation",
    "Precision and devices", "Logging and saving", "Other", UNSET,
))}  # fmt: skip
