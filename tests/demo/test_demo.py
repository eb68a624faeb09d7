"""The demo: recordings are real logs again when they are replayed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rltui.cli.commands.monitor.demo import write_others
from rltui.demo import recording
from rltui.demo.recording import Recording
from rltui.demo.replay import Replay
from rltui.panes.pane import pane_view
from rltui.session.session import Session
from tests.demo.make_recording import in_rows
from tests.support.commands.in_process import rltui

ROWS = tuple(
    (step, float(step), {"critic/score/mean": step / 8, "actor/entropy": 1.0}) for step in range(1, 11)
)


def test_a_replay_is_read_as_the_log_it_came_from(tmp_path: Path) -> None:
    """Every value of every row, written in two parts."""
    replay = Replay(Recording("toy", "Toy", "verl", "-", ROWS), tmp_path, clock=lambda: 1e9)
    replay.write_until(4)
    replay.write_until(10)
    run = Session.load([tmp_path]).runs["toy"].run
    points = run.series["critic/score/mean"].recent()
    assert points.step.tolist() == list(range(1, 11))
    assert points.value.tolist() == [step / 8 for step in range(1, 11)]


def test_a_replay_ends_now(tmp_path: Path) -> None:
    """Wall times are the machine's: the last row is now, those before at the replay's pace."""
    replay = Replay(Recording("toy", "Toy", "verl", "-", ROWS), tmp_path, speed=1.0, clock=lambda: 1e9)
    replay.write_until(10)
    walls = Session.load([tmp_path]).runs["toy"].run.series["actor/entropy"].recent().wall_time
    assert (walls[-1], walls[-2]) == (1e9, 1e9 - 0.5)


@pytest.mark.parametrize("name", recording.names())
def test_every_recording_says_where_it_is_from(name: str) -> None:
    """A recording says of which framework it is and what happens in it; its steps grow."""
    found = recording.read(name)
    assert found.about
    assert found.framework != "unknown"
    steps = [step for step, _, _ in found.rows]
    assert steps == sorted(steps)
    assert len(found.rows) > 20


def test_the_demo_opens_on_a_run_that_is_about_to_break(tmp_path: Path) -> None:
    """Well at the start, critical seconds later; the healthy one stands beside it."""
    assert recording.names()[:2] == [recording.DEFAULT, recording.HEALTHY]
    found = recording.read(recording.DEFAULT)
    replay = Replay(found, tmp_path)
    replay.write_until(int(len(found.rows) * recording.DEFAULT_BEFORE))
    assert Session.load([tmp_path]).ordered()[0].health == "ok"
    seconds = 0.0
    while Session.load([tmp_path]).ordered()[0].health != "critical":
        replay.write_until(int(len(found.rows) * recording.DEFAULT_BEFORE) + 4 + int(seconds / replay.pace))
        seconds += 4 * replay.pace
        assert seconds < 20
    assert seconds > 3


def test_the_other_recordings_are_runs_that_have_ended(tmp_path: Path) -> None:
    """The newest run is the one that is played; the healthy one is well."""
    write_others(recording.DEFAULT, tmp_path)
    found = recording.read(recording.DEFAULT)
    Replay(found, tmp_path).write_until(100)
    views = Session.load([tmp_path]).ordered()
    assert views[0].name == recording.DEFAULT and len(views) == len(recording.names())
    assert {view.liveness(time.time()).state for view in views[1:]} == {"ended"}
    assert next(view for view in views if view.name == recording.HEALTHY).health == "ok"


def test_points_become_rows_by_step() -> None:
    """One row per uninterrupted stretch of a step; a tag that comes again begins a new row."""
    points = [("a", 1, 5.0, 0.1), ("b", 1, 5.0, 0.2), ("a", 2, 7.0, 0.3), ("a", 2, 8.0, 0.4)]
    assert list(in_rows(points)) == [
        (1, 0.0, {"a": 0.1, "b": 0.2}),
        (2, 2.0, {"a": 0.3}),
        (2, 3.0, {"a": 0.4}),
    ]


@pytest.mark.parametrize(("values", "shown"), [([0.0] * 6, "unreported"), ([0.0] * 5 + [0.41], "41.0 %")])
def test_a_quantity_that_is_always_zero_is_not_shown_as_measured(
    tmp_path: Path, values: list[float], shown: str
) -> None:
    """Writers that do not know the device log an MFU of 0: the row says so instead of 0 %."""
    rows = tuple(
        (i + 1, float(i), {"perf/mfu/actor": value, "actor/ppo_kl": 0.1}) for i, value in enumerate(values)
    )
    Replay(Recording("toy", "Toy", "verl", "-", rows), tmp_path, clock=lambda: 1e9).write_until(len(rows))
    view = Session.load([tmp_path]).runs["toy"]
    row = next(row for row in pane_view(view, "perf", 1e9).metrics if row.tag == "perf/mfu/actor")
    assert row.value_text == shown


def test_recordings_are_saved_as_logs_to_try_commands_on(tmp_path: Path) -> None:
    """All of them, or one; a folder that is there is left alone."""
    folder = tmp_path / "runs"
    assert rltui("demo", "--save", folder).code == 0
    found = {run["run"] for run in rltui("runs", folder, "--json").json()["runs"]}
    assert found == set(recording.names())
    again = rltui("demo", "--save", folder, "--fault", "nan")
    assert (again.code, again.out) == (2, "")
    assert "is there already" in again.err
