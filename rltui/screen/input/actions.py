"""The actions of panes. An unknown action does nothing."""

from __future__ import annotations

from collections.abc import Callable

from rltui.panes.pane_tabs import PANES
from rltui.screen import shown_pane, shown_run
from rltui.screen.input import navigation
from rltui.screen.pages.hparams_page import PANE as HPARAMS
from rltui.screen.pages.hparams_page import hparams, selected_hparam
from rltui.screen.save_snapshot import save_snapshot
from rltui.screen.state import (
    CONSOLE,
    DENSITIES,
    PINNED,
    SAMPLES,
    SMOOTHINGS,
    WINDOW_SHARES,
    AppState,
    FilterPrompt,
    ListOverlay,
)

Action = Callable[[AppState, str], None]

_OF_RUNS = ("next-run", "previous-run", "mark")
_OF_ONE_RUN = ("pause", "earlier", "later", "next-finding", "previous-finding", "mark")
_OF_CURVES = ("crosshair-back", "crosshair-on")
_OF_METRICS = ("open", "explain", "pin", "together", "log", "copy")


def perform(state: AppState, action: str, argument: str = "") -> None:
    """Do an action that no overlay has handled."""
    if action == f"pane:{SAMPLES}":
        navigation.turn_to_samples(state)
        return
    if action == f"pane:{CONSOLE}":
        navigation.turn_to_console(state)
        return
    if action.startswith("pane:"):
        navigation.go(state, action.removeprefix("pane:"))
        return
    if by := navigation.distance(action, state.drawn_pane.rows):
        navigation.move(state, by)
        return
    found = ACTIONS.get(action)
    if found is None:  # of a key that only works elsewhere: its words say where
        bind = next((bind for bind in state.options.keys.binds if bind.action == action), None)
        if bind is not None:
            state.notify(bind.words)
    elif why := "" if argument else _obstacle(state, action):
        state.notify(why)
    else:
        found(state, argument)


def _obstacle(state: AppState, action: str) -> str:
    """Why an action would do nothing here, in one line; empty if it does something."""
    if action in _OF_ONE_RUN and shown_run.run(state) is None:
        return "there is no run yet"
    if action in _OF_RUNS:
        return "" if len(state.session.runs) > 1 else "there is no other run"
    if action in _OF_CURVES:
        if navigation.on_findings(state):
            return "the findings have no crosshair"
        return "" if shown_pane.rows(state) else "there is no curve here"
    if action not in _OF_METRICS:
        return ""
    if state.selection.pane == HPARAMS and action in ("open", "copy"):
        return "" if selected_hparam(state) is not None else "no setting is selected here"
    if navigation.on_findings(state) and action == "open":
        return "" if shown_run.selected_finding(state) is not None else "there is no finding here"
    return "" if shown_pane.selected(state) is not None else "no metric is selected here"


# ---- looking closer


def _open(state: AppState, _: str) -> None:
    if state.selection.pane == HPARAMS:
        hparam = selected_hparam(state)
        if hparam is not None:
            state.overlays.append(ListOverlay("setting", hparam.key))
    elif navigation.on_findings(state):
        navigation.open_evidence(state)
    elif (row := shown_pane.selected(state)) is not None:
        if row.is_open is False or row.kind == "folder":
            navigation.turn_branch(state, is_open=not row.is_open)
        else:
            navigation.open_chart(state, row)


def _select(state: AppState, row: str) -> None:
    """A click: select a row, or open the selected one."""
    if state.selection.pane == HPARAMS:
        hparam = selected_hparam(state)
        selected = hparam is not None and hparam.key == row
    else:
        metric = shown_pane.selected(state)
        selected = metric is not None and metric.tag == row
    state.selection.row = row
    if selected:
        _open(state, "")


def _select_evidence(state: AppState, argument: str) -> None:
    """A click: select a finding and one of its metrics, or open the chart of the selected one."""
    finding, _, evidence = argument.partition(" ")
    chosen, selection = (finding, int(evidence or 0)), state.selection
    if (selection.row or "0", selection.evidence) == chosen:
        navigation.open_evidence(state)
    selection.row, selection.evidence = chosen


def _turn_finding(state: AppState, by: int) -> None:
    """To the next or previous metric with a finding."""
    view = shown_run.run(state)
    if view is None:
        return
    found = shown_run.findings(state)
    tags = list(dict.fromkeys(tag for one in found for tag in one.metrics if tag in view.run.series))
    if not tags:
        state.notify("no findings")
        return
    row = shown_pane.selected(state)
    at = next((index for index, tag in enumerate(tags) if row is not None and tag in row.tags), -(by > 0))
    navigation.go_to_tag(state, tags[(at + by) % len(tags)])


