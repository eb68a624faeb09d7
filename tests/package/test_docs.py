"""The documentation: every command in it works, its pages are built, the README's share of it is true."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from rltui.cli import COMMANDS, command_group
from tests.support.commands.in_process import rltui

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "pages").glob("*.md")),
    ROOT / "docs/skills/rltui/SKILL.md",
]
ENDLESS = {"watch", "mcp", "demo"}  # they wait for keys or questions
STOPS = {"|", ">", ">>", "&", "2>&1", "||", "&&"}


def commands(page: Path) -> Iterator[str]:
    """The lines of a page's code blocks (and its inline code) that call rltui by name, recipes apart."""
    text = page.read_text()
    for block in re.findall(r"^```(?:sh)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield from (line.strip() for line in block.splitlines() if line.strip().startswith("rltui "))
    if page.name == "SKILL.md":
        yield from re.findall(r"`(rltui [^`]+)`", text)


# Pages that call the same command with another comment test it once.
FOUND = sorted(
    {
        " ".join(line.partition(" #")[0].split())
        for page in PAGES
        for line in commands(page)
        if "$" not in line
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recordings, under the names that the pages use, and some samples."""
    home = tmp_path_factory.mktemp("docs")
    assert rltui("demo", "--save", home / "runs").code == 0
    recorded = home / "runs" / "verl-ppo"
    shutil.copytree(home / "runs" / "late-collapse", home / "LOGDIR" / "late-collapse")
    for copy in ("runs/good_run", "runs/new", "LOGDIR/GOOD", "LOGDIR/NAME"):
        shutil.copytree(recorded, home / copy)
    for run in ("runs/new", "LOGDIR/NAME"):
        rollouts = home / run / "rollouts"
        rollouts.mkdir()
        sample = {"input": "1 + 1", "output": "2", "score": 1.0, "step": 3}
        (rollouts / "3.jsonl").write_text(json.dumps(sample) + "\n")
    return home


@pytest.mark.parametrize("line", FOUND)
def test_every_command_of_the_documentation_works(
    line: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is accepted as it stands, and those that end do end, with an answer and a promised exit code."""
    monkeypatch.chdir(folder)
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(folder / name))
    words = shlex.split(line, comments=True)[1:]
    words = words[: next((at for at, word in enumerate(words) if word in STOPS), len(words))]
    words = [{"METRIC": "reward.mean", "KEY": "actor/entropy", "N": "5"}.get(word, word) for word in words]
    if "--help" in words or words[0] in ENDLESS or "--follow" in words:
        command = command_group.get_command(click.Context(command_group), words[0])
        assert command is not None
        command.make_context("rltui", words[1:], resilient_parsing="--help" in words)
        return
    if words[0] == "wait":  # for less long than the pages say
        words += ["--timeout", "0.5"]
    done = rltui(*words)
    assert done.code in ((0, 1, 4) if words[0] == "wait" else (0, 1)), done.err
    assert done.out or "wrote" in done.err


def test_there_are_commands_in_the_documentation() -> None:
    """The test above tests something."""
    assert len(FOUND) > 30


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """No broken link or anchor; every pane, metric and rule has its place."""
    pytest.importorskip("mkdocs")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-f", str(ROOT / "docs/mkdocs.yml"),
         "-d", str(tmp_path / "site")],
        capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    policy = (tmp_path / "site/panes/policy.html").read_text()
    assert 'src="policy.svg"' in policy
    assert "KL to reference" in (tmp_path / "site/glossary/policy.html").read_text()
    assert 'id="kl-ref-runaway"' in (tmp_path / "site/rules.html").read_text()
    keys = (tmp_path / "site/configuration-keys.html").read_text()
    assert ">alerts.repeat_interval<" in keys
    assert ">thresholds[].for<" in keys
    commands = (tmp_path / "site/commands.html").read_text()
    assert all(f">rltui {name}<" in commands for name in COMMANDS)
