"""The Textual application: one widget, a desk with the state, deliveries from the readers' thread."""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.css.query import NoMatches
from textual.message import Message
from textual.strip import Strip

from rltui import crash
from rltui.batch import Problem
from rltui.draw.themes import PLAIN, SIXTEEN
from rltui.screen.input import mouse
from rltui.screen.input.bindings import key_name
from rltui.screen.memory_release import give_back
from rltui.screen.saved_layout import remember
from rltui.screen.state import AppState
from rltui.screen.terminal.cell_diff import CellDiffApp
from rltui.screen.terminal.driver import GuardedDriver
from rltui.screen.terminal.line_widget import LineWidget
from rltui.screen.terminal.strips import StripPalette, filtered, textual_theme
from rltui.screen.updates import Updates

FRAME = 0.25  # seconds between frames that nobody asked for by a key
PAUSE = 0.002  # seconds between two moments of taking data in, for keys


class Arrived(Message):
    """The readers' thread has handed something in."""

    def can_replace(self, message: Message) -> bool:
        """It carries nothing: one is as good as many."""
        return isinstance(message, Arrived)


class Monitor(CellDiffApp, inherit_bindings=False):
    """The screen. Feed the desk's session and call `changed`, or give `intake.put` to a Feed."""

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    CSS = "Screen { overflow: hidden; }"

    def __init__(self, desk: AppState, *, color: bool = True, memory_path: Path | None = None) -> None:
        no_color = bool(os.environ.pop("NO_COLOR", "")) or not color
        super().__init__(driver_class=GuardedDriver)
        self.use_cell_diff()
        self.animation_level = "none"
        self.desk = desk
        desk.settings.shelf.ready = lambda: self.post_message(Arrived())
        self.crash: BaseException | None = None
        self.feed: Any = None
        self.follower: Any = None
        self.alerts: Any = None  # a Post, where the user's own configuration asks for alerts
        self._memory_path = memory_path
        self.intake = Updates(desk.session, lambda: self.post_message(Arrived()), self._trouble)
        self._painted = 0.0
        self._waiting = False  # data wait for their next moment
        self._full = True  # of what reading needed
        self._timer_set = False
        self._clock_words = ""
        if no_color:
            desk.themes = {PLAIN.id: PLAIN}
        elif (
            not desk.wanted_theme
            and self.console.color_system in ("standard", None)
            and SIXTEEN in desk.themes
        ):
            desk.wanted_theme = SIXTEEN
        self._use_theme()

    # ---- life

    def compose(self) -> ComposeResult:
        """One widget."""
        yield LineWidget(self.palette)

    def on_mount(self) -> None:
        """Draw first, read afterwards."""
        glass = self.glass
        glass.clicked = self._clicked
        glass.wheeled = self._wheeled
        glass.dragged = self._dragged
        glass.resized = self.paint
        glass.draws = self.draw
        glass.focus()
        if isinstance(self._driver, GuardedDriver):
            self._driver.input_arrived = self.intake.hurry  # what takes data in makes way at once
        self.set_interval(1.0, self._second)
        self.call_after_refresh(self._begin)

    @property
    def glass(self) -> LineWidget:
        """The widget that shows everything."""
        return self.query_one(LineWidget)

    def screen_lines(self) -> list[Strip]:
        """All lines of the one widget; none before it has the size of the terminal."""
        try:
            glass = self.glass
        except NoMatches:
            return []
        return [glass.render_line(y) for y in range(glass.size.height)] if glass.size == self.size else []

    def _begin(self) -> None:
        self.paint()
        gc.freeze()  # what was imported stays: looking for garbage in it would make keys wait
        if self.feed is not None:
            self.feed.start()

    def _on_exit_app(self) -> Any:
        self.stop_feed()
        return super()._on_exit_app()

    def stop_feed(self) -> None:
        """Let the readers go, whatever they are waiting for, and remember the layout."""
        self.intake.stop()
        if self.feed is not None:
            self.feed.stop()
            self.feed = None
        if self.alerts is not None:
            self.alerts.close(0.2)
            self.alerts = None
        if self._memory_path is not None:
            remember(self._memory_path, self.desk.memory)
            self._memory_path = None

    def _handle_exception(self, error: Exception) -> None:
        """An internal error: keep it for the report, leave quietly; the traceback goes into a file."""
        if self.crash is None:
            self.crash = error
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._return_code = crash.EXIT
        self._close_messages_no_wait()

    def panic(self, *renderables: Any) -> None:
        """Textual's own way to die is ours too."""
        self._handle_exception(sys.exception() or RuntimeError("the screen gave up"))  # type: ignore[arg-type]

    def on_driver_signal_resume(self, _: GuardedDriver.SignalResume) -> None:
        """Stopped and continued: whatever is on the terminal now is not ours."""
        self._repaint()

    def _repaint(self) -> None:
        """Send every cell, whatever the terminal shows."""
        if self.cell_diff is not None:
            self.cell_diff.forget()
        self.screen.refresh(layout=True)
        self.glass.repaint()

    # ---- data

    def on_arrived(self) -> None:
        """Apply and judge for a moment, then let keys through."""
        intake = self.intake
        if intake.hush:
            self._go_on_later()
            return
        intake.apply()
        self._focus()
        if not intake.shown and self._has_data:
            self._frame()  # whatever frame was planned: this is the first with data, and judging can wait
        view = self.desk.view
        views = sorted(self.desk.session.runs.values(), key=lambda one: one is not view)
        if not intake.empty or intake.judge(views):
            self._go_on_later()
        self.changed()

    def _go_on_later(self) -> None:
        """Go on when others have had their turn; a message posted at once would be taken before them."""
        if not self._waiting:
            self._waiting = True
            self._later(max(self.intake.hush, PAUSE), self._go_on)

    def _go_on(self) -> None:
        self._waiting = False
        self.on_arrived()

    def _later(self, wait: float, act: Callable[[], None]) -> None:
        """Do something after so many seconds; a timer of Textual would cost more than most frames."""
        asyncio.get_running_loop().call_later(wait, self._now, act)

    def _now(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:  # noqa: BLE001 (as outermost as a message: the app reports it)
            self._handle_exception(error)

    def _trouble(self, error: Exception, where: str, what: str) -> None:
        """An unforeseen error about one log or run: told once, its traceback kept in a file."""
        problem = Problem(
            "error", "internal-error", where, f"internal error ({type(error).__name__}): {what}"
        )
        if problem.key not in self.desk.session.problems:
            self.desk.session.problems[problem.key] = problem
            self.desk.say(crash.report(error))

    def changed(self) -> None:
        """The data changed: judge and draw at the next frame."""
        if not self._timer_set:
            self._timer_set = True
            soon = not self.intake.shown and self._has_data
            wait = 0.0 if soon else self._painted + FRAME - time.monotonic()
            self._later(max(wait, 0.005), self._frame)

    @property
    def _has_data(self) -> bool:
        view = self.desk.view
        return view is not None and bool(view.run.series)

    def _frame(self) -> None:
        self._timer_set = False
        if isinstance(self._driver, GuardedDriver) and self._driver.congested:
            self.changed()  # the terminal lags: leave this frame out
            return
        view = self.desk.view
        if view is not None:
            view.recognise_again()
        self.paint()
        self._settle()

    def _settle(self) -> None:
        """When all that was there has been read and judged, give back what that needed; be ready for keys."""
        if self._full and self.intake.empty and not self._waiting and self._progress() is None:
            self._full = False
            for name in ("input.actions", "pages.hparams_page"):  # the first values did not wait for them
                importlib.import_module(f"rltui.screen.{name}")
            give_back()

    def _second(self) -> None:
        """Once a second: redraw if the words about time have changed."""
        desk = self.desk
        view = desk.view
        self._alert()
        words = desk.message
        if view is not None:
            head = desk.header(view)
            words += f"{head.state}{head.age_text}{head.eta_text}{head.quiet}"
        loading = self._progress()
        self._full |= loading is not None
        self._settle()
        if words != self._clock_words or loading != desk.loading:
            self._clock_words = words
            self.changed()

    def _alert(self) -> None:
        """Tell the outside what fires and has not been seen here; tell here which way out fails."""
        desk = self.desk
        if self.alerts is None:
            return
        from rltui.alerts.dispatcher import tell

        now = desk.clock()
        for view in list(desk.session.runs.values()):
            try:
                found = view.evaluator.findings()
                seen = [one.id for one in found if desk.hush.word(view.name, one, now)]
                self.alerts.watch(view, now, muted=seen)
            except Exception as error:  # noqa: BLE001 (alerts must never end the screen)
                self._trouble(error, view.name, "it sent no alert")
        tell(self.alerts.problems(), desk.session.problems, desk.say)

    def ring(self, text: str) -> str:
        """Write a bell or notification to the terminal, past the picture. Returns what went wrong."""
        if not isinstance(self._driver, GuardedDriver):
            return "there is no terminal to ring"
        self._driver.write(text)
        return ""

    def _progress(self) -> float | None:
        if self.follower is None or self.follower.caught_up:
            return None
        read, known = self.follower.progress()
        return min(read / known, 0.99) if known else 0.0

    # ---- picture

    def paint(self) -> None:
        """Draw what has changed."""
        self._painted = time.monotonic()
        try:
            glass = self.glass
        except NoMatches:  # a timer may fire once more while the screen is taken down
            return
        width, height = glass.size
        if width and height:
            self.desk.loading = self._progress()
            glass.show(self.desk.frame(width, height))
            if self._has_data:
                self.intake.show()

    def _use_theme(self) -> None:
        theme = textual_theme(self.desk.theme)
        self.register_theme(theme)
        self.theme = theme.name
        self.palette = StripPalette(
            self.desk.theme,
            ascii_only=self.desk.glyphs == "ascii",
            seen=lambda style: filtered(style, self.glass),
        )

    # ---- keys and mouse

    async def on_event(self, event: events.Event) -> None:
        """All keys go to the desk; nothing else on the screen listens."""
        if isinstance(event, events.Key):
            self.intake.hurry()
            self.desk.press(key_name(event))
            self._acted()
            return
        await super().on_event(event)

    def _clicked(self, x: int, y: int) -> None:
        mouse.click(self.desk, self.glass.page, x, y)
        self._acted()

    def _wheeled(self, direction: int, x: int, y: int) -> None:
        mouse.wheel(self.desk, self.glass.page, direction, x, y)
        self._acted()

    def _dragged(self, cells: int) -> None:
        mouse.drag(self.desk, cells)
        self._acted()

    def _acted(self) -> None:
        desk = self.desk
        for kind, text in desk.outbox:
            if kind == "theme":
                self._use_theme()
                self.glass.recolor(self.palette)
            elif kind == "redraw":
                self._repaint()
            elif kind == "copy" and isinstance(self._driver, GuardedDriver) and not self._driver.copy(text):
                desk.say("too long for the clipboard of a terminal")
        desk.outbox.clear()
        if desk.exit_code is not None:
            self.stop_feed()
            self.exit(desk.exit_code, return_code=desk.exit_code)
            return
        self._focus()
        self.paint()

    def _focus(self) -> None:
        """What is shown is read first and held in full; other runs hold less."""
        desk = self.desk
        if desk.view is None:
            return
        if self.follower is not None:
            self.follower.focus(desk.view.name)
        base = (desk.base.name,) if desk.base is not None else ()
        desk.session.focus(desk.view.name, *desk.marked, *base)
