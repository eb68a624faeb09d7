"""Log files that are deleted or cut off are reported, and no run is live whose logs are deleted."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from rltui.common.problem import Problem
from rltui.logs.delivery import Source
from rltui.logs.follow.follower import Follower
from rltui.many_runs.merged_verdicts import of_session
from rltui.rules.run_status.log_file_problems import TORN_SECONDS, log_file_problems
from rltui.screen.start import build
from rltui.session.session import Session
from tests.support.runs.evaluators import liveness_of, run_with
from tests.support.runs.made_run import MadeRun
from tests.support.screen.screens import Screen, screen_of
from tests.support.screen.screens import session as session_of
from tests.support.shared import SHARED

NOW = 1_795_000_000.0


class Clock:
    """A clock that is set by the test."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


def followed(folder: Path, clock: Clock) -> tuple[Session, Follower, Screen]:
    """A screen that follows a folder and has read all of it."""
    session, follower = Session(), Follower([folder], clock=clock)
    for look in range(100):  # a look ends after a share of a second, however busy the machine is
        session.apply(follower.poll())
        if follower.caught_up and look >= 5:
            break
    session.evaluate(force=True)
    return session, follower, screen_of(build(session, [str(folder)], clock=clock))


def log(folder: Path, name: str = "metrics.jsonl", rows: int = 20) -> Path:
    """A run that writes every ten seconds and has just written."""
    lines = [f'{{"step": {n}, "reward": 0.5, "timestamp": {NOW - 10 * (rows - n)}}}\n' for n in range(rows)]
    path = folder / "a" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(lines))
    os.utime(path, (NOW, NOW))
    return path


@pytest.mark.parametrize("size", [(140, 45), (80, 24), (40, 12)])
def test_a_deleted_log_is_reported_and_its_run_is_not_live(tmp_path: Path, size: tuple[int, int]) -> None:
    """In the header, on the overview, on the tab of findings and in that pane; points are kept."""
    clock = Clock()
    path = log(tmp_path)
    session, follower, screen = followed(tmp_path, clock)
    assert "● live" in screen.text(*size)
    path.unlink()
    for _ in range(40):
        clock.now += 1
        session.apply(follower.poll())
    shown = screen.text(*size)
    assert "● live" not in shown and "ended?" in shown
    assert "The log file is gone" in shown
    assert "1 warning about the data" in shown and "Reward" in shown
    screen.press("f")
    shown = screen.text(*size)
    assert "▲1" in shown and "the file is gone; what was read is" in shown and "metrics.jsonl" in shown


def test_one_log_of_several_that_is_gone_is_a_remark() -> None:
    """A run that goes on in another file is live."""
    run = run_with([(10, NOW)])
    run.sources = {
        path: Source("run", path, "jsonl", 9, 9, gone=gone, modified=NOW, caught_up=True)
        for path, gone in (("1", True), ("2", False))
    }
    (found,) = log_file_problems(run, NOW)
    assert (found.level, found.code, found.path) == ("info", "log-gone", "1")


def test_an_old_incomplete_record_is_reported() -> None:
    """Not while it may still be completed, nor if the reader has reported it."""
    run = run_with([(10, NOW)])
    run.sources = {"x": Source("run", "x", "jsonl", 99, 54, modified=NOW, caught_up=True)}
    assert log_file_problems(run, NOW + TORN_SECONDS) == []
    (found,) = log_file_problems(run, NOW + TORN_SECONDS + 1)
    assert (found.code, found.offset, found.count) == ("torn-tail", 54, 45)
    told = Problem("info", "torn-tail", "x", "the last record is incomplete")
    run.problems = {told.key: told}
    assert log_file_problems(run, NOW + TORN_SECONDS + 1) == []


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared logs are not here")
def test_a_real_log_that_was_cut_off(tmp_path: Path) -> None:
    """The findings pane reports a run that ended hours ago within a record."""
    shutil.copytree(SHARED / "logs" / "odd" / "truncated-record", tmp_path / "a")
    clock = Clock()
    for path in (tmp_path / "a").iterdir():
        os.utime(path, (NOW - 9000, NOW - 9000))
    _, _, screen = followed(tmp_path, clock)
    screen.press("f")
    assert "the last record is cut off: 45 bytes" in screen.text()


def test_a_finished_run_whose_log_is_gone_has_ended() -> None:
    """It needs no log any more, so the header does not report it."""
    run = run_with([(10, NOW)])
    run.sources = {"x": Source("run", "x", "jsonl", gone=True, modified=NOW)}
    found = liveness_of(run, NOW + 5, 10)
    assert (found.state, found.known, found.quiet) == ("ended", True, "")


def test_a_session_reports_a_problem_once() -> None:
    """If both the status of the follower and the run have it."""
    problem = Problem("warning", "corrupt-record", "x", "skipped one record")
    run = MadeRun()
    run.run.problems[problem.key] = problem
    session = session_of(run)
    session.problems[problem.key] = problem
    assert of_session(session).diagnostics() == [problem]
