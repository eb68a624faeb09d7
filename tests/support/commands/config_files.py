"""A user's own configuration file and a folder with logs, both in a temporary place."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.config import Config


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file, not there yet."""
    monkeypatch.delenv("RLTUI_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "config" / "rltui" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with logs."""
    place = tmp_path / "logs"
    place.mkdir()
    return place


def told(config: Config) -> list[str]:
    """The messages of the problems."""
    return [problem.message for problem in config.problems]
