"""Names: every key of every framework finds its metric; what nobody knows finds a place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.metrics.catalogue import catalogue
from rltui.metrics.explain_key import explain, nearest
from rltui.metrics.frameworks.recognise import recognise
from rltui.metrics.resolve import MetricNames
from rltui.panes.explanations import explained_entries
from tests.support import catalogue as shared
from tests.support.catalogue import needs_catalogue
from tests.support.shared import needs_shared

PANES = {pane.id for pane in catalogue().glossary.panes}


@needs_catalogue
def test_every_key_of_the_catalogue_finds_its_metric() -> None:
    """Each of 2,493 keys, as logged and in TensorBoard, has its id, pane and unit, or a reviewed reason."""
    wrong = []
    names: dict[str, MetricNames] = {}
    for entry in shared.catalogue():
        own = names.setdefault(entry["framework"], MetricNames(entry["framework"]))
        pane = shared.PANES.get(entry["pane"], entry["pane"])
        expected = {"canonical": entry["canonical"], "pane": pane, "unit": entry["unit"]} | shared.difference(
            entry
        )
        for key in shared.instances(entry):
            name = own.name(key)
            got = {"canonical": name.canonical, "pane": name.pane, "unit": name.unit}
            if got != expected or name.guessed:
                wrong.append(f"{entry['framework']} {key}: {got} not {expected}")
    assert not wrong, "\n".join(wrong[:40])


@needs_catalogue
def test_every_difference_still_differs() -> None:
    """The reviewed list holds nothing that the data have caught up with."""
    entries = shared.catalogue()
    for each in shared.differences():
        for key in each["keys"]:
            matching = [e for e in entries if e["key"] == key and e["framework"] in each["frameworks"]]
            assert matching, f"{key}: the catalogue has no such key"
            for entry in matching:
                theirs = {"canonical": entry["canonical"], "pane": entry["pane"], "unit": entry["unit"]}
                ours = {field: each[field] for field in theirs if field in each}
                assert any(theirs[field] != value for field, value in ours.items()), key
        assert each["reason"]


@needs_catalogue
def test_every_metric_of_the_founding_documents_is_explained() -> None:
    """`explain` answers each name that the five documents use with meaning and pane."""
    seeds = [e for e in shared.catalogue() if "seed" in e or "also_seed" in e]
    assert len(seeds) > 200
    for entry in seeds:
        for key in shared.instances(entry):
            told = explain(key)
            assert told, key
            assert all(each.metric.meaning and each.pane for each in told), key


@pytest.mark.parametrize(
    "family", ["clip_ratio/*", "global_seqlen/*", "timing_s/*", "val-aux/num_turns/*", "lr_scheduler/*"]
)
def test_families_of_names_are_explained(family: str) -> None:
    """A family as documents write it is answered by its members."""
    assert explain(family)


@needs_catalogue
def test_patterns_of_the_catalogue_are_explained_as_they_stand() -> None:
    """`val-core/*/acc/mean@*` is answered like the names that it stands for."""
    for entry in shared.catalogue():
        if "*" in entry["key"]:
            told = explain(entry["key"], entry["framework"])
            wanted = {"canonical": entry["canonical"]} | shared.difference(entry)
            assert told, entry["key"]
            assert told[0].canonical == wanted["canonical"], entry["key"]
            assert told[0].key == entry["key"]


def test_a_placeholder_in_braces_is_any_name() -> None:
    """`rewards/{reward_func_name}/mean` means what any reward function's mean means."""
    assert "reward.component.mean" in {each.canonical for each in explain("rewards/{reward_func_name}/mean")}


@needs_shared
def test_recorded_runs_are_known() -> None:
    """Below 2 % of the names of any listed framework's run are unrecognised, and every name has a pane."""
    runs = 0
    for run, _, keys in shared.logs():
        label = recognise(keys).label
        names = MetricNames(label)
        found = [names.name(key) for key in keys]
        assert all(name.pane and name.title for name in found), run
        if label != "unknown":
            missed = [name.tag for name in found if not name.recognised]
            assert len(missed) < 0.02 * len(keys), (run, label, missed)
            assert not any(name.guessed for name in found), run
        runs += 1
    assert runs >= 66


