"""Runs beside the one shown: those marked and the baseline, and their names in a line under the tabs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rltui.draw.cells import Line, Span, sides
from rltui.draw.numbers import format_step
from rltui.panes.other_runs import SIGNS, OtherRun, beside
from rltui.panes.row import Row
from rltui.text import cell_width, fit

if TYPE_CHECKING:
    from rltui.screen.state import AppState
    from rltui.session.run_view import RunView


NAME_LEAST = 8  # cells of a name that is cut


def compared(desk: AppState, view: RunView) -> list[RunView]:
    """The runs that are drawn beside the one shown: those marked, in their order, and the baseline."""
    names = [*desk.marked, desk.base.name if desk.base else ""]
    kept = [name for name in dict.fromkeys(names) if name != view.name]
    return [desk.session.runs[name] for name in kept if name in desk.session.runs]


def others(desk: AppState) -> Callable[[Row], tuple[OtherRun, ...]]:
    """What the runs beside the one shown have of a metric; the runs are looked up once."""
    view = desk.view
    if view is None:
        return lambda row: ()
    runs = compared(desk, view)
    return lambda row: beside(view, row, runs)


def sign_of(desk: AppState, run: RunView) -> Span:
    """The sign of a run where runs are listed: that of its curve if it is marked, blank if it is not."""
    view = desk.view
    if run.name not in desk.marked or view is None:
        return ("  ", "text")
    if run is view:
        return ("━ ", "accent")
    at = next((at for at, one in enumerate(compared(desk, view), start=1) if one is run), len(SIGNS))
    return (f"{SIGNS[at]} ", f"series{at}") if at < len(SIGNS) else ("+ ", "dim")


def names_line(desk: AppState, width: int) -> Line | None:
    """`━ this run  ◆ other  ■ good baseline at 120`, and how many are marked; None when there are none.

    The step is that at which values and differences are taken.
    """
    view = desk.view
    runs = compared(desk, view) if view is not None else []
    if view is None or not runs:
        return None
    marked = sum(one.name in desk.marked for one in runs)
    right: list[Span] = [(f"{marked} marked ", "dim")] if marked else []
    told = [("━ ", "accent", desk.brief(view.name), "")]
    for at, run in enumerate(runs[: len(SIGNS) - 1], start=1):
        told.append((f"{SIGNS[at]} ", f"series{at}", desk.brief(run.name), _role_of(desk, run)))
    room = width - 3 - sum(cell_width(text) for text, _ in right)

    def cells(most: int) -> int:
        return sum(min(cell_width(name), most) + cell_width(word) + 5 for *_, name, word in told)

    while len(told) > 2 and cells(NAME_LEAST) > room - 5:  # names that say nothing help nobody
        told.pop()
    more = len(runs) + 1 - len(told)
    if more:
        right.insert(0, (f"+{more}  ", "dim"))
        room -= cell_width(right[0][0])
    most = max(cell_width(name) for *_, name, _ in told)
    while most > NAME_LEAST and cells(most) > room:
        most -= 1
    left: list[Span] = [(" ", "text")]
    for sign, role, name, word in told:
        left += [(sign, role), (fit(name, most), "text"), (word, "dim"), ("   ", "text")]
    return sides(left, right, width)


def _role_of(desk: AppState, run: RunView) -> str:
    if run is not desk.base:
        return ""
    found = desk.differences() or {}
    steps = [one.step for one in found.values() if one.step is not None]
    return f" baseline at {format_step(steps[0])}" if steps else " baseline"
