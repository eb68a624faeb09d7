"""Failures in consoles are findings of the run that wrote them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rltui.cli.documents.check_document import report
from rltui.cli.documents.check_exit_code import exit_code
from rltui.many_runs.merged_verdicts import of_session
from rltui.panes.header import header
from rltui.panes.render.lines.header_lines import header_lines
from rltui.panes.render.plain_text import as_text, pane_text
from rltui.rules.finding import unexplained
from rltui.session.session import Session
from tests.support.logs.live_logs import write_rows
from tests.support.screen.screens import Screen

NOW = 1_800_000_000.0
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB.\n"


def _run(folder: Path, steps: int = 60, wall: float = 1_700_000_000.0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"step": step, "loss": 1.0 + step % 3 / 10, "wall_time": wall + 10 * step} for step in range(steps)
    ]
    write_rows(folder / "metrics.jsonl", rows)


def _console(place: Path, text: str, modified: float = 1_700_000_700.0) -> None:
    place.write_text(text)
    os.utime(place, (modified, modified))


def test_a_failure_is_the_headline_of_a_run_that_ended(tmp_path: Path) -> None:
    """The finding names the line; header, health, exit code and JSON follow."""
    _run(tmp_path / "ppo")
    _console(tmp_path / "ppo" / "slurm-4711.out", f"started\n[2026-01-31T04:40:19] step\n{OOM}")
    session = Session.load([tmp_path])
    view = session.runs["ppo"]
    (finding,) = view.evaluator.findings()
    assert (finding.id, finding.severity, finding.pane) == ("cuda-out-of-memory", "critical", "console")
    assert finding.since_step == 59
    assert header(view, NOW).sentence.startswith(
        "A GPU ran out of memory (line 3 of ppo/slurm-4711.out, 04:40:19"
    )
    assert exit_code(of_session(session), "critical") == 1
    (told,) = report(of_session(session), [str(tmp_path)])["runs"][0]["findings"]
    assert told["console"]["line"] == 3
    assert told["console"]["text"] == OOM.strip()


def test_an_exception_on_nan_is_explained_by_the_values_that_became_nan(tmp_path: Path) -> None:
    """The program ends where broken weights are used, long after they broke: the cause comes first."""
    (tmp_path / "ppo").mkdir()
    broken = {"actor/entropy": "NaN", "actor/grad_norm": "NaN"}
    rows = [
        {"step": step, "actor/entropy": 1.0, "actor/grad_norm": 0.4, "wall_time": 1_700_000_000.0 + 10 * step}
        | (broken if step >= 40 else {})
        for step in range(60)
    ]
    write_rows(tmp_path / "ppo" / "metrics.jsonl", rows)
    text = "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0"
    _console(tmp_path / "ppo" / "train.log", f"Traceback (most recent call last):\n  f()\n{text}\n")
    findings = Session.load([tmp_path]).runs["ppo"].evaluator.findings()
    (cause,) = unexplained([one for one in findings if one.rank])
    (failure,) = [one for one in findings if one.console is not None]
    assert (cause.since_step, failure.since_step) == (40, 59)
    assert failure.explained_by == cause.id == "numerical-breakdown"


def test_a_console_belongs_to_the_nearest_run(tmp_path: Path) -> None:
    """A tracker's console is its run's; one that could be of several runs is nobody's."""
    _run(tmp_path / "a")
    _run(tmp_path / "b")
    (tmp_path / "b" / "files").mkdir()
    _console(tmp_path / "b" / "files" / "output.log", OOM)
    _console(tmp_path / "slurm-12.out", "OSError: [Errno 28] No space left on device\n")
    session = Session.load([tmp_path])
    assert [one.id for one in session.runs["a"].evaluator.findings()] == []
    assert [one.id for one in session.runs["b"].evaluator.findings()] == ["cuda-out-of-memory"]


