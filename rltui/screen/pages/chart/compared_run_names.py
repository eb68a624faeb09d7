"""Compared runs, which are the marked ones and the baseline: their curves in cards, their names."""

from __future__ import annotations

from rltui.common.display_text import cell_width, fit
from rltui.draw.cells import Line, Span, sides
from rltui.draw.numbers import format_step
from rltui.panes.charts.compared_series import SIGNS, compared_series
from rltui.panes.charts.sister_band import sister_series
from rltui.panes.render.card_curve import CardStyle
from rltui.screen import run_list, shown_run
from rltui.screen.shown_pane import differences
from rltui.screen.state import AppState
from rltui.session.run_view import RunView

MIN_NAME_CELLS = 8  # of a shortened name


def card_style(state: AppState) -> CardStyle:
    """How cards are drawn at the moment: with the runs that the user selected, else with sister runs."""
    style = CardStyle(state.ranges, state.time.crosshair)
    view = shown_run.run(state)
    if view is None:
        return style
    runs = shown_run.compared_runs(state, view)
    if runs:
        return style._replace(compared=lambda row: compared_series(view, row, runs))
    sisters = run_list.sisters(state, view, everywhere=False)
    return style._replace(sisters=lambda row: sister_series(view, row.tag, sisters))


def sign_of(state: AppState, run: RunView) -> Span:
    """The sign of a run where runs are listed: that of its curve if it is marked, blank if it is not."""
    view = shown_run.run(state)
    if run.name not in state.selection.marked_runs or view is None:
        return ("  ", "text")
    if run is view:
        return ("━ ", "accent")
    runs = shown_run.compared_runs(state, view)
    at = next((at for at, one in enumerate(runs, start=1) if one is run), len(SIGNS))
    return (f"{SIGNS[at]} ", f"series{at}") if at < len(SIGNS) else ("+ ", "dim")


def names_line(state: AppState, view: RunView, width: int) -> Line | None:
    """`━ this run  ◆ other  ★ good baseline: medians up to step 120`, and how many are marked; or None.

    Values and differences are medians over the last tenth of the way to that step.
    """
    runs = shown_run.compared_runs(state, view)
    if not runs:
        return None
    marked = sum(one.name in state.selection.marked_runs for one in runs)
    right: list[Span] = [(f"{marked} marked ", "dim")] if marked else []
    named = [("━ ", "accent", shown_run.short_name(state, view.name), "")]
    for at, run in enumerate(runs[: len(SIGNS) - 1], start=1):
        name = shown_run.short_name(state, run.name)
        named.append((f"{SIGNS[at]} ", f"series{at}", name, _baseline_words(state, run)))
    room = width - 3 - sum(cell_width(text) for text, _ in right)

    def cells(most: int) -> int:
        return sum(min(cell_width(name), most) + cell_width(word) + 5 for *_, name, word in named)

    while len(named) > 2 and cells(MIN_NAME_CELLS) > room - 5:  # shorter names would not be readable
        named.pop()
    more = len(runs) + 1 - len(named)
    if more:
        right.insert(0, (f"+{more}  ", "dim"))
        room -= cell_width(right[0][0])
    most = max(cell_width(name) for *_, name, _ in named)
    if right and not more and room < cells(most) <= width - 3:  # all are named, and then in full
        right, room = [], width - 3
    while most > MIN_NAME_CELLS and cells(most) > room:
        most -= 1
    left: list[Span] = [(" ", "text")]
    for sign, role, name, word in named:
        left += [(sign, role), (fit(name, most), "text"), (word, "dim"), ("   ", "text")]
    return sides(left, right, width)


def _baseline_words(state: AppState, run: RunView) -> str:
    if run is not shown_run.baseline(state):
        return ""
    found = differences(state) or {}
    steps = [one.step for one in found.values() if one.step is not None]
    return f" baseline: medians up to step {format_step(steps[0])}" if steps else " baseline"
