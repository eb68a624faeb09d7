"""Which pane is shown: at reopening, where a run has nothing for it, hidden and shown again."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.screen.saved_layout import SavedLayout, remember
from rltui.screen.start import build
from rltui.screen.state import AppState
from tests.support.fakerun import NOW, believable
from tests.support.screens import monitor, session


def reopened(path: Path, left: str, **options: object) -> AppState:
    """A screen that was left in a pane, opened again."""
    remember(path, SavedLayout(pane=left))
    return build(session(believable()), ["/logs"], clock=lambda: NOW, memory_path=path, **options).desk  # type: ignore[arg-type]


def text(over: AppState, width: int = 100, height: int = 30) -> str:
    """What is on the screen."""
    return "\n".join(line.text.rstrip() for line in over.frame(width, height).lines)


@pytest.mark.parametrize("pane", ["rollout", "critic", "a pane of another run"])
def test_reopening_never_ends_on_an_empty_pane(tmp_path: Path, pane: str) -> None:
    """A remembered pane in which the run has nothing gives way to the overview, whose tab is underlined."""
    over = reopened(tmp_path / "layout.json", pane)
    assert "Reward" in text(over)
    assert over.pane == "overview"


def test_while_logs_are_read_the_remembered_pane_waits(tmp_path: Path) -> None:
    """What is not there yet may come: only when all is read the overview takes over."""
    over = reopened(tmp_path / "layout.json", "critic")
    over.loading = 0.5
    text(over)
    assert over.pane == "critic"
    over.loading = None
    text(over)
    assert over.pane == "overview"


def test_a_remembered_pane_with_metrics_is_shown(tmp_path: Path) -> None:
    """As it was left."""
    over = reopened(tmp_path / "layout.json", "policy")
    text(over)
    assert over.pane == "policy"


def test_a_pane_that_was_asked_for_is_shown_even_if_empty(tmp_path: Path) -> None:
    """By option and by key: it says what it lacks, under its own tab."""
    over = reopened(tmp_path / "layout.json", "rollout", pane="rollout")
    for shown in (text(over), text(over)):
        assert "This run reports nothing about its rollouts." in shown
        assert "rollout" in shown.splitlines()[2]
    over.press("1")
    over.press("u")
    assert "no turns" in text(over) and over.pane == "turns"


def test_hiding_undoes_itself() -> None:
    """The key that hid a pane shows it again from where hiding leads to."""
    over = monitor(believable()).desk
    over.press("3")
    over.press("V")
    assert over.memory.hidden == ["policy"] and over.pane == "overview" and "V" in over.message
    over.press("V")
    assert over.memory.hidden == [] and "among the tabs again" in over.message
    over.press("V")
    assert "cannot be hidden" in over.message


def test_a_section_of_another_run_says_what_there_is() -> None:
    """A pane that only other runs have names itself and the panes of this one."""
    over = monitor(believable()).desk
    over.go("mine too")
    assert "This run reports nothing for the pane mine too. It has validation, reward, policy" in text(over)
