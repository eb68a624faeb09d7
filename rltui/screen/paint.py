"""One frame: the state is updated with the data and drawn, and what was drawn is stored in it."""

from __future__ import annotations

from rltui.panes.answers.answer_inputs import used_by
from rltui.panes.pane_tabs import WITHOUT_METRICS
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

BASELINE_SECONDS = 3.0  # between comparisons of speed with the baseline


def paint(state: AppState, width: int, height: int) -> Page:
    """The whole screen at a size."""
    follow_newest_run(state)
    leave_empty_pane(state)
    if state.on_samples:
        follow_samples(state)
    follow_console(state)
    evaluate_beside_baseline(state)
    if state.options.logdirs:  # a recording has no machine
        state.threads.node.look(state.selection.pane == "system")
    page, drawn = frame(state, width, height)
    _store(state, drawn)
    return page


def follow_newest_run(state: AppState) -> None:
    """Until the user chooses a run, show the one written last.

    While history is read the order changes with each log: a run with points stays until all is read, unless
    another one is live. After that a live run is not replaced, and a message says when another one is shown.
    """
    selection = state.selection
    current = state.session.runs.get(selection.run or "")
    if selection.run_chosen and current is not None:
        return
    view = shown_run.newest_run(state)
    if view is None or view is current:
        return
    reading = state.loading is not None
    if current is not None and current is not shown_run.baseline(state):
        live, is_live = (one.liveness(state.now).shown_state == "live" for one in (view, current))
        if (current.run.points and (is_live or not live)) if reading else is_live:
            return
        if not reading:
            name, before = (shown_run.short_name(state, one.name) for one in (view, current))
            why = f"which is live; {before} is not" if live else f"written after {before}"
            state.notify(f"now {name}, {why}")
    selection.run = view.name


def evaluate_beside_baseline(state: AppState) -> None:
    """Set the findings on speed compared with the baseline, at most a few seconds old."""
    view, base, cache = shown_run.run(state), shown_run.baseline(state), state.caches.baseline
    if view is None:
        return
    now = state.options.clock()
    key = None if base is None or base is view else (view.name, base.name)
    if cache.key == key and (key is None or 0 <= now - cache.time <= BASELINE_SECONDS):
        return
    if cache.value is not None and cache.value in state.session.runs:
        state.session.runs[cache.value].set_findings("baseline", ())
    if key is not None and base is not None:
        from rltui.panes.baseline.speed_findings import speed_findings  # as in `frame`

        view.set_findings("baseline", speed_findings(view, base))
    cache.key, cache.time, cache.value = key, now, None if key is None else view.name


def follow_samples(state: AppState) -> None:
    """Pass the runs, and the one whose samples are shown, to the thread that reads samples."""
    view = shown_run.run(state)
    session = state.session
    wanted = state.on_samples or "samples" in used_by(state.selection.pane)
    shown_now = view.name if view is not None and wanted else None
    state.threads.samples.follow(
        session.sources(), shown_now, others=session.others, changes=session.folder_changes
    )


def follow_console(state: AppState) -> None:
    """Pass the console shown to the thread that reads it, and go to the line that it has found."""
    if not state.on_console:
        state.threads.console.show(None)
        return
    from rltui.screen.input import navigation  # as in `frame`
    from rltui.screen.pages.console_page import request_of

    navigation.choose_console(state)
    navigation.go_to_located_line(state)
    state.threads.console.show(request_of(state))


def leave_empty_pane(state: AppState) -> None:
    """Leave a pane restored from an earlier session if the run has nothing in it, once all is read."""
    view, selection = shown_run.run(state), state.selection
    if not selection.pane_recalled or view is None or not view.run.series:
        return
    known = selection.pane in WITHOUT_METRICS or selection.pane in view.tag_index.panes
    if selection.pane == SAMPLES:
        known = state.threads.samples.has(view.name)
    if known or state.loading is None:
        selection.pane_recalled = False
        selection.pane = selection.pane if known else "overview"


def _store(state: AppState, drawn: list[Drawn | None]) -> None:
    """Store what keys and the next frame need of what was drawn: of the pane, then of each overlay."""
    pane, *overlays = drawn
    if isinstance(pane, PaneDrawn):
        state.drawn[state.selection.pane] = pane
    for overlay, one in zip(state.overlays, overlays, strict=True):
        if isinstance(overlay, ListOverlay) and isinstance(one, ListDrawn):
            overlay.drawn, overlay.at, overlay.top, overlay.match = one, one.at, one.top, one.match
        elif isinstance(overlay, ChartOverlay) and isinstance(one, ChartDrawn):
            overlay.drawn, overlay.y_range, overlay.log = one, one.y, one.log
        elif isinstance(overlay, SampleOverlay) and isinstance(one, SampleDrawn):
            overlay.drawn, overlay.top = one, one.top
