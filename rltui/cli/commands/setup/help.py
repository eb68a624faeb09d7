"""`rltui help`: the keys of the monitor, and the manual page."""

from __future__ import annotations

import click

from rltui.cli.output.printing import emit
from rltui.cli.reading.loading import read_config


@click.command(name="help")
@click.argument("topic", type=click.Choice(["keys", "man"]), default="keys")
@click.pass_context
def command(ctx: click.Context, topic: str) -> None:
    """Print the keys of the monitor, your own changes included, and what its signs mean; or the manual page.

    \b
    Examples:
      rltui help keys
      rltui help man > ~/.local/share/man/man1/rltui.1
    """
    if topic == "man":
        from rltui.cli.command_reference import manual_page

        emit(manual_page(ctx.find_root().command).rstrip("\n"))
        return
    from rltui.draw.cells import BLANK
    from rltui.panes.render.plain_text import as_text
    from rltui.screen.input.key_table import Keys
    from rltui.screen.pages.lists.help_page import by_group, help_lines, sign_lines

    lines = [*help_lines(by_group(Keys(read_config().keys)), 100), BLANK, *sign_lines(100)]
    emit(as_text(lines).rstrip("\n"))
