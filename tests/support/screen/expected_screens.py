"""Expected screens: text files beside the tests, and recorded runs to draw them from at a fixed moment.

`make snapshots` (pytest --accept-screens -k snapshot) accepts what is drawn now.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from rltui.demo import recording
from rltui.demo.replay import ROWS_PER_SECOND, Replay
from rltui.screen.start import build
from rltui.session.session import Session
from tests.support.screen.screens import Screen, screen_of

FOLDER = Path(__file__).parents[2] / "snapshots"
NOW = 1_795_000_000.0  # any moment will do


@cache
def _session(names: tuple[str, ...], share: float) -> Session:
    """Recorded runs, written as logs up to a share of the first one, and read back."""
    with TemporaryDirectory() as folder:
        for number, name in enumerate(names):
            found = recording.read(name)
            last = NOW - 1 - number * 900
            replay = Replay(found, Path(folder), speed=ROWS_PER_SECOND / 20, clock=lambda last=last: last)  # type: ignore[misc]
            replay.write_until(int(len(found.rows) * (1.0 if number else share)))
            os.utime(replay.path, (last, last))
        return Session.load([folder])


def recorded(
    *names: str, share: float = 1.0, theme: str = "night", ascii_only: bool = False, own: bool = False
) -> Screen:
    """The screen over recorded runs, with a state of its own each time; `own`: with runs of its own, too."""
    read = _session.__wrapped__ if own else _session
    app = build(read(names, share), ["/logs"], theme=theme, ascii_only=ascii_only, clock=lambda: NOW)
    screen = screen_of(app)
    screen.state.threads.hparams.logdirs = ()
    return screen


def drawn(screen: Screen, size: tuple[int, int]) -> str:
    """What a screen shows, as text without trailing blanks."""
    return "\n".join(line.text.rstrip() for line in screen.frame(*size).lines).rstrip() + "\n"


def same(name: str, text: str, *, update: bool) -> None:
    """Fail where the text differs from the expected one; with `update` it becomes the expected one."""
    path = FOLDER / f"{name}.txt"
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    assert path.is_file(), f"{path.name} is not there: make snapshots"
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs; if that is meant: make snapshots"
