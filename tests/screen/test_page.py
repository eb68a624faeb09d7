"""Pages laid over each other."""

from __future__ import annotations

import pytest

from rltui.draw.cells import ROLES, line
from rltui.draw.themes import PLAIN, Theme, load_themes, shipped_folder
from rltui.screen.pages.page import Page, box, over, scrolled
from rltui.screen.terminal.themed_strips import StripPalette
from tests.support.runs.made_run import believable
from tests.support.screen.screens import opened


@pytest.mark.parametrize(
    ("x", "seen"), [(0, "##字ab"), (1, " ## ab"), (2, "漢##ab"), (3, "漢 ##b"), (4, "漢字##")]
)
def test_a_box_may_cut_wide_characters(x: int, seen: str) -> None:
    """A blank stands for the half of a wide character that is left: what follows stays where it was."""
    assert over(line(("漢字ab", "text")), line(("##", "dim")), x, 6).text == seen


def test_no_fragments_stand_beside_a_box() -> None:
    """What is left of a line beside a box is shown where it can be read, not where it is a few letters."""
    under, content = Page([line(("x" * 80, "text"))] * 9), [line(("y" * 60, "text"))]
    assert not any("x" in one.text for one in box(under, content, 80, 9, "title").lines if "│" in one.text)
    wide = box(Page([line(("x" * 120, "text"))] * 9), content, 120, 9, "title")
    assert all("x" in one.text for one in wide.lines)


def test_a_list_scrolls_no_further_than_it_must() -> None:
    """The selected line comes into sight at the nearer edge; the list never ends above the last line."""
    assert scrolled(0, 3, 3, 100, 10) == 0
    assert scrolled(0, 12, 12, 100, 10) == 3
    assert scrolled(50, 12, 12, 100, 10) == 12
    assert scrolled(95, 99, 99, 100, 10) == 90


@pytest.mark.parametrize(
    "theme", [PLAIN, *load_themes([shipped_folder()])[0].values()], ids=lambda one: one.id
)
def test_the_bar_of_a_selection_is_one_colour(theme: Theme) -> None:
    """Whatever the roles on a selected line: where it is reversed, the bar is not ragged."""
    palette = StripPalette(theme)
    styles = [palette.style(role, "select") for role in ROLES]
    if any(style.reverse for style in styles):
        assert len({(style.color, style.bgcolor, style.reverse, style.dim) for style in styles}) == 1
    else:
        assert len({style.bgcolor for style in styles}) == 1


def test_hints_of_a_narrow_box_are_whole() -> None:
    """Where hints have no room the way back stays, and none is cut."""
    screen = opened(believable())
    screen.press("E")
    edge = next(line.text for line in screen.frame(40, 12).lines if "╰" in line.text)
    assert "Esc back" in edge and "…" not in edge
