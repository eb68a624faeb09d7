"""Runs in tables without headers, one for each metric, as d3rlpy and TorchRL write them; scores.txt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rltui.logs.formats.registry import REGISTRY
from rltui.logs.formats.trackers import metric_files
from tests.support.logs.live_logs import delivered_once


def write(path: Path, rows: list[str]) -> None:
    """A table and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(rows) + "\n")


def test_tables_of_epochs_are_one_run(tmp_path: Path) -> None:
    """d3rlpy/logging/file_adapter.py @ 2.8.1: epoch, step, value; statistics of gradients are no runs."""
    folder = tmp_path / "d3rlpy_logs" / "DQN_1"
    write(folder / "environment.csv", [f"{k},{k}00,{k}.5" for k in range(1, 5)])
    write(folder / "loss.csv", [f"{k},{k}00,0.{k}" for k in range(1, 4)])
    write(folder / "q._fc.bias_grad.csv", ["epoch,step,min,max,mean,std", "1,100,-0.5,0.5,0.0,0.1"])
    found = delivered_once([tmp_path])
    assert list(found.runs()) == ["d3rlpy_logs/DQN_1"]
    (points,) = found.points.values()
    assert {(tag, step, value) for tag, step, value in points} == {
        *(("environment", 100 * k, k + 0.5) for k in range(1, 5)),
        *(("loss", 100 * k, k / 10) for k in range(1, 4)),
    }


def test_a_folder_of_scalars_is_one_run(tmp_path: Path) -> None:
    """torchrl/record/loggers/csv.py @ 0.14.1: step, value, below a folder for each part of the name."""
    folder = tmp_path / "out" / "ppo" / "scalars"
    write(folder / "train" / "reward.csv", [f"{k}00,{k}.5" for k in range(5)])
    write(folder / "eval" / "reward.csv", ["0,1.5"])
    found = delivered_once([tmp_path])
    assert list(found.runs()) == ["out/ppo"]
    (points,) = found.points.values()
    assert {tag for tag, *_ in points} == {"train/reward", "eval/reward"} and len(points) == 6


def test_tables_that_tensorboard_saved_under_names_of_metrics_are_one_run(tmp_path: Path) -> None:
    """They begin at one step and time; those of another run, at another time, are read by themselves."""

    def table(at: float, value: float) -> list[str]:
        return ["Wall time,Step,Value", *(f"{at + 9 * k},{256 * k},{value + k}" for k in range(1, 4))]

    for name, at, value in (("logic", 1.76e9, 1), ("neural", 1.76e9 + 0.01, 2.0), ("other_loss", 1.77e9, 3)):
        write(tmp_path / "plots" / f"{name}.csv", table(at, value))
    write(tmp_path / "plots" / "run-ppo-tag-kl.csv", table(1.76e9, 4))
    write(tmp_path / "plots" / "notes.csv", ["Wall time,Step,Value", "x,y,z"])
    found = delivered_once([tmp_path])
    assert sorted(found.runs()) == ["plots", "plots/other_loss", "plots/ppo"]
    assert found.points["plots/logic.csv"] == [
        (tag, 256 * k, value + k) for k in range(1, 4) for tag, value in (("logic", 1), ("neural", 2))
    ]


def test_arrays_that_tensorboard_saved_are_series_of_their_runs(tmp_path: Path) -> None:
    """The page saves wall time, step and value of each point; other arrays of numbers are none."""
    for run, tag in (("ddpg_1", "Epoch_reward"), ("ddpg_1", "Loss_q"), ("ddpg_2", "Epoch_reward")):
        points = [[1.76e9 + 9.5 * k, 256 * k, k / 2] for k in range(1, 4)]
        (tmp_path / f"run-{run}-tag-{tag}.json").write_text(json.dumps(points))
    (tmp_path / "map.json").write_text(json.dumps([[1, 2, 3], [4, 5, 6]]))
    found = delivered_once([tmp_path])
    assert sorted(found.runs()) == ["ddpg_1", "ddpg_2"]
    assert found.points["run-ddpg_1-tag-Loss_q.json"] == [("Loss_q", 256 * k, k / 2) for k in range(1, 4)]


def test_tables_of_several_runs_that_tensorboard_saved(tmp_path: Path) -> None:
    """Those of each run begin together, and their names share that of the run."""
    for run, at in (("ppo_1", 1.76e9), ("ppo_2", 1.77e9)):
        for name in (f"reward_{run}", f"loss_{run}"):
            rows = (f"{at + 9 * k},{256 * k},{k}.5" for k in range(1, 4))
            write(tmp_path / f"{name}.csv", ["Wall time,Step,Value", *rows])
    found = delivered_once([tmp_path])
    assert sorted(found.runs()) == ["ppo_1", "ppo_2"]
    assert {tag for points in found.points.values() for tag, *_ in points} == {"reward", "loss"}


