"""Which pane is shown: what was remembered and is empty now, what a person has hidden from the tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rltui.panes.pane_list import WITHOUT_METRICS

if TYPE_CHECKING:
    from rltui.batch import Problem
    from rltui.screen.state import AppState


def settle(desk: AppState) -> None:
    """Leave a pane of an earlier session in which the run has nothing, once all is read: it looks broken."""
    view = desk.view
    if not desk.recalled or view is None or not view.run.series:
        return
    there = desk.pane in WITHOUT_METRICS or desk.pane in view.tag_index.panes
    if there or desk.loading is None:
        desk.recalled = False
        desk.pane = desk.pane if there else "overview"


def troubles(desk: AppState) -> list[Problem]:
    """Warnings about the run's log files: they stand in the findings pane, so its tab counts them."""
    view = desk.view
    return [] if view is None else [one for one in view.file_problems(desk.clock()) if one.level != "info"]


def hide(desk: AppState, pane: str) -> None:
    """Hide a pane from the tabs, or show it again; on the overview the one that was hidden last."""
    pane = pane or desk.pane
    hidden = desk.memory.hidden
    if pane == "overview" and hidden:  # that is where hiding leads to: the key undoes itself
        pane = hidden[-1]
    if pane in hidden:
        hidden.remove(pane)
        desk.say(f"{pane} is among the tabs again")
    elif pane in ("overview", "findings"):
        desk.say(f"{pane} cannot be hidden")
    else:
        hidden.append(pane)
        if desk.pane == pane:
            desk.go("overview")
        desk.say(f"{pane} is hidden; {desk.keys.hint_of('hide')} on the overview shows it again")
