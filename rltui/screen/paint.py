"""One frame: the state is brought up to date with the data, drawn, and told what was drawn where."""

from __future__ import annotations

from rltui.panes.answers.answer_inputs import USE_SAMPLES
from rltui.panes.pane_list import WITHOUT_METRICS
from rltui.screen import shown_run
from rltui.screen.pages.frame import frame
from rltui.screen.pages.page import Page
from rltui.screen.state import (
    SAMPLES,
    AppState,
    ChartDrawn,
    ChartOverlay,
    Drawn,
    ListDrawn,
    ListOverlay,
    PaneDrawn,
    SampleDrawn,
    SampleOverlay,
)

BASELINE_SECONDS = 3.0  # between two looks at what is worse than the baseline's


def paint(state: AppState, width: int, height: int) -> Page:
    """The whole screen at a size."""
    follow_newest_run(state)
    leave_empty_pane(state)
    if state.on_samples:
        follow_samples(state)
    follow_console(state)
    judge_beside_baseline(state)
    if state.options.logdirs:  # a recording has no machine
        state.node.look(state.selection.pane == "system")
    page, drawn = frame(state, width, height)
    _store(state, drawn)
    return page


def follow_newest_run(state: AppState) -> None:
    """Until the user chooses a run, the one written last is shown.

    Once all is read, a run that goes on is not left for another one, and that another one is shown is said.
    """
    selection = state.selection
    current = state.session.runs.get(selection.run or "")
    if selection.run_chosen and current is not None:
        return
    view = shown_run.newest_run(state)
    if view is None or view is current:
        return
    reading = state.loading is not None
    if current is not None and not reading and current is not shown_run.baseline(state):
        if current.liveness(state.now).state == "live":
            return
        key = state.options.keys.hint_of("runs")
        name, before = (shown_run.short_name(state, one.name) for one in (view, current))
        live = view.liveness(state.now).state == "live"
        why = f"which is being written; {before} is not" if live else f"which was written after {before}"
        state.notify(f"now {name}, {why}: {key} lists all runs")
    selection.run = view.name


def judge_beside_baseline(state: AppState) -> None:
    """Let the run shown know what of its speed is worse than the baseline's; at most seconds old."""
    view, base, cache = shown_run.run(state), shown_run.baseline(state), state.caches.baseline
    if view is None:
        return
    now = state.options.clock()
    key = None if base is None or base is view else (view.name, base.name)
    if cache.key == key and (key is None or 0 <= now - cache.time <= BASELINE_SECONDS):
        return
    if cache.value is not None and cache.value in state.session.runs:
        state.session.runs[cache.value].tell("baseline", ())
    if key is not None and base is not None:
        from rltui.panes.baseline.speed_findings import speed_findings  # as in `frame`

        view.tell("baseline", speed_findings(view, base))
    cache.key, cache.time, cache.value = key, now, None if key is None else view.name


def follow_samples(state: AppState) -> None:
    """Tell the thread that reads samples which runs there are, and whose samples are shown."""
    view = shown_run.run(state)
    session = state.session
    wanted = state.on_samples or state.selection.pane in USE_SAMPLES
    shown_now = view.name if view is not None and wanted else None
    state.samples.files.follow(
        session.sources(), shown_now, others=session.others, changes=session.folder_changes
    )


def follow_console(state: AppState) -> None:
    """Tell the thread that reads a console which one is shown, and go where it found a moment."""
    if not state.on_console:
        state.console.files.show(None)
        return
    from rltui.screen.pages.console_page import choose_console, go_to_moment, request_of  # as in `frame`

    choose_console(state)
    go_to_moment(state)
    state.console.files.show(request_of(state))


def leave_empty_pane(state: AppState) -> None:
    """Leave a pane of an earlier session in which the run has nothing, once all is read: it looks broken."""
    view, selection = shown_run.run(state), state.selection
    if not selection.pane_recalled or view is None or not view.run.series:
        return
    known = selection.pane in WITHOUT_METRICS or selection.pane in view.tag_index.panes
    if selection.pane == SAMPLES:
        known = state.samples.files.has(view.name)
    if known or state.loading is None:
        selection.pane_recalled = False
        selection.pane = selection.pane if known else "overview"


def _store(state: AppState, drawn: list[Drawn | None]) -> None:
    """Keep what keys and the next frame need to know of the picture: of the pane, then of each overlay."""
    pane, *overlays = drawn
    if isinstance(pane, PaneDrawn):
        state.drawn[state.selection.pane] = pane
    for overlay, one in zip(state.overlays, overlays, strict=True):
        if isinstance(overlay, ListOverlay) and isinstance(one, ListDrawn):
            overlay.drawn, overlay.at, overlay.top = one, one.at, one.top
        elif isinstance(overlay, ChartOverlay) and isinstance(one, ChartDrawn):
            overlay.drawn, overlay.y_range, overlay.log = one, one.y, one.log
        elif isinstance(overlay, SampleOverlay) and isinstance(one, SampleDrawn):
            overlay.drawn, overlay.top = one, one.top
