"""Short names of runs."""

from __future__ import annotations

from rltui.screen.shown import short_run_names


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
    assert short_run_names(["only/one/run"]) == {"only/one/run": "only"}
    assert short_run_names(["runs/Nov20"]) == {"runs/Nov20": "Nov20"}
    assert short_run_names(["plain"]) == {"plain": "plain"}


def test_no_two_runs_share_a_short_name() -> None:
    """However the folders lie, every run can be told from every other one."""
    names = ["a", "a/runs/b", "a/b", "a/b/runs", "runs", "runs/runs", "x/tb/1", "x/1", ".", "./a"]
    short = short_run_names(names)
    assert len(set(short.values())) == len(names)
    assert all(short.values())
