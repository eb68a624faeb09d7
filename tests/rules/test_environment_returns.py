"""Returns beside those that are known of the environment: what random actions earn, and agents that learn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rltui.common.arrays import Floats
from rltui.panes.answers.pane_answers import answer_of
from rltui.rules.finding import unexplained
from rltui.rules.rule_states.hparam_conditions import environment_of_name
from rltui.run_context.hparams.environments import Environments, environment_in
from rltui.schema.toml_files import read_table
from rltui.session.session import Session

NOISE = np.random.default_rng(7).standard_normal(400)


def findings(folder: Path, values: Floats, last_step: int) -> dict[str, str]:
    """The messages of unexplained warnings and worse of a run with these returns, by id."""
    folder.mkdir(parents=True, exist_ok=True)
    steps = np.linspace(last_step / len(values), last_step, len(values)).astype(int)
    rows = [f"{value},{step}" for value, step in zip(values.tolist(), steps.tolist(), strict=True)]
    (folder / "progress.csv").write_text("\n".join(["rollout/ep_rew_mean,time/total_timesteps", *rows]))
    (view,) = Session.load([folder.parent]).runs.values()
    return {found.id: found.message for found in unexplained(view.evaluator.findings()) if found.rank}


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("CartPole-v1__ppo__1__1690000000", "CartPole-v1"),
        ("CartPole-v0", "CartPole-v0"),
        ("ALE/Breakout-v5", "Breakout"),
        ("dqn/PongNoFrameskip-v4_1", "Pong"),
        ("sac_halfcheetah-v2_s0", "HalfCheetah"),
        ("LunarLanderContinuous-v3", "LunarLanderContinuous"),
        ("CustomCartPole-v1", None),
        ("Isaac-Ant-v0", None),
        ("CartPole", None),
        ("from_CartPole-v1_to_Acrobot-v1", None),
        ("Hopper-v40x", None),
    ],
)
def test_an_environment_is_known_by_its_registered_name(name: str, known: str | None) -> None:
    """In settings and names of runs, in any case; names of other environments are no part of it."""
    found = environment_in(name)
    assert (found.id if found else None) == known


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("PPO_CartPole_seed1", "CartPole-v1"),
        ("sac-Pendulum", "Pendulum"),
        ("MountainCarContinuous", "MountainCarContinuous"),
        ("runs/CartPole-v0", "CartPole-v0"),
        ("Cartpole_ppo", None),
        ("acrobot_swingup", None),
        ("InvertedPendulum_td3", None),
        ("CartPole_and_Acrobot", None),
        ("Hopper_1", None),
    ],
)
def test_a_name_without_a_version_is_that_of_classic_control(name: str, known: str | None) -> None:
    """In the same case, and of no simulator that has an environment of that name, too."""
    setting = environment_of_name(name)
    found = environment_in(setting.text) if setting else None
    assert (found.id if found else None) == known


def test_the_table_is_consistent() -> None:
    """Good returns are above random ones, within the bounds, and no id occurs twice."""
    table = read_table("environments", Environments).environments
    assert len({each.id.lower() for each in table}) == len(table) > 50
    for each in table:
        assert each.lowest <= each.random < each.good <= each.highest, each.id
        assert each.steps >= 1e5 and each.length >= 1, each.id


def test_a_return_of_random_actions_is_no_learning(tmp_path: Path) -> None:
    """What is only a remark elsewhere is a warning where the environment is known, and names the return."""
    values = 22 + 3 * NOISE[:300]
    assert findings(tmp_path / "a" / "run", values, 150_000) == {}
    assert findings(tmp_path / "b" / "CartPole-v1__dqn__1", values, 20_000) == {}
    found = findings(tmp_path / "c" / "CartPole-v1__dqn__1", values, 150_000)
    assert list(found) == ["learns-nothing"]
    assert "about 22 in CartPole-v1" in found["learns-nothing"]


def test_fifty_points_at_the_return_of_random_actions_are_enough(tmp_path: Path) -> None:
    """Too few for tests of noise to rule a gain out; quiet before a fifth of the steps, and after a gain."""
    values = 22 + 3 * NOISE[:40]
    assert list(findings(tmp_path / "a" / "A2C_CartPole_1", values, 110_000)) == ["learns-nothing-few"]
    assert findings(tmp_path / "b" / "A2C_CartPole_1", values, 80_000) == {}
    rising = 22 + np.linspace(0, 40, 40) + 3 * NOISE[:40]
    assert findings(tmp_path / "c" / "A2C_CartPole_1", rising, 110_000) == {}
    assert findings(tmp_path / "d" / "A2C_CartPole_1", values[:12], 110_000) == {}


def test_few_points_after_many_steps_are_enough(tmp_path: Path) -> None:
    """After all the steps by which agents learn, a dozen means at the random return need no more points."""
    assert list(findings(tmp_path / "Pong-v5", -20.5 + 0.1 * NOISE[:12], 20_000_000)) == [
        "learns-nothing-late"
    ]
    assert findings(tmp_path / "x" / "Pong-v5", -20.5 + 0.1 * NOISE[:12], 1_000_000) == {}


@pytest.mark.parametrize("place", ["config.yaml", "params.json", "../args.json"])
def test_settings_beside_the_log_name_the_environment(tmp_path: Path, place: str) -> None:
    """YAML and JSON, in the folder of the run or above it."""
    folder = tmp_path / "logs" / "run"
    folder.mkdir(parents=True)
    env = {"env_id": "MountainCar-v0", "lr": 1e-3}
    text = json.dumps(env) if place.endswith("json") else "env_id: MountainCar-v0\nlr: 0.001\n"
    (folder / place).write_text(text)
    assert list(findings(folder, -199 + 0.1 * NOISE[:300], 400_000)) == ["learns-nothing"]


def test_the_folder_that_is_opened_names_the_environment(tmp_path: Path) -> None:
    """The run in LOGDIR itself has no name of its own."""
    folder = tmp_path / "Acrobot-v1"
    findings(folder, -499 + 0.1 * NOISE[:300], 400_000)
    (view,) = Session.load([folder]).runs.values()
    view.update_liveness_finding(0.0)
    assert "learns-nothing" in {found.id for found in view.evaluator.findings()}


def test_a_return_far_below_that_of_agents_is_told_late(tmp_path: Path) -> None:
    """A fifth of the way after twice the steps; not before, and not from other scales of the reward."""
    values = np.minimum(20 + 2 * np.arange(300), 90) + 5 * NOISE[:300]
    found = findings(tmp_path / "a" / "Hopper-v4", values, 3_000_000)
    assert list(found) == ["learns-too-little"] and "733" in found["learns-too-little"]
    assert findings(tmp_path / "b" / "Hopper-v4", values, 1_000_000) == {}
    assert findings(tmp_path / "c" / "Hopper-v4", values / 100, 3_000_000) == {}
    normalised = np.linspace(-3, 60, 300) + NOISE[:300]
    assert findings(tmp_path / "d" / "HalfCheetah-v4", normalised, 3_000_000) == {}


def test_returns_of_the_wrong_sign_are_told(tmp_path: Path) -> None:
    """Each return is possible only with the other sign; returns out of bounds by a bonus are not judged."""
    values = -20 - 4 * np.abs(NOISE[:60])
    found = findings(tmp_path / "a" / "CartPole-v1", values, 60_000)
    assert list(found) == ["reward-mirrored"] and "between 1 and 500" in found["reward-mirrored"]
    mixed = np.where(np.arange(60) % 2, -1.0, 5.0) + np.linspace(0, 100, 60)
    assert "reward-mirrored" not in findings(tmp_path / "b" / "CartPole-v1", mixed, 60_000)


def test_a_good_return_needs_no_gain(tmp_path: Path) -> None:
    """A policy that was trained before stays at a good return: nothing is wrong, and nothing is remarked."""
    folder = tmp_path / "Pendulum-v1"
    assert findings(folder, -150 + 10 * NOISE, 2_000_000) == {}
    (view,) = Session.load([tmp_path]).runs.values()
    assert "outcome-no-gain" not in {found.id for found in view.evaluator.findings()}


def test_the_pane_reward_says_what_others_earn(tmp_path: Path) -> None:
    """Somebody who has never seen the environment can tell whether a return is much."""
    findings(tmp_path / "LunarLander-v2", np.linspace(-150, 120, 100), 400_000)
    (view,) = Session.load([tmp_path]).runs.values()
    answer = answer_of(view, "reward")
    assert answer is not None
    assert answer.notes == ("random actions earn about -165.0 in LunarLander, trained agents 156.0 or more",)


def test_a_loop_of_ones_own_counts_episodes(tmp_path: Path) -> None:
    """Steps are episodes there, each of which takes at least as many steps as one of random actions."""
    for episodes, told in ((2000, []), (6000, ["learns-nothing"])):
        folder = tmp_path / str(episodes) / "CartPole-v1_dqn"
        folder.mkdir(parents=True)
        rows = [f'{{"episode": {k}, "reward": {9 + k * 7919 % 27}}}' for k in range(episodes)]
        (folder / "log.jsonl").write_text("\n".join(rows) + "\n")
        (view,) = Session.load([folder.parent]).runs.values()
        found = [each.id for each in unexplained(view.evaluator.findings()) if each.rank]
        assert found == told, episodes


def test_the_header_of_a_monitor_file_names_the_environment(tmp_path: Path) -> None:
    """Stable-Baselines3 writes it to the first line; episodes count as steps of their lengths."""
    rows = ['#{"t_start": 1700000000.0, "env_id": "CartPole-v1"}', "r,l,t"]
    for k in range(8000):
        length = 9 + k * 7919 % 27
        rows.append(f"{length}.0,{length},{k / 10}")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "monitor.csv").write_text("\n".join(rows) + "\n")
    (view,) = Session.load([tmp_path]).runs.values()
    assert [found.id for found in unexplained(view.evaluator.findings()) if found.rank] == ["learns-nothing"]


def test_a_policy_that_stays_as_random_as_at_its_start_is_told_earlier(tmp_path: Path) -> None:
    """After a tenth of the steps, by its entropy; not if entropy falls, and only a remark without entropy."""
    values, steps = 22 + 3 * NOISE[:40], np.arange(2000, 82_000, 2000)

    def told(name: str, returns: Floats, entropy: Floats | None) -> set[str]:
        folder = tmp_path / name / "PPO_CartPole_1"
        folder.mkdir(parents=True)
        columns = {"time/total_timesteps": steps, "rollout/ep_rew_mean": returns}
        if entropy is not None:
            columns["train/entropy_loss"] = -entropy
        rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        (folder / "progress.csv").write_text("\n".join(rows) + "\n")
        (view,) = Session.load([folder.parent]).runs.values()
        return {found.id for found in view.evaluator.findings()}

    assert "as-random-as-at-start" in told("a", values, 0.69 + 0.001 * NOISE[:40])
    falls = told("b", values, np.linspace(0.69, 0.5, 40))
    assert "as-random-as-at-start" not in falls
    assert "random-so-far" in told("c", values, None)
    assert told("d", np.linspace(22, 200, 40), 0.69 + 0.001 * NOISE[:40]).isdisjoint(
        {"as-random-as-at-start", "random-so-far"}
    )
