"""What every action does to the desk. An unknown action does nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rltui.rules.finding import Finding
from rltui.screen.pages import hparams_page
from rltui.screen.pages.pane_choice import hide
from rltui.screen.shown_step import live, pause, travel

if TYPE_CHECKING:
    from rltui.screen.state import AppState

SMOOTHINGS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99)  # EMA weights of charts


def perform(desk: AppState, action: str, argument: str = "") -> None:
    """Do an action that no overlay has taken."""
    if action.startswith("pane:"):
        desk.go(action[5:])
        return
    found = _ACTIONS.get(action)
    if found is not None:
        found(desk, argument)


def _move(by: int) -> Callable[[AppState, str], None]:
    def move(desk: AppState, _: str) -> None:
        if desk.pane == "findings" and not desk.query:
            at = desk.chosen.get("findings", "0")
            desk.chosen["findings"] = str(max(int(at if at.isdigit() else 0) + by, 0))
            return
        wide = desk.pane == "overview" and not desk.query
        step_to(desk, by * (desk.card_columns if wide else 1), stop=wide)

    return move


def step_to(desk: AppState, by: int, *, stop: bool = False) -> None:
    """Move the selection by some rows; with `stop` not at all when that would leave the list."""
    if desk.pane == "config":
        hparams_page.step(desk, by)
        return
    rows = desk.rows()
    if not rows:
        return
    tag = desk.chosen.get(desk.pane, "")
    at = next((index for index, row in enumerate(rows) if row.tag == tag), 0)
    to = at + by
    if stop and not 0 <= to < len(rows):
        return
    desk.chosen[desk.pane] = rows[min(max(to, 0), len(rows) - 1)].tag


def _sideways(by: int) -> Callable[[AppState, str], None]:
    def move(desk: AppState, _: str) -> None:
        if desk.pane == "overview" and not desk.query and desk.card_columns > 1:
            step_to(desk, by, stop=True)
        else:
            _turn(by)(desk, "")

    return move


def _turn(by: int) -> Callable[[AppState, str], None]:
    def turn(desk: AppState, _: str) -> None:
        tabs = [tab.id for tab in desk.tabs()]
        if tabs:
            at = tabs.index(desk.pane) if desk.pane in tabs else 0
            desk.go(tabs[(at + by) % len(tabs)])

    return turn


def _page(by: int) -> Callable[[AppState, str], None]:
    return lambda desk, _: step_to(desk, by * desk.page_rows)


def _edge(last: bool) -> Callable[[AppState, str], None]:
    def jump(desk: AppState, _: str) -> None:
        if desk.pane == "findings" and not desk.query:
            desk.chosen["findings"] = "9999" if last else "0"
            return
        step_to(desk, 10**9 if last else -(10**9))

    return jump


def _open(desk: AppState, _: str) -> None:
    if desk.pane == "config":
        hparams_page.show(desk)
        return
    if desk.pane == "findings" and not desk.query:
        at = desk.chosen.get("findings", "0")
        _go_finding(desk, at)
        return
    row = desk.selected()
    if row is not None:
        from rltui.screen.pages.chart.chart_page import ChartPage

        desk.overlays.append(ChartPage(desk, row))


def _select(desk: AppState, tag: str) -> None:
    if desk.chosen.get(desk.pane) == tag:
        _open(desk, "")
    else:
        desk.chosen[desk.pane] = tag


def _go_finding(desk: AppState, argument: str) -> None:
    view = desk.view
    findings: list[Finding] = [*desk.findings(), *desk.history()]
    at = int(argument) if argument.isdigit() else 0
    if at < len(findings):
        tag = next((tag for tag in findings[at].metrics if view is not None and tag in view.run.series), "")
        if tag:
            desk.go_to_tag(tag)
        else:
            desk.go(findings[at].pane)


def _hush(*, timed: bool) -> Callable[[AppState, str], None]:
    def hush(desk: AppState, _: str) -> None:
        view, findings = desk.view, desk.findings()
        at = desk.chosen.get("findings", "0")
        if view is None or desk.pane != "findings" or not at.isdigit() or int(at) >= len(findings):
            desk.say("choose a finding in the findings pane first")
            return
        finding = findings[int(at)]
        if timed:
            on = desk.hush.snooze(view.name, finding, desk.clock())
            desk.say("snoozed for half an hour" if on else "awake again")
        else:
            on = desk.hush.acknowledge(view.name, finding)
            desk.say("acknowledged until it resolves" if on else "no longer acknowledged")

    return hush


def _next_finding(desk: AppState, _: str) -> None:
    view = desk.view
    if view is None:
        return
    tags = list(
        dict.fromkeys(tag for one in desk.findings() for tag in one.metrics if tag in view.run.series)
    )
    if not tags:
        desk.say("no findings")
        return
    row = desk.selected()
    here = next((index for index, tag in enumerate(tags) if row is not None and tag in row.tags), -1)
    desk.go_to_tag(tags[(here + 1) % len(tags)])


def _explain(desk: AppState, _: str) -> None:
    row = desk.selected()
    if row is not None:
        from rltui.screen.pages.explain_page import ExplainPage

        desk.overlays.append(ExplainPage(row))


def _help(desk: AppState, _: str) -> None:
    from rltui.screen.pages.help_page import HelpPage

    desk.overlays.append(HelpPage())


def _runs(desk: AppState, _: str) -> None:
    from rltui.screen.pages.runs_page import RunsPage

    desk.overlays.append(RunsPage(desk))


def _run(desk: AppState, name: str) -> None:
    if name in desk.session.runs:
        desk.choose_run(name)


def _turn_run(by: int) -> Callable[[AppState, str], None]:
    def turn(desk: AppState, _: str) -> None:
        ordered = desk.session.ordered()
        view = desk.view
        if view is not None and len(ordered) > 1:
            desk.choose_run(ordered[(ordered.index(view) + by) % len(ordered)].name)

    return turn


def _mark(desk: AppState, _: str) -> None:
    view = desk.view
    if view is None:
        return
    if view.name in desk.marked:
        desk.marked.remove(view.name)
        desk.say(f"{desk.brief(view.name)} is no longer marked")
    else:
        desk.marked.append(view.name)
        desk.say(f"{desk.brief(view.name)} is marked: it lies over the charts of other runs")


def _baseline(desk: AppState, name: str) -> None:
    """Compare with a run, or with none."""
    desk.baseline = name or None
    desk.say(f"values are compared with {desk.brief(name)}" if name else "compared with no run")


def _filter(desk: AppState, _: str) -> None:
    from rltui.screen.input.prompt import FilterPrompt

    desk.overlays.append(FilterPrompt(desk))


def _palette(desk: AppState, _: str) -> None:
    from rltui.screen.input.prompt import CommandPalette

    desk.overlays.append(CommandPalette(desk))


def _back(desk: AppState, _: str) -> None:
    if desk.overlays:
        desk.close()
    elif desk.query:
        desk.query = ""
    elif desk.at_step is not None:
        live(desk)
    elif desk.pane != "overview":
        desk.go("overview")


def _window(desk: AppState, _: str) -> None:
    from rltui.screen.state import SHARES

    desk.share = (desk.share + 1) % len(SHARES)
    desk.ranges.shown.clear()


def _density(desk: AppState, _: str) -> None:
    from rltui.screen.state import DENSITIES

    at = DENSITIES.index(desk.memory.density) if desk.memory.density in DENSITIES else 0
    desk.memory.density = DENSITIES[(at + 1) % len(DENSITIES)]
    desk.say(f"density: {desk.memory.density}")


def _smooth(by: int) -> Callable[[AppState, str], None]:
    def smooth(desk: AppState, _: str) -> None:
        desk.smoothing = desk.memory.smoothing = min(max(desk.smoothing + by, 0), len(SMOOTHINGS) - 1)
        weight = SMOOTHINGS[desk.smoothing]
        desk.say(f"chart smoothing {weight:.2f}" if weight else "chart smoothing off")

    return smooth


def _theme(desk: AppState, name: str) -> None:
    names = sorted(desk.themes)
    if name not in desk.themes:
        name = names[(names.index(desk.theme.id) + 1) % len(names)]
    desk.wanted_theme = desk.memory.theme = name
    desk.outbox.append(("theme", name))
    desk.say(f"theme: {desk.themes[name].title}")


def _pin(desk: AppState, _: str) -> None:
    row = desk.selected()
    if row is None:
        return
    if row.tag in desk.memory.pins:
        desk.memory.pins.remove(row.tag)
    else:
        desk.memory.pins.append(row.tag)
    desk.chosen[desk.pane] = row.tag


def _together(desk: AppState, tag: str) -> None:
    row = desk.selected() if not tag else None
    tag = tag or (row.tag if row is not None else "")
    if not tag:
        return
    if tag in desk.together:
        desk.together.remove(tag)
        word = "no longer in charts of others"
    else:
        desk.together.append(tag)
        word = "drawn in large charts of other metrics"
    if not desk.overlays:  # a chart shows it itself
        desk.say(f"{word}: {tag}")


def _copy(desk: AppState, _: str) -> None:
    if desk.pane == "config":
        text = hparams_page.copied(desk)
        if text:
            desk.outbox.append(("copy", text))
            desk.say(f"copied {text[:60]}")
        return
    row = desk.selected()
    if row is not None:
        desk.outbox.append(("copy", row.tag))
        desk.say(f"copied {row.tag}")


def _snapshot(desk: AppState, _: str) -> None:
    from rltui.screen.save_snapshot import take

    take(desk)


def _leave(code: int) -> Callable[[AppState, str], None]:
    def leave(desk: AppState, _: str) -> None:
        desk.exit_code = code

    return leave


_ACTIONS: dict[str, Callable[[AppState, str], None]] = {
    "up": _move(-1),
    "down": _move(1),
    "left": _sideways(-1),
    "right": _sideways(1),
    "page-up": _page(-1),
    "page-down": _page(1),
    "home": _edge(False),
    "end": _edge(True),
    "next-pane": _turn(1),
    "previous-pane": _turn(-1),
    "open": _open,
    "select": _select,
    "go-finding": _go_finding,
    "next-finding": _next_finding,
    "acknowledge": _hush(timed=False),
    "snooze": _hush(timed=True),
    "explain": _explain,
    "help": _help,
    "runs": _runs,
    "run": _run,
    "next-run": _turn_run(1),
    "previous-run": _turn_run(-1),
    "mark": _mark,
    "baseline": _baseline,
    "filter": _filter,
    "palette": _palette,
    "back": _back,
    "pause": lambda desk, _: pause(desk),
    "earlier": lambda desk, _: travel(desk, -1),
    "later": lambda desk, _: travel(desk, 1),
    "window": _window,
    "density": _density,
    "smoother": _smooth(1),
    "rougher": _smooth(-1),
    "theme": _theme,
    "pin": _pin,
    "together": _together,
    "hide": hide,
    "copy": _copy,
    "differences": lambda desk, _: hparams_page.turn(desk),
    "snapshot": _snapshot,
    "redraw": lambda desk, _: desk.outbox.append(("redraw", "")),
    "quit": _leave(0),
    "interrupt": _leave(130),
}
