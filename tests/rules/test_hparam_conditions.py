"""Settings beyond limits: in the log and in files beside it, as causes and as remarks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rltui.rules.rule_states.hparam_conditions import bytes_test, hparams_beyond_limits
from rltui.rules.rulebook import rulebook
from rltui.run_context.hparams.hparams import hparams_of
from rltui.session.session import Session


@pytest.mark.parametrize(
    ("record", "beyond"),
    [
        ({"gamma": 0.0}, {"discount-set-zero"}),
        ({"lr_scheduler": {"gamma": 0.1}, "discount": 0.99}, set()),
        ({"learning_starts": 10**6, "total_timesteps": 50_000}, {"learning-set-to-start-late"}),
        ({"learning_starts": 1000, "total_timesteps": 50_000}, set()),
        ({"config": {"target_network_update_freq": 10**9}}, {"target-copied-hardly"}),
        ({"max_grad_norm": 0}, set()),
        ({"max_grad_norm": 1e-9}, {"gradient-clipped-away"}),
        (
            {"algorithm": {"gamma": 1.0}, "rollout": {"temperature": 1, "val_kwargs": {"temperature": 0}}},
            {"discount-set-one"},
        ),
        ({"warmup_steps": 5000, "max_steps": 1000}, {"warmup-beyond-the-end"}),
        ({"warmup_steps": 5000, "max_steps": -1}, set()),
        ({"gradient_steps": 0, "train_freq": 1}, {"no-gradient-steps"}),
        ({"gradient_steps": -1}, set()),
    ],
)
def test_settings_beyond_limits_are_found_under_the_names_of_frameworks(
    record: dict[str, object], beyond: set[str]
) -> None:
    """Names of several frameworks and shares of the planned steps; schedules and evaluations do not count."""
    assert set(hparams_beyond_limits(rulebook(), hparams_of(record, "x").entries)) == beyond


@pytest.mark.parametrize(
    ("text", "maybe"),
    [
        ("gamma: 0.0", True),
        ("gamma: 0.99\nlr: 3e-4", False),
        ('{"gamma": 0, "lr": 1}', True),
        ("gamma:\n  value: 0\n", True),
        ("- - - gamma\n    - 0.0\n", True),
        ("learning_starts: 100\n", True),  # what it is a share of stands elsewhere
        ("agent:\n  gamma: .99\n  exploration_final_eps: 1.0\n", True),
    ],
)
def test_files_without_extreme_settings_need_no_parsing(text: str, maybe: bool) -> None:
    """The bytes of a file tell whether it may hold a setting beyond a limit, in YAML, JSON, lists."""
    assert bytes_test(rulebook())(text.encode()) is maybe


@pytest.mark.parametrize("gain", [0, 5, 200])  # 5 is less than points differ, and sure
def test_settings_beside_a_log_are_causes_or_remarks(tmp_path: Path, gain: int) -> None:
    """The nearest file counts; where the return rises it is a remark, else the cause."""
    run = tmp_path / "sweep" / "a"
    run.mkdir(parents=True)
    (tmp_path / "config.json").write_text(json.dumps({"gamma": 0.0, "clip_range": 1e-5}))
    (run / "config.yaml").write_text("gamma: 0.99\ntau: 0\n")
    values = 22 + np.linspace(0, gain, 300) + 6 * np.random.default_rng(4).standard_normal(300)
    rows = ["rollout/ep_rew_mean,rollout/ep_len_mean,time/total_timesteps"]
    rows += [f"{value},{value},{100 * step}" for step, value in enumerate(values.tolist())]
    (run / "progress.csv").write_text("\n".join(rows))
    (view,) = Session.load([tmp_path]).runs.values()
    shown = {finding.id: finding for finding in view.evaluator.findings() if not finding.explained_by}
    if gain:
        assert {"clip-range-set-tiny", "target-set-frozen"} <= shown.keys()
        assert "discount-set-zero" not in shown and view.health == "ok"
    else:
        assert shown["setting-without-gain"].severity == "warning"
        assert "is set to" in shown["setting-without-gain"].message
        assert not {"clip-range-set-tiny", "target-set-frozen"} & shown.keys()


@pytest.mark.parametrize("logged", [False, True])
def test_a_setting_is_no_evidence_where_its_series_is_logged(tmp_path: Path, logged: bool) -> None:
    """The learning rate is named once, with the step at which its curve begins."""
    (tmp_path / "config.yaml").write_text("learning_rate: 0.1\n")
    columns = {
        "time/total_timesteps": 100 * np.arange(60),
        "rollout/ep_rew_mean": np.r_[np.linspace(20, 200, 30), np.full(30, 15.0)],
        "train/approx_kl": np.r_[np.full(1, np.nan), np.full(59, 30.0)],
        "train/entropy_loss": np.full(60, -1e-4),
        **({"train/learning_rate": np.r_[np.full(1, np.nan), np.full(59, 0.1)]} if logged else {}),
    }
    rows = [
        ",".join("" if np.isnan(value) else str(value) for value in row)
        for row in zip(*columns.values(), strict=True)
    ]
    (tmp_path / "progress.csv").write_text("\n".join([",".join(columns), *rows]))
    (view,) = Session.load([tmp_path]).runs.values()
    (found,) = (one for one in view.evaluator.findings() if one.id == "learning-rate-too-high")
    rates = [(one.tag, one.since_step) for one in found.evidence if "learning_rate" in one.tag]
    assert rates == ([("train/learning_rate", 100)] if logged else [("learning_rate", 0)])


HEALTHY = {"train/actor_loss": np.linspace(5, 80, 60), "train/critic_loss": np.linspace(9, 6, 60)}
FLAT = {"rollout/ep_rew_mean": -1300 + 20 * np.random.default_rng(2).standard_normal(60)}
GAINED = {"rollout/ep_rew_mean": np.linspace(-1300, -300, 60)}


@pytest.mark.parametrize(
    ("curves", "told"),
    [
        ({**HEALTHY, **GAINED}, ""),
        ({**HEALTHY, **FLAT}, ""),
        (
            {**FLAT, "train/actor_loss": np.full(60, 0.02), "train/critic_loss": np.full(60, 110.0)},
            "q-values-not-trained",
        ),
        ({**GAINED, "train/actor_loss": np.full(60, 0.02), "train/critic_loss": np.full(60, 110.0)}, ""),
        ({**HEALTHY, **FLAT, "train/critic_loss": 9 * 0.8 ** np.arange(60)}, "values-settled"),
        ({**HEALTHY, **GAINED, "train/critic_loss": 9 * 0.8 ** np.arange(60)}, ""),
        ({**HEALTHY, **FLAT, "train/ent_coef": np.full(60, 20.0)}, "temperature-outweighs-rewards"),
        ({**HEALTHY, **FLAT, "train/ent_coef": np.full(60, 0.2)}, ""),
        ({**HEALTHY, **FLAT, "train/learning_rate": np.full(60, 0.5)}, "learning-rate-without-gain"),
    ],
)
def test_curves_of_off_policy_training_name_the_cause(
    tmp_path: Path, curves: dict[str, np.ndarray], told: str
) -> None:
    """Where no setting is logged, curves show a critic, a target, a temperature or a rate that is wrong."""
    columns = {"time/total_timesteps": np.arange(200, 12_200, 200), **curves}
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "progress.csv").write_text("\n".join(rows))
    (view,) = Session.load([tmp_path]).runs.values()
    found = [one.id for one in view.evaluator.findings() if one.rank and not one.explained_by]
    assert found == ([told] if told else [])


@pytest.mark.parametrize(
    ("exploration", "losses", "told"),
    [(np.ones(100), 90, True), (np.ones(100), 0, False), (np.linspace(1, 0.97, 100), 90, False)],
)
def test_actions_that_stay_random_while_updates_are_made_are_told(
    tmp_path: Path, exploration: np.ndarray, losses: int, told: bool
) -> None:
    """Before the first update all actions are random, and a slow schedule is no constant."""
    rng = np.random.default_rng(3)
    rows = ["time/total_timesteps,rollout/ep_rew_mean,rollout/exploration_rate,train/loss"]
    for k, (rate, value) in enumerate(zip(exploration, 22 + 4 * rng.standard_normal(100), strict=True)):
        rows.append(f"{300 * k + 300},{value},{rate},{0.5 + 0.1 * rng.random() if k >= 100 - losses else ''}")
    (tmp_path / "progress.csv").write_text("\n".join(rows))
    (view,) = Session.load([tmp_path]).runs.values()
    assert ("explores-only" in {one.id for one in view.evaluator.findings() if one.rank}) is told


REPLAYED = {"train/loss": np.linspace(9, 6, 300), "rollout/exploration_rate": np.linspace(1, 0.3, 300)}
LOSSES = {"train/actor_loss": np.linspace(-1, -2, 300), "train/critic_loss": np.linspace(9, 6, 300)}
ROLLOUTS = {
    "Loss / Value loss": np.linspace(9, 6, 300),
    "Policy / Standard deviation": np.linspace(1, 0.9, 300),
}
ON_POLICY = {"train/approx_kl": np.full(300, 0.01), "train/clip_fraction": np.linspace(0.09, 0.11, 300)}


@pytest.mark.parametrize(
    ("curves", "told"), [(REPLAYED, True), (LOSSES, True), (ON_POLICY, False), (ROLLOUTS, False)]
)
def test_a_small_buffer_is_a_cause_where_it_is_replayed(
    tmp_path: Path, curves: dict[str, np.ndarray], told: bool
) -> None:
    """Trainers of policy gradients call the steps between two updates by the same name."""
    (tmp_path / "config.yaml").write_text("buffer_size: 100\n")
    returns = 22 + 6 * np.random.default_rng(4).standard_normal(300)
    table = {"time/total_timesteps": np.arange(1, 301) * 2000, "rollout/ep_rew_mean": returns, **curves}
    rows = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    (tmp_path / "progress.csv").write_text("\n".join(rows))
    (view,) = Session.load([tmp_path]).runs.values()
    shown = {finding.id for finding in view.evaluator.findings()}
    assert "setting-without-gain" not in shown
    assert ("buffer-without-gain" in shown) is told
