"""The recipes for Slurm, cron and CI do what they say: a shell runs each with the real command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.runs.checked_runs import SICK, WELL, environment, write

PAGE = (Path(__file__).resolve().parents[2] / "docs/pages/recipes.md").read_text()
# The shell lines below each bold title of the recipes.
RECIPES = dict(
    re.findall(
        r"^\*\*([^*]+)\*\*(?:(?!^```).)*^```sh\n(.*?)^```",
        PAGE,
        re.MULTILINE | re.DOTALL,
    )
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with `rltui` and a stand-in for `scancel` on its path, a good run and a sick one."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, line in (
        ("rltui", f'exec "{sys.executable}" -m rltui "$@"'),
        ("scancel", 'echo "$@" > cancelled'),
        ("jq", 'printf "%s" "$4"'),
        ("curl", 'echo "$@" > posted'),
    ):
        (tools / name).write_text(f"#!/bin/sh\n{line}\n")
        (tools / name).chmod(0o755)
    write(tmp_path / "good", WELL)
    write(tmp_path / "sick", SICK)
    return tmp_path


def shell(home: Path, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a recipe as sh does."""
    path = f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    return subprocess.run(
        ["/bin/sh", "-c", script], capture_output=True, text=True, timeout=60, check=False, cwd=home,
        env=environment(home) | variables | {"PATH": path},
    )  # fmt: skip


def test_the_epilog_keeps_a_verdict_and_never_fails(home: Path) -> None:
    """A sick run does not drain the node; the verdict stands beside it."""
    assert shell(home, RECIPES["Slurm epilog"], RUN_DIR="sick").returncode == 0
    assert "✖" in (home / "sick.verdict.txt").read_text()


def test_a_lost_run_is_cancelled(home: Path) -> None:
    """The watcher in a job cancels its job at a critical finding."""
    cancel = RECIPES["Stop a failed run early"] + "wait\n"  # as a job does for what it started
    shell(home, cancel, RUN_DIR="sick", EVERY="0.01", SLURM_JOB_ID="4711")
    assert (home / "cancelled").read_text() == "4711\n"


def test_cron_is_silent_unless_something_is_wrong(home: Path) -> None:
    """No mail for a good run, a mail with the finding for a sick one."""
    cron = RECIPES["cron"]
    assert shell(home, cron, RUNS="good").stdout == ""
    assert "since step 51" in shell(home, cron, RUNS="sick").stdout


def test_a_chat_gets_one_line_of_what_is_wrong(home: Path) -> None:
    """Nothing is posted of a good run; of a sick one the state, the run, the finding and its step."""
    shell(home, RECIPES["A chat"], RUNS="good", CHAT_WEBHOOK="https://chat")
    assert not (home / "posted").exists()
    shell(home, RECIPES["A chat"], RUNS="sick", CHAT_WEBHOOK="https://chat")
    (line,) = (home / "posted").read_text().splitlines()
    assert line.startswith("-sS --json ✖ 1 run: 1 critical · sick: ") and "since step 51" in line
    assert line.endswith("https://chat")


def test_ci_fails_and_shows_the_table(home: Path) -> None:
    """The job fails by the exit code, the summary has the table in either case."""
    ci = RECIPES["CI"]
    assert shell(home, ci, RUNS="good", GITHUB_STEP_SUMMARY="summary.md").returncode == 0
    assert shell(home, ci, RUNS="sick", GITHUB_STEP_SUMMARY="summary.md").returncode == 1
    text = (home / "summary.md").read_text()
    assert text.count("|---|") >= 2 and "1 run: 1 critical" in text
