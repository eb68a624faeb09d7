"""Where rltui may write, and that an error of its own never becomes a traceback on the screen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rltui import crash, paths
from rltui.screen.saved_layout import path_for


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without an entry in the system's list and without HOME, as in many containers."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "RLTUI_CONFIG"):
        monkeypatch.delenv(name, raising=False)

    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)


def test_without_a_home_nothing_is_kept(homeless: None) -> None:
    """No folder is made up where none is known: not beside the logs, not in the working directory."""
    assert (paths.state(), paths.cache(), paths.config_file(), path_for(["/logs"])) == (None,) * 4


def test_a_relative_base_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A relative XDG folder would be another one in each working directory: the standard ignores it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    assert paths.state() == tmp_path / ".local" / "state" / "rltui"


def test_a_crash_without_a_home_still_keeps_its_traceback(
    homeless: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The traceback goes into a temporary folder, and the line names it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    said = crash.report(ValueError("odd"))
    (report,) = tmp_path.glob("rltui-*/crash-*.txt")
    assert said == f"internal error (ValueError); please report it with {report}"
    assert "ValueError: odd" in report.read_text()


def test_a_crash_that_cannot_be_written_is_one_line(
    homeless: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a place for the traceback the line says what it can, cleaned."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert crash.report(ValueError("a\x1b[2J\nb")) == (
        "internal error (ValueError: a\\x1b[2J b); no file could be written"
    )


def test_what_lies_in_a_logdir(tmp_path: Path) -> None:
    """A LOGDIR, what lies in it, behind links too, and the folder of a single log; nothing beside those."""
    runs, aside = tmp_path / "runs", tmp_path / "aside"
    (runs / "a").mkdir(parents=True)
    aside.mkdir()
    log = runs / "a" / "metrics.jsonl"
    log.touch()
    (tmp_path / "link").symlink_to(runs)
    for inside in (runs, runs / "new.txt", tmp_path / "link" / "a" / "new.txt", aside / ".." / "runs" / "x"):
        assert paths.logdir_around(inside, ["elsewhere", str(runs)]) == str(runs)
    for inside in (log, runs / "a" / "out.csv", runs / "a" / "deeper" / "out.csv"):
        assert paths.logdir_around(inside, [str(log)]) == str(log)
    for outside in (aside / "x", tmp_path / "runs.txt", runs / "b" / "x"):
        assert paths.logdir_around(outside, [str(log)]) is None
    assert paths.logdir_around(aside / "x", [str(runs)]) is None


def test_an_export_is_not_written_beside_the_log_it_reads(tmp_path: Path) -> None:
    """`export LOG --output FILE` with FILE in the folder of the log ends with 2 and writes nothing."""
    log = tmp_path / "metrics.jsonl"
    log.write_text('{"step": 1, "loss": 2}\n')
    words = ["export", str(log), "--output", str(tmp_path / "out.csv")]
    ended = subprocess.run(
        [sys.executable, "-m", "rltui", *words], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "which is only read" in ended.stderr
    assert list(tmp_path.iterdir()) == [log]


@pytest.mark.parametrize("name", ["runs", "check", "export", "doctor", "snapshot"])
def test_the_home_folder_may_be_written_as_a_tilde(name: str, tmp_path: Path) -> None:
    """A quoted `~/runs` reaches every command as the folder it means."""
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 2}\n' * 3)
    env = {"HOME": str(tmp_path), "PATH": "", "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    words = [sys.executable, "-m", "rltui", name, "~/metrics.jsonl"]
    ended = subprocess.run(
        words, capture_output=True, text=True, check=False, env=env, cwd=Path(__file__).parents[2]
    )
    assert (ended.returncode, ended.stderr) == (0, "")
