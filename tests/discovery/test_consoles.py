"""Consoles and documents: found however much stands before their first metrics, and none without metrics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rltui.logs.log_file import format_detection
from tests.support.logs.live_logs import Live, append, delivered_once, write

NOISE = "(WorkerDict pid=7) verl.trainer loading step 5 of the plan\n" * 3000  # 170 kB


def metrics(scale: float = 0.37) -> str:
    """What a trainer prints in eight steps; its learning rate is that of every run."""
    return "".join(
        f"step:{step} - actor/loss:{scale * step + 0.25} - b:{step * scale / 7} - lr:{step / 7e5}\n"
        for step in range(1, 9)
    )


METRICS = metrics()


def runs(*places: Path) -> dict[str, list[str]]:
    """Names of the runs, each with its sources."""
    delivered = delivered_once(places)
    return delivered.runs()


@pytest.mark.parametrize(
    "name",
    ["slurm-12.out", "slurm-12.err", "train.log", "stdout.txt", "nohup.out", "output.log"],
)
def test_a_console_is_looked_through_to_its_first_metrics_line(tmp_path: Path, name: str) -> None:
    """Whatever stands before it, and every point is read."""
    write(tmp_path / name, NOISE + METRICS)
    delivered = delivered_once([tmp_path])
    assert len(delivered.points[name]) == 24


def test_a_metrics_line_across_two_blocks_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of the search overlap."""
    monkeypatch.setattr(format_detection, "BLOCK", 8192)
    write(tmp_path / "a.log", "x" * 8188 + " step:1 - loss:0.5\n")
    assert runs(tmp_path) == {"a": ["a.log"]}


def test_a_console_without_metrics_makes_no_run(tmp_path: Path) -> None:
    """However much it says of a trainer."""
    write(tmp_path / "train.log", NOISE)
    assert runs(tmp_path) == {}


def test_the_search_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the bound nothing is looked for, except in a file that the user named."""
    monkeypatch.setattr(format_detection, "SEARCHED", 100_000)
    write(tmp_path / "train.log", NOISE + METRICS)
    assert runs(tmp_path) == {}
    assert runs(tmp_path / "train.log") == {"train": ["train.log"]}


@pytest.mark.parametrize("name", ["run42.dump", "metrics.dump", "job.txt.old"])
@pytest.mark.parametrize("content", [NOISE + METRICS, '{"step": 1, "loss": 0.5}\n' * 2])
def test_a_file_that_the_user_names_is_tried_whatever_its_name(
    tmp_path: Path, name: str, content: str
) -> None:
    """In a folder the same file is left alone."""
    write(tmp_path / name, content)
    assert runs(tmp_path) == {}
    assert list(runs(tmp_path / name).values()) == [[name]]


def test_a_console_becomes_a_run_with_its_first_metrics_line(tmp_path: Path) -> None:
    """While it is followed: each byte is searched once, and the whole file is read then."""
    live = Live(tmp_path)
    log = write(tmp_path / "train.log", NOISE)
    live.after(60)
    assert live.delivered.runs() == {}
    append(log, NOISE)
    live.after(60)
    append(log, METRICS)
    live.after(60)
    assert live.delivered.runs() == {"train": ["train.log"]} and len(live.delivered.points["train.log"]) == 24


def test_output_and_errors_of_one_job_are_one_run(tmp_path: Path) -> None:
    """slurm-N.out and slurm-N.err, whichever of them has metrics, or both the same ones."""
    write(tmp_path / "slurm-1.out", NOISE + METRICS)
    write(tmp_path / "slurm-1.err", NOISE)
    write(tmp_path / "slurm-2.out", NOISE)
    write(tmp_path / "slurm-2.err", metrics(0.41))
    assert set(runs(tmp_path)) == {"slurm-1", "slurm-2"}


def test_copies_of_a_console_are_one_run(tmp_path: Path) -> None:
    """AReaL prints the same tables into main.log and merged.log, and a shell keeps a third copy."""
    for name in ("train.log", "logs/main.log", "logs/merged.log"):
        write(tmp_path / name, NOISE + METRICS)
    write(tmp_path / "logs/other.log", metrics(0.41))
    delivered = delivered_once([tmp_path])
    found = delivered.runs()
    assert sorted(map(len, found.values())) == [1, 3]
    assert sum(map(len, delivered.points.values())) == 48


def test_consoles_of_other_trainings_beside_a_table_are_runs_of_their_own(tmp_path: Path) -> None:
    """The place of a home-made console tells whose it is only while it is the only one there."""
    write(tmp_path / "train.csv", "episode,reward\n" + "".join(f"{at},{at / 7}\n" for at in range(30)))
    for name, scale in (("a", 0.37), ("b", 0.41)):
        lines = (
            f"Episode {at} | Reward: {at * scale:.3f} | Loss: {scale / (at + 1):.4f}\n" for at in range(30)
        )
        write(tmp_path / f"{name}.log", "".join(lines))
    assert set(runs(tmp_path)) == {"a", "b", "."}
    (tmp_path / "b.log").unlink()
    assert set(runs(tmp_path)) == {"."}


def test_equal_consoles_side_by_side_are_two_runs(tmp_path: Path) -> None:
    """Two trainings with one seed may say the same."""
    write(tmp_path / "a/train.log", METRICS)
    write(tmp_path / "b/train.log", METRICS)
    assert runs(tmp_path) == {"a/train": ["a/train.log"], "b/train": ["b/train.log"]}


def test_what_the_client_of_a_tracker_says_of_itself_is_no_run(tmp_path: Path) -> None:
    """The debug logs of wandb; another program's debug.log is a console like any other."""
    write(tmp_path / "wandb/offline-run-1/logs/debug.log", METRICS)
    write(tmp_path / "wandb/debug-internal.log", METRICS)
    assert runs(tmp_path) == {}
    write(tmp_path / "out/debug.log", METRICS)
    assert runs(tmp_path) == {"out/debug": ["out/debug.log"]}


