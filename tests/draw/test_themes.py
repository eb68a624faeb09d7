"""Themes: data that is checked when it is loaded, and colours that people can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.draw.cells import ROLES, SERIES
from rltui.draw.themes import DEFAULT, SIXTEEN, load_themes, shipped_folder

THEMES, PROBLEMS = load_themes()


def luminance(color: str) -> float:
    """Relative luminance after WCAG 2."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio after WCAG 2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_shipped_themes_are_whole() -> None:
    """Every shipped theme loads without a complaint; the ones to fall back to are there."""
    assert PROBLEMS == []
    assert len(list(shipped_folder().glob("*.toml"))) >= 6
    assert {DEFAULT, SIXTEEN, "paper", "contrast", "colorblind", "mono"} <= THEMES.keys()


@pytest.mark.parametrize("name", sorted(THEMES))
def test_every_role_has_a_colour(name: str) -> None:
    """A theme knows each role that lines of cells use."""
    assert {*ROLES, *(f"series{index}" for index in range(SERIES))} <= THEMES[name].colors.keys()


@pytest.mark.parametrize("name", sorted(name for name, theme in THEMES.items() if not theme.ansi))
def test_text_can_be_read(name: str) -> None:
    """Text, hints, warnings and curves stand out from the background, also on the selected line."""
    colors, backs = THEMES[name].colors, THEMES[name].backgrounds
    texts = ("text", "strong", "dim", "faint", "good", "warn", "bad", "info", "accent", "mark")
    for back in (colors["background"], backs["select"], backs["panel"], backs["bar"]):
        for role in texts:
            assert contrast(colors[role], back) >= 4.5, (role, back)
    for curve in ("band", *(f"series{index}" for index in range(SERIES))):
        assert contrast(colors[curve], colors["background"]) >= 3.0, curve
    assert contrast(backs["select"], colors["background"]) >= 1.5


def test_a_bad_theme_is_left_out_with_all_its_faults(tmp_path: Path) -> None:
    """One faulty file does no harm to others; each fault is told with its place."""
    good = (shipped_folder() / "night.toml").read_text()
    (tmp_path / "mine.toml").write_text(good.replace('title = "Night"', 'title = "Mine"'))
    (tmp_path / "bad.toml").write_text(
        good.replace('"#10131a"', '"no colour"').replace("[styles]", "") + "\n[more]\nx = 1\n"
    )
    (tmp_path / "worse.toml").write_text("title = ")
    (tmp_path / "binary.toml").write_bytes(b"\xff\x00\x1b]0;x\x07")
    themes, problems = load_themes([tmp_path])
    assert themes["mine"].title == "Mine"
    assert "bad" not in themes and "worse" not in themes
    told = [f"{problem.path}: {problem.message}" for problem in problems]
    assert any("bad.toml: line 6: colors.background must be #rrggbb" in each for each in told)
    assert any("bad.toml: line 25: more is unknown; permitted: about, backgrounds" in each for each in told)
    assert all(problem.message.isprintable() for problem in problems)


def test_later_folders_win(tmp_path: Path) -> None:
    """A user's own theme of the same name replaces the shipped one."""
    text = (shipped_folder() / "night.toml").read_text().replace('title = "Night"', 'title = "Own night"')
    (tmp_path / "night.toml").write_text(text)
    assert load_themes([shipped_folder(), tmp_path])[0]["night"].title == "Own night"


def test_without_any_theme_there_is_a_plain_one(tmp_path: Path) -> None:
    """A missing folder is no error: the plain theme needs no file."""
    themes, problems = load_themes([tmp_path / "none"])
    assert list(themes) == ["plain"]
    assert problems == []
