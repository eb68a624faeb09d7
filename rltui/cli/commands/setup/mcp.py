"""`rltui mcp`: a server for agents."""

from __future__ import annotations

import click

from rltui.cli.options.arguments import LOGDIRS, readable_logdirs
from rltui.cli.output.printing import require_extra


@click.command(name="mcp")
@LOGDIRS
def command(logdirs: tuple[str, ...]) -> None:
    """Answer agents over standard input and output (Model Context Protocol), about LOGDIR only.

    Tools: list_runs, check, explain, list_metrics, get_series, compare, get_samples, wait. Nothing is
    written, no port is opened; a question names runs, never paths.

    \b
    Examples:
      claude mcp add rltui -- rltui mcp /scratch/me/runs
      {"mcpServers": {"rltui": {"command": "rltui", "args": ["mcp", "/scratch/me/runs"]}}}
    """
    require_extra("mcp", "`rltui mcp`")
    readable_logdirs(logdirs)
    from rltui.cli.mcp.server import serve

    serve(logdirs)
