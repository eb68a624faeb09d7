"""`rltui help keys`: the keys of the monitor, from the same table that binds them."""

from __future__ import annotations

import click

from rltui.cli.output import emit


@click.command(name="help")
@click.argument("topic", type=click.Choice(["keys"]), default="keys")
def command(topic: str) -> None:
    """Print the keys of the monitor."""
    from rltui.screen.keys import as_text

    emit(as_text().rstrip("\n"))
