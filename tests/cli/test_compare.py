"""`rltui compare`: what it does with runs that can hardly be compared."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows


def log(path: Path, steps: range) -> None:
    """A log of one metric at these steps."""
    rows = ({"step": step, "actor/entropy": 1.0 + step / 100} for step in steps)
    write_rows(path / "metrics.jsonl", rows)


def test_a_run_that_begins_after_the_baseline_ended_has_no_common_step(tmp_path: Path) -> None:
    """Said in one line, and as null in JSON; the others are compared."""
    log(tmp_path / "base", range(100))
    log(tmp_path / "later", range(200, 300))
    log(tmp_path / "beside", range(50, 150))
    done = rltui("compare", tmp_path, "--baseline", "base")
    assert done.code == 0
    assert "later and base: no common step to compare at" in done.out
    assert "beside against base, at step 99" in done.out
    runs = rltui("compare", tmp_path, "--baseline", "base", "--json").json()["runs"]
    assert {run["run"]: run["matched"] for run in runs} == {"later": None, "beside": 99}


def test_a_run_that_may_be_in_a_missing_logdir_is_not_an_unknown_one(tmp_path: Path) -> None:
    """Without another run or the baseline: 1 if all was read, 2 if a LOGDIR could not be opened."""
    log(tmp_path / "logs/base", range(100))
    for baseline in ("base", "best"):
        alone = rltui("compare", tmp_path / "logs", "--baseline", baseline)
        both = rltui("compare", tmp_path / "logs", tmp_path / "typo", "--baseline", baseline)
        assert (alone.code, both.code) == (1, 2)
        assert alone.err in both.err and not both.out


def test_a_key_that_is_written_with_the_other_sign_says_so(tmp_path: Path) -> None:
    """An entropy_loss of -0.1 is less entropy than -0.6, and a mismatch of 0.9 less agreement than 0.1."""
    for name, entropy, mismatch in (("base", -0.6, 0.1), ("run", -0.1, 0.9)):
        values = {"train/entropy_loss": entropy, "train/approx_kl": 0.01, "train/clip_fraction": 0.1}
        values |= {"rollout/ep_rew_mean": 1.0, "routing_mismatch": mismatch}
        rows = ({"step": step, "train/n_updates": step, **values} for step in range(50))
        write_rows(tmp_path / name / "metrics.jsonl", rows)
    (run,) = rltui("compare", tmp_path, "--baseline", "base", "--json").json()["runs"]
    found = {one["tag"]: one for one in run["metrics"]}
    assert found["train/entropy_loss"]["title"] == "Minus entropy"
    assert found["routing_mismatch"]["better"] is False


def test_it_says_that_settings_differ_and_how_to_see_them(tmp_path: Path) -> None:
    """What was changed between two runs is what their difference is asked of first."""
    for name, rate in (("base", 1e-4), ("run", 3e-4)):
        log(tmp_path / name, range(50))
        (tmp_path / name / "config.json").write_text(json.dumps({"lr": rate, "seed": 1}))
    assert "; 1 setting differs: --config" in rltui("compare", tmp_path, "--baseline", "base").out
    assert "lr" in rltui("compare", tmp_path, "--baseline", "base", "--config").out
