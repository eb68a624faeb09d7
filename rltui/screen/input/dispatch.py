"""Keys and mouse events: text for the topmost overlay if it accepts text, else an action."""

from __future__ import annotations

from rltui.screen.input import (
    actions,
    chart_actions,
    console_actions,
    list_actions,
    navigation,
    sample_actions,
)
from rltui.screen.input.key_table import Command, shown
from rltui.screen.pages.page import Page
from rltui.screen.state import (
    CONSOLE,
    SAMPLES,
    AppState,
    ChartOverlay,
    FilterPrompt,
    ListOverlay,
    Overlay,
    SampleOverlay,
)
from rltui.screen.text_filter import edited

_NOT_OF_OVERLAYS = ("quit", "interrupt", "theme", "redraw", "palette")  # but of the screen
WHEEL_LINES = 3  # of text that one notch of the wheel scrolls


def press(state: AppState, key: str) -> None:
    """Handle a key, named as in the table of bindings."""
    top = state.overlay
    if top is not None and top.typing and _typed(state, top, key):
        return
    action = state.options.keys.action(key, _key_context(state, top))
    if action is None:
        if places := state.options.keys.places(key):
            state.notify(f"{shown(key)} does nothing here, only in {places}")
        return
    state.clear_message()
    if action == "quit" and top is not None:  # it closes the overlay, not the program
        state.overlays.remove(top)
        return
    perform(state, action)


def _key_context(state: AppState, top: Overlay | None) -> str:
    """The context of the key bindings in use."""
    if top is not None:
        return top.key_context
    if navigation.on_findings(state):
        return "findings"
    return SAMPLES if state.on_samples else CONSOLE if state.on_console else "pane"


def perform(state: AppState, action: str, argument: str = "") -> None:
    """Do an action, in the topmost overlay that has it, else in the pane."""
    command = Command(action, argument)
    while (top := state.overlay) is not None:
        following = _performed_by(state, top, command)
        if following is None:
            return
        if following == command:  # not for this overlay
            break
        command = following  # chosen in the palette, which has closed
    if state.on_samples and state.overlay is None and sample_actions.perform_in_list(state, command):
        return
    if (
        state.on_console
        and isinstance(state.overlay, FilterPrompt | None)
        and console_actions.perform(state, command)
    ):
        return
    actions.perform(state, command.action, command.argument)


def _performed_by(state: AppState, top: Overlay, command: Command) -> Command | None:
    """Pass a command to an overlay; returns the command that is still to be done."""
    following: Command | None = command
    if isinstance(top, ChartOverlay):
        following = chart_actions.perform(state, top, command)
    elif isinstance(top, FilterPrompt):
        if command.action not in ("interrupt", "up", "down", "page-up", "page-down", "half-up", "half-down"):
            state.overlays.remove(top)  # clicks and moves go to the pane below the prompt
    elif command.action in _NOT_OF_OVERLAYS or command.action.startswith("pane:"):
        pass
    elif isinstance(top, ListOverlay):
        following = list_actions.perform(state, top, command)
    elif command.action != "help":
        sample_actions.perform(state, top, command.action)
        following = None
    if following == command and command.action.startswith("pane:"):
        state.overlays.clear()
    return following


def _typed(state: AppState, top: Overlay, key: str) -> bool:
    """Handle a key as text; False if it is not text."""
    if isinstance(top, ListOverlay):
        return list_actions.typed(state, top, key)
    if isinstance(top, SampleOverlay):
        return sample_actions.typed(state, top, key)
    if isinstance(top, FilterPrompt):
        return _typed_into_filter(state, top, key)
    return False


def _typed_into_filter(state: AppState, prompt: FilterPrompt, key: str) -> bool:
    if key in ("enter", "escape"):
        state.overlays.remove(prompt)
        state.query = state.query if key == "enter" else ""
        if state.on_console and state.query:  # from the end, or from the selected line
            console_actions.perform(state, Command("previous-finding"))
        return True
    query = edited(state.query, key)
    if query is not None:
        state.query = query
    return query is not None


def click(state: AppState, page: Page, x: int, y: int) -> None:
    """Handle a click on a page."""
    spot = page.spot_at(x, y)
    if spot is None:
        return
    at = x - spot.x - spot.plot[0]
    if spot.plot[1] and 0 <= at < spot.plot[1]:  # on a curve: mark the step on all charts
        navigation.put_crosshair(state, (at + 0.5) / spot.plot[1])
    perform(state, spot.action, spot.argument)


def wheel(state: AppState, page: Page, direction: int, x: int, y: int) -> None:
    """Handle the wheel, upwards if negative: zoom a chart, scroll text, move a selection by one row."""
    top = state.overlay
    if isinstance(top, ChartOverlay):
        spot = page.spot_at(x, y)
        if spot is not None and spot.action == "cursor":
            chart_actions.zoom_by_wheel(state, top, direction, int(spot.argument))
        return
    is_text = isinstance(top, SampleOverlay) or (isinstance(top, ListOverlay) and not top.drawn.items)
    for _ in range(WHEEL_LINES if is_text else 1):
        perform(state, "down" if direction > 0 else "up")


def drag(state: AppState, cells: int) -> bool:
    """Pan a zoomed chart after the mouse was dragged by so many cells to the right.

    False if there is nothing to pan.
    """
    chart = state.overlay
    if not isinstance(chart, ChartOverlay) or chart.zoom is None:
        return False
    chart_actions.pan(state, chart, -cells / max(chart.drawn.columns - 1, 1))
    return True
