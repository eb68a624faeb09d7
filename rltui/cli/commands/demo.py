"""`rltui demo`: the monitor on a bundled recording, replayed as if it were being written now."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from rltui.cli.arguments import ASCII, NO_COLOR, NO_MOUSE, THEME
from rltui.cli.output import FOUND, WRONG, emit, fail, leave
from rltui.demo import recording
from rltui.demo.replay import Replay
from rltui.interpreter import import_asyncio_without_ssl
from rltui.text import clean


@click.command(name="demo")
@click.option("--fault", metavar="NAME", help="A recording in which something goes wrong; see --list.")
@click.option("--list", "as_list", is_flag=True, help="List the recordings.")
@click.option(
    "--save",
    "target",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Write the recordings (or that of --fault) there as event files, to try other commands on.",
)
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
    target: Path | None,
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
      rltui demo --save runs
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
    if target is not None:
        _save([fault] if fault else recording.names(), target)
        return
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


def _save(names: Sequence[str], target: Path) -> None:
    """Write recordings as logs whose last points are of now. Nothing that is there is changed."""
    there = [name for name in names if (target / name).exists()]
    if there:
        fail(f"{target / there[0]} is there already; name another folder")
    for name in names:
        found = recording.read(name)
        Replay(found, target).write_until(len(found.rows))
    where = clean(str(target))
    emit(f"{len(names)} run{'s' * (len(names) != 1)} in {where}; try: rltui check {where}")


def _print_overview(folder: str) -> None:
    from rltui.cli.pane_output import render_pane
    from rltui.session.session import Session

    emit(render_pane(Session.load([folder]), "overview", "text", width=100).rstrip("\n"))
