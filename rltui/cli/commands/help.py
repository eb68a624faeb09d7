"""`rltui help keys`: the keys of the monitor, from the same table that binds them."""

from __future__ import annotations

import click

from rltui.cli.loading import read_config
from rltui.cli.output import emit


@click.command(name="help")
@click.argument("topic", type=click.Choice(["keys"]), default="keys")
def command(topic: str) -> None:
    """Print the keys of the monitor, your own changes included, and what its signs mean."""
    from rltui.draw.cells import BLANK
    from rltui.panes.render.plain_text import as_text
    from rltui.screen.input.bindings import Keys
    from rltui.screen.pages.lists.help_page import by_group, help_lines, sign_lines

    lines = [*help_lines(by_group(Keys(read_config().keys)), 100), BLANK, *sign_lines(100)]
    emit(as_text(lines).rstrip("\n"))
