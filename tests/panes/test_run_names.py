"""Names of runs: short, distinct, stable, never repeating themselves."""

from __future__ import annotations

from rltui.common.display_text import cell_width
from rltui.panes.runs.short_names import fitted_names, short_run_names, with_given_names


def test_only_what_tells_runs_apart_is_kept() -> None:
    """Folders that frameworks add and folders that all runs share are left out."""
    names = [
        "verl/a/tensorboard_log/tiny/a",
        "verl/b/tensorboard_log/tiny/b",
        "trl/grpo/runs/Nov20_08-16-21_vm",
    ]
    assert list(short_run_names(names).values()) == ["verl/a", "verl/b", "trl"]
    assert list(short_run_names(["out/x/seed1", "out/x/seed2"]).values()) == ["seed1", "seed2"]
    assert short_run_names(["exp/runs/t1", "exp/runs/t2"]) == {"exp/runs/t1": "t1", "exp/runs/t2": "t2"}
    assert short_run_names(["only/one/run"]) == {"only/one/run": "only/one/run"}
    assert short_run_names(["runs/Nov20"]) == {"runs/Nov20": "Nov20"}
    assert short_run_names(["plain"]) == {"plain": "plain"}


def test_no_two_runs_share_a_short_name() -> None:
    """However the folders lie, every run can be told from every other one."""
    names = ["a", "a/runs/b", "a/b", "a/b/runs", "runs", "runs/runs", "x/tb/1", "x/1", ".", "./a"]
    short = short_run_names(names)
    assert len(set(short.values())) == len(names)
    assert all(short.values())


def test_no_name_repeats_itself() -> None:
    """A folder that comes twice in a name is told once."""
    assert list(short_run_names(["verl/a/tensorboard_log/tiny/a"]).values()) == ["verl/a/tiny"]
    assert list(short_run_names(["a/x/x", "a/x/y"]).values()) == ["x", "y"]


def test_names_that_are_too_long_keep_what_differs() -> None:
    """What all begin with goes first; then no two look alike where there is room to tell them apart."""
    names = [f"grpo_gsm8k_batch512_lr{rate}_seed{seed}" for rate in ("1e-4", "3e-5") for seed in (1, 2)]
    found = fitted_names(names, 20)
    assert list(found.values()) == [f"…{name.rpartition('batch512_')[2]}" for name in names]
    inside = [f"{'a' * 30}{number}{'b' * 30}" for number in range(4)]
    found = fitted_names(inside, 12)
    assert len(set(found.values())) == 4
    assert all(cell_width(name) <= 12 for name in found.values())
    assert fitted_names(["short", "other"], 20) == {"short": "short", "other": "other"}


def test_a_name_that_a_person_gave_is_shown_and_stays_unique() -> None:
    """It replaces the id; runs that share one, or whose short name another run has, keep their id."""
    shown = {"wandb/a1": "a1", "wandb/b2": "b2", "wandb/c3": "c3", "sft": "sft", "x": "x"}
    given = {"wandb/a1": "first", "wandb/b2": "again", "wandb/c3": "again", "x": "sft"}
    wanted = {"wandb/a1": "first", "wandb/b2": "again b2", "wandb/c3": "again c3", "sft": "sft", "x": "sft x"}
    assert with_given_names(shown, given) == wanted
