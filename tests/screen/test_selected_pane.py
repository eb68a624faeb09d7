"""Which pane is shown: at reopening, where a run has nothing for it, hidden and shown again."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.config.user_config import Config, UserPane
from rltui.screen.saved_layout import SavedLayout, save_layout
from rltui.screen.start import build
from tests.support.runs.made_run import NOW, believable
from tests.support.screen.screens import Screen, opened, screen_of, session


def reopened(path: Path, left: str, **options: object) -> Screen:
    """A screen that was left in a pane, opened again."""
    save_layout(path, SavedLayout(pane=left))
    return screen_of(build(session(believable()), ["/logs"], clock=lambda: NOW, layout_path=path, **options))


@pytest.mark.parametrize("pane", ["rollout", "critic", "a pane of another run"])
def test_reopening_never_ends_on_an_empty_pane(tmp_path: Path, pane: str) -> None:
    """A remembered pane in which the run has nothing gives way to the overview, whose tab is underlined."""
    screen = reopened(tmp_path / "layout.json", pane)
    assert "Reward" in screen.text()
    assert screen.pane == "overview"


def test_while_logs_are_read_the_remembered_pane_waits(tmp_path: Path) -> None:
    """What is not there yet may come: only when all is read the overview takes over."""
    screen = reopened(tmp_path / "layout.json", "critic")
    screen.state.loading = 0.5
    screen.text()
    assert screen.pane == "critic"
    screen.state.loading = None
    screen.text()
    assert screen.pane == "overview"


def test_a_remembered_pane_with_metrics_is_shown(tmp_path: Path) -> None:
    """As it was left."""
    screen = reopened(tmp_path / "layout.json", "policy")
    screen.text()
    assert screen.pane == "policy"


def test_a_pane_that_was_asked_for_is_shown_even_if_empty(tmp_path: Path) -> None:
    """By option and by key: it says what it lacks, under its own tab."""
    screen = reopened(tmp_path / "layout.json", "rollout", pane="rollout")
    for shown in (screen.text(), screen.text()):
        assert "Nothing about rollouts is logged. Log " in shown
        assert "rollout" in shown.splitlines()[2]
    small = [line.text.strip() for line in screen.frame(40, 12).lines]
    wrapped = ["Nothing about rollouts is logged.", "Log how far the probabilities of"]  # not cut
    assert small[4:6] == wrapped
    screen.press("1")
    screen.press("u")
    assert "No turns are logged" in screen.text() and screen.pane == "turns"


def test_hiding_undoes_itself() -> None:
    """The key that hid a pane shows it again from where hiding leads to."""
    screen = opened(believable())
    screen.press("3")
    screen.press("V")
    assert screen.state.saved.hidden == ["policy"] and screen.pane == "overview" and "V" in screen.message
    screen.press("V")
    assert screen.state.saved.hidden == [] and "among the tabs again" in screen.message
    screen.press("V")
    assert "cannot be hidden" in screen.message
    for pane, tab in (("reward-model", "reward model"), ("perf", "MFU")):  # as its tab is called
        screen.go(pane)
        screen.press("V")
        assert screen.message.startswith(f"{tab} is hidden")


def test_a_hidden_pane_is_called_by_its_own_title() -> None:
    """A title of the configuration is on the tab, and in the words on hiding it."""
    config = Config(panes={"policy": UserPane("actor"), "mine": UserPane("My things", ("actor/lr",))})
    screen = opened(believable(config=config))
    for pane, tab in (("policy", "actor"), ("mine", "My things")):
        screen.go(pane)
        screen.press("V")
        assert screen.message.startswith(f"{tab} is hidden")


def test_a_section_of_another_run_says_what_there_is() -> None:
    """A pane that only other runs have names itself and the panes of this one."""
    screen = opened(believable())
    screen.go("mine too")
    assert (
        "This run reports nothing for the pane mine too. It has validation, reward, policy" in screen.text()
    )
