"""The `s` key: the pane as a text file beside the user, never in LOGDIR, never over another file."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from rltui import paths
from rltui.panes.render.plain_text import as_text, pane_text
from rltui.screen.pages import hparams_page
from rltui.text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rltui.screen.state import AppState


def take(desk: AppState) -> None:
    """Write the pane shown, copy it, say where it is."""
    view = desk.view
    if view is None:
        desk.say("no run to take a snapshot of")
        return
    glyphs = "ascii" if desk.glyphs == "ascii" else "blocks"
    settings = hparams_page.made(desk) if desk.pane == "config" else None
    lines = pane_text(
        view, desk.pane, desk.now, at_step=desk.at_step, then=desk.then(), glyphs=glyphs,  # type: ignore[arg-type]
        settings=settings,
    )  # fmt: skip
    text = as_text(lines)
    step = view.run.last_step if desk.at_step is None else desk.at_step
    try:
        path = write(text, file_name(desk.brief(view.name), desk.pane, step), place(desk.logdirs))
    except OSError as error:
        desk.say(f"snapshot not written: {error.strerror or 'error'}; it is on the clipboard")
    else:
        desk.say(f"copied, and wrote {_short(path)}")
    desk.outbox.append(("copy", text))


def file_name(run: str, pane: str, step: int | None) -> str:
    """`rltui-<run>-<pane>-step812.txt` with nothing in it that a shell or file system minds."""
    words = re.sub(r"[^A-Za-z0-9._=-]+", "-", run).strip("-.") or "run"
    pane = re.sub(r"[^A-Za-z0-9._-]+", "-", pane).strip("-.") or "pane"
    return f"rltui-{words[-60:]}-{pane[:30]}" + (f"-step{step}" if step is not None else "") + ".txt"


def place(logdirs: Sequence[str]) -> Path:
    """The working directory, or the user's own folder when that lies in a LOGDIR: logs are only ever read.

    Raises OSError where there is neither.
    """
    here = Path.cwd()
    if paths.logdir_around(here, logdirs) is None:
        return here
    state = paths.state()
    if state is None:
        raise FileNotFoundError(None, "no folder outside the logs is known")
    return state / "snapshots"


def write(text: str, name: str, folder: Path) -> Path:
    """Write a new file whole or not at all; a number is added rather than overwrite. Raises OSError."""
    paths.make_private(folder)
    stem, dot, ending = name.rpartition(".")
    for number in range(1, 10_000):
        path = folder / (name if number == 1 else f"{stem}-{number}{dot}{ending}")
        with contextlib.suppress(FileExistsError), paths.atomic_file(path, replace=False) as file:
            file.write(text.encode(errors="replace"))
            return path
    raise FileExistsError(f"{name} exists too often")


def _short(path: Path) -> str:
    with contextlib.suppress(ValueError, OSError, RuntimeError):
        return clean(f"~/{path.relative_to(Path.home())}")
    return clean(str(path))
