"""Pipes that are closed while commands print: exit codes stay those of the results."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands.child_process import running
from tests.support.runs.checked_runs import SICK, WELL, write


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A good run and one with a critical finding."""
    write(tmp_path / "logs/good", WELL)
    write(tmp_path / "logs/bad", SICK)
    return tmp_path / "logs"


def exit_code_without_reader(*words: object, stream: str = "stdout") -> int:
    """The exit code if the reader of a stream has gone before anything is printed; nothing is said of it."""
    with running(*words) as process:
        getattr(process, stream).close()
        other = process.stderr if stream == "stdout" else process.stdout
        assert other is not None
        assert "pipe" not in other.read().lower()
        return process.wait()


@pytest.mark.parametrize("words", [["export"], ["runs"], ["doctor"], ["snapshot", "--pane", "all"]])
def test_a_reader_that_has_enough_is_no_error(logs: Path, words: list[str]) -> None:
    """As in `export runs | head`, also in a shell with pipefail."""
    assert exit_code_without_reader(words[0], logs, *words[1:]) == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["check", "--run", "good"], 0),
        (["check", "--run", "bad", "--json"], 1),
        (["check", "--run", "none", "--json"], 2),
        (["wait", "--run", "bad"], 1),
        (["wait", "--run", "good", "--until", "step>=5"], 0),
    ],
)
def test_the_result_does_not_depend_on_its_reader(logs: Path, words: list[str], code: int) -> None:
    """The exit code of `check` and `wait` is their result."""
    assert exit_code_without_reader(words[0], logs, *words[1:]) == code


def test_an_error_that_nobody_reads_keeps_its_code(logs: Path) -> None:
    """Standard error may be closed as well."""
    assert exit_code_without_reader("explain", "nope/nothing", stream="stderr") == 1
    assert exit_code_without_reader("check", logs / "missing", stream="stderr") == 2


@pytest.mark.parametrize("words", [["--help"], ["check", "--help"], ["--version"]], ids=" ".join)
def test_help_without_a_reader_is_no_error(words: list[str]) -> None:
    """As in `rltui --help | head`."""
    assert exit_code_without_reader(*words) == 0
