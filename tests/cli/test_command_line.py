"""The command line's edges: codes, one-line errors, quiet pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.child import running
from tests.support.shared import BUNDLED

ROOT = Path(__file__).resolve().parents[2]


def rltui(*args: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, without a terminal and without the user's configuration."""
    return subprocess.run(
        [sys.executable, "-m", "rltui", *args],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=60,
        stdin=subprocess.DEVNULL,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "XDG_CONFIG_HOME": "/nonexistent",
            "RLTUI_CONFIG": "",
            **env,
        },
    )


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two small runs in two formats."""
    root = tmp_path_factory.mktemp("runs")
    rows = [{"step": i, "data": {"critic/rewards/mean": i / 40, "actor/ppo_kl": 0.001}} for i in range(1, 41)]
    (root / "a").mkdir()
    (root / "a" / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (root / "b").mkdir()
    (root / "b" / "progress.csv").write_text("step,reward\n1,0.5\n2,0.75\n")
    return root


def test_version_and_help_end_with_0() -> None:
    """Asking is no error."""
    assert rltui("--version").stdout.startswith("rltui 0.")
    assert rltui("--help").returncode == 0


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["wach"], "no command or folder named 'wach'; commands: watch"),
        (["runs", "/no/such/folder"], "no such file or folder"),
        (["runs", "--frobnicate", "."], "--frobnicate"),
        (["explain"], "KEY"),
    ],
)
def test_wrong_usage_is_one_line_and_2(args: list[str], says: str) -> None:
    """What, where, what to do, in one line on standard error; nothing on standard output."""
    done = rltui(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_folder_without_logs_is_2(tmp_path: Path) -> None:
    """Nothing that can be read is an error of its own code."""
    done = rltui("runs", str(tmp_path))
    assert done.returncode == 2
    assert "no logs found" in done.stderr


def test_watch_without_a_terminal_says_so(logdir: Path) -> None:
    """No terminal: one line and 2, not a program that runs on for ever."""
    done = rltui("watch", str(logdir))
    assert done.returncode == 2
    assert "terminal" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_logdir_alone_means_watch(logdir: Path) -> None:
    """`rltui LOGDIR` is short for `rltui watch LOGDIR`."""
    assert rltui(str(logdir)).stderr == rltui("watch", str(logdir)).stderr


def test_runs_json_has_the_promised_fields(logdir: Path) -> None:
    """Every field of the promise, for each run, the twin logs named under `also`."""
    done = rltui("runs", str(logdir), "--json")
    answer = json.loads(done.stdout)
    assert answer["schema"] == 1
    by_name = {run["run"]: run for run in answer["runs"]}
    assert set(by_name) == {"a", "b"}
    assert set(by_name["a"]) >= {
        "run", "framework", "state", "last_step", "last_wall_time", "points", "health", "sources", "also"
    }  # fmt: skip
    assert (by_name["a"]["last_step"], by_name["a"]["points"]) == (40, 80)


def test_a_closed_pipe_is_quiet(logdir: Path) -> None:
    """`rltui export … | head -1` prints one line and no complaint."""
    command = f"{sys.executable} -m rltui export {logdir} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert json.loads(done.stdout)["tag"]
    assert done.stderr == ""


def test_a_full_disk_is_said_and_not_0(logdir: Path) -> None:
    """Results that could not be written are no success."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    command = f"{sys.executable} -m rltui runs {logdir} --json > /dev/full"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_end_a_following_export_with_their_code(logdir: Path, number: int, code: int) -> None:
    """SIGTERM is 143, SIGINT 130, without a traceback."""
    with running("export", "--follow", logdir, cwd=ROOT) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["run"] in ("a", "b")
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in errors


def test_hostile_names_reach_no_terminal_raw(tmp_path: Path) -> None:
    """Escape sequences in tags and folder names come out spelled, from every command."""
    run = tmp_path / "bad\x1b]0;name\x07"
    run.mkdir()
    (run / "metrics.jsonl").write_text(json.dumps({"step": 1, "loss\x1b[2J[/b]": 1.0}) + "\n")
    for args in (["runs"], ["check"], ["snapshot", "--pane", "all"], ["export"], ["doctor"]):
        done = rltui(*args, str(tmp_path))
        assert "\x1b" not in done.stdout + done.stderr, args
        assert "\x07" not in done.stdout + done.stderr, args
        assert "Traceback" not in done.stderr, args


def test_bundled_logs_are_read_by_every_headless_command() -> None:
    """What is shipped for tests can be listed, judged, shown and exported."""
    if not any(BUNDLED.iterdir()):
        pytest.fail("tests/logs is empty")
    for args in (["runs"], ["check", "--fail-on", "never"], ["snapshot"], ["doctor"]):
        done = rltui(*args, str(BUNDLED))
        assert done.returncode == 0, (args, done.stderr)
        assert done.stdout