def test_a_run_that_outlived_its_failure_is_healthy(tmp_path: Path) -> None:
    """Points after the console's last line, or a later job, make a failure a remark or nothing."""
    _run(tmp_path / "later")
    _console(tmp_path / "later" / "slurm-11.out", OOM, modified=1_700_000_100.0)
    _run(tmp_path / "again")
    _console(tmp_path / "again" / "slurm-11.out", OOM)
    _console(tmp_path / "again" / "slurm-12.out", "all is well\n")
    session = Session.load([tmp_path])
    (remark,) = session.runs["later"].evaluator.findings()
    assert remark.severity == "info"
    assert "the training went on" in remark.message
    assert session.runs["again"].evaluator.findings() == []
    assert {view.evaluator.health for view in session.runs.values()} == {"ok"}


def test_an_exception_counts_only_when_the_run_is_over(tmp_path: Path) -> None:
    """A live run may have caught it; of one that ended it is the last word."""
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: no JSON\n'
    _run(tmp_path / "run")
    _console(tmp_path / "run" / "console.log", trace)
    session = Session.load([tmp_path])
    view = session.runs["run"]
    (finding,) = view.evaluator.findings()
    assert "ValueError: no JSON" in finding.message
    assert session.set_consoles({"run": view.consoles}, 1_700_000_650.0) == {"run"}
    assert view.evaluator.findings() == []


def test_a_run_whose_console_ends_with_an_exception_has_failed_at_once(tmp_path: Path) -> None:
    """A minute after the traceback, whatever pauses the run had; while more is printed it is not the end."""
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: no JSON\n'
    _run(tmp_path / "run")
    _console(tmp_path / "run" / "console.log", trace)
    session = Session.load([tmp_path])
    view = session.runs["run"]
    for after, state in ((30, "live"), (90, "ended")):
        session.set_consoles({"run": view.consoles}, 1_700_000_700.0 + after)
        head = header(view, 1_700_000_700.0 + after)
        assert head.state_word == state
    assert head.silence_word == "failed"
    assert view.evaluator.health == "critical"
    _run(tmp_path / "again", wall=1_700_000_200.0)  # its points end long after the console
    _console(tmp_path / "again" / "console.log", trace)
    again = Session.load([tmp_path / "again"]).runs["."]
    assert again.liveness(1_700_000_900.0).state == "live"


def test_the_exception_of_a_task_of_ray_is_named(tmp_path: Path) -> None:
    """Ray passes on the exception of a worker: that is the cause, not that a task failed."""
    frames = 'Traceback (most recent call last):\n  File "main.py", line 10, in main\n    ray.get(task)\n'
    passed_on = "ray.exceptions.RayTaskError(ValueError): ray::Runner.run() (pid=19, ip=172.17.0.4)\n"
    # Ray leaves out the first frame of the worker, but not the marks below its code.
    worker = '           ^^^^^^^^^^\n  File "worker.py", line 5, in fit\n    split()\nValueError: 3 parts\n'
    for text in (f"{frames}{passed_on}", f"{frames}{passed_on}{worker}\nSet HYDRA_FULL_ERROR=1\n"):
        _run(tmp_path / "run")
        _console(tmp_path / "run" / "console.log", text)
        (finding,) = Session.load([tmp_path]).runs["run"].evaluator.findings()
        assert finding.title == "ValueError ended the program"
    assert finding.message.startswith("ValueError: 3 parts, in fit (worker.py line 5);")


def test_an_earlier_step_knows_no_console(tmp_path: Path) -> None:
    """As of a step nothing is told that the console said later."""
    _run(tmp_path / "run")
    _console(tmp_path / "run" / "console.log", OOM)
    assert Session.load([tmp_path], at_step=20).runs["run"].evaluator.findings() == []


@pytest.mark.parametrize(
    "text", [OOM, "slurmstepd: error: *** JOB 4 ON n CANCELLED AT x DUE TO TIME LIMIT ***\n"]
)
def test_a_live_run_is_warned_at_most(tmp_path: Path, text: str) -> None:
    """While points may still come no failure is critical."""
    _run(tmp_path / "run")
    _console(tmp_path / "run" / "console.log", text)
    session = Session.load([tmp_path])
    session.set_consoles({"run": session.runs["run"].consoles}, 1_700_000_650.0)
    assert [one.severity for one in session.runs["run"].evaluator.findings()] == ["warning"]


INTERRUPT = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nKeyboardInterrupt\n'


