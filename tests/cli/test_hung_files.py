"""Commands beside a file that never answers: the others are read, the command ends, the file is named."""

from __future__ import annotations

import json
import signal
import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.support.commands.child_process import running
from tests.support.logs.live_logs import lines, write

# `open` and `stat` of some paths never return, as on a dead mount.
CHILD = """
import os, sys, threading
from rltui.cli.options import arguments
from rltui.logs.follow import hung_calls
hung_calls.GIVE_UP = arguments.FILE_SYSTEM_TIMEOUT = 0.3
for name in ("open", "stat"):
    def call(path, *rest, real=getattr(os, name), **options):
        if str(path).endswith(("hung/metrics.jsonl", "hung-logdir")):
            threading.Event().wait()
        return real(path, *rest, **options)
    setattr(os, name, call)
from rltui.cli import run
run(sys.argv[1:])
"""


def start(*words: object) -> AbstractContextManager[subprocess.Popen[str]]:
    """A command in a process of its own, in which those calls hang."""
    return running(*words, program=("-c", CHILD), seconds=30.0)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs that can be read, one that cannot."""
    for number, name in enumerate(("a", "hung", "z")):
        write(tmp_path / "runs" / name / "metrics.jsonl", lines(range(30), scale=0.5 + number))
    return tmp_path / "runs"


def test_export_follow(runs: Path) -> None:
    """The points of the others are printed, the file is named, and a signal ends it."""
    with start("export", runs, "--follow") as process:
        assert process.stdout is not None and process.stderr is not None
        printed = [json.loads(process.stdout.readline()) for _ in range(60)]
        assert {point["run"] for point in printed} == {"a", "z"}
        assert "hung/metrics.jsonl: the file system has not answered" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stdout.read() == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "--json"), "a z"),
        (("runs", "--json"), "a z"),
        (("export",), "a z"),
        (("snapshot", "--run", "z"), "z"),
        (("check", "--follow"), ""),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else "",
)
def test_other_commands(runs: Path, words: tuple[str, ...], said: str) -> None:
    """What reads once ends with the others read; what follows ends on a signal. All name the file."""
    with start(words[0], runs, *words[1:]) as process:
        assert process.stderr is not None
        following = "--follow" in words
        first = process.stderr.readline() if following else ""
        if following:
            process.send_signal(signal.SIGTERM)
        out, error = process.communicate(timeout=30)
    assert process.returncode == (143 if following else 0), error
    assert "hung/metrics.jsonl" in first + error + out
    assert "Traceback" not in error
    for name in said.split():
        assert name in out


def test_a_logdir_that_hangs(tmp_path: Path) -> None:
    """A LOGDIR whose file system does not answer is named, with 2."""
    with start("check", tmp_path / "hung-logdir") as process:
        _, error = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "the file system has not answered" in error
