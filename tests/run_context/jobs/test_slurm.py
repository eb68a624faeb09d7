"""Slurm is asked by its text formats, rarely, and never waited for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from rltui.run_context.jobs import slurm
from rltui.run_context.jobs.scheduler import SchedulerError, job_of
from rltui.run_context.jobs.slurm import Slurm, output_of, parse_folders, parse_jobs
from tests.support.commands.in_process import rltui

QUEUE = """\
4711|RUNNING|node[01-04]|1-02:03:04|2026-11-23T08:00:00|/scratch/ppo|grpo | 7b
4712_[3-9]|PENDING||UNLIMITED|N/A|/scratch/x|y
"""


def _stub(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_the_queue_is_read() -> None:
    """Array ids, unlimited and unknown times, and bars in names are understood; names are cleaned."""
    first, second = parse_jobs(QUEUE)
    assert (first.id, first.state, first.nodes, first.name) == ("4711", "running", "node[01-04]", "grpo | 7b")
    assert first.left == 93_784.0
    assert first.end is not None
    assert (second.id, second.left, second.end) == ("4712_[3-9]", None, None)
    assert parse_jobs("1|RUNNING|n|5:00|x|/w|\x1b[31m")[0].name == "\\x1b[31m"
    assert parse_jobs("1|RUNNING|n|5:00|x|/w|j")[0].left == 300.0


@pytest.mark.parametrize(
    "text", ["JOBID PARTITION NAME\n", "4711 RUNNING node01\n", "a|b|c|d|e|f|g\n", "{}\n"]
)
def test_other_columns_are_refused_in_one_line(text: str) -> None:
    """What is not the format that was asked for is an error, never a job."""
    with pytest.raises(SchedulerError, match="other columns"):
        parse_jobs(text)


def test_a_squeue_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time-out it is killed with its children, and the minute is over before it is asked again."""
    monkeypatch.setattr(slurm, "TIMEOUT", 0.2)
    _stub(tmp_path / "bin", "squeue", "sleep 60 & sleep 60", monkeypatch)
    times, asked = iter([0.0, 30.0]), list[Sequence[str]]()

    def run(command: Sequence[str]) -> str:
        asked.append(command)
        return slurm.output_of(command)

    scheduler = Slurm(run, clock=lambda: next(times))
    for _ in range(2):
        with pytest.raises(SchedulerError, match=r"squeue did not answer within 0\.2 s"):
            scheduler.jobs()
    assert len(asked) == 1


def test_a_squeue_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first line of its error is told, cleaned."""
    script = "printf 'slurm_load_jobs \\033[31merror: Unable to contact\\nmore' >&2; exit 1"
    _stub(tmp_path / "bin", "squeue", script, monkeypatch)
    with pytest.raises(SchedulerError, match=r"squeue failed with 1: slurm_load_jobs \\x1b\[31merror"):
        Slurm().jobs()


def test_slurm_is_asked_once_a_minute_and_without_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same answer is given from memory for a minute."""
    asked: list[Sequence[str]] = []

    def run(command: Sequence[str]) -> str:
        asked.append(command)
        return QUEUE

    _stub(tmp_path / "bin", "squeue", "exit 1", monkeypatch)
    times = iter([0.0, 10.0, 59.0, 61.0])
    scheduler = Slurm(run, lambda: next(times))
    assert [len(scheduler.jobs()) for _ in range(4)] == [2, 2, 2, 2]
    assert len(asked) == 2
    assert "--json" not in asked[0]


def test_without_slurm_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No command of that name: no jobs, and one line for whoever names a job."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def run(command: Sequence[str]) -> str:
        raise AssertionError(command)

    assert Slurm(run).jobs() == ()
    with pytest.raises(SchedulerError, match="scontrol is not installed"):
        Slurm(run).folders("4711")
    with pytest.raises(SchedulerError, match="is not the number of a Slurm job"):
        Slurm(run).folders("4711; rm")
    with pytest.raises(SchedulerError, match="cannot be started"):
        output_of(["squeue"])


def test_the_folders_of_a_job() -> None:
    """WorkDir, and the console's folder only where that lies elsewhere."""
    text = "JobId=4711 JobName=x\n   StdErr=/a/b/e\n   StdOut={}\n   WorkDir=/home/me/my run\n   Power=\n"
    assert parse_folders(text.format("/home/me/my run/logs/slurm-1.out")) == ("/home/me/my run",)
    assert parse_folders(text.format("/scratch/slurm-1.out")) == ("/home/me/my run", "/scratch")
    assert parse_folders(text.format("/dev/null")) == ("/home/me/my run",)
    with pytest.raises(SchedulerError, match="names no folder"):
        parse_folders("slurm_load_jobs error: Invalid job id specified\n")


def test_a_run_belongs_to_the_job_whose_number_its_console_carries() -> None:
    """The newest job of several; numbers of jobs that are not queued are none."""
    jobs = parse_jobs(QUEUE + "4800|RUNNING|n|5:00|x|/w|later")
    assert job_of(["ppo/slurm-4711.out", "ppo/slurm-12.out"], jobs) == jobs[0]
    assert job_of(["slurm-4711.out", "logs/train-4800.err"], jobs) == jobs[2]
    assert job_of(["slurm-4712_3.out"], jobs) == jobs[1]
    assert job_of(["metrics.jsonl", "events.out.tfevents.4711.host.1.0"], jobs) is None


def test_runs_names_the_job_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`runs` has a column of jobs where there is one, and `--json` its fields; a failing squeue is a note."""
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "metrics.jsonl").write_text("".join(f'{{"step": {n}, "loss": 1.0}}\n' for n in range(20)))
    (folder / "slurm-4711.out").write_text("hello\n")
    _stub(tmp_path / "bin", "squeue", f"cat <<'END'\n{QUEUE}END", monkeypatch)
    told = rltui("runs", folder, "--json")
    job = told.json()["runs"][0]["job"]
    assert (job["id"], job["state"], job["nodes"], job["left"]) == (
        "4711",
        "running",
        "node[01-04]",
        93_784.0,
    )
    told = rltui("runs", folder)
    assert "4711 running" in told.out
    _stub(tmp_path / "bin", "squeue", "exit 1", monkeypatch)
    told = rltui("runs", folder)
    assert told.code == 0
    assert "4711" not in told.out


def test_watch_finds_the_folder_of_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders that scontrol names are watched; a job that is unknown is said in one line."""
    watched: list[tuple[str, ...]] = []
    monkeypatch.setattr(
        "rltui.cli.follow.follow_findings.follow", lambda logdirs, *_, **__: watched.append(logdirs)
    )
    _stub(
        tmp_path / "bin", "scontrol", f"echo '   StdOut=/dev/null'; echo '   WorkDir={tmp_path}'", monkeypatch
    )
    told = rltui("watch", "--job", "4711", "--no-ui")
    assert told.code == 0, told.err
    assert watched == [(str(tmp_path),)]
    _stub(tmp_path / "bin", "scontrol", "echo 'Invalid job id specified' >&2; exit 1", monkeypatch)
    told = rltui("watch", "--job", "4711", "--no-ui")
    assert told.code
    assert len(watched) == 1
