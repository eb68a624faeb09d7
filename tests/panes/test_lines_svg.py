"""Pictures of cells: backgrounds that a theme leaves to the terminal."""

from __future__ import annotations

from rltui.draw.cells import line
from rltui.draw.themes import SIXTEEN, color_of, load_themes
from rltui.panes.render.lines_svg import as_svg


def test_a_reversed_line_can_be_read() -> None:
    """The selected line of a theme that reverses it has the colours of text and background exchanged."""
    theme = load_themes()[0][SIXTEEN]
    text, background = color_of("text", theme), color_of("background", theme)
    picture = as_svg([line(("worse", "bad"), back="select"), line(("worse", "bad"), back="bar")], 20, theme)
    *_, ground, selected, below = [
        each for each in picture.splitlines() if each.startswith(("<rect", "<text"))
    ]
    assert ground.startswith("<rect") and f'fill="{text}"' in ground
    assert f'fill="{background}"' in selected and f'fill="{color_of("bad", theme)}"' in below
