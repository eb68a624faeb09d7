"""Commands that follow say what is wrong with files when it happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.cli.follow.follow_findings import follow
from rltui.cli.output.file_problems import FileProblemReporter
from rltui.common.problem import Problem
from rltui.config import Config
from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery, Source
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import Live


def _delivery(*problems: Problem) -> Delivery:
    return Delivery(Source("a", "a/log", "jsonl"), Batch(problems=problems), "state")


def test_a_trouble_is_said_once_and_when_it_is_over() -> None:
    """A count that grows is no news; the end of a trouble is, and so is its return; `info` never is."""
    said: list[str] = []
    told = FileProblemReporter(said.append)
    trouble = Problem("warning", "junk", "a/log", "3 lines are no JSON")
    deliveries = [
        _delivery(trouble, Problem("info", "torn-tail", "a/log", "the last record is incomplete")),
        _delivery(Problem("warning", "junk", "a/log", "9 lines are no JSON")),
        _delivery(Problem("warning", "junk", "a/log", "", healed=True)),
        _delivery(trouble),
    ]
    assert list(told.passing(deliveries)) == deliveries
    assert said == [
        "a/log: 3 lines are no JSON",
        "a/log: over: 9 lines are no JSON",
        "a/log: 3 lines are no JSON",
    ]


def test_findings_as_lines_come_with_the_troubles_of_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`check --follow` says on standard error that a log is damaged, once."""
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "metrics.jsonl").write_text(
        '{"step": 1, "loss": 1}\n{"step": 2, "lo@@@\n{"step": 3, "loss": 1}\n'
    )
    read = [Live(logs).poll() for _ in range(2)]
    follow([str(logs)], Config(), deliveries=read)
    assert capsys.readouterr().err.count("metrics.jsonl: ") == 1


def test_a_missing_logdir_is_said_once() -> None:
    """However often it is asked for; another one is said when it is missed."""
    said: list[str] = []
    reporter = FileProblemReporter(said.append)
    for missing in (("later",), ("later",), ("later", "more"), ()):
        reporter.report_missing(missing)
    assert said == ["later: not there yet; waiting for it", "more: not there yet; waiting for it"]


def test_following_has_no_verdict(tmp_path: Path) -> None:
    """`--fail-on` beside `--follow` is refused, for there is no end at which it could count."""
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 1}\n')
    done = rltui("check", tmp_path, "--follow", "--fail-on", "warning")
    assert (done.code, done.out) == (2, "")
    assert "--fail-on" in done.err
