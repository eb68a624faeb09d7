"""The baseline of a monitor: read whatever the filter of runs says, and never what is shown by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rltui.logs.follow.follower import Follower
from rltui.logs.run_names import RunFilter, goes_by, runs_named
from rltui.panes.baseline.comparison import compare
from rltui.panes.charts.compared_series import compared_series
from rltui.panes.rows.row import rows_of
from rltui.screen.start import build
from rltui.session.session import Session
from tests.support.commands.in_process import rltui
from tests.support.runs.made_run import NOW, MadeRun, believable
from tests.support.screen.screens import opened, screen_of


@pytest.mark.parametrize(
    ("name", "there"),
    [("a/good/tb", True), ("good", True), ("good/tb", True), ("a/good", True), ("tb/", True), ("goo", False)],
)
def test_a_run_goes_by_any_folders_of_its_name(name: str, there: bool) -> None:
    """Whole folders count, parts of their names do not."""
    assert goes_by("a/good/tb", name) is there


def test_a_filter_of_runs_leaves_the_baseline_in(tmp_path: Path) -> None:
    """The runs that match are read, and the baseline; no other."""
    for name in ("new_1", "new_2", "good", "old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.jsonl").write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "loss": 1.0}\n')
    runs = RunFilter("new*", also="good")
    follower = Follower([tmp_path], runs=runs)
    session = Session(runs=runs)
    for _ in range(20):
        session.apply(follower.poll())
    assert sorted(session.runs) == ["good", "new_1", "new_2"]


def test_what_is_compared_with_is_not_shown_first() -> None:
    """The newest other run is shown, even when the baseline was found before it or written later."""
    base = believable(50, seed=1, name="good", modified=NOW)
    other = believable(50, seed=2, name="new", modified=NOW - 9000)
    screen = opened(base, other, baseline="good")
    screen.state.selection.run = "good"
    screen.frame(100, 30)
    assert screen.view is not None and screen.view.name == "new"
    alone = opened(base, baseline="good")
    assert alone.view is not None and alone.view.name == "good"


def test_of_runs_as_new_one_with_points_is_shown() -> None:
    """A run without a value, a second newer than one with values, does not open as an empty screen."""
    some = believable(50, seed=1, name="with_values", modified=NOW - 1)
    none = MadeRun("without", modified=NOW)
    assert (view := opened(none, some).view) is not None and view.name == "with_values"


def test_a_name_may_be_meant_for_several() -> None:
    """The run of just that name is meant; else all that go by it."""
    runs = ["a/good", "good", "b/good/tb", "goods"]
    assert runs_named(runs, "good") == ["good"]
    assert runs_named([run for run in runs if run != "good"], "good") == ["a/good", "b/good/tb"]
    assert runs_named(runs, "nobody") == []


@pytest.mark.parametrize("name", ["good", "a/good", "a/good/tb"])
def test_the_baseline_goes_by_the_same_names_everywhere(tmp_path: Path, name: str) -> None:
    """`watch --baseline` takes what `compare --baseline` takes: any folders of a run's name."""
    for run in ("a/good/tb", "b/new/tb"):
        path = tmp_path / run / "metrics.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("".join(f'{{"step": {step}, "loss": {step / 7}}}\n' for step in range(40)))
    assert "against a/good/tb" in rltui("compare", tmp_path, "--baseline", name).out
    screen = screen_of(build(Session.load([tmp_path]), [str(tmp_path)], baseline=name, theme="night"))
    assert screen.baseline is not None and screen.baseline.name == "a/good/tb"
    assert screen.differences()


def test_the_counterpart_of_a_metric_is_the_same_everywhere() -> None:
    """What is held out is no counterpart of training, a quantity of two keys has none; the same key has."""
    one, other = MadeRun(), MadeRun("other")
    entropy = {"canonical": "policy.entropy", "title": "Entropy", "pane": "policy"}
    for run, level, *tags in (one, 1, "train/entropy"), (other, 5, "val/entropy", "entropy"):
        run.add("actor/ppo_kl", np.linspace(level, 2, 60))
        for tag in tags:
            run.add(tag, np.linspace(level, 6, 60), **entropy)
    assert one.tag_index.counterpart("train/entropy", other.tag_index) == "entropy"
    assert one.tag_index.counterpart("actor/ppo_kl", other.tag_index) == "actor/ppo_kl"
    found = compare(one, other)
    assert found is not None
    assert {each.tag: each.baseline_tag for each in found.differences}["train/entropy"] == "entropy"
    (row,) = rows_of(one, ["train/entropy"])
    (drawn,) = compared_series(one, row, [other])
    assert drawn.series is other.run.series["entropy"]
    other.add("mine/entropy", np.linspace(7, 8, 60), **entropy)
    assert one.tag_index.counterpart("train/entropy", other.tag_index) is None
    assert compared_series(one, row, [other]) == ()
