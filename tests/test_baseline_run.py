"""The baseline of a monitor: read whatever the filter of runs says, and never what is shown by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.logs.follow import Follower
from rltui.logs.runname import called
from rltui.session import Session
from tests.support.fakerun import NOW, believable
from tests.support.screens import monitor


@pytest.mark.parametrize(
    ("name", "there"),
    [("a/good/tb", True), ("good", True), ("good/tb", True), ("a/good", True), ("tb/", True), ("goo", False)],
)
def test_a_run_goes_by_any_folders_of_its_name(name: str, there: bool) -> None:
    """Whole folders count, parts of their names do not."""
    assert called("a/good/tb", name) is there


def test_a_filter_of_runs_leaves_the_baseline_in(tmp_path: Path) -> None:
    """The runs that match are read, and the baseline; no other."""
    for name in ("new_1", "new_2", "good", "old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.jsonl").write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "loss": 1.0}\n')
    follower = Follower([tmp_path], run_glob="new*", also="good")
    session = Session(run_glob="new*", also="good")
    for _ in range(20):
        session.apply(follower.look())
    assert sorted(session.runs) == ["good", "new_1", "new_2"]


def test_what_is_compared_with_is_not_shown_first() -> None:
    """The newest other run is shown, even when the baseline was found before it or written later."""
    base, other = believable(50, seed=1), believable(50, seed=2)
    base.name, other.name = "good", "new"
    base.modified, other.modified = NOW, NOW - 9000
    desk = monitor(base, other, baseline="good").desk
    desk._run = "good"
    assert desk.view is not None and desk.view.name == "new"
    alone = monitor(base, baseline="good").desk
    assert alone.view is not None and alone.view.name == "good"