# Names that say something else than they seem to, by framework; why, stands before them.
NAMES: dict[str, dict[str, str | None]] = {
    # Each metric of all rollouts, and of those that filtering left, for each environment.
    "prime-rl": {
        "train/agg/all/reward/mean": "reward.mean",
        "train/agg/effective/reward/mean": "reward.filtered.mean",
        "train/math/rewards/format/mean": "reward.component.mean",
    },
    # Reward terms and curricula both stand among an episode's numbers, in the log as on the console.
    "rsl-rl": {
        "Episode/rew_torques": "reward.component.mean",
        "Episode/terrain_level": "rollout.curriculum",
        "Mean episode terrain_level": "rollout.curriculum",
        "Mean episode gait_score": "rollout.environment_metric",
    },
    # Learners of several agents put the agent before the name, distributed ones the rank behind it.
    "xuance": {
        "adversary_0/predictQ": "critic.q.mean",
        "agent_0/loss_actor": "policy.loss",
        "predict_value/agent_0": "critic.value.mean",
        "Qloss/rank_1": "critic.loss",
        "noise_scale": "policy.exploration",
        "actor_loss/entropy_loss": "policy.entropy",
    },
    # Returns of ended episodes are called `reward`; the sum of returns so far is no outcome.
    "torchrl": {
        "train/reward": "reward.episode_return.mean",
        "train/loss_objective": "policy.loss",
        "train/a_loss": "policy.loss",
        "eval/reward": "validation.return.mean",
        "test/reward": "validation.return.mean",
        "time/rb - extend": "timing.phase",
        "train/learner/loss_qvalue": "critic.loss",
        "train_reward_episode_reward_mean": "reward.episode_return.mean",
        "r_training": "reward.step.mean",
        "r_training_std": "other.custom",
        "r_total": "other.custom",
    },
    # 1.x has `train/` where 2.x has `training/`; times under `info/` are totals, no phases of a step.
    "tianshou": {
        "train/returns_stat/mean": "reward.episode_return.mean",
        "train/lens_stat/max": "lengths.episode.max",
        "train/n_collected_steps": "rollout.collect_steps",
        "training/pred_dist_std_array_stat/0/mean": "policy.action_std",
        "info/timing/train_time_update": "timing.elapsed",
        "info/gradient_step": "optimizer.updates",
    },
    # Beside the plain return the discounted one says nothing new; some examples log nothing else.
    "mushroom-rl": {"R": "validation.return.mean", "J": "other.custom"},
    "mushroom-rl-discounted": {"J": "validation.return.mean"},
    # SAC logs the loss of its temperature under the name of the entropy bonus of the others.
    "skrl-sac": {"Loss / Entropy loss": "policy.alpha_loss"},
    "skrl": {
        "Loss / Entropy loss": "policy.entropy_loss",
        "Loss / Entropy loss (agent_0)": "policy.entropy_loss",
    },
    # The logger hands losses and sums of episodes to the user's callback with the same prefix.
    "brax": {
        "episode/sum_reward": "reward.episode_return.mean",
        "episode/kl_mean": "policy.approx_kl",
        "episode/sps": "perf.fps",
        "episode/reward/alive": "reward.component.mean",
        "episode/distance": "rollout.environment_metric",
        "eval/episode_reward/alive_std": "validation.component",
    },
    # Steps are those of the environment, and what each environment reports holds its result.
    "pufferlib": {
        "environment/episode_return": "reward.episode_return.mean",
        "environment/score": "reward.score.mean",
        "environment/episode_length": "lengths.episode.mean",
        "environment/dishes_served": "rollout.environment_metric",
    },
    "acme": {"steps_per_second": "perf.fps", "loss_value": "critic.loss"},  # of the loop of an environment
    "dopamine": {"Train/AverageStepsPerSecond": "perf.fps"},
    # PPO puts `critic/` before what its value model reports; the policy keeps the bare names.
    "nemo-rl": {
        "train/critic/loss": "critic.loss",
        "train/critic/vf_clipfrac": "critic.clip_fraction",
        "train/critic/explained_var": "critic.explained_variance",
        "train/critic/values_max": "critic.value.max",
        "train/critic/returns_mean": "critic.return.mean",
        "train/critic/grad_norm": "optimizer.critic_grad_norm",
        "train/grad_norm": "optimizer.grad_norm",
    },
    # The mean of each group is taken off `rollout/rewards`: the outcome is the raw reward.
    "slime": {"rollout/raw_reward": "reward.score.mean", "rollout/rewards": "reward.shaped.mean"},
    # An average over tokens is no outcome; the reward of the task is, with either scope of the actor.
    "areal": {
        "ppo_actor/final_reward/avg": "reward.shaped.mean",
        "grpo_actor/final_reward/avg": "reward.shaped.mean",
        "ppo_actor/task_reward/avg": "reward.score.mean",
        "grpo_actor/task_reward/avg": "reward.score.mean",
    },
    # The ratio of CISPO is the policy's; the rewards of groups that are dropped are no outcome.
    "skyrl": {
        "policy/loss_metrics/cispo/ratio_max": "policy.ratio.max",
        "policy/loss_metrics/is_ratio_max": "rollout.is_weight.max",
        "reward_dropped/avg_raw_reward": None,
    },
    # The KL of KTO is its reference point, not the distance from the reference policy.
    "trl-kto": {"train/kl": "preference.kl"},
    "trl-grpo": {"train/kl": "policy.kl_ref"},
}


@pytest.mark.parametrize("framework", NAMES)
def test_names_mean_what_the_framework_means(framework: str) -> None:
    """Each name of a framework has its metric, whatever others mean by it."""
    names = MetricNames(framework)
    assert {key: names.name(key).canonical for key in NAMES[framework]} == NAMES[framework]


