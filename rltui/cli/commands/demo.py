"""`rltui demo`: the monitor on a bundled recording, replayed as if it were being written now."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from rltui.cli.arguments import ASCII, NO_COLOR, NO_MOUSE, THEME
from rltui.cli.output import FOUND, WRONG, emit, fail, leave
from rltui.demo import recording
from rltui.demo.replay import Replay
from rltui.interpreter import import_asyncio_without_ssl


@click.command(name="demo")
@click.option("--fault", metavar="NAME", help="A recording in which something goes wrong; see --list.")
@click.option("--list", "as_list", is_flag=True, help="List the recordings.")
@click.option(
    "--speed",
    type=click.FloatRange(min=0.01),
    default=1.0,
    show_default=True,
    metavar="FACTOR",
    help="Pace of the replay: 2 is twice as fast, at 1 two steps a second.",
)
@THEME
@ASCII
@NO_COLOR
@NO_MOUSE
def command(
    fault: str | None,
    as_list: bool,
    speed: float,
    theme: str | None,
    ascii_only: bool,
    no_color: bool,
    no_mouse: bool,
) -> None:
    """Open the monitor on a recording of a real run, replayed live.

    Without a terminal, print the overview of the whole recording and end with 0.

    \b
    Examples:
      rltui demo
      rltui demo --list
      rltui demo --fault kl-runaway --speed 4
    """
    if as_list:
        for name in recording.names():
            found = recording.read(name)
            emit(f"{name:18} {found.framework:10} {found.title}: {found.about}")
        return
    try:
        chosen = recording.read(fault or recording.HEALTHY)
    except KeyError:
        fail(f"no recording named {fault!r}; there are {', '.join(recording.names())}", FOUND)
    with tempfile.TemporaryDirectory(prefix="rltui-demo-") as folder:
        replay = Replay(chosen, Path(folder), speed=speed)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            replay.write_until(len(chosen.rows))
            _print_overview(folder)
            return
        import_asyncio_without_ssl()
        from rltui.screen.start import RefusedError, run

        replay.start()
        try:
            code = run([folder], theme=theme, ascii_only=ascii_only, color=not no_color, mouse=not no_mouse)
        except RefusedError as refused:
            fail(str(refused), FOUND if refused.name else WRONG)
        finally:
            replay.stop()
    leave(code)


def _print_overview(folder: str) -> None:
    from rltui.cli.pane_output import render_pane
    from rltui.session.session import Session

    emit(render_pane(Session.load([folder]), "overview", "text", width=100).rstrip("\n"))