def _acknowledge(state: AppState, *, snooze: bool) -> None:
    view, finding = shown_run.run(state), shown_run.selected_finding(state)
    firing = finding is not None and finding.state != "resolved"
    if view is None or state.selection.pane != "findings" or finding is None or not firing:
        state.notify("choose a finding in the findings pane first")
    elif snooze:
        on = state.acknowledgements.snooze(view.name, finding, state.options.clock())
        key = state.options.keys.hint_of("snooze")
        state.notify(f"snoozed for half an hour; {key} again wakes it" if on else "awake again")
    else:
        on = state.acknowledgements.acknowledge(view.name, finding)
        key = state.options.keys.hint_of("acknowledge")
        state.notify(
            f"acknowledged until it resolves; {key} again undoes it" if on else "no longer acknowledged"
        )


def _explain(state: AppState, _: str) -> None:
    row = shown_pane.selected(state)
    if row is not None:
        state.overlays.append(ListOverlay("explain", row=row))


def _back(state: AppState, _: str) -> None:
    if state.overlays:
        state.overlays.pop()
    elif state.query:
        state.query = ""
    elif state.on_samples and state.samples.origin is not None:
        navigation.back_from_samples(state)
    elif state.time.crosshair is not None:
        state.time.crosshair = None
    elif state.time.at_step is not None:
        state.time.resume()
    elif state.selection.pane != "overview":
        navigation.go(state, "overview")


# ---- runs


def _runs(state: AppState, _: str) -> None:
    view = shown_run.run(state)
    state.overlays.append(ListOverlay("runs", view.name if view is not None else ""))


def _run(state: AppState, name: str) -> None:
    if name in state.session.runs:
        navigation.choose_run(state, name)


def _mark(state: AppState, _: str) -> None:
    view = shown_run.run(state)
    if view is not None:
        marked = navigation.toggle(state.selection.marked_runs, view.name)
        words = "is marked: it lies over the charts of other runs" if marked else "is no longer marked"
        state.notify(f"{shown_run.short_name(state, view.name)} {words}")


def _baseline(state: AppState, name: str) -> None:
    """Set or remove the baseline."""
    state.selection.baseline = name or None
    other = shown_run.short_name(state, name) if name else ""
    state.notify(f"values are compared with {other}" if name else "compared with no run")


def _only_differences(state: AppState, _: str) -> None:
    """Show only the settings that differ, or all; a single run differs from none."""
    pane = hparams(state)
    navigation.go(state, HPARAMS)
    if pane is None or len(pane.columns) < 2:
        state.notify("nothing to compare with: mark other runs in the list of runs")
        return
    only = not pane.only_differences
    state.hparams.only_differences = only
    state.notify("only settings that differ" if only else "all settings")


# ---- layout


def _window(state: AppState, _: str) -> None:
    state.time.window = (state.time.window + 1) % len(WINDOW_SHARES)
    state.ranges.forget()


def _log(state: AppState, _: str) -> None:
    """Toggle between a linear and a logarithmic axis for the selected metric."""
    row = shown_pane.selected(state)
    if row is None or state.selection.pane == HPARAMS:
        return
    scales = state.ranges.scales
    scales[row.tag] = not scales.get(row.tag, row.tag in state.ranges.automatic)
    state.notify(f"{row.title}: {'logarithmic' if scales[row.tag] else 'linear'} axis")


def _outliers(state: AppState, _: str) -> None:
    shown_all = state.ranges.outliers = state.saved.outliers = not state.saved.outliers
    state.notify("charts show all outliers" if shown_all else "outliers that flatten a curve are cut off")


def _density(state: AppState, _: str) -> None:
    saved = state.saved
    at = DENSITIES.index(saved.density) if saved.density in DENSITIES else 0
    saved.density = DENSITIES[(at + 1) % len(DENSITIES)]
    state.notify(f"density: {saved.density}")


def _smooth(state: AppState, by: int) -> None:
    state.smoothing = state.saved.smoothing = min(max(state.smoothing + by, 0), len(SMOOTHINGS) - 1)
    weight = SMOOTHINGS[state.smoothing]
    state.notify(f"chart smoothing {weight:.2f}" if weight else "chart smoothing off")


def _theme(state: AppState, name: str) -> None:
    themes = state.options.themes
    names = sorted(themes)
    if name not in themes:
        name = names[(names.index(state.theme.id) + 1) % len(names)]
    state.theme_id = state.saved.theme = name
    state.requests.append(("theme", name))
    state.notify(f"theme: {themes[name].title}")


def _pin(state: AppState, _: str) -> None:
    row = shown_pane.selected(state)
    if row is not None:
        pinned = _toggle_pin(state, row.tag)
        if state.selection.pane != PINNED:
            state.selection.row = row.tag
        key = state.options.keys.hint_of(f"pane:{PINNED}")
        state.notify(f"pinned: {key} shows all pinned metrics side by side" if pinned else "no longer pinned")