@pytest.mark.parametrize(
    ("end", "interrupted"),
    [
        (INTERRUPT, True),
        (f"^C{INTERRUPT}wandb: Synced 4 files\n", True),
        (f"{INTERRUPT}step: 61 | loss: 0.5\n", False),
        (f"{OOM}{INTERRUPT}", False),
        (f"{INTERRUPT}{{'loss': 0.4, 'epoch': 2.0}}\n", False),
    ],
)
def test_a_run_whose_console_ends_with_ctrl_c_was_stopped_by_its_user(
    end: str, interrupted: bool, tmp_path: Path
) -> None:
    """It has ended at once, without an alarm; not if the training went on, or failed before."""
    _run(tmp_path / "run")
    _console(tmp_path / "run" / "console.log", f"started\n{end}")
    session = Session.load([tmp_path])
    view, soon = session.runs["run"], 1_700_000_701.0
    session.set_consoles({"run": view.consoles}, soon)
    view.update_liveness_finding(soon)
    liveness = view.liveness(soon)
    assert (liveness.state == "ended", liveness.interrupted, liveness.cut_short) == (
        interrupted,
        interrupted,
        False,
    )
    told = [one.title for one in view.evaluator.findings() if one.id == "run-interrupted"]
    assert told == (["stopped by its user"] if interrupted else [])
    assert ("Stopped by its user: at step 59" in header_lines(header(view, soon), 100)[1].text) == interrupted


@pytest.mark.parametrize(
    ("bar", "state"),
    [
        ("100%|█████| 60/60 [10:00<00:00, 10.0s/it]", "ended"),
        ("100%|█████| 60/60 [10:00<00:00, 10.0s/it]\nevaluating", "stalled"),
        (" 98%|████▉| 59/60 [09:50<00:10, 10.0s/it]", "stalled"),
        ("100%|█████| 400/400 [10:00<00:00, 1.5s/it]", "stalled"),
        ("Epoch 1: 100%|█████| 60/60 [10:00<00:00, 10.0s/it]", "stalled"),
        ("HalfCheetah-v4 PPO2: 100%|█████| 60/60 [10:00<00:00, 10.0s/it]", "ended"),
        ("CartPole-v1: 100%|█████| 60/60 [10:00<00:00, 10.0s/it]", "ended"),
        ("Iteration 3: 100%|█████| 60/60 [10:00<00:00, 10.0s/it]", "stalled"),
        ("seed_0: 100%|█████| 60/60 [10:00<00:00, 10.0s/it]", "stalled"),
        ("iter_3: 100%|█████| 60/60 [10:00<00:00, 10.0s/it]", "stalled"),
        ("Stage2: 100%|█████| 60/60 [10:00<00:00, 10.0s/it]", "stalled"),
        ("Evaluating: 100%|█████| 60/60 [10:00<00:00, 10.0s/it]", "stalled"),
    ],
)
def test_a_full_progress_bar_of_its_own_steps_ends_a_run(bar: str, state: str, tmp_path: Path) -> None:
    """Silence after it is no stall; one of another length, of an epoch or an evaluation says nothing."""
    _run(tmp_path / "run")
    _console(tmp_path / "run" / "console.log", f"started\n  0%|     | 0/60 [00:00<?, ?it/s]\n{bar}")
    session = Session.load([tmp_path])
    assert session.runs["run"].liveness(1_700_001_500.0).state == state


def test_the_overview_of_a_run_that_failed_at_its_start_is_the_end_of_its_console(tmp_path: Path) -> None:
    """There is nothing else to show, and what is looked for is the traceback, without colours."""
    trace = 'Traceback (most recent call last):\n  File "a.py", line 7, in main\n'
    trace += "ValueError: \x1b[31mno data\x1b[0m.\n"
    _console(tmp_path / "train.log", f"import torch\n{trace}")
    session = Session.load([tmp_path])
    (view,) = session.runs.values()
    screen = Screen(session)
    screen.set_clock(lambda: NOW)
    for shown in (screen.text(80, 24), screen.text(40, 12), as_text(pane_text(view, "overview", NOW))):
        assert 'File "a.py", line 7, in main\n' in shown.replace(" \n", "\n")
        assert "\n ValueError: no data." in shown
        assert "no data.." not in shown and "data.;" not in shown
