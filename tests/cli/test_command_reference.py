"""The manual page and the Markdown of all commands."""

from __future__ import annotations

import shutil
import subprocess

import click
import pytest

from rltui.cli import COMMANDS, command_group
from rltui.cli.command_reference import command_texts, manual_page
from tests.support.commands.in_process import rltui


def test_every_command_and_option_is_in_the_manual_page() -> None:
    """What `--help` of a command lists, the page has."""
    page = rltui("help", "man").out.replace("\\-", "-")
    for name in COMMANDS:
        assert f"rltui {name} " in page
        command = command_group.get_command(click.Context(command_group), name)
        assert command is not None
        for param in command.params:
            for option in param.opts if isinstance(param, click.Option) and not param.hidden else ():
                assert option in page, (name, option)


def test_the_manual_page_is_good_roff() -> None:
    """Groff has nothing to warn of."""
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww"], input=manual_page(command_group), capture_output=True, text=True,
        check=True, timeout=30,
    )  # fmt: skip
    assert done.stderr == ""
    assert "rltui check runs/ --json --fail-on warning" in done.stdout


def test_examples_are_told_apart_from_text() -> None:
    """A line of shell stands under the examples, not in a paragraph."""
    texts = {each.name: each for each in command_texts(command_group)}
    assert "rltui check runs/" in texts["rltui check"].examples
    assert not [part for each in texts.values() for part in each.text if "rltui check runs/" in part]


def test_a_line_that_begins_with_a_dot_is_text() -> None:
    """Roff takes a dot at the beginning of a line for a request."""

    @click.command(help=".env is read")
    def command() -> None: ...

    assert "\n\\&.env is read\n" in manual_page(command)
