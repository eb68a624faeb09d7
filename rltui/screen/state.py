"""The screen's state and what keys do to it, without a terminal: a frame of lines out, keys in."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rltui.draw.cells import crop
from rltui.draw.numbers import short_step
from rltui.draw.sparkline import Glyphs
from rltui.draw.themes import DEFAULT, PLAIN, Theme
from rltui.logs.run_names import named
from rltui.panes.pane import PaneView
from rltui.panes.pane_list import PaneTab, panes_of
from rltui.panes.render.pane_lines import Ranges
from rltui.panes.row import Row, rows_of
from rltui.screen.acknowledgements import Acknowledgements
from rltui.screen.hparams_thread import Chosen, HParamsThread
from rltui.screen.input.bindings import Keys
from rltui.screen.pages.page import Page, Scroll
from rltui.screen.pages.pane_cache import PaneCache
from rltui.screen.pages.pane_choice import troubles
from rltui.screen.pages.run_sorting import RunSorting
from rltui.screen.pages.short_run_names import short_run_names
from rltui.screen.saved_layout import SavedLayout
from rltui.screen.shown_step import live, told
from rltui.text import clean

if TYPE_CHECKING:
    from rltui.panes.comparison import Difference
    from rltui.panes.overview import Header
    from rltui.rules.finding import Finding
    from rltui.screen.pages.overlay import Overlay
    from rltui.session.run_view import RunView
    from rltui.session.session import Session
    from rltui.session.time_travel import PastFindings

SHARES = (1.0, 0.25, 1 / 16)  # of the run, shown by boards
MESSAGE_SECONDS = 3.0  # and as long as it takes to read
READING = 0.05  # seconds per character
COMPARE_SECONDS = 3.0  # between two comparisons with the baseline
DENSITIES = ("auto", "compact", "full")


class AppState:
    """Everything that a person has chosen, over a session of runs."""

    def __init__(
        self,
        session: Session,
        *,
        logdirs: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
        keys: Keys | None = None,
        themes: Mapping[str, Theme] | None = None,
        memory: SavedLayout | None = None,
        ascii_only: bool = False,
        baseline: str | None = None,
        at_step: int | None = None,
        theme: str = "",
        smoothing: int = 4,
    ) -> None:
        self.session = session
        self.logdirs = tuple(logdirs)
        self.clock = clock
        self.keys = keys if keys is not None else Keys()
        self.memory = memory if memory is not None else SavedLayout()
        self.themes = dict(themes) if themes else {PLAIN.id: PLAIN}
        # What is in force; the memory holds only what was chosen by key.
        self.wanted_theme = theme
        self.smoothing = self.memory.smoothing if self.memory.smoothing >= 0 else smoothing
        self.hush = Acknowledgements(self.memory)
        self.glyphs: Glyphs = "ascii" if ascii_only else "blocks"
        self.baseline = baseline
        self.at_step = at_step
        self.frozen_now: float | None = None
        self.reached: int | None = None  # how far the run had come when an earlier step was asked for
        self.pane = self.memory.pane or "overview"
        self.recalled = bool(self.memory.pane)  # the pane is that of an earlier session, maybe of other runs
        self.share = 0
        self.query = ""
        self.marked: list[str] = []
        self.order = RunSorting()  # of the list of runs
        self.together: list[str] = []  # tags that large charts show beside others
        self.overlays: list[Overlay] = []
        self.ranges = Ranges()
        self.scrolls: dict[str, Scroll] = {}
        self.chosen: dict[str, str] = {}  # selected tag by pane
        self.card_columns = 1
        self.page_rows = 10
        self.settings = Chosen(HParamsThread(logdirs))
        self.loading: float | None = None  # share read, None when all is read
        self.exit_code: int | None = None
        self.outbox: list[
            tuple[str, str]
        ] = []  # ("copy", text), ("theme", id): for whoever owns the terminal
        self._run: str | None = None
        self._brief: dict[str, str] = {}
        self._briefed = (0, "")
        self._chose_run = False
        self._framed: RunView | None = None  # the run of the frame that is being drawn: asked for many times
        self._message = ("", 0.0)
        self._kept = PaneCache()
        self._then: tuple[object, PastFindings] | None = None
        self._against: tuple[tuple[str, str], float, dict[str, Difference]] | None = None

    # ---- what is shown

    @property
    def now(self) -> float:
        """Seconds since 1970; stands still while paused."""
        return self.clock() if self.frozen_now is None else self.frozen_now

    @property
    def part(self) -> float:
        """The share of the run that boards show, from its end."""
        return SHARES[self.share]

    @property
    def theme(self) -> Theme:
        """The theme in force."""
        for name in (self.wanted_theme, DEFAULT):
            if name in self.themes:
                return self.themes[name]
        return next(iter(self.themes.values()))

    @property
    def view(self) -> RunView | None:
        """The run shown: the one chosen, else the most recently written."""
        return self._framed if self._framed is not None else self._look()

    def _look(self) -> RunView | None:
        if self._chose_run and self._run in self.session.runs:
            return self.session.runs[self._run]
        ordered = self.session.ordered()
        if not ordered:
            return None
        found = self.session.runs.get(self._run or "")
        # Until a person chooses, the newest run is followed, not what it is to be compared with; equal ages
        # must not make the screen jump.
        base = self.base
        ordered = [view for view in ordered if view is not base] or ordered
        if found is None or found is base or ordered[0].modified > found.modified + 30:
            found = ordered[0]
            self._run = found.name
        return found

    def brief(self, name: str) -> str:
        """A short name of a run that tells it from the others."""
        known = (len(self.session.runs), next(reversed(self.session.runs), ""))  # new ones come last
        if self._briefed != known:
            self._briefed, self._brief = known, short_run_names(self.session.runs)
        return self.title(self._brief.get(name, name))

    def title(self, name: str) -> str:
        """The name of a run as shown: the folder itself has no name below itself, so its own is taken."""
        if name != "." or len(self.logdirs) != 1:
            return name
        return clean(Path(self.logdirs[0]).absolute().name) or name

    def choose_run(self, name: str) -> None:
        """Show another run."""
        self._run, self._chose_run = name, True
        live(self)
        self.ranges.shown.clear()

    def tabs(self) -> list[PaneTab]:
        """The tabs of the run shown; before any run there are only those that are always present."""
        view = self.view
        tabs = [] if view is None else panes_of(view, self.unseen(), self.pane, len(troubles(self)))
        hidden = self.memory.hidden
        return [tab for tab in tabs if tab.id not in hidden or tab.id == self.pane] if hidden else tabs

    def beside(self, row: Row) -> list[Row]:
        """The metrics that were marked to go with others, without those of a row."""
        view = self.view
        if view is None:
            return []
        tags = [tag for tag in self.together if tag in view.run.series and tag not in row.tags]
        made = [rows_of(view, [tag], at_step=self.at_step, merge=False, findings=()) for tag in tags]
        return [row for rows in made for row in rows]

    def then(self) -> PastFindings | None:
        """What was wrong at the moment shown; None while that is now."""
        view, step = self.view, self.at_step
        if view is None or step is None:
            return None
        key = (view.name, step, view.run.superseded, view.run.points if view.loading else -1)
        if self._then is None or self._then[0] != key:
            self._then = (key, view.findings_at(step))
        return self._then[1]

    def findings(self) -> list[Finding]:
        """The findings of the run shown, as they were at the moment shown."""
        view, then = self.view, self.then()
        if view is None:
            return []
        found = view.evaluator.findings() if then is None else list(then.findings)
        # What a person has seen comes last; the rest keeps its order.
        found.sort(key=lambda one: bool(self.hush.word(view.name, one, self.clock())))
        return found

    def history(self) -> list[Finding]:
        """What was over at the moment shown."""
        view, then = self.view, self.then()
        if view is None:
            return []
        return view.evaluator.history() if then is None else list(then.history)

    def health(self, view: RunView) -> str:
        """How a run stands at the moment shown, but for what a person has seen; other runs as remembered."""
        if self.at_step is None:
            return self.hush.health(view, self.now)
        found = (
            self.findings() if view is self.view else view.findings_at(self.at_step, evaluate=False).findings
        )
        return self.hush.health(view, self.now, found)

    def step_text(self, view: RunView, width: int) -> str:
        """How far a run had come at the moment shown, in at most so many cells."""
        last = view.run.last_step
        if last is None:
            return "–"
        return short_step(last if self.at_step is None else min(last, self.at_step), width)

    def header(self, view: RunView) -> Header:
        """The header of the run shown, at the moment shown."""
        from rltui.panes.overview import header

        head = told(self, header(view, self.now, self.at_step, self.then()))
        head = self.hush.header(head, self.findings(), self.clock())
        return dataclasses.replace(head, run=self.title(view.name), brief=self.brief(view.name))

    def unseen(self) -> list[Finding]:
        """The findings that nobody has acknowledged or snoozed: what tabs count and the overview tells."""
        view = self.view
        return [] if view is None else self.hush.unseen(view.name, self.findings(), self.clock())

    def board(self) -> PaneView | None:
        """The board of the pane shown, filtered. Made anew only when something it shows has changed."""
        view = self.view
        return None if view is None else self._kept.of(self, view)

    @property
    def base(self) -> RunView | None:
        """The run to compare with: the only one that may be meant by the name given."""
        runs = self.session.runs
        found = named(runs, self.baseline) if self.baseline else []
        return runs[found[0]] if len(found) == 1 else None

    def differences(self) -> Mapping[str, Difference] | None:
        """By tag, how the run shown differs from the baseline at matched steps; at most seconds old."""
        view = self.view
        base = self.base
        if view is None or base is None or base is view or self.at_step is not None:
            return None
        key = (view.name, base.name)
        if (
            self._against is None
            or self._against[0] != key
            or self.clock() - self._against[1] > COMPARE_SECONDS
        ):
            from rltui.panes.comparison import compare

            found = compare(view, base)
            by_tag = {one.tag: one for one in found.differences} if found is not None else {}
            self._against = (key, self.clock(), by_tag)
        return self._against[2]

    def selected(self) -> Row | None:
        """The selected row of the pane shown."""
        rows = self.rows()
        tag = self.chosen.get(self.pane, "")
        return next((row for row in rows if row.tag == tag), rows[0] if rows else None)

    def rows(self) -> list[Row]:
        """The rows that can be selected in the pane shown."""
        if self.pane == "overview" and not self.query:
            from rltui.panes.overview import key_rows

            view = self.view
            return (
                key_rows(view, 16, at_step=self.at_step, against=self.differences(), findings=self.findings())
                if view is not None
                else []
            )
        made = self.board()
        return made.metrics if made is not None else []

    @property
    def message(self) -> str:
        """The last thing said, for a few seconds."""
        text, until = self._message
        return text if self.clock() < until else ""

    def say(self, text: str) -> None:
        """Tell something in the footer until it can be read, or until the next key."""
        self._message = (text, self.clock() + MESSAGE_SECONDS + READING * len(text))

    # ---- what is done

    def press(self, key: str) -> None:
        """A key: text for whoever is typing, else an action."""
        top = self.overlays[-1] if self.overlays else None
        if top is not None and top.typing and top.type(self, key):
            return
        action = self.keys.action(key, top.where if top is not None else "board")
        if action is not None:
            self._message = ("", 0.0)
            self.do(action)

    def do(self, action: str, argument: str = "") -> None:
        """An action, by the topmost page that knows it."""
        from rltui.screen.input import actions

        top = self.overlays[-1] if self.overlays else None
        if top is not None and top.act(self, action, argument):
            return
        actions.perform(self, action, argument)

    def do_plain(self, action: str, argument: str = "") -> None:
        """An action, whatever page is topmost."""
        from rltui.screen.input import actions

        actions.perform(self, action, argument)

    def close(self) -> None:
        """Leave the topmost page."""
        if self.overlays:
            self.overlays.pop()

    def go(self, pane: str, tag: str = "") -> None:
        """Show a pane, and a metric in it."""
        self.overlays.clear()
        self.pane, self.recalled = pane, False
        if tag:
            self.query = ""
            self.chosen[pane] = tag
            row = next((row for row in self.rows() if tag in row.tags), None)
            if row is not None:
                self.chosen[pane] = row.tag
        self.memory.pane = pane

    def go_to_tag(self, tag: str) -> None:
        """Show a metric in its pane."""
        view = self.view
        if view is not None and tag in view.run.series:
            self.go(view.names.name(tag).pane, tag)

    def tag_of(self, canonical: str) -> str | None:
        """The tag of the run shown that is called so in the glossary."""
        view = self.view
        if view is None:
            return None
        return next(iter(view.tag_index.canonical.get(canonical, ())), None)

    def frame(self, width: int, height: int) -> Page:
        """The whole screen at a size."""
        from rltui.screen.pages.frame import compose

        self._framed = self._look()
        try:
            page = compose(self, width, height)
            for overlay in list(self.overlays):
                page = overlay.page(self, page, width, height)
        finally:
            self._framed = None
        page.lines = [crop(one, width) for one in page.lines[:height]]
        return page
