"""`rltui demo`: the monitor on a bundled recording that is replayed live."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click

from rltui.cli.exit_codes import FOUND, WRONG
from rltui.cli.options.arguments import ASCII, NO_COLOR, NO_MOUSE, THEME
from rltui.cli.output.printing import emit, fail, leave, note
from rltui.common.display_text import clean, count_of
from rltui.common.interpreter_settings import import_asyncio_without_ssl
from rltui.demo import recording
from rltui.demo.replay import Replay

ENDED_BEFORE = 7200.0  # seconds since the last of the other recordings ended
END_INTERVAL = 1800.0  # seconds between their ends
MESSAGE = "This recorded run breaks soon.  r: the healthy one and others"


@click.command(name="demo")
@click.option("--fault", metavar="NAME", help="Another recording; see --list.")
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
    """Open the monitor on a recording of a real run, replayed live. It breaks while you watch.

    Beside it stand the other recordings, a healthy one among them. Without a terminal, print the overview of
    the whole recording and end with 0.

    \b
    Examples:
      rltui demo
      rltui demo --list
      rltui demo --fault verl-ppo --speed 4
      rltui demo --save runs
    """
    if as_list:
        for name in recording.names():
            found = recording.read(name)
            emit(f"{name:18} {found.framework:17} {found.title}: {found.about}")
        return
    try:
        chosen = recording.read(fault or recording.DEFAULT)
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
            note(f"rltui demo --fault {recording.HEALTHY} shows a healthy run, --list names the others")
            return
        import_asyncio_without_ssl()
        from rltui.screen.start import RefusedError, run

        if fault is None:
            write_others(chosen.name, Path(folder))
            replay.start(recording.DEFAULT_BEFORE)
        else:
            replay.start()
        try:
            code = run(
                [folder],
                theme=theme,
                ascii_only=ascii_only,
                color=not no_color,
                mouse=not no_mouse,
                message=MESSAGE if fault is None else "",
            )
        except RefusedError as refused:
            fail(str(refused), FOUND if refused.name else WRONG)
        finally:
            replay.stop()
    leave(code)


def write_others(shown: str, folder: Path) -> None:
    """Write the other recordings as runs of the last hours, for comparison."""
    for number, name in enumerate((name for name in recording.names() if name != shown), start=1):
        ended = time.time() - ENDED_BEFORE - number * END_INTERVAL
        found = recording.read(name)
        replay = Replay(found, folder, clock=lambda ended=ended: ended)  # type: ignore[misc]
        replay.write_until(len(found.rows))
        os.utime(replay.path, (ended, ended))


def _save(names: Sequence[str], target: Path) -> None:
    """Write recordings as logs that end now. Ends the command with 2 instead of replacing a folder."""
    existing = [name for name in names if (target / name).exists()]
    if existing:
        fail(f"{target / existing[0]} is there already; name another folder")
    for name in names:
        found = recording.read(name)
        Replay(found, target).write_until(len(found.rows))
    where = clean(str(target))
    emit(f"{count_of(len(names), 'run')} in {where}; try: rltui check {where}")


def _print_overview(folder: str) -> None:
    from rltui.cli.pane_output.render_pane import OutputOptions, render_pane
    from rltui.session.session import Session

    emit(render_pane(Session.load([folder]), "overview", OutputOptions()).rstrip("\n"))
