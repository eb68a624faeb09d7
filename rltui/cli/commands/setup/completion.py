"""`rltui completion`: completion scripts for shells."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from rltui.cli.output.printing import emit

VARIABLE = "_RLTUI_COMPLETE"  # set by the script when it calls rltui for completions; the name is click's


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL: commands, options, panes, themes, metrics and run names.

    \b
    Examples:
      eval "$(rltui completion bash)"                                # in ~/.bashrc
      eval "$(rltui completion zsh)"                                 # in ~/.zshrc, after compinit
      rltui completion fish > ~/.config/fish/completions/rltui.fish
    """
    completion = get_completion_class(shell)
    if completion is not None:
        emit(completion(ctx.find_root().command, {}, "rltui", VARIABLE).source())
