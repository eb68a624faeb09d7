"""Where rltui may write, and that an error of its own never becomes a traceback on the screen."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import platformdirs
import pytest

from rltui.alerts.sent_log import SentAlert, SentLog
from rltui.common import crash, writable_paths
from rltui.screen.saved_layout import SavedLayout, path_for, save_layout
from tests.support.commands.in_process import rltui


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without an entry in the system's list and without HOME, as in many containers."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "RLTUI_CONFIG"):
        monkeypatch.delenv(name, raising=False)

    monkeypatch.setattr("pwd.getpwuid", lambda _: {}["nobody"])


def test_without_a_home_nothing_is_kept(homeless: None) -> None:
    """No folder is made up where none is known: not beside the logs, not in the working directory."""
    assert (writable_paths.state(), writable_paths.config_file(), path_for(["/logs"])) == (None,) * 3


@pytest.mark.parametrize("base", ["", "relative", "/elsewhere"])
@pytest.mark.parametrize("home", ["/home/me", "/", "relative", ""])
def test_folders_are_those_of_the_library(monkeypatch: pytest.MonkeyPatch, home: str, base: str) -> None:
    """What is found without platformdirs is what it says, whatever the environment."""
    monkeypatch.delenv("RLTUI_CONFIG", raising=False)
    monkeypatch.setenv("HOME", home)
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", base)
    dirs = platformdirs.PlatformDirs("rltui", appauthor=False)
    assert writable_paths.config_file() == Path(dirs.user_config_dir, "config.toml")
    assert writable_paths.state() == Path(dirs.user_state_dir)
    assert writable_paths.cache() == Path(dirs.user_cache_dir)


def test_a_relative_base_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A relative XDG folder would be another one in each working directory: the standard ignores it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    assert writable_paths.state() == tmp_path / ".local" / "state" / "rltui"


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
        assert writable_paths.enclosing_logdir(inside, ["elsewhere", str(runs)]) == str(runs)
    for inside in (log, runs / "a" / "out.csv", runs / "a" / "deeper" / "out.csv"):
        assert writable_paths.enclosing_logdir(inside, [str(log)]) == str(log)
    for outside in (aside / "x", tmp_path / "runs.txt", runs / "b" / "x"):
        assert writable_paths.enclosing_logdir(outside, [str(log)]) is None
    assert writable_paths.enclosing_logdir(aside / "x", [str(runs)]) is None


def test_an_export_is_not_written_beside_the_log_it_reads(tmp_path: Path) -> None:
    """`export LOG --output FILE` with FILE in the folder of the log ends with 2 and writes nothing."""
    log = tmp_path / "metrics.jsonl"
    log.write_text('{"step": 1, "loss": 2}\n')
    done = rltui("export", log, "--output", tmp_path / "out.csv")
    assert (done.code, done.out) == (2, "")
    assert "which is only read" in done.err
    assert list(tmp_path.iterdir()) == [log]


@pytest.mark.parametrize("name", ["runs", "check", "export", "doctor", "snapshot"])
def test_the_home_folder_may_be_written_as_a_tilde(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quoted `~/runs` reaches every command as the folder it means."""
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 2}\n' * 3)
    monkeypatch.setenv("HOME", str(tmp_path))
    done = rltui(name, "~/metrics.jsonl")
    assert (done.code, done.err) == (0, "")


@pytest.fixture
def no_umask() -> Iterator[None]:
    """A user whose new files are open to everybody."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_what_is_kept_is_private(no_umask: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Layouts, sent alerts and crash reports, and all folders made for them, are the user's alone."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    layout = path_for(["/logs"])
    assert layout is not None
    save_layout(layout, SavedLayout())
    SentLog.of_logdirs(["/logs"]).add("run", "kl", SentAlert(1, 2, 3.0))
    crash.report(ValueError("odd"))
    made = list((tmp_path / ".local").rglob("*"))
    assert {path.name for path in made if path.is_dir()} == {"state", "rltui", "layouts", "alerts"}
    assert sum(path.is_file() for path in made) == 4  # and the lock of the alerts
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / ".local", *made)} == {0}


def test_a_folder_that_is_there_keeps_its_permissions(no_umask: None, tmp_path: Path) -> None:
    """Only missing folders are made."""
    (tmp_path / "open").mkdir(mode=0o755)
    writable_paths.make_private(tmp_path / "open" / "new")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "open", tmp_path / "open" / "new")] == [
        0o755,
        0o700,
    ]


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """An error leaves the old file and nothing beside it; without `replace` another file is not touched."""
    path = tmp_path / "out"
    writable_paths.write_atomically(path, b"old")
    with pytest.raises(ZeroDivisionError), writable_paths.atomic_file(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    with pytest.raises(FileExistsError), writable_paths.atomic_file(path, replace=False) as file:
        file.write(b"new")
    assert (list(tmp_path.iterdir()), path.read_bytes()) == ([path], b"old")


def test_a_new_file_where_links_are_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file system without hard links gets its file, too, and never loses another."""

    def no_links(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", no_links)
    for content in (b"first", b"second"):
        with (
            contextlib.suppress(FileExistsError),
            writable_paths.atomic_file(tmp_path / "x", replace=False) as file,
        ):
            file.write(content)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"first"]