def test_an_older_release_of_tianshou_is_recognised() -> None:
    """By the names that the next one gave up."""
    assert recognise(["train/returns_stat/mean", "train/n_collected_steps"]).label == "tianshou"


def test_a_series_that_is_logged_again_by_seconds_is_shown_and_not_judged() -> None:
    """Its steps are of another kind, so a fall would be dated at a step that is none."""
    names = MetricNames("rsl-rl")
    assert names.name("Train/mean_reward").main
    assert not names.name("Train/mean_reward/time").main


def test_the_objective_of_an_elegantrl_actor_is_no_q_value() -> None:
    """PPO writes its surrogate there, so a run of it would be shown as off-policy."""
    name = MetricNames("elegantrl").name("objA")
    assert name.canonical == "policy.loss" and name.to_canonical(2.0) == -2.0


def test_copies_of_rl_games_over_epochs_and_seconds_are_not_judged() -> None:
    """Returns are logged over frames, epochs and seconds; the environment's own numbers are, too."""
    names = MetricNames("rl-games")
    keys = ["rewards/iter", "rewards/time", "episode_lengths/iter", "scores/iter", "successes/iter"]
    assert {names.name(key).statistic for key in keys} == {"copy"}
    assert names.name("rewards/step").statistic == "mean"
    assert names.name("rewards0/frame").canonical == "reward.episode_return.mean"
    assert names.name("successes/frame").canonical == "rollout.environment_metric"


@pytest.mark.parametrize(
    ("framework", "judged", "copy"),
    [
        ("di-engine", "evaluator_step/reward_mean", "evaluator_iter/reward_mean"),
        ("di-engine", "learner_step/q_value_avg", "learner_iter/q_value_avg"),
        ("di-engine", "learner_step/unheard_of_avg", "learner_iter/unheard_of_avg"),
        ("di-engine-offline", "learner_iter/bc_loss_avg", "learner_step/bc_loss_avg"),
    ],
)
def test_of_two_axes_one_is_judged(framework: str, judged: str, copy: str) -> None:
    """DI-engine logs over environment steps and over iterations; offline RL has only the latter."""
    names = MetricNames(framework)
    assert names.name(judged).canonical == names.name(copy).canonical is not None
    assert not names.name(judged).is_copy and names.name(copy).is_copy


# ---- held-out data are never training


@pytest.mark.parametrize(
    ("framework", "key", "canonical"),
    [
        ("trl", "eval/reward", "validation.reward.mean"),
        ("trl", "eval_reward", "validation.reward.mean"),
        ("trl", "eval/loss", "validation.loss"),
        ("trl", "eval_math_loss", "validation.loss"),
        ("trl", "eval/math_rewards/accuracies", "preference.accuracy"),
        ("trl", "eval/rewards/format/mean", "reward.component.mean"),
        ("trl", "test/entropy", "policy.entropy"),
        ("verl", "val-core/openai/gsm8k/acc/mean@8", "validation.accuracy"),
        ("verl", "val-aux/a/b/c/reward/std@4", "validation.accuracy_std"),
        ("tianshou", "test/returns_stat/mean", "validation.return.mean"),
        (None, "eval/reward", "validation.reward.mean"),
        (None, "val/loss", "validation.loss"),
        (None, "validation/policy_loss", "policy.loss"),
        ("stable-baselines3", "eval/mean_reward", "validation.return.mean"),
        ("prime-rl", "eval/agg/effective/avg@4", "validation.accuracy"),
        ("open-instruct", "eval/pass_at_1_unbiased", "validation.accuracy"),
        ("open-instruct", "eval/pass_at_4_unbiased", "validation.pass_at_k"),
    ],
)
def test_evaluation_is_held_out(framework: str | None, key: str, canonical: str) -> None:
    """A name with an evaluation prefix is marked as held out and stands in the validation pane."""
    name = MetricNames(framework).name(key)
    assert (name.canonical, name.held_out, name.pane) == (canonical, True, "validation")


@pytest.mark.parametrize(
    ("framework", "key", "canonical", "pane"),
    [
        ("trl", "train/val/ratio", "policy.ratio.mean", "policy"),
        ("trl", "val/clipfrac_avg", "critic.clip_fraction", "critic"),
        ("trl-legacy-ppo", "ppo/val/mean", "critic.value.mean", "critic"),
        ("open-instruct", "val/sequence_lengths", "lengths.response.mean", "lengths"),
        (None, "val/ratio", "policy.ratio.mean", "policy"),
        (None, "ppo/val/var_explained", "critic.explained_variance", "critic"),
    ],
)
def test_names_that_only_look_like_validation(
    framework: str | None, key: str, canonical: str, pane: str
) -> None:
    """`val` of PPO trainers is the value function or the policy, and is judged as training."""
    name = MetricNames(framework).name(key)
    assert (name.canonical, name.held_out, name.pane) == (canonical, False, pane)


