"""Pages are functions of state and size."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.panes.pane_tabs import PANES
from rltui.screen.pages.frame import frame
from rltui.screen.state import AppState
from tests.support.runs.made_run import believable
from tests.support.screen.consoles import FAILED, attach, settle
from tests.support.screen.screens import opened

# What a page may change: what it keeps for the next frame, and what threads are asked for.
KEPT = ("session", "caches", "threads", "run_settings", "acknowledgements", "options")


def plain(state: AppState) -> dict[str, str]:
    """Everything else of a state, as text."""
    return {name: repr(getattr(state, name)) for name in AppState.__slots__ if name not in KEPT}


@pytest.mark.parametrize("pane", PANES)
def test_a_page_does_not_change_the_state(pane: str, tmp_path: Path) -> None:
    """Drawn twice, it is the same, and nothing is chosen, said or requested by it."""
    screen = attach(opened(believable()), tmp_path, FAILED)
    screen.go(pane)
    settle(screen)
    before = plain(screen.state)
    first, _ = frame(screen.state, 100, 30)
    again, _ = frame(screen.state, 100, 30)
    assert plain(screen.state) == before
    assert [line.text for line in first.lines] == [line.text for line in again.lines]


def test_a_page_chooses_no_console(tmp_path: Path) -> None:
    """Which console is shown is decided before the page is made."""
    screen = attach(opened(believable()), tmp_path, FAILED)
    screen.go("console")
    frame(screen.state, 100, 30)
    assert screen.state.console.place == ""
    settle(screen)
    assert screen.state.console.place
