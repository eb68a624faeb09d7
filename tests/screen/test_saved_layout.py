"""What the screen remembers: what was chosen by key, and nothing that only was in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.config import Config
from rltui.draw.themes import DEFAULT, SIXTEEN
from rltui.screen.saved_layout import save_layout
from rltui.screen.start import build
from rltui.session.session import Session
from tests.support.screen.screens import screen_of


@pytest.fixture(autouse=True)
def _many_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that can show every theme."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")


def _seen(
    path: Path, config: Config | None = None, theme: str | None = None, keys: str = ""
) -> tuple[str, int]:
    """Theme and smoothing of a session of the screen, which then ends as it always does."""
    app = build(Session(), ["/logs"], theme=theme, layout_path=path, config=config)
    for key in keys:
        screen_of(app).press(key)
    seen = (app.state.theme.id, app.state.smoothing)
    save_layout(path, app.state.saved)
    return seen


def test_the_configuration_holds_until_a_key_says_otherwise(tmp_path: Path) -> None:
    """What the configuration says shows at the next start; what was chosen by key stays."""
    path = tmp_path / "layout.json"
    assert _seen(path, Config(theme="paper", smoothing=0.0)) == ("paper", 0)
    assert _seen(path) == (DEFAULT, 4)
    assert _seen(path, Config(theme="dusk"), keys="t+") == ("mono", 5)
    assert _seen(path, Config(theme="paper", smoothing=0.0)) == ("mono", 5)


def test_the_option_holds_once(tmp_path: Path) -> None:
    """`--theme` goes before everything, and is not remembered."""
    path = tmp_path / "layout.json"
    chosen = _seen(path, keys="tt")[0]
    assert _seen(path, theme="contrast")[0] == "contrast" != chosen
    assert _seen(path)[0] == chosen


def test_the_colours_of_a_poor_terminal_are_not_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen colours once do not take the theme away from a better terminal later."""
    path = tmp_path / "layout.json"
    monkeypatch.setenv("COLORTERM", "")
    monkeypatch.setenv("TERM", "linux")
    assert _seen(path)[0] == SIXTEEN
    monkeypatch.setenv("TERM", "xterm-256color")
    assert _seen(path)[0] == DEFAULT


def test_an_unknown_theme_of_the_configuration_is_told() -> None:
    """A theme that does not exist leaves the usual one in force and is said on the screen."""
    app = build(Session(), ["/logs"], config=Config(theme="nonesuch"))
    assert app.state.theme.id == DEFAULT
    assert "no theme is called 'nonesuch'" in app.state.message
