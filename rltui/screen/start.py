"""Opening the monitor: state, keys and themes from the configuration, the reader, the terminal restored."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rltui.common import crash, interpreter_settings
from rltui.common.problem import Problem
from rltui.config import Config
from rltui.draw.themes import load_themes
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.reader_thread import ReaderThread
from rltui.logs.run_names import RunFilter
from rltui.metrics.glossary_files import pane_id
from rltui.panes.charts.value_axis import Ranges
from rltui.panes.runs.selection import RunSelection
from rltui.screen.app import Monitor
from rltui.screen.input.key_table import Keys
from rltui.screen.saved_layout import SavedLayout, delete_layout, load_layout, path_for
from rltui.screen.state import DEFAULT_SMOOTHING, SMOOTHINGS, AppState, Options, Selection, TimeTravel
from rltui.screen.terminal.restore import ascii_needed, guard, terminal_problem
from rltui.screen.threads.screen_threads import ScreenThreads
from rltui.session.session import Session


class RefusedError(Exception):
    """The monitor cannot be opened; the message says why. name: a name on the command line is unknown."""

    def __init__(self, message: str, *, name: bool = False) -> None:
        super().__init__(message)
        self.name = name


def build(
    session: Session,
    logdirs: Sequence[str] = (),
    *,
    pane: str | None = None,
    baseline: str | None = None,
    theme: str | None = None,
    at_step: int | None = None,
    ascii_only: bool = False,
    color: bool = True,
    run_glob: str | None = None,
    config: Config | None = None,
    layout_path: Path | None = None,
    clock: Callable[[], float] = time.time,
) -> Monitor:
    """A monitor over a session, without readers: for tests, screenshots, and `run`."""
    config = config if config is not None else Config()
    themes, problems = load_themes()
    keys = Keys(config.keys)
    saved = load_layout(layout_path) if layout_path is not None else SavedLayout()
    theme_id = next((each for each in (theme, saved.theme, config.theme) if each in themes), "")
    if config.theme and config.theme not in themes:
        problems.append(Problem("error", "config", "theme", f"no theme is called '{config.theme}'"))
    smoothing = DEFAULT_SMOOTHING if config.smoothing is None else _nearest(config.smoothing)
    pane = (pane_id(pane) or pane) if pane else None
    selection = Selection(pane=pane or saved.pane or config.pane or "overview", baseline=baseline)
    selection.pane_recalled = pane is None and selection.pane != "overview"
    state = AppState(
        session,
        Options(tuple(logdirs), clock, keys, themes, ascii_only, run_glob or ""),
        saved,
        selection,
        TimeTravel(at_step),
        theme_id=theme_id,
        smoothing=saved.smoothing if saved.smoothing >= 0 else smoothing,
        ranges=Ranges(outliers=saved.outliers),
        threads=ScreenThreads(tuple(logdirs)),
    )
    for problem in [*keys.problems, *problems][:1]:
        state.notify(problem.text)
    app = Monitor(state, color=color, layout_path=layout_path)
    if config.alerts.receivers:
        from rltui.alerts.dispatcher import Dispatcher  # few users configure alerts
        from rltui.alerts.sent_log import SentLog

        sent = SentLog.of_logdirs(logdirs) if layout_path is not None else None
        app.alerts = Dispatcher(config.alerts, write=app.ring, sent_log=sent)
    return app


def _nearest(weight: float) -> int:
    """The smoothing that comes nearest to a weight from the configuration."""
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
    message: str = "",
    config: Config | None = None,
) -> int:
    """Open the monitor and run it until the user quits. Returns the exit code. Raises RefusedError.

    message: shown in the footer at first.
    """
    config = config if config is not None else Config()
    color = color and config.color is not False
    mouse = mouse and config.mouse is not False
    ascii_only = ascii_only or config.ascii is True or (config.ascii is None and ascii_needed())
    problem = terminal_problem()
    if problem is not None:
        raise RefusedError(problem)
    if theme is not None and theme not in (known := load_themes()[0]):
        raise RefusedError(f"no theme is called '{theme}'; there are {', '.join(sorted(known))}", name=True)
    layout_path = path_for(logdirs)
    if reset and layout_path is not None:
        delete_layout(layout_path)
    selection = RunSelection(run_glob)
    runs = RunFilter(selection.glob, baseline)
    session = Session(config, runs=runs, logdirs=logdirs)
    app = build(
        session, [str(one) for one in logdirs], pane=pane, baseline=baseline, theme=theme, at_step=at_step,
        ascii_only=ascii_only, color=color, run_glob=run_glob, config=config, layout_path=layout_path,
    )  # fmt: skip
    session.show_only(selection.test(app.state.run_hparams, app.state.options.clock))
    if message:
        app.state.notify(message)
    interpreter_settings.use_one_memory_arena()
    follower = Follower(list(logdirs), runs=runs, poll=poll or config.poll or 1.0)
    app.follower = follower
    app.reader = ReaderThread(follower, app.updates.put)
    return show(app, mouse=mouse)


def show(app: Monitor, *, mouse: bool = True) -> int:
    """Run a monitor in this terminal until it ends. Returns the exit code."""
    interpreter_settings.shorten_switch_interval()
    try:
        app.run(mouse=mouse)
    except Exception as error:  # noqa: BLE001 (outermost: the terminal must be restored)
        app.crash = app.crash or error
    finally:
        app.stop()
        guard.disarm()
    if app.crash is not None:
        with contextlib.suppress(OSError):
            print(f"rltui: {crash.report(app.crash)}", file=sys.stderr)
        return crash.EXIT
    return app.return_code or 0
