"""The screen without a terminal: made-up runs, a fixed clock, nothing remembered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from rltui.panes.baseline.comparison import Difference
from rltui.panes.rows.row import Row
from rltui.rules.finding import Finding
from rltui.screen import shown_pane, shown_run
from rltui.screen.app import Monitor
from rltui.screen.input import dispatch, navigation
from rltui.screen.pages.page import Page
from rltui.screen.paint import paint
from rltui.screen.start import build
from rltui.screen.state import AppState, Overlay
from rltui.session.run_view import RunView
from rltui.session.session import Session
from tests.support.runs.made_run import NOW, MadeRun, believable, finding


class Screen:
    """A session and a state: keys in, pages out."""

    def __init__(self, session: Session, state: AppState | None = None) -> None:
        self.session = session
        self.state = state if state is not None else AppState(session)
        session.set_nearby_lookup(self.state.threads.hparams.nearby)

    def press(self, key: str) -> None:
        dispatch.press(self.state, key)

    def do(self, action: str, argument: str = "") -> None:
        dispatch.perform(self.state, action, argument)

    def frame(self, width: int, height: int) -> Page:
        return paint(self.state, width, height)

    def text(self, width: int = 100, height: int = 30) -> str:
        """What it shows, without trailing blanks."""
        return "\n".join(line.text.rstrip() for line in self.frame(width, height).lines)

    def go(self, pane: str, tag: str = "") -> None:
        navigation.go(self.state, pane, tag)

    def go_to_tag(self, tag: str) -> None:
        navigation.go_to_tag(self.state, tag)

    def choose_run(self, name: str) -> None:
        navigation.choose_run(self.state, name)

    def set_clock(self, clock: Callable[[], float]) -> None:
        self.state.options = replace(self.state.options, clock=clock)

    @property
    def pane(self) -> str:
        return self.state.selection.pane

    @property
    def overlays(self) -> list[Overlay]:
        return self.state.overlays

    @property
    def message(self) -> str:
        return self.state.message

    @property
    def view(self) -> RunView | None:
        return shown_run.run(self.state)

    @property
    def baseline(self) -> RunView | None:
        return shown_run.baseline(self.state)

    def rows(self) -> list[Row]:
        return shown_pane.rows(self.state)

    def selected(self) -> Row | None:
        return shown_pane.selected(self.state)

    def differences(self) -> Mapping[str, Difference] | None:
        return shown_pane.differences(self.state)

    def findings(self) -> list[Finding]:
        return shown_run.findings(self.state)


def screen_of(app: Monitor) -> Screen:
    """The session and the state of an application."""
    return Screen(app.session, app.state)


def session(*runs: MadeRun) -> Session:
    """A session of runs that were read already; without any, of one that nothing may be added to."""
    made = Session()
    made.runs.update({run.name: run for run in runs or (_shared_run(),)})
    return made


def warned() -> MadeRun:
    """A believable run with one warning."""
    run = believable()
    run.found = [finding()]
    return run


@cache
def _shared_run() -> MadeRun:
    return warned()


def monitor(*runs: MadeRun, **options: Any) -> Monitor:
    """The application over such a session."""
    return build(session(*runs), ["/logs"], clock=lambda: NOW, **{"theme": "night", **options})


def opened(*runs: MadeRun, **options: Any) -> Screen:
    """The screen over such a session, without the application."""
    return screen_of(monitor(*runs, **options))


def shown_lines(app: Monitor) -> str:
    """What the application shows."""
    widget = app.line_widget
    return "\n".join(widget.render_line(y).text.rstrip() for y in range(widget.size.height))


def press_and_draw(
    read_and_draw: Callable[[Screen, int, int], str],
    screen: Screen,
    *keys: str,
    width: int = 100,
    height: int = 30,
) -> str:
    """Keys one after the other, each when all has been read; what is shown at the end."""
    for key in keys:
        read_and_draw(screen, width, height)
        screen.press(key)
    return read_and_draw(screen, width, height)