def test_what_a_machine_did_is_no_run(tmp_path: Path) -> None:
    """Its load while a training ran; the name of a GPU behind another word is one of a run."""
    rows = "timestamp,used\n" + "".join(f"2024-05-06 10:00:0{k},{k}\n" for k in range(9))
    for name in ("gpu_log.csv", "system_metrics.csv", "nvidia-smi_log.csv"):
        write(tmp_path / name, rows)
    write(tmp_path / "log_gpu.csv", rows.replace("used", "reward"))
    assert runs(tmp_path) == {"log_gpu": ["log_gpu.csv"]}


def test_traces_of_simulations_are_no_runs(tmp_path: Path) -> None:
    """They have a row for each step of one rollout; a table with another name is a log."""
    rows = "step,x,reward\n" + "".join(f"{k},0.{k},1.5\n" for k in range(9))
    for name in ("walk_trace.csv", "trace.csv", "lstm_traces_6c.csv", "retrace.csv", "episode_12.csv"):
        write(tmp_path / name, rows)
    assert runs(tmp_path) == {"retrace": ["retrace.csv"]}


def test_tables_of_rewards_with_traces_in_their_name_are_runs(tmp_path: Path) -> None:
    """Eligibility traces, or a trace of the reward; without such a column a trace is one of a simulation."""
    rows = "episode,reward,steps\n" + "".join(f"{k},{k % 3}.5,9\n" for k in range(9))
    for name in ("sarsa_traces_lambda0.9.csv", "reward_trace_ppo.csv"):
        write(tmp_path / name, rows)
    write(tmp_path / "walk_trace_lstm.csv", rows.replace("reward", "x"))
    assert sorted(runs(tmp_path).values()) == [["reward_trace_ppo.csv"], ["sarsa_traces_lambda0.9.csv"]]


def long_record(step: int) -> dict[str, float]:
    """A record of more than four kilobytes."""
    return {"step": step, "reward": step + 0.5, **{f"metric_number_{k:03}": step + k / 7 for k in range(150)}}


@pytest.mark.parametrize(
    "document",
    [
        {"config": {"lr": 0.001}, "history": [long_record(step) for step in range(9)]},
        {"episodes": [long_record(step) for step in range(9)], "model": "x"},
        {str(100 * step): long_record(100 * step) for step in range(1, 9)},
        {"args": {f"setting_{k}": "v" * 20 for k in range(200)}, "rewards": [k + 0.5 for k in range(30)]},
    ],
    ids=["records and settings", "records first", "by step", "columns below settings"],
)
def test_a_document_with_long_records_is_found(tmp_path: Path, document: dict[str, object]) -> None:
    """Its first record need not end within the first bytes; a data set of the same size is no log."""
    write(tmp_path / "training_history.json", json.dumps(document))
    assert len(runs(tmp_path)) == 1
    data = [{"prompt": "x" * 5000, "answer": str(k), "id": k} for k in range(9)]
    write(tmp_path / "train_data.json", json.dumps({"data": data}))
    assert len(runs(tmp_path)) == 1
