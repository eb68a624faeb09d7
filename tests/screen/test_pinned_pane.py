"""Pinned metrics side by side: chosen by a key, remembered, read at one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.screen import shown_run
from rltui.screen.start import build
from rltui.session.session import Session
from tests.support.logs.live_logs import write_rows
from tests.support.runs.made_run import NOW, believable
from tests.support.screen.screens import Screen, opened, screen_of, session


def pinned(*tags: str) -> Screen:
    """A screen on which metrics were pinned by key, in their panes."""
    screen = opened(believable())
    for tag in tags:
        screen.go_to_tag(tag)
        screen.press("*")
    screen.press("P")
    return screen


@pytest.mark.parametrize(("width", "height"), [(140, 45), (100, 30), (80, 24)])
def test_pinned_metrics_stand_side_by_side(width: int, height: int) -> None:
    """Metrics of several panes fill one, each as a card, in the order in which they were pinned."""
    screen = pinned("actor/entropy", "critic/rewards/mean")
    lines = screen.text(width, height).splitlines()
    heads = next(line for line in lines if "Entropy" in line)
    assert heads.index("Entropy") < heads.index("Reward")
    assert sum("┤" in line or "│" in line for line in lines) > height // 2
    screen.press("right")
    screen.press("enter")
    assert screen.overlays and "critic/rewards/mean" in screen.text(width, height)


def test_many_or_small_ones_are_rows() -> None:
    """Where not all cards fit they are rows, so that each can be reached."""
    screen = pinned("actor/entropy", "critic/rewards/mean", "actor/ppo_kl")
    assert all(word in screen.text(40, 12) for word in ("Entropy", "Reward", "KL"))
    screen.press("down")
    screen.press("down")
    assert screen.selected().tag == "actor/ppo_kl"


def test_the_pane_is_there_while_something_is_pinned() -> None:
    """Its tab comes with the first pinned metric of the run; without any it says how to pin one."""
    screen = opened(believable())
    assert "pinned" not in [tab.id for tab in shown_run.tabs(screen.state)]
    screen.press("P")
    assert "pins the selected one" in screen.text()
    screen.press("1")
    screen.frame(100, 30)
    screen.press("*")
    assert "P shows all pinned metrics" in screen.message
    assert "pinned" in [tab.id for tab in shown_run.tabs(screen.state)]
    screen.press("P")
    screen.frame(100, 30)
    screen.press("*")
    assert screen.rows() == [] and screen.state.saved.pins == []


def test_pins_are_remembered(tmp_path: Path) -> None:
    """What was pinned is pinned when the same folder is opened again."""
    path = tmp_path / "layout.json"
    app = build(session(believable()), ["/logs"], clock=lambda: NOW, layout_path=path)
    screen_of(app).press("*")
    app.stop()
    again = screen_of(build(session(believable()), ["/logs"], clock=lambda: NOW, layout_path=path))
    again.press("P")
    assert len(again.rows()) == 1


def log(folder: Path, name: str, *tags: str) -> None:
    """A run of these tags, each of them rising."""
    rows = ({"step": step, **dict.fromkeys(tags, 0.1 * step)} for step in range(30))
    write_rows(folder / name / "metrics.jsonl", rows)


def test_pins_follow_the_metric_to_runs_that_write_it_under_another_key(tmp_path: Path) -> None:
    """What is pinned in a veRL run is shown in a TRL run by its own key, and is let go of there, too."""
    log(tmp_path, "verl", "actor/entropy", "actor/pg_loss", "critic/rewards/mean", "response_length/mean")
    log(tmp_path, "trl", "entropy", "reward", "reward_std", "completions/mean_length", "frac_reward_zero_std")
    screen = screen_of(build(Session.load([tmp_path]), [str(tmp_path)]))
    screen.choose_run("verl")
    for tag in ("actor/entropy", "actor/pg_loss"):
        screen.go_to_tag(tag)
        screen.press("*")
    screen.choose_run("trl")
    screen.press("P")
    assert [row.tag for row in screen.rows()] == ["entropy"]  # the run has no such loss
    screen.frame(100, 30)
    screen.press("*")
    assert screen.state.saved.pins == ["actor/pg_loss"]
    screen.press("1")
    assert "pinned" not in [tab.id for tab in shown_run.tabs(screen.state)]


def test_one_crosshair_reads_all_of_them_and_the_large_chart() -> None:
    """A step chosen on one card is marked on all; the large chart opens there and gives its cursor back."""
    screen = pinned("actor/entropy", "critic/rewards/mean")
    screen.frame(140, 45)
    screen.press("(")
    assert screen.text(140, 45).count("@300") == 2
    screen.press("enter")
    screen.frame(140, 45)
    assert " step 299 " in screen.text(140, 45)  # the column of the newest point
    screen.press("left")
    screen.press("escape")
    step = screen.state.time.crosshair
    assert step is not None and step < 300
    assert screen.text(140, 45).count(f"@{step}") == 2
    screen.press("escape")
    assert screen.state.time.crosshair is None and screen.pane == "pinned"
