"""What holds for every test: no user's configuration, no remembered layout, nothing left in the checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pathlib import Path

# Promises are about results. How long an example takes says how busy the machine is.
# `--hypothesis-profile=thorough` draws twenty times as many examples, which are other ones each time.
for name, count in {"rltui": 50, "thorough": 1000}.items():
    settings.register_profile(
        name, deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=count
    )
settings.load_profile("rltui")


def pytest_addoption(parser: pytest.Parser) -> None:
    """What `make snapshots` asks for."""
    parser.addoption("--accept-screens", action="store_true", help="take what is drawn as expected")


@pytest.fixture(scope="session")
def _home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def _own_folders(_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of the tests' own, with state and configuration folders that are empty."""
    monkeypatch.chdir(_home)
    monkeypatch.setenv("XDG_STATE_HOME", str(_home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(_home / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(_home / "cache"))
    monkeypatch.delenv("RLTUI_CONFIG", raising=False)
