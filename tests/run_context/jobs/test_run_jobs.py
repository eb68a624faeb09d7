"""Which job writes which run, what its time limit means, and a scheduler that hangs beside it all."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from rltui.rules.run_status.liveness import Liveness
from rltui.run_context.hparams.hparams import hparams_of
from rltui.run_context.jobs.run_jobs import JobThread, ids_in_hparams, jobs_of
from rltui.run_context.jobs.scheduler import Job, RunTraces, SchedulerError, look_inside
from rltui.session.job_findings import time_limit_finding
from rltui.session.session import Session
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows

NOW = 1_700_000_000.0
JOB = Job("4711", "running", "node[01-04]", 7200.0, NOW + 7200, "/scratch", "grpo")


class _Scheduler:
    """A scheduler with these jobs; it may fail or hang."""

    def __init__(self, *jobs: Job, error: str = "") -> None:
        self.jobs_ = jobs
        self.error = error
        self.hangs: threading.Event | None = None

    def jobs(self) -> tuple[Job, ...]:
        if self.hangs is not None:
            self.hangs.wait()
        if self.error:
            raise SchedulerError(self.error)
        return self.jobs_


def _session(folder: Path, steps: int = 40, total: int = 1000, gap: float = 60.0) -> Session:
    """A run that has just written a step, a minute after the one before."""
    now = time.time()
    rows = [
        {"step": step, "loss": 1.0, "reward": 0.1, "wall_time": now - gap * (steps - 1 - step)}
        for step in range(steps)
    ]
    write_rows(folder / "metrics.jsonl", rows)
    (folder / "rltui.toml").write_text(f'[total_steps]\n"*" = {total}\n')
    return Session.load([folder])


def test_settings_tell_the_number_of_the_job() -> None:
    """As environments and trackers write them; other numbers are none."""
    hparams = {"SLURM_JOB_ID": "4711", "env/SLURM_JOB_ID": 12, "slurm/job_id": "13", "slurm_jobid": "14"}
    assert ids_in_hparams(hparams_of(hparams, "config").entries) == ("4711", "12", "13", "14")
    others = {"job_id": "9", "slurm/nodes": "2", "slurm_job_id": "x; rm"}
    assert ids_in_hparams(hparams_of(others, "config").entries) == ()
    found = jobs_of({"a": RunTraces((), ("4711",)), "b": RunTraces((), ("12",))}, [JOB])
    assert found == {"a": JOB}


def test_metadata_of_wandb_tells_the_number_of_the_job(tmp_path: Path) -> None:
    """Beside the log, as W&B writes it; damaged files tell nothing."""
    folder = tmp_path / "wandb" / "run-20260101_000000-abc"
    (folder / "files").mkdir(parents=True)
    log = "wandb/run-20260101_000000-abc/run-abc.wandb"
    (tmp_path / log).write_bytes(b"")
    place = folder / "files" / "wandb-metadata.json"
    runs = {"a": RunTraces((log,))}
    for text in ("{", "[]", '{"slurm": 3}', '{"slurm": {"nodes": "2"}}'):
        place.write_text(text)
        assert jobs_of(runs, [JOB], [str(tmp_path)]) == {}
    place.write_text('{"slurm": {"job_id": "4711", "nodes": "4"}}')
    assert jobs_of(runs, [JOB], [str(tmp_path)]) == {"a": JOB}


def test_a_scheduler_that_hangs_or_fails_holds_nobody_up(tmp_path: Path) -> None:
    """The thread waits alone; an error is a line, and what was known stays."""
    scheduler = _Scheduler(JOB)
    scheduler.hangs = threading.Event()
    thread = JobThread([str(tmp_path)], scheduler.jobs)
    thread.follow({"a": RunTraces(("slurm-4711.out",))})
    assert thread.take() is None
    assert not thread.thread.wait(0)
    scheduler.hangs.set()
    assert thread.thread.wait(20)
    assert thread.take() == {"a": JOB}
    assert thread.take() is None
    thread.follow({"a": RunTraces(("slurm-4711.out",)), "b": RunTraces((), ("4711",))})
    deadline = time.monotonic() + 20
    found = None
    while found is None and time.monotonic() < deadline:
        found = thread.take()
    assert found == {"a": JOB, "b": JOB}  # what is new is not waited for a minute
    thread.thread.stop()
    failing = JobThread([str(tmp_path)], _Scheduler(error="squeue did not answer within 5 s").jobs)
    failing.follow({"a": RunTraces(())})
    assert failing.thread.wait(20)
    failing.thread.stop()
    assert (failing.take(), failing.thread.error) == (None, "squeue did not answer within 5 s")


def test_a_run_that_will_not_finish_in_time_is_told() -> None:
    """When the time it needs exceeds what is left by a tenth; once told, until it is enough."""
    need = Liveness("live", eta=10_000.0, total=1000)
    found = time_limit_finding(JOB, need, NOW, 40, 39)
    assert found is not None and found.severity == "warning"
    assert found.message == "At its pace the run needs 2h 46m more, its job 4711 ends in 2h 00m"
    nearly = Liveness("live", eta=7300.0, total=1000)
    assert time_limit_finding(JOB, nearly, NOW, 40, 39) is None
    again = time_limit_finding(JOB, nearly, NOW, 40, 50, found)
    assert again is not None and again.since_step == found.since_step
    assert time_limit_finding(JOB, Liveness("live", eta=7000.0), NOW, 40, 39, found) is None
    for liveness in (Liveness("stalled", eta=10_000.0), Liveness("live", eta=None)):
        assert time_limit_finding(JOB, liveness, NOW, 40, 39, found) is None
    unlimited = Job("4711", "running", "n", None, None, "/", "x")
    assert time_limit_finding(unlimited, need, NOW, 40, 39) is None
    assert time_limit_finding(None, need, NOW, 40, 39) is None
    assert time_limit_finding(JOB, need, NOW, 5, 4) is None


def test_the_job_stands_in_the_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the time left; the finding names both times; without the job nothing is said."""
    _session(tmp_path)
    (tmp_path / "slurm-4711.out").write_text("hello\n")
    bin_ = tmp_path.parent / "bin"
    bin_.mkdir(exist_ok=True)
    squeue = bin_ / "squeue"
    monkeypatch.setenv("PATH", f"{bin_}{os.pathsep}{os.environ['PATH']}")
    end = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + 3 * 3600 + 90))
    squeue.write_text(f"#!/bin/sh\necho '4711|RUNNING|node01|3:01:30|{end}|/scratch|grpo'\n")
    squeue.chmod(0o755)
    told = rltui("snapshot", tmp_path, "--width", "140").out
    assert "job 4711, 3h 01m left" in told
    told = rltui("snapshot", tmp_path, "--pane", "findings", "--width", "140").out
    assert "needs 16h" in told and "job 4711 ends in 3h" in told
    told = rltui("check", tmp_path, "--no-cache").out
    assert "Time limit of the job comes first" in told and "its job 4711 ends in 3h" in told
    told = rltui("snapshot", tmp_path, "--pane", "system", "--width", "140").out
    assert "srun --jobid=4711 --overlap --pty rltui watch --job 4711" in told
    told = rltui("doctor", tmp_path).out
    assert "squeue answered in" in told and "job 4711, running" in told
    assert "srun --jobid=4711 --overlap" in told
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    told = rltui("doctor", tmp_path).out
    assert "inside job 4711" in told and "srun" not in told
    squeue.write_text("#!/bin/sh\necho 'slurm_load_jobs error: timed out' >&2; exit 1\n")
    told = rltui("doctor", tmp_path).out
    assert "squeue failed with 1: slurm_load_jobs error" in told
    result = rltui("snapshot", tmp_path, "--width", "140")
    assert result.code == 0 and "4711" not in result.out


def test_how_to_look_inside_is_told_outside_of_a_running_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for one that waits, nor on its own nodes."""
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert look_inside(JOB) == "srun --jobid=4711 --overlap --pty rltui watch --job 4711"
    assert look_inside(Job("4711_3", "running", "n", None, None, "/", "x")).startswith("srun --jobid=4711 ")
    assert look_inside(Job("4711", "pending", "", None, None, "/", "x")) == ""
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    assert look_inside(JOB) == ""