def test_an_unknown_evaluation_metric_stays_with_validation() -> None:
    """What an evaluation writes and nobody knows is still held out, whoever wrote it."""
    for framework in ("trl", "verl", None):
        key = "val/zork/blip" if framework == "verl" else "eval/zork/blip"
        name = MetricNames(framework).name(key)
        assert (name.canonical, name.held_out, name.pane) == (None, True, "validation"), framework


@given(
    st.sampled_from(["trl", "verl", "rlinf", "prime-rl", "unknown"]),
    st.text("abcxyz_/", min_size=1, max_size=20),
)
def test_no_pattern_of_training_reaches_over_evaluation(framework: str, rest: str) -> None:
    """Whatever follows an evaluation prefix, the name is held out."""
    prefix = {"verl": "val-core/", "prime-rl": "eval/"}.get(framework, "eval/")
    assert MetricNames(framework).name(prefix + rest).held_out


# ---- scales


@pytest.mark.parametrize(
    ("framework", "key", "written", "judged"),
    [
        ("stable-baselines3", "train/entropy_loss", -0.69, 0.69),
        ("rlinf", "train/entropy_loss", 0.69, 0.69),
        ("prime-rl", "perf/mfu", 41.0, 0.41),
        ("verl", "perf/mfu/actor", 0.41, 0.41),
        ("skrl", "Stats / Env stepping time (ms)", 20.0, 0.020),
        ("nemo-rl", "train/malformed_thinking_rate", 0.1, 0.9),
        ("verl", "train/lr(1e-3)", 1.0, 0.001),
        ("ms-swift", "memory(GiB)", 10.0, 10.73741824),
        ("sample-factory", "train/ratio_mean", 0.02, 0.02),
        ("lerobot", "eval/pc_success", 80.0, 0.8),
    ],
)
def test_values_are_judged_on_the_canonical_scale(
    framework: str, key: str, written: float, judged: float
) -> None:
    """Percent, signs and units are brought to the scale that limits are stated on."""
    name = MetricNames(framework).name(key)
    assert name.comparable
    assert name.to_canonical(written) == pytest.approx(judged)


def test_a_sum_is_not_compared_with_a_mean() -> None:
    """KL summed over a response has no factor to KL per token: not comparable, and without hard bounds."""
    name = MetricNames("trl-ppo").name("train/objective/kl")
    assert (name.unit, name.comparable, name.scale) == ("nats/response", False, 1.0)
    assert name.metric is not None
    assert name.metric.bounds is None


def test_a_spread_is_not_the_metric() -> None:
    """Tianshou's loss statistics share an id, but only the mean is the loss."""
    names = MetricNames("tianshou")
    told = {word: names.name(f"update/actor_loss/{word}") for word in ("mean", "std", "max", "min")}
    assert [word for word, name in told.items() if name.main] == ["mean"]
    assert {name.canonical for name in told.values()} == {"policy.loss"}


# ---- what nobody knows


@pytest.mark.parametrize(
    ("key", "pane", "group", "title"),
    [
        ("zorkmid", "general", "", "Zorkmid"),
        ("zork/mid", "zork", "", "Mid"),
        ("zork/lamp/oil_left", "zork", "zork/lamp", "Oil left"),
        ("Zork Things/a/b/c", "zork-things", "Zork Things/a/b", "C"),
        ("overview/zork", "overview-section", "", "Zork"),
        ("findings/zork", "findings-section", "", "Zork"),
        ("reward/zork", "reward", "", "Zork"),
        ("timing/zork/blip", "timing", "timing/zork", "Blip"),
        ("颜色/大小", "颜色", "", "大小"),
        ("tag with spaces / slash (ms) [%]", "tag-with-spaces", "", "Slash (ms) [%]"),
        ("/", "general", "", "/"),
        ("", "general", "", ""),
    ],
)
def test_unknown_keys_follow_their_slashes(key: str, pane: str, group: str, title: str) -> None:
    """No slash: General; one: section, metric; more: section, group, metric. Known sections join a pane."""
    name = MetricNames("unknown").name(key)
    assert (name.canonical, name.pane, name.group, name.title) == (None, pane, group, title)


@given(st.text(max_size=60))
def test_any_key_gets_a_place(key: str) -> None:
    """No tag, however odd, is refused or left without a pane."""
    for framework in ("trl", "unknown"):
        name = MetricNames(framework).name(key)
        assert name.tag == key
        assert name.pane


def test_training_prefix_makes_no_pane_for_a_known_framework() -> None:
    """`train/` says nothing of a run whose framework is known; its other sections say where a key belongs."""
    assert MetricNames("trl").name("train/my_metric").pane == "general"
    assert MetricNames("openrlhf").name("train/my_metric").pane == "general"
    assert MetricNames("trl").name("train/zork/lamp").pane == "zork"
    assert MetricNames("verl").name("actor/my_metric").pane == "policy"
    assert MetricNames("verl").name("timing_s/x/y").pane == "timing"


