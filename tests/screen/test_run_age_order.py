"""The order of runs: by the age that is shown, also where files were copied or clocks are wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rltui.screen.start import build
from rltui.session.session import Session
from tests.support.screen.screens import screen_of

NOW = 1_795_000_000.0


def log(folder: Path, name: str, age: float | None, written: float) -> None:
    """A run whose last point is so many seconds old, in a file that was written so many seconds ago."""
    path = folder / name / "metrics.jsonl"
    path.parent.mkdir()
    time = "" if age is None else f', "timestamp": {NOW - age}'
    path.write_text(f'{{"step": 1, "reward": 0.5}}\n{{"step": 2, "reward": 0.6{time}}}\n')
    os.utime(path, (NOW - written, NOW - written))


def names(folder: Path) -> list[str]:
    """The runs in order."""
    return [view.name for view in Session.load([folder]).ordered()]


def test_copied_runs_are_in_the_order_of_their_points(tmp_path: Path) -> None:
    """After a copy all files are equally old; what is shown first is the run that logged last."""
    for name, age in (("a", 9000.0), ("b", 100.0), ("c", 5000.0)):
        log(tmp_path, name, age, 10.0)
    assert names(tmp_path) == ["b", "c", "a"]


def test_the_list_of_runs_is_in_the_order_of_the_ages_in_it(tmp_path: Path) -> None:
    """Whatever the files say, ages rise from line to line, and the first one is shown."""
    for name, age, written in (
        ("a", 7000.0, 5.0),
        ("b", 300.0, 200.0),
        ("c", 40_000.0, 1.0),
        ("d", 200.0, 90.0),
    ):
        log(tmp_path, name, age, written)
    screen = screen_of(build(Session.load([tmp_path]), [str(tmp_path)], clock=lambda: NOW))
    assert screen.view is not None and screen.view.name == "d"
    ages = [view.liveness(NOW).age for view in screen.session.ordered()]
    assert ages == sorted(ages)


@pytest.mark.parametrize("age", [None, -1e9])
def test_points_without_a_sensible_time_leave_that_of_the_file(tmp_path: Path, age: float | None) -> None:
    """No time at all, and one of the far future, say nothing."""
    log(tmp_path, "a", 100.0, 100.0)
    log(tmp_path, "b", age, 500.0)
    log(tmp_path, "c", age, 50.0)
    assert names(tmp_path) == ["c", "a", "b"]


def test_a_run_that_goes_on_is_not_left(tmp_path: Path) -> None:
    """A run that is written stays on the screen though another one is newer; else the change is said."""
    log(tmp_path, "old", 60.0, 60.0)
    session = Session.load([tmp_path])
    screen = screen_of(build(session, [str(tmp_path)], clock=lambda: NOW))
    screen.frame(100, 30)
    log(tmp_path, "new", 1.0, 1.0)
    later = Session.load([tmp_path])
    session.runs["new"] = later.runs["new"]
    session._ordered = None
    screen.frame(100, 30)
    assert screen.view is not None and screen.view.name == "old" and not screen.message
    screen.set_clock(lambda: NOW + 1e5)
    screen.frame(100, 30)
    assert screen.view is not None and screen.view.name == "new"
    assert "now new, written after old" in screen.message  # both have ended


def test_while_history_is_read_the_run_shown_stays(tmp_path: Path) -> None:
    """Each log that is read may be newer: the last one is shown once all are known, a live one at once."""
    log(tmp_path, "old", 2e6, 60.0)
    session = Session.load([tmp_path])
    screen = screen_of(build(session, [str(tmp_path)], clock=lambda: NOW))
    screen.frame(100, 30)
    screen.state.loading = 0.1
    for name, age, shown in (("new", 1e6, "old"), ("live", 1.0, "live")):
        log(tmp_path, name, age, 1.0)
        session.runs[name] = Session.load([tmp_path]).runs[name]
        session._ordered = None
        screen.frame(100, 30)
        assert screen.view is not None and screen.view.name == shown and not screen.message
        if name == "new":
            screen.state.loading = None
            screen.frame(100, 30)
            assert screen.view.name == "new"
            screen.state.loading = 0.5
            screen.state.clear_message()
