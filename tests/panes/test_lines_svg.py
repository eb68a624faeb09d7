"""Pictures of cells: backgrounds that a theme leaves to the terminal."""

from __future__ import annotations

from rltui.draw.cells import line
from rltui.draw.themes import DEFAULT, SIXTEEN, color_of, load_themes
from rltui.panes.render.lines_svg import CELL, MARGIN, ROW, as_svg


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


def test_shades_fill_their_cells() -> None:
    """A shaded bar is a shape as wide as its cells: fonts without the characters leave a gap behind it."""
    theme = load_themes()[0][DEFAULT]
    picture = as_svg([line(("▓▓▓▒", "warn"), (" 34 %", "text"))], 20, theme)
    assert f'd="M{MARGIN:.1f} {MARGIN:.1f}h{3 * CELL:.1f}v{ROW:.1f}' in picture
    assert f'd="M{MARGIN + 3 * CELL:.1f} {MARGIN:.1f}h{CELL:.1f}v{ROW:.1f}' in picture
    assert "▓" not in picture and "▒" not in picture