def _toggle_pin(state: AppState, tag: str) -> bool:
    """Pin a tag of the run shown, or unpin all tags of any run for the same metric."""
    view, pins = shown_run.run(state), state.saved.pins
    same = [pin for pin in pins if view is not None and shown_run.own_tag(state, view, pin) == tag]
    state.saved.pins = [pin for pin in pins if pin not in same] if same else [*pins, tag]
    return not same


def _overlay_metric(state: AppState, tag: str) -> None:
    row = shown_pane.selected(state) if not tag else None
    tag = tag or (row.tag if row is not None else "")
    if not tag:
        return
    drawn = navigation.toggle(state.selection.added_tags, tag)
    key = state.options.keys.hint_of("together")
    words = (
        f"drawn in large charts of others, until {key} again" if drawn else "no longer in charts of others"
    )
    if not state.overlays:  # a chart shows it itself
        state.notify(f"{words}: {tag}")


def _hide(state: AppState, pane: str) -> None:
    """Hide a pane from the tabs, or show it again; on the overview the one hidden last."""
    pane = pane or state.selection.pane
    hidden = state.saved.hidden
    if pane == "overview" and hidden:  # hiding goes to the overview, so that the key undoes itself
        pane = hidden[-1]
    view = shown_run.run(state)
    own = None if view is None else view.names.pane_titles.get(pane)
    title = own or (PANES[pane].tab if pane in PANES else pane)
    if pane in hidden:
        hidden.remove(pane)
        state.notify(f"{title} is among the tabs again")
    elif pane in ("overview", "findings"):
        state.notify(f"{title} cannot be hidden")
    else:
        hidden.append(pane)
        if state.selection.pane == pane:
            navigation.go(state, "overview")
        key = state.options.keys.hint_of("hide")
        state.notify(f"{title} is hidden; {key} on the overview shows it again")


# ---- sharing


def _copy(state: AppState, _: str) -> None:
    if state.selection.pane == HPARAMS:
        hparam = selected_hparam(state)
        text = f"{hparam.key} = {hparam.first.text}" if hparam is not None and hparam.first else ""
        message = f"copied {text[:60]}"
    else:
        row = shown_pane.selected(state)
        text = row.tag if row is not None else ""
        message = f"copied {text}"
    if text:
        state.requests.append(("copy", text))
        state.notify(message)


def _leave(code: int) -> Action:
    def leave(state: AppState, _: str) -> None:
        state.exit_code = code

    return leave


ACTIONS: dict[str, Action] = {
    "left": lambda state, _: navigation.move_sideways(state, -1),
    "right": lambda state, _: navigation.move_sideways(state, 1),
    "next-pane": lambda state, _: navigation.turn_pane(state, 1),
    "previous-pane": lambda state, _: navigation.turn_pane(state, -1),
    "open": _open,
    "select": _select,
    "go-finding": navigation.go_to_finding,
    "select-evidence": _select_evidence,
    "next-evidence": lambda state, _: navigation.turn_evidence(state, 1),
    "previous-evidence": lambda state, _: navigation.turn_evidence(state, -1),
    "unfold": navigation.unfold,
    "next-finding": lambda state, _: _turn_finding(state, 1),
    "previous-finding": lambda state, _: _turn_finding(state, -1),
    "acknowledge": lambda state, _: _acknowledge(state, snooze=False),
    "snooze": lambda state, _: _acknowledge(state, snooze=True),
    "explain": _explain,
    "problems": lambda state, _: state.overlays.append(ListOverlay("problems")),
    "help": lambda state, _: state.overlays.append(ListOverlay("help")),
    "runs": _runs,
    "run": _run,
    "next-run": lambda state, _: navigation.turn_run(state, 1),
    "previous-run": lambda state, _: navigation.turn_run(state, -1),
    "mark": _mark,
    "baseline": _baseline,
    "filter": lambda state, _: state.overlays.append(FilterPrompt()),
    "palette": lambda state, _: state.overlays.append(ListOverlay("palette")),
    "back": _back,
    "pause": lambda state, _: navigation.pause(state),
    "earlier": lambda state, _: navigation.travel(state, -1),
    "later": lambda state, _: navigation.travel(state, 1),
    "window": _window,
    "log": _log,
    "outliers": _outliers,
    "crosshair-back": lambda state, _: navigation.move_crosshair(state, -1),
    "crosshair-on": lambda state, _: navigation.move_crosshair(state, 1),
    "density": _density,
    "smoother": lambda state, _: _smooth(state, 1),
    "rougher": lambda state, _: _smooth(state, -1),
    "theme": _theme,
    "pin": _pin,
    "together": _overlay_metric,
    "hide": _hide,
    "copy": _copy,
    "differences": _only_differences,
    "snapshot": lambda state, _: save_snapshot(state),
    "redraw": lambda state, _: state.requests.append(("redraw", "")),
    "quit": _leave(0),
    "interrupt": _leave(130),
}
