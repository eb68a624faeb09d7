"""Colour of check, runs and compare: on terminals and when forced, never in files, never against NO_COLOR."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.checked import SICK, WELL, write
from tests.support.commands import rltui

SGR = re.compile(r"\x1b\[[0-9;]*m")
VARIABLES = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE")


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A good and a sick run; nothing in the environment says anything of colour."""
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    write(tmp_path / "logs" / "well", WELL)
    write(tmp_path / "logs" / "sick", SICK)
    return tmp_path / "logs"


@pytest.mark.parametrize("words", [("check",), ("runs",), ("compare", "--baseline", "well", "--all")])
def test_colour_changes_no_word(logs: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    """Forced colour adds sequences and nothing else; a pipe gets none."""
    plain = rltui(words[0], logs, *words[1:])
    monkeypatch.setenv("FORCE_COLOR", "1")
    painted = rltui(words[0], logs, *words[1:])
    assert not SGR.search(plain.out) and SGR.search(painted.out)
    assert SGR.sub("", painted.out) == plain.out and painted.code == plain.code


def test_documents_are_never_coloured(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON and Markdown stay as they are."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    for words in (("check", "--json"), ("runs", "--json"), ("check", "--format", "markdown")):
        assert not SGR.search(rltui(words[0], logs, *words[1:]).out)


@pytest.mark.parametrize(
    ("variables", "painted"),
    [
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"CLICOLOR": "1"}, False),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"CLICOLOR": "0", "FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
    ],
)
def test_the_environment_decides(
    logs: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], painted: bool
) -> None:
    """NO_COLOR wins, forcing comes next, CLICOLOR alone colours terminals only."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert bool(SGR.search(rltui("check", logs).out)) == painted
