"""Navigation: to a pane, a run, a metric, a row, a step of the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import PurePath

from rltui.panes.charts.step_window import window_for
from rltui.panes.context_panes.console_pane import console_findings_of
from rltui.panes.header import onset_wall_time
from rltui.panes.rows.row import Row
from rltui.rules.finding import ConsoleEvidence, Finding, explained
from rltui.rules.run_status.liveness_finding import STATES
from rltui.run_context.console.failure_search import ConsoleReport
from rltui.run_context.console.line_at_time import TimeAndStep
from rltui.screen import shown_pane, shown_run
from rltui.screen.pages.chart.x_axis import COMMON_AXES, x_axis
from rltui.screen.pages.hparams_page import PANE as HPARAMS
from rltui.screen.pages.hparams_page import hparams
from rltui.screen.state import CONSOLE, SAMPLES, AppState, ChartOverlay
from rltui.session.run_view import RunView
from rltui.session.time_travel import RunAtStep, span_of

TIME_SHARE = 0.05  # of the run, for one step back in time
TO_EDGE = 10**9


def distance(action: str, rows: int) -> int:
    """By how many items an action moves in a list with so many visible rows; 0 for other actions."""
    half = max(rows // 2, 1)
    pages = {"page-up": -rows, "page-down": rows, "half-up": -half, "half-down": half}
    return {"up": -1, "down": 1, **pages, "home": -TO_EDGE, "end": TO_EDGE}.get(action, 0)


def say_unused(state: AppState, action: str, where: str) -> None:
    """Say that the key of an action does nothing where it was pressed; clicks have no key."""
    if key := state.options.keys.hint_of(action):
        state.notify(f"{key} does nothing {where}; {state.options.keys.hint_of('back')} leaves it")


def go(state: AppState, pane: str, tag: str = "") -> None:
    """Show a pane, and a metric in it."""
    selection = state.selection
    state.overlays.clear()
    selection.pane, selection.pane_recalled = pane, False
    if tag:
        state.metric_query = ""
        selection.row = tag
        row = next((row for row in shown_pane.rows(state) if tag in row.tags), None)
        if row is not None:
            selection.row = row.tag
    state.saved.pane = pane


def go_to_tag(state: AppState, tag: str) -> None:
    """Show a metric in its pane."""
    view = shown_run.run(state)
    if view is not None and tag in view.run.series:
        go(state, view.names.name(tag).pane, tag)


def go_to_chart(state: AppState, tag: str) -> None:
    """The large chart of a metric, over its pane."""
    go_to_tag(state, tag)
    row = shown_pane.selected(state)
    if row is not None and tag in row.tags:
        open_chart(state, row)


def open_chart(state: AppState, row: Row, step: int | None = None) -> None:
    """Open the large chart of a row, with the cursor at a step, else at the crosshair, if the axis has it.

    Earlier trainings of the run are drawn behind the latest one.
    """
    view, step = shown_run.run(state), state.time.crosshair if step is None else step
    axis = x_axis(view, state.saved.axis) if view is not None else None
    known = step is not None and axis is not None and axis.axis not in COMMON_AXES[1:] and not row.own_axis
    cursor = axis.x_of(step) if known and axis is not None and step is not None else None
    earlier = view is not None and view.run.earlier > 0
    state.overlays.append(ChartOverlay(row, cursor=cursor, superseded=earlier))


def move_crosshair(state: AppState, direction: int) -> None:
    """Move the crosshair of all charts by a hundredth of the visible range; at first set it to an edge."""
    view = shown_run.run(state)
    if view is None:
        return
    window = window_for(view, share=state.time.share, at_step=state.time.at_step)
    low, high = round(window.low), round(window.high)
    at = state.time.crosshair
    to = (high if direction < 0 else low) if at is None else at + direction * max((high - low) // 100, 1)
    state.time.crosshair = min(max(to, low), high)


def put_crosshair(state: AppState, share: float) -> None:
    """Set the crosshair to a share, 0 to 1, of the visible steps."""
    view = shown_run.run(state)
    if view is None:
        return
    window = shown_run.window(state, view)
    low, high = window.edges(100)
    state.time.crosshair = min(round(low + (high - low) * share), round(window.high))


def go_to_finding(state: AppState, name: str) -> None:
    """Show the metric of a finding, by its id, else its pane."""
    view = shown_run.run(state)
    finding = next((one for one in shown_run.findings(state) if one.id == name), None)
    if view is None or finding is None:
        return
    if finding.console is not None:
        go_to_line(state, view, finding.console)
    elif tag := next((tag for tag in finding.metrics if tag in view.run.series), ""):
        go_to_tag(state, tag)
    else:
        go(state, finding.pane)


def go_to_line(state: AppState, view: RunView, found: ConsoleEvidence) -> None:
    """Show the line of a console with a failure."""
    go_to_console(state)
    # A line that only looks ordinary may report a failure; and no line that was asked for before follows.
    state.console.level, state.console.wanted = "", None
    report = next((one for one in view.consoles if one.path == found.path), None)
    if report is not None:
        state.console.run = view.name
        open_console(state, report, found.offset)


def open_evidence(state: AppState) -> None:
    """Open the chart of the selected evidence, with the cursor at its onset; else the pane."""
    view, finding = shown_run.run(state), shown_run.selected_finding(state)
    rows = shown_pane.rows(state)
    if view is None or finding is None:
        return
    if finding.console is not None:
        go_to_line(state, view, finding.console)
        return
    if not rows:
        go(state, finding.pane)
        return
    at = state.selection.evidence % len(rows)
    open_chart(state, rows[at], evidence_steps(finding, rows)[at])


def evidence_steps(finding: Finding, rows: Sequence[Row]) -> list[int]:
    """For each metric of a finding, the step of its onset."""
    known = {one.tag: one.since_step for one in finding.evidence}
    return [known.get(row.tag, finding.since_step) for row in rows]


def turn_evidence(state: AppState, by: int, *, stop: bool = False) -> None:
    """Select the next or previous evidence, also of other findings.

    After the last one go to the next pane; with `stop`, as below a chart, stay there.
    """
    selection, count = state.selection, len(shown_run.listed_findings(state))
    to = selection.evidence + by
    if 0 <= to < len(shown_pane.rows(state)):
        selection.evidence = to
        return
    finding = finding_selected(state) + by
    if not 0 <= finding < count:
        if not stop:
            turn_pane(state, by)
        return
    selection.row = str(finding)
    selection.evidence = 0 if by > 0 else max(len(shown_pane.rows(state)) - 1, 0)


def unfold(state: AppState, index: str = "") -> None:
    """Show or hide the consequences of a finding by its index in the list, or of the selected one."""
    if index:
        state.selection.row, state.selection.evidence = index, 0
    finding = shown_run.selected_finding(state)
    if finding is None or not explained(shown_run.findings(state), finding):
        state.notify("it explains no other finding")
    elif finding.id in state.selection.unfolded:
        state.selection.unfolded.remove(finding.id)
    else:
        state.selection.unfolded.add(finding.id)


def turn_to_samples(state: AppState) -> None:
    """Go from charts to the samples of their step, from findings to those of the selected one, and back."""
    if state.on_samples:
        back_from_samples(state)
        return
    step = state.time.crosshair
    if on_findings(state):
        finding = shown_run.selected_finding(state)
        step = finding.since_step if finding is not None else None
    go_to_samples(state, step)


def go_to_samples(state: AppState, step: int | None) -> None:
    """Show the samples of a step, else of the nearest step with samples; None: the newest."""
    state.samples.origin = (state.selection.pane, list(state.overlays))
    go(state, SAMPLES)
    state.samples.step = step


def back_from_samples(state: AppState) -> None:
    """Return to the pane and the chart from which samples were opened."""
    pane, overlays = state.samples.origin or ("overview", [])
    state.samples.origin = None
    go(state, pane)
    state.overlays.extend(overlays)


def turn_to_console(state: AppState) -> None:
    """Show the console at the crosshair, or at the line or time of the selected finding.

    What ended a run, or why it hangs, is told below the line of its last step: at the end of the console.
    """
    view, step, wall_time = shown_run.run(state), state.time.crosshair, None
    if on_findings(state):
        finding = shown_run.selected_finding(state)
        if finding is not None and finding.console is not None and view is not None:
            go_to_line(state, view, finding.console)
            return
        if finding is not None and finding.id in STATES:
            go_to_console(state)
            state.console.level, state.console.at, state.console.wanted = "", None, None
            return
        step = finding.since_step if finding is not None else None
        wall_time = onset_wall_time(view, finding) if finding is not None and view is not None else None
    go_to_console(state, None if step is None else time_and_step_at(state, step, wall_time))


def go_to_console(state: AppState, wanted: TimeAndStep | None = None) -> None:
    """Show the console, at a time or step if one is given."""
    go(state, CONSOLE)
    if wanted is not None:
        state.console.level, state.console.wanted = "", wanted


def time_and_step_at(state: AppState, step: int, wall_time: float | None = None) -> TimeAndStep | None:
    """The time at which the run was at a step."""
    view = shown_run.run(state)
    if view is None:
        return None
    if wall_time is None:
        wall = RunAtStep(view.run, step).wall_time
        wall_time = wall if math.isfinite(wall) else None
    return TimeAndStep(wall_time, step, view.liveness(state.now).total)


def choose_run(state: AppState, name: str) -> None:
    """Show another run."""
    state.selection.run, state.selection.run_chosen = name, True
    state.time.resume()
    state.time.crosshair = None
    state.ranges.forget()


def turn_run(state: AppState, by: int) -> None:
    """Show the next or previous run."""
    ordered, view = state.session.ordered(), shown_run.run(state)
    if view is not None and len(ordered) > 1:
        at = ordered.index(view) if view in ordered else -1
        choose_run(state, ordered[(at + by) % len(ordered)].name)


def turn_pane(state: AppState, by: int) -> None:
    """Show the next or previous pane."""
    pane = state.selection.pane
    tabs = [tab.id for tab in shown_run.tabs(state)]
    if tabs:
        at = tabs.index(pane) if pane in tabs else 0
        go(state, tabs[(at + by) % len(tabs)])


# ---- the selected row


def on_cards(state: AppState) -> bool:
    """Whether the pane shown consists of cards."""
    return state.shown_pane in shown_pane.CARD_PANES


def on_findings(state: AppState) -> bool:
    """Whether the pane shown lists findings."""
    return state.shown_pane == "findings"


def finding_selected(state: AppState) -> int:
    """The index of the selected finding."""
    return shown_run.selected_index(state, len(shown_run.listed_findings(state)))


def move(state: AppState, by: int) -> None:
    """Move the selection by rows, to an edge by `TO_EDGE`; cards by one of their rows, up to half a page."""
    if on_findings(state):
        state.selection.row = str(max(finding_selected(state) + by, 0))
        state.selection.evidence = 0
    elif on_cards(state) and abs(by) <= max(state.drawn_pane.rows // 2, 1):
        move_selection(state, state.drawn_pane.card_columns * (1 if by > 0 else -1), stop=True)
    else:
        move_selection(state, by)


def move_sideways(state: AppState, by: int) -> None:
    """Move to another card, open or close a branch of rows, or go to another pane."""
    if turn_branch(state, is_open=by > 0):
        return
    if on_cards(state) and state.drawn_pane.card_columns > 1:
        move_selection(state, by, stop=True)
    else:
        turn_pane(state, by)


def turn_branch(state: AppState, *, is_open: bool) -> bool:
    """Open or close the branch of the selected row, or close its parent. False without a branch."""
    row = shown_pane.selected(state)
    if row is None or state.overlays:
        return False
    if row.inside and row.is_open is not None and row.is_open != is_open:
        tag = row.tag
    elif row.branch and not is_open:
        tag = row.branch[-1]
    else:
        return False
    state.selection.branches[tag] = is_open
    state.selection.row = tag
    return True


def move_selection(state: AppState, by: int, *, stop: bool = False) -> None:
    """Move the selection by some rows, with `stop` only if it stays within the list."""
    if on_findings(state):
        turn_evidence(state, by, stop=stop)
        return
    if state.selection.pane == HPARAMS:
        pane = hparams(state)
        keys = [row.key for row in pane.hparams] if pane is not None else []
    else:
        keys = [row.tag for row in shown_pane.rows(state)]
        if on_cards(state) and state.drawn_pane.cards:
            keys = keys[: state.drawn_pane.cards]
    if not keys:
        return
    selected = state.selection.row
    to = (keys.index(selected) if selected in keys else 0) + by
    if not stop or 0 <= to < len(keys):
        state.selection.row = keys[min(max(to, 0), len(keys) - 1)]


# ---- the step shown


def pause(state: AppState) -> None:
    """Freeze the present, or return to it from an earlier step."""
    view, time = shown_run.run(state), state.time
    if time.at_step is not None:
        _return_to_present(state)
    elif view is not None and view.run.last_step is not None:
        time.at_step, time.frozen_now = view.run.last_step, state.now


def travel(state: AppState, direction: int) -> None:
    """Move the step shown by a twentieth of the run, back to the present where it was left."""
    view, time = shown_run.run(state), state.time
    if view is None:
        return
    if direction > 0 and time.at_step is None:
        state.notify("this is the newest step")
        return
    first, last = span_of(view.run)
    step = max(round((last - first) * TIME_SHARE), 1)
    to = (last if time.at_step is None else time.at_step) + direction * step
    if to >= (last if time.reached is None else min(time.reached, last)):
        _return_to_present(state)
    else:
        reached = last if time.reached is None else time.reached
        time.at_step, time.frozen_now, time.reached = max(to, first), state.now, reached


def _return_to_present(state: AppState) -> None:
    """Show the newest step again."""
    state.time.resume()
    state.notify(shown_run.present_again(state))


def toggle(names: list[str], name: str) -> bool:
    """Add a name to a list, or remove it. True when it is in the list now."""
    if name in names:
        names.remove(name)
        return False
    names.append(name)
    return True


# ---- the console shown


def choose_console(state: AppState) -> None:
    """Until the user chooses one, show the console with the worst failure, else the one written last."""
    view, chosen = shown_run.run(state), state.console
    if view is None or not view.consoles:
        return
    if chosen.run == view.name and any(one.place == chosen.place for one in view.consoles):
        return
    found = console_findings_of(view)
    failed = found[0].console.path if found and found[0].console is not None else ""
    report = next((one for one in view.consoles if one.path == failed), view.consoles[0])
    chosen.run = view.name
    open_console(state, report)


def open_console(state: AppState, report: ConsoleReport, at: int | None = None) -> None:
    """Show a console, at a line or at its end."""
    chosen = state.console
    if chosen.place != report.place:
        chosen.unfolded.clear()
    chosen.place, chosen.at = report.place, at


def go_to_located_line(state: AppState) -> None:
    """Select the line that was asked for, once it is located."""
    chosen = state.console
    located = state.threads.console.located
    if chosen.wanted is None or located is None or located.wanted != chosen.wanted:
        return
    if located.offset is None:
        state.notify(f"{PurePath(located.path).name} tells neither times nor steps that could be compared")
    else:
        chosen.at = located.offset
    chosen.wanted = None