def test_a_guess_is_marked() -> None:
    """Names of an unknown framework are read by what most frameworks mean, and say so."""
    name = MetricNames(None).name("actor/pg_clipfrac")
    assert (name.canonical, name.guessed) == ("policy.clip_fraction", True)
    assert "other frameworks" in MetricNames(None).name("train/entropy_loss").caveat
    known = MetricNames("verl").name("actor/pg_clipfrac")
    assert (known.canonical, known.guessed, known.framework) == ("policy.clip_fraction", False, "verl")


def test_the_same_tag_gives_the_same_object() -> None:
    """Resolving happens once for each tag."""
    names = MetricNames("verl")
    assert names.name("actor/lr") is names.name("actor/lr")


def test_names_behind_a_domain() -> None:
    """ROLL repeats its names for every domain: they are told apart, and unknown words stay unknown."""
    names = MetricNames("roll")
    name = names.name("math_rule/critic/score/mean")
    assert (name.canonical, name.part) == ("reward.score.mean", "math_rule")
    assert names.name("math_rule/zork").canonical is None


def test_the_only_policy_goes_without_saying() -> None:
    """RLlib's default policy is not repeated in every title; another policy is."""
    names = MetricNames("rllib")
    assert names.name("learners/default_policy/entropy").part == ""
    assert names.name("ray/tune/learners/attacker/entropy").part == "attacker"


def test_wildcards_tell_rows_apart() -> None:
    """A data source with slashes is read from the right and shown with its number of samples."""
    name = MetricNames("verl").name("val-core/openai/gsm8k/best@8/mean")
    assert (name.part, name.canonical) == ("openai/gsm8k @8", "validation.best_at_n")
    assert name.title.endswith("openai/gsm8k @8")


# ---- explain


@pytest.mark.parametrize(
    ("key", "canonical"),
    [
        ("actor_pg_clipfrac", "policy.clip_fraction"),
        ("rollout_ep_rew_mean", "reward.episode_return.mean"),
        ("train.approx_kl", "policy.approx_kl"),
        ("val-core_aime_acc_mean@1", "validation.accuracy"),
    ],
)
def test_explain_knows_names_whose_slashes_were_replaced(key: str, canonical: str) -> None:
    """As file names and exported tables have them; the answer is about the name that was asked for."""
    told = explain(key)
    assert told[0].canonical == canonical and told[0].key == key


def test_explain_tells_all_meanings_and_who_means_them() -> None:
    """A name that frameworks use differently is told once per meaning, the commonest first."""
    told = explain("train/entropy_loss")
    assert [each.scale for each in told] == [1.0, -1.0]
    assert told[1].framework == "stable-baselines3"
    assert told[0].framework is None
    assert {"rlinf", "slime", "openrlhf"} <= set(told[0].frameworks)


def test_the_framework_decides() -> None:
    """`framework` in either spelling picks one meaning."""
    for spelling in ("stable_baselines3", "stable-baselines3", "sb3"):
        told = explain("train/entropy_loss", spelling)
        assert [each.framework for each in told] == ["stable-baselines3"]
    assert explain("train/kl", "trl-kto")[0].canonical == "preference.kl"


def test_an_explanation_knows_how_other_frameworks_write_it() -> None:
    """The framework that the key is of, and the names that the others give the same thing."""
    told = explained_entries("actor/pg_clipfrac")[0]
    assert told.aliases is not None
    assert told.framework == "verl"
    assert "clip_ratio/region_mean" in told.aliases["trl"]


def test_a_canonical_id_explains_itself() -> None:
    """Ids are accepted wherever keys are."""
    assert explain("policy.kl_ref")[0].canonical == "policy.kl_ref"


def test_what_nobody_writes_is_not_explained() -> None:
    """An unknown name gives nothing, but names that look like it."""
    assert explain("zork/zorkmid") == []
    assert explain("actor/pg_clipfrac", "no-such-framework") == []
    assert nearest("actor/pg_clipfrak")[0] == "actor/pg_clipfrac"
    assert "env/success_once" in nearest("success_once")
    assert nearest("") == []


def test_data_hold_together() -> None:
    """No file of the glossary or the frameworks has a fault, and every name leads to a metric."""
    assert catalogue().problems == ()
    conventions = catalogue().conventions
    metrics = catalogue().metrics
    assert conventions.kinds <= metrics.keys()
    assert {*conventions.validation, *conventions.validation.values()} <= metrics.keys()
    assert set(conventions.sections.values()) <= PANES


@pytest.mark.parametrize(
    ("tag", "pane", "title"),
    [
        ("loss[/b]", "general", "Loss[/b]"),
        ("train/f1(a/b)", "train", "F1(a/b)"),
        ("x/[red]y[/red]", "x", "[red]y[/red]"),
        ("a[b/c", "a-b", "C"),
        ("a]/b[", "a", "B["),
    ],
)
def test_a_slash_within_brackets_parts_nothing(tag: str, pane: str, title: str) -> None:
    """What stands in brackets belongs together; brackets that are not closed are letters like others."""
    name = MetricNames().name(tag)
    assert name.title == title
    assert name.pane == pane


