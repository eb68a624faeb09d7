"""The command line's edges: closed pipes, full disks, every bundled log."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows
from tests.support.shared import BUNDLED

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two small runs in two formats."""
    root = tmp_path_factory.mktemp("runs")
    rows = [{"step": i, "data": {"critic/rewards/mean": i / 40, "actor/ppo_kl": 0.001}} for i in range(1, 41)]
    write_rows(root / "a" / "metrics.jsonl", rows)
    (root / "b").mkdir()
    (root / "b" / "progress.csv").write_text("step,reward\n1,0.5\n2,0.75\n")
    return root


def test_closed_streams_change_no_exit_code(logdir: Path) -> None:
    """`rltui check … >&- 2>&-`, as some daemons start it, ends as with streams, and without a traceback."""
    command = f"{sys.executable} -m rltui check {logdir}"
    expected = subprocess.run(command, shell=True, capture_output=True, check=False).returncode
    closed = subprocess.run(f"{command} >&-", shell=True, stderr=subprocess.PIPE, check=False)
    assert (closed.returncode, closed.stderr) == (expected, b"")
    assert subprocess.run(f"{command} <&- >&- 2>&-", shell=True, check=False).returncode == expected


def test_following_ends_with_its_reader(logdir: Path) -> None:
    """`rltui export --follow … | head -1` does not wait for a point that never comes."""
    for command in ("export --follow", "check --follow --json"):
        whole = f"{sys.executable} -m rltui {command} {logdir} | head -c 0"
        done = subprocess.run(whole, shell=True, capture_output=True, timeout=30, check=False)
        assert done.stderr == b""


def test_a_full_disk_is_said_and_not_0(logdir: Path) -> None:
    """Results that could not be written are no success."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    command = f"{sys.executable} -m rltui runs {logdir} --json > /dev/full"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_bundled_logs_are_read_by_every_headless_command() -> None:
    """What is shipped for tests can be listed, judged, shown and exported."""
    if not any(BUNDLED.iterdir()):
        pytest.fail("tests/logs is empty")
    for args in (["runs"], ["check", "--fail-on", "never"], ["snapshot"], ["doctor"]):
        done = rltui(*args, BUNDLED)
        assert done.code == 0, (args, done.err)
        assert done.out
