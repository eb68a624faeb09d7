"""The mouse: what looks like something to click can be clicked, and does what its key does."""

from __future__ import annotations

import pytest
from textual.events import Click, MouseMove

from rltui.screen.input import dispatch
from rltui.screen.state import ChartOverlay, ListOverlay
from tests.screen.test_findings_pane import findings
from tests.support.screen.expected_screens import recorded
from tests.support.screen.screens import Screen, monitor, screen_of

SIZE = (100, 30)


def shown(*keys: str) -> Screen:
    """Recorded runs after some keys."""
    screen = recorded("late-collapse", "kl-runaway")
    screen.frame(*SIZE)
    for key in keys:
        screen.press(key)
        screen.frame(*SIZE)
    return screen


def click(screen: Screen, text: str, nth: int = 0) -> None:
    """Click the first cell of a text on the screen."""
    page = screen.frame(*SIZE)
    lines = [line.text for line in page.lines]
    x, y = [(line.index(text), y) for y, line in enumerate(lines) if text in line][nth]
    dispatch.click(screen.state, page, x, y)


def top_list(screen: Screen) -> ListOverlay:
    """The list on top."""
    overlay = screen.state.overlay
    assert isinstance(overlay, ListOverlay)
    return overlay


@pytest.mark.parametrize("keys", ["", "3", "f", "r", "3 enter", "3 e", "E", ":", "H", "r ?"])
def test_every_hint_is_where_it_can_be_clicked(keys: str) -> None:
    """The spot of a hint covers its key and its words, whatever is on top."""
    screen = shown(*keys.split())
    page = screen.frame(*SIZE)
    hints = {
        bind.action: screen.state.options.keys.hint_of(bind.action)
        for bind in screen.state.options.keys.binds
    }
    hints |= {"open": "Enter", "back": "Esc"}
    found = [
        spot for spot in page.spots if spot.height == 1 and spot.width < SIZE[0] and spot.action in hints
    ]
    found = [spot for spot in found if spot.y > SIZE[1] // 2]
    assert found
    for spot in found:
        assert page.lines[spot.y].text[spot.x :].startswith(hints[spot.action]), spot


def test_a_row_that_is_selected_from_the_start_opens_at_the_first_click() -> None:
    """The first row is drawn as selected: a click on it opens its chart, one on another row selects that."""
    screen = shown("3")
    row = screen.selected()
    assert row is not None
    click(screen, row.title)
    assert isinstance(screen.state.overlay, ChartOverlay)
    screen = shown("3")
    click(screen, "Entropy", 1)  # the first one is in the answer
    assert not screen.state.overlays and screen.state.selection.row.endswith("entropy")


def test_the_keys_of_the_list_of_runs_can_be_clicked() -> None:
    """Filter, grouping and the way out are at the lower edge."""
    screen = shown("r")
    click(screen, "/ filter")
    assert top_list(screen).typing
    screen = shown("r")
    click(screen, "g group")
    assert top_list(screen).kind == "group"
    screen = shown("r")
    click(screen, "Esc back")
    assert not screen.state.overlays


def test_the_lower_edge_of_a_list_can_be_clicked() -> None:
    """An explanation is left, a search is begun and goes on, by its words at the lower edge."""
    screen = shown("3", "e")
    click(screen, "Esc back")
    assert not screen.state.overlays
    screen = shown("E")
    click(screen, "/ search")
    for key in ("k", "l", "enter"):
        screen.press(key)
    screen.frame(*SIZE)
    before = top_list(screen).match
    click(screen, "n N next")
    screen.frame(*SIZE)
    after = top_list(screen).match
    assert before is not None and after is not None and after > before


def test_the_prompt_of_a_filter_can_be_clicked() -> None:
    """What it finds is kept or let go by the words beside it, which hide the keys of the pane."""
    screen = shown("3", "/", "k", "l")
    click(screen, "Enter keep")
    assert screen.state.query == "kl" and not screen.state.overlays
    screen = shown("3", "/", "k", "l")
    click(screen, "Esc clear")
    assert screen.state.query == "" and not screen.state.overlays


def test_a_click_shows_what_a_finding_explains() -> None:
    """The line that counts the consequences shows and hides them."""
    screen = findings()
    click(screen, "explains 2 more ▸")
    assert "entropy is gone" in screen.text()
    click(screen, "explains 2 more ▾")
    assert "entropy is gone" not in screen.text()


def test_the_wheel_scrolls_text_by_three_lines() -> None:
    """Help has no rows to select: a notch of the wheel moves it by more than a key."""
    screen = shown("H")
    dispatch.wheel(screen.state, screen.frame(*SIZE), 1, 50, 10)
    screen.frame(*SIZE)
    assert top_list(screen).drawn.top == 3


async def test_a_click_that_slips_is_a_click() -> None:
    """Where nothing can be dragged, the mouse may move between press and release."""
    app = monitor()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        x, widget = app.page.lines[2].text.index("policy"), app.line_widget
        await pilot.mouse_down(offset=(x, 2))
        widget.on_mouse_move(MouseMove(None, x + 1, 2, 0, 0, 1, False, False, False))
        await pilot.mouse_up(offset=(x + 1, 2))
        widget.on_click(Click(None, x + 1, 2, 0, 0, 1, False, False, False))
        assert screen_of(app).pane == "policy"