@pytest.mark.parametrize(
    ("key", "metric"),
    [
        ("average-episode-return", "reward.episode_return.mean"),
        ("average-test-episode-return", "validation.return.mean"),
        ("episode_rewards", "reward.episode_return.mean"),
        ("eval_rewards", "validation.return.mean"),
        ("critic_losses", "critic.loss"),
        ("episode_losses", "optimizer.loss"),
        ("VR/Total_Reward/Episode", "reward.episode_return.mean"),
        ("mean actor loss", "policy.loss"),
        ("Avg Critic Loss", "critic.loss"),
        ("Avg_Reward_100", "reward.mean"),
        ("avg_clip_fraction", "policy.clip_fraction"),
        ("loss/policy_gradient_loss", "policy.loss"),
        ("Average100 Score", "reward.score.mean"),
        ("mean_return_last_50_episodes", "reward.episode_return.mean"),
        ("Avg reward (last 1000)", "reward.mean"),
        ("Mean Return (last 64 episodes)", "reward.episode_return.mean"),
        ("eprew", "reward.episode_return.mean"),
        ("format_reward", "reward.component.mean"),
        ("reward_step", "reward.step.mean"),
        ("global_step", "progress.step"),
        ("Reward/train", "reward.episode_return.mean"),  # not any component of a reward, `reward/*`
        ("Main/episode_reward", "reward.episode_return.mean"),
        ("Loss/vf_loss", "critic.loss"),
        ("Epsilon", "policy.exploration"),
        ("NashConv", "validation.exploitability"),
        ("Critic Loss 1", "critic.loss"),
        ("q2_loss", "critic.loss"),
        ("actor_loss_2", "policy.loss"),
        ("clip_range", "policy.clip_range"),
        ("ratios_max", "policy.ratio.max"),
        ("kl_coef", "policy.kl_coef"),
        ("target_values", "critic.target.mean"),
        ("discriminator_loss", "other.auxiliary_loss"),
        ("rejected_rewards", "preference.rejected_reward"),
        ("fraction correct", "reward.accuracy"),
        ("percent_correct", "reward.accuracy"),
        ("correct_rate", "reward.accuracy"),
        ("train_acc", "reward.accuracy"),  # of a classifier, too: nothing says "of preferences"
        ("correct", None),  # as often a count
        ("num_correct", None),
    ],
)
def test_names_of_home_made_histories(key: str, metric: str | None) -> None:
    """Lists that a loop dumps are named in the plural, and hyphens stand for underscores."""
    assert MetricNames(None).name(key).canonical == metric


@pytest.mark.parametrize(
    ("keys", "framework", "metrics"),
    [
        (
            ["actor_pg_loss", "response_length_clip_ratio", "timing_s_gen", "val-core_gsm8k_acc_mean@1"],
            "verl",
            ["policy.loss", "lengths.response_clip_fraction", "timing.generation", "validation.accuracy"],
        ),
        (
            ["actor.pg_loss", "timing_s.step", "critic.score.mean"],
            "verl",
            ["policy.loss", "timing.step", "reward.score.mean"],
        ),
        (["objective_kl", "rewards_margins", "eval_rewards_margins", "loss"], None, [
            "policy.kl_ref", "preference.margin", "preference.margin", None]),
        (["reward_std", "actor_loss", "episode_reward"], None, [
            "reward.std", "policy.loss", "reward.episode_return.mean"]),
    ],
)  # fmt: skip
def test_names_that_lost_their_slashes(
    keys: list[str], framework: str | None, metrics: list[str | None]
) -> None:
    """Tables spell `actor/pg_loss` as `actor_pg_loss`: it tells the framework, and the metric."""
    found = recognise(keys).framework
    assert found == (framework or "unknown")
    named = [MetricNames(found).name(key) for key in keys]
    assert [name.canonical for name, metric in zip(named, metrics, strict=True) if metric] == [
        *filter(None, metrics)
    ]
    assert [name.held_out for name in named] == [key.startswith(("val", "eval")) for key in keys]


