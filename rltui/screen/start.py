"""Opening the monitor: desk, keys and themes as the user wants them, readers, a terminal given back."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rltui import crash
from rltui.batch import Problem
from rltui.config import Config
from rltui.draw.themes import load_themes
from rltui.screen.app import Monitor
from rltui.screen.input.bindings import Keys
from rltui.screen.memory_release import share
from rltui.screen.saved_layout import SavedLayout, forget, path_for, recall
from rltui.screen.state import AppState
from rltui.screen.terminal.guard import ascii_needed, guard, terminal_problem


class RefusedError(Exception):
    """The monitor cannot be opened here, or not as asked; says why. name: something asked for is unknown."""

    def __init__(self, message: str, *, name: bool = False) -> None:
        super().__init__(message)
        self.name = name


def build(
    session: Any,
    logdirs: Sequence[str] = (),
    *,
    pane: str | None = None,
    baseline: str | None = None,
    theme: str | None = None,
    at_step: int | None = None,
    ascii_only: bool = False,
    color: bool = True,
    config: Config | None = None,
    memory_path: Path | None = None,
    clock: Any = time.time,
) -> Monitor:
    """A monitor over a session, without readers: for tests, screenshots, and `run`."""
    config = config if config is not None else Config()
    themes, problems = load_themes()
    keys = Keys(config.keys)
    memory = recall(memory_path) if memory_path is not None else SavedLayout()
    chosen_theme = next((each for each in (theme, memory.theme, config.theme) if each in themes), "")
    if config.theme and config.theme not in themes:
        problems.append(Problem("error", "config", "theme", f"no theme is called '{config.theme}'"))
    asked = pane is not None
    pane = pane or memory.pane or config.pane
    desk = AppState(
        session, logdirs=logdirs, clock=clock, keys=keys, themes=themes, memory=memory,
        ascii_only=ascii_only, baseline=baseline, at_step=at_step, theme=chosen_theme,
        **({} if config.smoothing is None else {"smoothing": _nearest(config.smoothing)}),
    )  # fmt: skip
    if pane:
        desk.pane, desk.recalled = pane, not asked
    troubles = [*keys.problems, *problems]
    if troubles:
        desk.say(f"{troubles[0].path}: {troubles[0].message}")
    app = Monitor(desk, color=color, memory_path=memory_path)
    if config.alerts:
        from rltui.alerts import Dispatcher, SentLog, settings_of

        settings = settings_of(config.alerts)
        if settings.wanted:
            app.alerts = Dispatcher(
                settings, write=app.ring, ledger=SentLog.of(logdirs) if memory_path else None
            )
    return app


def _nearest(weight: float) -> int:
    """The smoothing that comes nearest to a weight from the configuration."""
    from rltui.screen.input.actions import SMOOTHINGS

    return min(range(len(SMOOTHINGS)), key=lambda at: abs(SMOOTHINGS[at] - weight))


def run(
    logdirs: Sequence[str],
    *,
    pane: str | None = None,
    run_glob: str | None = None,
    baseline: str | None = None,
    theme: str | None = None,
    poll: float | None = None,
    at_step: int | None = None,
    ascii_only: bool = False,
    color: bool = True,
    mouse: bool = True,
    reset: bool = False,
    config: Config | None = None,
) -> int:
    """Open the monitor and stay until the user leaves. Returns the exit code. Raises RefusedError."""
    from rltui.session.session import Session

    config = config if config is not None else Config()
    color = color and config.color is not False
    mouse = mouse and config.mouse is not False
    ascii_only = ascii_only or config.ascii is True or (config.ascii is None and ascii_needed())
    problem = terminal_problem()
    if problem is not None:
        raise RefusedError(problem)
    if theme is not None and theme not in (known := load_themes()[0]):
        raise RefusedError(f"no theme is called '{theme}'; there are {', '.join(sorted(known))}", name=True)
    memory_path = path_for(logdirs)
    if reset and memory_path is not None:
        forget(memory_path)
    session = Session(config, run_glob=run_glob, also=baseline)
    app = build(
        session, [str(one) for one in logdirs], pane=pane, baseline=baseline, theme=theme, at_step=at_step,
        ascii_only=ascii_only, color=color, config=config, memory_path=memory_path,
    )  # fmt: skip
    share()
    from rltui.logs.follow.follower import Follower
    from rltui.logs.follow.reader_thread import ReaderThread

    follower = Follower(list(logdirs), run_glob=run_glob, also=baseline, poll=poll or config.poll or 1.0)
    app.follower = follower
    app.feed = ReaderThread(follower, app.intake.put)
    return show(app, mouse=mouse)


def show(app: Monitor, *, mouse: bool = True) -> int:
    """Run a monitor in this terminal until it ends, whatever ends it. Returns the exit code."""
    # The readers' thread computes too; the screen gets its turn within a millisecond instead of five.
    sys.setswitchinterval(0.001)
    try:
        app.run(mouse=mouse)
    except Exception as error:  # noqa: BLE001 (the outermost edge: the terminal must be given back)
        app.crash = app.crash or error
    finally:
        app.stop_feed()
        guard.disarm()
    if app.crash is not None:
        with contextlib.suppress(OSError):
            print(f"rltui: {crash.report(app.crash)}", file=sys.stderr)
        return crash.EXIT
    return app.return_code or 0
