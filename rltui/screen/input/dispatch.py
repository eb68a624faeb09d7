"""The way of a key: text for an overlay that takes text, else an action of the topmost overlay or pane."""

from __future__ import annotations

from rltui.screen.input import actions, chart_actions, list_actions
from rltui.screen.input.bindings import Command
from rltui.screen.state import AppState, ChartOverlay, FilterPrompt, ListOverlay, Overlay
from rltui.session.session import Session


def press(session: Session, state: AppState, key: str) -> None:
    """A key, as the table of bindings writes it."""
    top = state.overlay
    if top is not None and top.typing and _typed(state, top, key):
        return
    action = state.options.keys.action(key, top.place if top is not None else "pane")
    if action is not None:
        state.clear_message()
        perform(session, state, action)


def perform(session: Session, state: AppState, action: str, argument: str = "") -> None:
    """An action, by the topmost overlay that knows it, else by the pane."""
    command = Command(action, argument)
    while (top := state.overlay) is not None:
        following = _performed_by(session, state, top, command)
        if following is None:
            return
        if following == command:  # not for this overlay
            break
        command = following  # the palette has closed: what was chosen in it
    actions.perform(session, state, command.action, command.argument)


def _performed_by(session: Session, state: AppState, top: Overlay, command: Command) -> Command | None:
    """What is left to do after an overlay has had its turn."""
    if isinstance(top, ChartOverlay):
        return chart_actions.perform(session, state, top, command)
    if isinstance(top, ListOverlay):
        return list_actions.perform(session, state, top, command)
    if command.action not in ("interrupt", "up", "down", "page-up", "page-down"):
        state.overlays.remove(top)  # clicks and moves go to the pane below the prompt
    return command


def _typed(state: AppState, top: Overlay, key: str) -> bool:
    """Take a key as text; False when it is none."""
    if isinstance(top, ListOverlay):
        return list_actions.typed(state, top, key)
    if isinstance(top, FilterPrompt):
        return _typed_into_filter(state, top, key)
    return False


def _typed_into_filter(state: AppState, prompt: FilterPrompt, key: str) -> bool:
    filters = state.filters
    if key in ("enter", "escape"):
        state.overlays.remove(prompt)
        filters.query = filters.query if key == "enter" else ""
    elif key == "backspace":
        filters.query = filters.query[:-1]
    elif key == "ctrl+u":
        filters.query = ""
    elif len(key) == 1 and key.isprintable():
        filters.query += key
    else:
        return False
    return True