@pytest.mark.parametrize(
    ("tag", "canonical", "part", "held_out"),
    [
        ("Episodic Reward/episode", "reward.episode_return.mean", "", False),
        ("Env/Episode_Reward", "reward.episode_return.mean", "", False),
        ("reward_per_ep", "reward.episode_return.mean", "", False),
        ("Smoothed Episode Rewards (last 50)", "reward.episode_return.mean", "", False),
        ("Fitness/Average", "reward.score.mean", "", False),
        ("reward_latest", "reward.mean", "", False),
        ("agent_1_reward", "reward.mean", "agent 1", False),
        ("eval avg ep rew", "validation.return.mean", "", True),
        ("steps_per_episode", "lengths.episode.mean", "", False),
        ("Q-value", "critic.q.mean", "", False),
        ("Train/entropy_team_0", "policy.entropy", "team 0", False),
        ("Epoch_reward", "reward.mean", "", False),
        ("epsilon_values", "policy.exploration", "", False),
        ("eps_history", "policy.exploration", "", False),
        ("rewardHistory", "reward.mean", "", False),
        ("episode_lengths_list", "lengths.episode.mean", "", False),
        ("dqn_rewards", "reward.episode_return.mean", "", False),
        ("gradient_norms", "optimizer.grad_norm", "", False),
        ("pid_4079/steps", "lengths.episode.mean", "pid 4079", False),
        ("agent_SB3 DQN/seed_53/reward", "reward.mean", "agent SB3 DQN seed 53", False),
        ("learner/iteration/objective/kl", "policy.kl_ref", "learner iteration", False),
        ("learner/step/policy/approxkl", "policy.approx_kl", "learner step", False),
        ("actor/iteration/accuracy", "reward.accuracy", "actor iteration", False),
        ("rollout/accuracy_mean", "reward.accuracy", "rollout", False),
        ("q_learning/reward", "reward.mean", "q learning", False),
        ("td3/critic_loss", "critic.loss", "td3", False),
        ("Final Reward", "reward.mean", "", False),
        ("global_avg_reward", "reward.mean", "", False),
        ("client_avg_reward", "reward.mean", "", False),
        ("avg(utility)", "reward.mean", "", False),
    ],
)
def test_words_of_unknown_loops_are_found_in_any_order(
    tag: str, canonical: str, part: str, held_out: bool
) -> None:
    """A name that no file has means what its words mean together."""
    name = MetricNames().name(tag)
    assert (name.canonical, name.part, name.held_out, name.guessed) == (canonical, part, held_out, True)


@pytest.mark.parametrize(
    "tag",
    [
        "reward_scale",
        "gpu_utility",
        "speed_reward",
        "reward_loss",
        "Episode_Reward/energy",
        "reward_2",
        "value",
        "games",
        "discriminator/grad_norm",
        "world_model/accuracy_mean",
        "rewards(r)",
    ],
)
def test_a_word_of_another_meaning_leaves_a_name_unknown(tag: str) -> None:
    """A name with one unknown word, a bare number, or words without a meaning together keeps no meaning."""
    assert not MetricNames().name(tag).recognised


@pytest.mark.parametrize(
    ("tag", "canonical", "part"),
    [
        ("trpo/kl", "policy.approx_kl", "trpo"),
        ("a2c/mean_kl", "policy.approx_kl", "a2c"),
        ("ppo/kl", "policy.approx_kl", "ppo"),
        ("grpo/kl", "policy.kl_ref", "grpo"),
        ("dqn/kl", None, ""),
        ("q_learning/time", None, ""),
        ("ppo/time", None, ""),
        ("episode/time", None, ""),
        ("q_learning/steps", "lengths.episode.mean", "q learning"),
        ("global/steps", None, ""),
        ("learner/steps", None, ""),
        ("a2c/rollout/steps", None, ""),
        ("global/kl", None, ""),
        ("global/mean_kl", None, ""),
        ("global/approx_kl", "policy.approx_kl", "global"),
        ("ppo/train/kl", "policy.approx_kl", "ppo train"),
        ("a2c/train/kl", "policy.approx_kl", "a2c train"),
        ("dqn/training/kl", None, ""),
        ("ppo/train/loss", "optimizer.loss", "ppo"),
        ("train/kl", "policy.kl_ref", ""),
        ("train/time", None, ""),
        ("ppo/train/time", None, ""),
    ],
)
def test_a_section_may_change_what_a_name_means(tag: str, canonical: str | None, part: str) -> None:
    """KL below an algorithm is that of the update, time a duration, and steps below a loop a count."""
    name = MetricNames().name(tag)
    assert (name.canonical, name.part) == (canonical, part)


@pytest.mark.parametrize(
    "tag", ["final_steps", "client_steps", "global_steps", "training_steps", "final_kl", "client_kl"]
)
def test_steps_of_all_are_no_length_of_an_episode(tag: str) -> None:
    """Words for the end or for a client leave steps and KL without a meaning, but not rewards."""
    names = MetricNames()
    assert not names.name(tag).recognised
    reward = names.name(tag.replace("steps", "reward").replace("kl", "reward"))
    assert reward.canonical == "reward.mean"


@given(st.text(max_size=40))
def test_words_of_any_text_are_looked_up(tag: str) -> None:
    """No text makes the lookup of words fail, and the empty name means nothing."""
    found = catalogue().frameworks.words.find(tag)
    assert found is None or found.entry.canonical in catalogue().metrics


def test_every_percentage_of_successes_has_its_unit() -> None:
    """A success rate that its name gives in percent is not read as a fraction."""
    for tag in ("Success Rate (%)", "win_rate_pct", "win %", "success percentage"):
        name = MetricNames().name(tag)
        assert (name.canonical, name.unit, name.scale) == ("reward.success_rate", "percent", 0.01), tag


