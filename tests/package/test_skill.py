"""The skill for agents names commands and options that exist."""

from __future__ import annotations

import re
from pathlib import Path

import click

from rltui.cli import command_group

SKILL = (Path(__file__).resolve().parents[2] / "docs" / "skills" / "rltui" / "SKILL.md").read_text()


def test_every_command_and_option_of_the_skill_exists() -> None:
    """A command in code marks is one of rltui's, with options of that command."""
    lines = [words.split() for words in re.findall(r"`rltui ([^`]+)`", SKILL)]
    assert len(lines) >= 9
    context = click.Context(command_group, info_name="rltui")
    for words in lines:
        command = command_group.get_command(context, words[0])
        assert command is not None, words
        options = {name for param in command.params for name in param.opts}
        assert {word for word in words if word.startswith("--")} <= options, words
