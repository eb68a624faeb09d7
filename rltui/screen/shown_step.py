"""The moment that the screen shows: now, paused, or earlier in the run; and the header that says which."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rltui.session.time_travel import span_of

if TYPE_CHECKING:
    from rltui.panes.overview import Header
    from rltui.screen.state import AppState

SHARE = 0.05  # of the run that one step back in time goes


def live(desk: AppState) -> None:
    """Show what is, and go on."""
    desk.at_step = desk.frozen_now = desk.reached = None


def pause(desk: AppState) -> None:
    """Freeze what is shown; from any earlier moment it is now again."""
    view = desk.view
    if desk.at_step is not None:
        live(desk)
        desk.say("live again")
    elif view is not None and view.run.last_step is not None:
        desk.at_step, desk.frozen_now = view.run.last_step, desk.now


def travel(desk: AppState, direction: int) -> None:
    """Move the moment shown by a twentieth of the run; beyond the end it is now again."""
    view = desk.view
    if view is None:
        return
    first, last = span_of(view.run)
    step = max(round((last - first) * SHARE), 1)
    at = (last if desk.at_step is None else desk.at_step) + direction * step
    if at >= last:
        live(desk)
        desk.say("live again")
    else:
        desk.at_step, desk.frozen_now, desk.reached = max(at, first), desk.now, last


def told(desk: AppState, head: Header) -> Header:
    """The header of a moment that is not now: it says so in place of the state."""
    if desk.at_step is None:
        return head
    return replace(head, state=moment_of(desk), state_word="", reached=desk.reached)


def moment_of(desk: AppState) -> str:
    """What a moment that is not now is: `paused` or `past`."""
    return "paused" if desk.frozen_now is not None and desk.reached is None else "past"