def test_saved_tables_share_whole_words_of_their_names(tmp_path: Path) -> None:
    """`PPO_b_entropy` and `PPO_b_explained` are no run PPO_b_e; two runs PPO_b have a table's name."""
    for at, names in (
        (1.76e9, ("PPO_b_entropy_loss", "PPO_b_explained_variance")),
        (1.77e9, ("PPO_b_max", "PPO_b_mean")),
    ):
        for name in names:
            write(
                tmp_path / f"{name}.csv",
                ["Wall time,Step,Value", *(f"{at + k},{k},{k}.5" for k in range(1, 4))],
            )
    found = delivered_once([tmp_path])
    assert sorted(found.runs()) == ["PPO_b_entropy_loss", "PPO_b_max"]
    tags = {tag for points in found.points.values() for tag, *_ in points}
    assert tags == {"entropy_loss", "explained_variance", "max", "mean"}


def test_columns_of_several_runs_that_wandb_saved(tmp_path: Path) -> None:
    """Each run has its own columns; bounds are series where points were joined; empty cells are none."""
    header = ",".join(f'"{run} - {tag}{end}"' for run in ("sun-1", "sea-2") for tag in ("_step", "kl")
                      for end in ("", "__MIN", "__MAX"))  # fmt: skip
    rows = [
        '"0","0","0","0","0.5","0.4","0.5","","","","",""',
        '"10","1","1","1","0.6","0.6","0.6","9","9","9","3","3"',
    ]
    write(
        tmp_path / "out" / "wandb_export_2026.csv", [f'"epoch",{header}', f'{rows[0]},""', f'{rows[1]},"3"']
    )
    found = delivered_once([tmp_path])
    assert sorted(found.runs()) == ["out/sea-2", "out/sun-1"]
    assert found.points["out/wandb_export_2026.csv[sun-1]"] == [
        ("kl", 0, 0.5), ("kl__MIN", 0, 0.4), ("kl", 10, 0.6)
    ]  # fmt: skip


def test_other_tables_without_headers_are_no_runs(tmp_path: Path) -> None:
    """Data of numbers, rows whose steps fall, names that tell of no training."""
    write(tmp_path / "a" / "train.csv", [f"{k},{k}.5" for k in range(5)])
    write(tmp_path / "b" / "loss.csv", ["5,100,0.5", "1,20,0.5"])
    write(tmp_path / "c" / "prices.csv", [f"{k},{k}00,{k}.5" for k in range(5)])
    write(tmp_path / "scalars" / "x.csv", ["a,b", "1,2"])
    assert delivered_once([tmp_path]).runs() == {}


def test_scores_are_a_table_of_the_run_of_their_folder(tmp_path: Path) -> None:
    """PFRL and ChainerRL: scores.txt with tabs, and steps beside episodes; other texts are none."""
    write(
        tmp_path / "out" / "scores.txt",
        ["steps\tepisodes\tmean", *(f"{k}00\t{k}\t{k}.5" for k in range(1, 5))],
    )
    write(tmp_path / "out" / "train.log", [f"outdir:out step:{k} episode:{k} R:1{k}.0" for k in range(9)])
    write(tmp_path / "requirements.txt", ["torch==2.1", "numpy, scipy"])
    found = delivered_once([tmp_path])
    assert list(found.runs()) == ["out"]
    assert [step for tag, step, *_ in found.points["out/scores.txt"] if tag == "mean"] == [100, 200, 300, 400]


def test_steps_of_episodes_are_no_axis() -> None:
    """Without a count of episodes beside it, `steps` may be the length of one."""
    assert REGISTRY.recognise("a.txt", b"steps\treward\n12\t1.5\n9\t2.5\n") is None


def test_saved_tables_of_many_runs_are_compared_as_often_as_there_are_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run looks at each table a few times, not at each pair of tables."""
    compared = []
    begin_together = metric_files._begin_together
    monkeypatch.setattr(
        metric_files, "_begin_together", lambda *both: compared.append(both) or begin_together(*both)
    )
    for run in range(20):
        for name in ("reward", "loss"):
            rows = (f"{1.76e9 + 900 * run + k},{k},{k}.5" for k in range(1, 4))
            write(tmp_path / f"{name}_ppo_{run}.csv", ["Wall time,Step,Value", *rows])
    tables = sorted(str(path) for path in tmp_path.iterdir())
    parts = [found.parts for table in tables if (found := metric_files.SAVED.parts(table)) is not None]
    assert sum(map(len, parts)) == 20
    assert len(compared) < 3 * len(tables) ** 2
