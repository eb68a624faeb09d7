"""Pages are functions of state and size."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.panes.pane_tabs import PANES
from rltui.screen.pages.findings_page import findings_page
from rltui.screen.pages.frame import frame
from rltui.screen.pages.page import Page, PanePage
from rltui.screen.state import AppState, Drawn
from tests.support.runs.made_run import believable
from tests.support.screen.consoles import FAILED, attach, read_and_draw
from tests.support.screen.screens import Screen, opened

# What a page may change: what it keeps for the next frame, and what threads are asked for.
KEPT = ("session", "caches", "threads", "run_hparams", "acknowledgements", "options", "ranges")


def plain(state: AppState) -> dict[str, str]:
    """Everything else of a state, as text."""
    chosen = (state.ranges.scales, state.ranges.outliers)  # other ranges are those that were drawn
    names = [name for name in AppState.__slots__ if name not in KEPT]
    return {name: repr(getattr(state, name)) for name in names} | {"ranges": repr(chosen)}


def drawn(pane: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Screen:
    """A pane, drawn until all that it asks for has been read; every frame leaves the state as it was."""

    def checked(state: AppState, width: int, height: int) -> tuple[Page, list[Drawn | None]]:
        before = plain(state)
        made = frame(state, width, height)
        assert plain(state) == before
        return made

    monkeypatch.setattr("rltui.screen.paint.frame", checked)
    screen = attach(opened(believable()), folder, FAILED)
    screen.go(pane)
    read_and_draw(screen)
    return screen


@pytest.mark.parametrize("pane", PANES)
def test_a_page_does_not_change_the_state(pane: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn first or again, it chooses, says and requests nothing, and looks the same."""
    screen = drawn(pane, tmp_path, monkeypatch)
    first, _ = frame(screen.state, 100, 30)
    again, _ = frame(screen.state, 100, 30)
    assert [line.text for line in first.lines] == [line.text for line in again.lines]


@pytest.mark.parametrize("change", ["choose", "say", "filter"])
def test_a_page_that_changes_the_state_once_is_seen(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first frame changes and later ones leave is no less a change."""

    def changing(state: AppState, width: int, height: int) -> Page:
        if change == "choose":
            state.console.level = "error"
        elif change == "say":
            state.notify("said by a page")
        else:
            state.samples.query = "chosen by a page"
        return findings_page(state, width, height)

    monkeypatch.setattr("rltui.screen.pages.frame.page_of", lambda state: PanePage(changing))
    with pytest.raises(AssertionError, match=r"level|said|chosen"):
        drawn("findings", tmp_path, monkeypatch)


def test_a_page_chooses_no_console(tmp_path: Path) -> None:
    """Which console is shown is decided before the page is made."""
    screen = attach(opened(believable()), tmp_path, FAILED)
    screen.go("console")
    frame(screen.state, 100, 30)
    assert screen.state.console.place == ""
    read_and_draw(screen)
    assert screen.state.console.place
