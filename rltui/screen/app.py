"""The Textual application: one widget, the state, deliveries from the reader thread."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import ComposeResult
from textual.css.query import NoMatches
from textual.message import Message
from textual.strip import Strip

from rltui.common import crash, interpreter_settings
from rltui.common.problem import Problem
from rltui.draw.themes import PLAIN, SIXTEEN
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.reader_thread import ReaderThread
from rltui.screen import run_list, shown_run
from rltui.screen.apply_deliveries import SLICE_SECONDS, DeliveryQueue
from rltui.screen.input.key_table import key_name
from rltui.screen.pages.page import Page
from rltui.screen.paint import follow_samples, paint
from rltui.screen.saved_layout import save_layout
from rltui.screen.state import AppState, Searched
from rltui.screen.terminal.cell_diff import CellDiffApp
from rltui.screen.terminal.driver import GuardedDriver
from rltui.screen.terminal.line_widget import LineWidget
from rltui.screen.terminal.themed_strips import StripPalette, filtered, textual_theme
from rltui.session.context_threads import ContextThreads
from rltui.session.run_view import RunView

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual._compositor import CompositorUpdate
    from textual.screen import Screen

    from rltui.alerts.dispatcher import Dispatcher

FRAME_SECONDS = 0.25  # between frames that follow from data, not from keys
SLICE_PAUSE_SECONDS = 0.002  # between two slices of applying data, for keys
MAX_RUNS_FOR_LINEAGE = 200  # in which continued runs are looked for: 0.1 ms each
MAX_LIVENESS_UPDATES_PER_SECOND = 500  # runs whose state is updated: 0.03 ms each, so that no key waits


class DataArrived(Message):
    """The reader thread, or another one, has new data."""

    def can_replace(self, message: Message) -> bool:
        """One message in the queue is enough: it carries no data."""
        return isinstance(message, DataArrived)


class Monitor(CellDiffApp, inherit_bindings=False):
    """The screen of a session. Pass `updates.put` to a `ReaderThread`, or call `changed` after changes."""

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    CSS = "Screen { overflow: hidden; }"

    def __init__(self, state: AppState, *, color: bool = True, layout_path: Path | None = None) -> None:
        no_color = bool(os.environ.pop("NO_COLOR", "")) or not color
        super().__init__(driver_class=GuardedDriver)
        self.use_cell_diff()
        self.animation_level = "none"
        self.session = state.session
        self.state = state
        threads = state.threads
        self.session.set_nearby_lookup(threads.hparams.nearby)
        for worker in (threads.hparams, threads.samples, threads.console, threads.node):
            worker.thread.ready = lambda: self.post_message(DataArrived())
        self.context = ContextThreads(state.options.logdirs)
        self.crash: BaseException | None = None
        self.reader: ReaderThread | None = None
        self.follower: Follower | None = None
        self.alerts: Dispatcher | None = None  # where the user's configuration enables alerts
        self._layout_path = layout_path
        self.updates = DeliveryQueue(self.session, lambda: self.post_message(DataArrived()), self._on_error)
        self.page = Page()  # the last frame, with the spots for clicks
        self._painted = 0.0
        self._waiting = False  # a next slice is scheduled
        self._input_loaded = False
        self._memory_held = True  # garbage of reading, to be released
        self._timer_set = False
        self._clock_words = ""
        if no_color:
            state.options = replace(state.options, themes={PLAIN.id: PLAIN})
        elif (
            not state.theme_id
            and self.console.color_system in ("standard", None)
            and SIXTEEN in state.options.themes
        ):
            state.theme_id = SIXTEEN
        self._use_theme()

    # ---- life

    def compose(self) -> ComposeResult:
        """One widget."""
        yield LineWidget(self.palette)

    def on_mount(self) -> None:
        """Draw the first frame, then start reading."""
        widget = self.line_widget
        widget.clicked = self._clicked
        widget.wheeled = self._wheeled
        widget.dragged = self._dragged
        widget.resized = self.paint
        widget.draws = self.draw
        widget.focus()
        if isinstance(self._driver, GuardedDriver):
            self._driver.input_arrived = self.updates.key_pressed  # applying data is interrupted at once
        self.set_interval(1.0, self._second)
        self.call_after_refresh(self._begin)

    @property
    def line_widget(self) -> LineWidget:
        """The widget that shows everything."""
        return self.query_one(LineWidget)

    def screen_lines(self) -> list[Strip]:
        """All lines of the one widget; none before it has the size of the terminal."""
        try:
            widget = self.line_widget
        except NoMatches:
            return []
        lines = range(widget.size.height) if widget.size == self.size else ()
        return [widget.render_line(y) for y in lines]

    def _display(self, screen: Screen[object], renderable: RenderableType | CompositorUpdate | None) -> None:
        if self.page.lines:  # else it would be a blank screen, just before the first page
            super()._display(screen, renderable)

    def _begin(self) -> None:
        self.paint()
        interpreter_settings.finish_imports()
        if self.reader is not None:
            self.reader.start()

    def _on_exit_app(self) -> Coroutine[Any, Any, None]:
        self.stop()
        return super()._on_exit_app()

    def stop(self) -> None:
        """Stop all threads without waiting for blocked calls, and save the layout."""
        self.updates.stop()
        threads = self.state.threads
        self.context.stop()
        for worker in (threads.samples, threads.console, threads.node):
            worker.thread.stop()
        if self.reader is not None:
            self.reader.stop()
            self.reader = None
        if self.alerts is not None:
            self.alerts.close(0.2)
            self.alerts = None
        if self._layout_path is not None:
            save_layout(self._layout_path, self.state.saved)
            self._layout_path = None

    def _handle_exception(self, error: Exception) -> None:
        """Keep an internal error for the crash report and exit; the traceback goes into a file."""
        if self.crash is None:
            self.crash = error
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._return_code = crash.EXIT
        self._close_messages_no_wait()

    def panic(self, *renderables: object) -> None:
        """Handle errors that Textual reports as any internal error."""
        self._handle_exception(sys.exception() or RuntimeError("the screen gave up"))  # type: ignore[arg-type]

    def on_driver_signal_resume(self, _: GuardedDriver.SignalResume) -> None:
        """After a stop another program may have drawn on the terminal."""
        self._repaint()

    def _repaint(self) -> None:
        """Send every cell, whatever the terminal shows."""
        if self.cell_diff is not None:
            self.cell_diff.forget()
        self.screen.refresh(layout=True)
        self.line_widget.repaint()

    # ---- data

    def on_data_arrived(self) -> None:
        """Apply and evaluate for a slice of time, then handle keys."""
        updates = self.updates
        if updates.key_wait:
            self._continue_later()
            return
        updates.apply()
        self._focus()
        if not updates.shown and self._has_data:
            self._frame()  # at once: it is the first frame with data, and rules can wait
        view = self._view
        views = sorted(self.session.waiting(), key=lambda one: one is not view)
        if not updates.empty or updates.evaluate(views):
            self._continue_later()
        elif self.session.comparing_sisters:
            self.session.compare_sisters(SLICE_SECONDS)
            self._continue_later()
        elif run_list.prepare(self.state, SLICE_SECONDS):
            self._continue_later()
        self.session.refilter()
        self.changed()

    @property
    def _view(self) -> RunView | None:
        return shown_run.run(self.state)

    def _continue_later(self) -> None:
        """Continue after other events; a message posted now would be handled before them."""
        if not self._waiting:
            self._waiting = True
            self._later(max(self.updates.key_wait, SLICE_PAUSE_SECONDS), self._continue)

    def _continue(self) -> None:
        self._waiting = False
        self.on_data_arrived()

    def _later(self, wait: float, act: Callable[[], None]) -> None:
        """Call a function after so many seconds; a timer of Textual would cost more than most frames."""
        asyncio.get_running_loop().call_later(wait, self._now, act)

    def _now(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:  # noqa: BLE001 (outermost, as in message handlers: the app reports it)
            self._handle_exception(error)

    def _on_error(self, error: Exception, where: str, what: str) -> None:
        """Show an unexpected error about one log or run once; its traceback goes into a file."""
        problem = Problem(
            "error", "internal-error", where, f"internal error ({type(error).__name__}): {what}"
        )
        if problem.key not in self.session.problems:
            self.session.problems[problem.key] = problem
            self.state.notify(crash.report(error))

    def changed(self) -> None:
        """Draw the changed data in the next frame."""
        if not self._timer_set:
            self._timer_set = True
            soon = not self.updates.shown and self._has_data
            wait = 0.0 if soon else self._painted + FRAME_SECONDS - time.monotonic()
            self._later(max(wait, 0.005), self._frame)

    @property
    def _has_data(self) -> bool:
        view = self._view
        return view is not None and bool(view.run.series)

    def _frame(self) -> None:
        self._timer_set = False
        if isinstance(self._driver, GuardedDriver) and self._driver.congested:
            self.changed()  # the terminal lags: skip this frame
            return
        view = self._view
        if view is not None:
            view.recognise()
        self.paint()
        if self.session.comparing_sisters:
            self._continue_later()
        self._load_input()
        self._release_memory()

    def _load_input(self) -> None:
        """Once values are shown, import what keys need, so that the first key need not wait."""
        if self.updates.shown and not self._input_loaded:
            self._input_loaded = True
            from rltui.panes.answers.pane_answers import load_answers
            from rltui.screen.input import dispatch  # noqa: F401 (imported for later)
            from rltui.screen.pages import findings_page, pane_page  # noqa: F401

            load_answers()

    def _release_memory(self) -> None:
        """Release memory when everything has been read and evaluated."""
        if self._memory_held and self.updates.empty and not self._waiting and self._progress() is None:
            self._memory_held = False
            interpreter_settings.release_memory()

    def _second(self) -> None:
        """Once a second: update what depends on time, and redraw if the header has changed."""
        state, view = self.state, self._view
        self._alert()
        if self.updates.shown:
            follow_samples(self.state)
            if view is not None:
                state.threads.hparams.nearby(view.run, again=True)
            state.threads.hparams.read_nearby()
        if self.updates.shown or self._progress() is None:
            self._update_context()
            if self._progress() is None and len(self.session.runs) <= MAX_RUNS_FOR_LINEAGE:
                self.session.mark_continued_runs()
            if self.session.update_liveness_findings(
                self.state.options.clock(), MAX_LIVENESS_UPDATES_PER_SECOND
            ):
                self.changed()
        words = state.message
        if view is not None:
            head = shown_run.header(self.state, view)
            words += f"{head.job_text}{head.state}{head.age_text}{head.eta_text}{head.liveness.quiet}"
        loading = self._progress()
        if loading is not None:
            self._memory_held = True
            interpreter_settings.freeze_objects()
        self._release_memory()
        if view is None:
            words += f"{self._looking()}{self._missing()}{self._searched()}{len(self.session.others)}"
        if words != self._clock_words or loading != state.loading:
            self._clock_words = words
            self.changed()

    def _update_context(self) -> None:
        """Follow the consoles and the jobs of the runs, and take what their threads found."""
        follower, context, session = self.follower, self.context, self.session
        known = follower is None or context.consoles.thread.started
        if follower is not None and (known := known or (follower.all_found and self.updates.empty)):
            session.others, session.folder_changes = follower.others(), follower.search.changes
        if context.update(session, self.state.options.clock(), consoles=known):
            self.changed()
        for error in context.new_errors():
            self.state.notify(error)

    def _alert(self) -> None:
        """Send alerts on firing findings that are not acknowledged; show which receivers fail."""
        if self.alerts is None:
            return
        from rltui.alerts.dispatcher import report_failures  # few users configure alerts

        state, now = self.state, self.state.options.clock()
        for view in list(self.session.runs.values()):
            try:
                found = view.evaluator.findings()
                acknowledged = [one.id for one in found if state.acknowledgements.status(view.name, one, now)]
                self.alerts.update_run(view, now, acknowledged=acknowledged)
            except Exception as error:  # noqa: BLE001 (alerts must never end the screen)
                self._on_error(error, view.name, "it sent no alert")
        report_failures(self.alerts.problems(), self.session.problems, state.notify)

    def ring(self, text: str) -> str:
        """Write a bell or notification to the terminal. Returns an error message, or an empty string."""
        if not isinstance(self._driver, GuardedDriver):
            return "there is no terminal to ring"
        self._driver.write(text)
        return ""

    def _progress(self) -> float | None:
        if self.follower is None or self.follower.complete:
            return None
        read, known = self.follower.progress()
        if not known:  # nothing to read, or it is not known yet
            return 0.0 if self.follower.search.fetching else None
        return min(read / known, 0.99)

    def _looking(self) -> bool:
        """Whether the first search of the LOGDIRs goes on."""
        return self.follower is not None and self.follower.search.first

    def _missing(self) -> tuple[str, ...]:
        """The LOGDIRs that do not exist yet; known after the first search."""
        return () if self.follower is None else self.follower.search.waiting

    def _searched(self) -> Searched | None:
        """What the LOGDIRs hold, as long as that is no run; known after the first search."""
        if self.follower is None or self._view is not None or (counts := self.follower.search.counts) is None:
            return None
        return Searched(*counts, self.follower.unread())

    # ---- picture

    def paint(self) -> None:
        """Draw a frame."""
        self._painted = time.monotonic()
        try:
            widget = self.line_widget
        except NoMatches:  # a timer may fire while the screen is closed
            return
        width, height = widget.size
        if width and height:
            self.state.loading = self._progress()
            self.state.looking = self._looking()
            self.state.missing, self.state.searched = self._missing(), self._searched()
            self.page = paint(self.state, width, height)
            widget.show(self.page.lines)
            if self._has_data:
                self.updates.values_shown()

    def _use_theme(self) -> None:
        theme = textual_theme(self.state.theme)
        self.register_theme(theme)
        self.theme = theme.name
        self.palette = StripPalette(
            self.state.theme,
            ascii_only=self.state.options.ascii_only,
            seen=lambda style: filtered(style, self.line_widget),
        )

    # ---- keys and mouse

    async def on_event(self, event: events.Event) -> None:
        """Turn keys into actions; no widget handles keys."""
        if isinstance(event, events.Key):
            self.updates.key_pressed()
            self.press(key_name(event))
            self._acted()
            return
        await super().on_event(event)

    # The handlers of keys and mouse, with the pages that only they open, take 14 ms to import: this is done
    # after the first values are shown.

    def press(self, key: str) -> None:
        """Handle a key, named as in the table of bindings."""
        from rltui.screen.input import dispatch  # see `_load_input`

        dispatch.press(self.state, key)

    def _clicked(self, x: int, y: int) -> None:
        from rltui.screen.input import dispatch  # see `_load_input`

        dispatch.click(self.state, self.page, x, y)
        self._acted()

    def _wheeled(self, direction: int, x: int, y: int) -> None:
        from rltui.screen.input import dispatch  # see `_load_input`

        dispatch.wheel(self.state, self.page, direction, x, y)
        self._acted()

    def _dragged(self, cells: int) -> bool:
        from rltui.screen.input import dispatch  # see `_load_input`

        moved = dispatch.drag(self.state, cells)
        if moved:
            self._acted()
        return moved

    def _acted(self) -> None:
        state = self.state
        for kind, text in state.requests:
            if kind == "theme":
                self._use_theme()
                self.line_widget.recolor(self.palette)
            elif kind == "redraw":
                self._repaint()
            elif kind == "copy" and isinstance(self._driver, GuardedDriver) and not self._driver.copy(text):
                state.notify("too long for the clipboard of a terminal")
        state.requests.clear()
        if state.exit_code is not None:
            self.stop()
            self.exit(state.exit_code, return_code=state.exit_code)
            return
        self._focus()
        self.paint()

    def _focus(self) -> None:
        """Read the run shown first, and keep its data in full; other runs keep less."""
        view, base = self._view, shown_run.baseline(self.state)
        if view is None:
            return
        if self.follower is not None:
            self.follower.focus(view.name)
        marked = self.state.selection.marked_runs
        self.session.focus(view.name, *marked, *((base.name,) if base is not None else ()))