@pytest.mark.parametrize(
    ("tag", "canonical"),
    [
        ("1.Total_reward/1.Total_reward", "validation.return.mean"),
        ("3.Loss/Reward_loss", "other.world_model_loss"),
        ("learning/avg_reward", "reward.mean"),
        ("perf/per_device_tokens_per_sec", "perf.throughput"),
        ("Rollout/Success_Rate/Lift", "validation.success_rate"),
        ("Rollout/Success_Rate/Lift-max", "other.custom"),
        ("mean/gen/rollout/ep_rew_mean", "reward.episode_return.mean"),
        ("evaluation/task1_success", "validation.success_rate"),
        ("rewards/correctness_reward_func", "reward.component.mean"),
        ("goal_reached_rate", "reward.success_rate"),
    ],
)
def test_names_of_writers_without_a_file_of_their_own(tag: str, canonical: str) -> None:
    """Names of MuZero, MaxText, robomimic, imitation and OGBench need no recognised framework."""
    assert MetricNames().name(tag).canonical == canonical


def test_a_reward_in_a_group_of_losses_is_no_reward() -> None:
    """`Loss/Reward` is what a model of the environment is trained on."""
    assert MetricNames().name("Loss/Reward").canonical == "other.auxiliary_loss"


@pytest.mark.parametrize(
    ("tag", "canonical", "part"),
    [
        ("agent_0/critic_1/loss", "critic.loss", "agent 0 critic 1"),
        ("critic_2/grad_norm", "optimizer.critic_grad_norm", "critic 2"),
        ("policy_0/loss", "policy.loss", "policy 0"),
        ("actor_3/episode_reward", "reward.episode_return.mean", "actor 3"),
        ("policy_1/episode_reward", "reward.episode_return.mean", "policy 1"),
        ("agent_1/loss", "optimizer.loss", "agent 1"),
    ],
)
def test_a_numbered_part_of_an_agent_is_no_label_of_a_learner(tag: str, canonical: str, part: str) -> None:
    """The loss of the first critic is that of a critic, not of the whole training."""
    name = MetricNames().name(tag)
    assert (name.canonical, name.part) == (canonical, part)


@pytest.mark.parametrize("writer", ["condition_no kl", "env_Hopper-v4", "worker_1"])
def test_a_learner_that_records_name_is_told_from_its_metric(writer: str) -> None:
    """The prefix that records of several learners are given says whose value it is."""
    name = MetricNames().name(f"{writer}/Episode Reward")
    assert (name.canonical, name.part) == ("reward.episode_return.mean", writer.replace("_", " "))


@pytest.mark.parametrize(
    ("key", "canonical"),
    [
        ("Récompense moyenne", "reward.mean"), ("Recompensa Total", "reward.episode_return.mean"),
        ("Durchschnittliche Belohnung", "reward.mean"), ("Средняя награда", "reward.mean"),
        ("Ricompensa", "reward.mean"), ("평균 보상", "reward.mean"), ("平均報酬", "reward.mean"),
        ("平均奖励", "reward.mean"), ("累计奖励", "reward.episode_return.mean"), ("价值损失", "critic.loss"),
        ("策略熵", "policy.entropy"), ("成功率", "reward.success_rate"), ("探索率", "policy.exploration"),
        ("平均步数", "lengths.episode.mean"), ("奖励系数", None),
        ("training_time", "timing.train"), ("eval_time", "timing.validation"), ("Mean_100", None),
        ("steps", "lengths.episode.mean"),
    ],
)  # fmt: skip
def test_names_of_home_made_loops_in_several_languages(key: str, canonical: str | None) -> None:
    """Words of other languages, and of scripts without blanks; a name with an unknown word has no meaning."""
    assert MetricNames(None).name(key).canonical == canonical


@pytest.mark.parametrize(
    ("key", "canonical", "statistic"),
    [
        ("Eval_StdReturn", "validation.return.std", "std"),
        ("test_return_max", "validation.return.max", "max"),
        ("eval_return_mean", "validation.return.mean", "mean"),
        ("eval_return_gsm8k", "validation.return.mean", "mean"),
    ],
)
def test_a_statistic_in_place_of_a_wildcard_is_that_of_the_metric(
    key: str, canonical: str, statistic: str
) -> None:
    """The spread of evaluation returns is none of several tasks that are evaluated, and no outcome."""
    name = MetricNames().name(key)
    assert (name.canonical, name.statistic) == (canonical, statistic)
    assert name.part == ("gsm8k" if key.endswith("gsm8k") else "")


def test_a_reward_that_a_callback_of_sb3_records_is_that_of_a_step() -> None:
    """It is no outcome beside a mean of rewards that another callback records."""
    names = MetricNames("stable-baselines3")
    assert names.name("train/reward").canonical == "reward.step.mean"
    assert names.name("train/mean_reward").canonical == "reward.mean"
