"""Actions in lists over the panes: moving, choosing, searching, typing."""

from __future__ import annotations

from rltui.screen import run_list
from rltui.screen.input import actions, navigation
from rltui.screen.input.key_table import Command
from rltui.screen.pages.lists.list_page import ListContent, nearest_item
from rltui.screen.pages.overlays import list_content
from rltui.screen.pages.page import scrolled
from rltui.screen.state import TYPED_LISTS, AppState, ListOverlay
from rltui.screen.text_filter import edited, next_match

_SORT_ACTIONS = ("sort", "sort-back", "sort-by", "reverse")
_IN_RUNS = (*_SORT_ACTIONS, "mark", "group", "columns", "filter")
# Columns of the keys for sorting, whether they are visible or not.
_SORT_COLUMNS = ("age", "best", "why", "last", "step", "eta", "name", "state", "framework")


def perform(state: AppState, overlay: ListOverlay, command: Command) -> Command | None:
    """Do an action in a list; returns the command that is still to be done, if any."""
    action = command.action
    following: Command | None = None
    if by := navigation.distance(action, overlay.drawn.rows):
        _move(overlay, by)
    elif action == "item":
        overlay.at = int(command.argument)
        following = _choose(state, overlay, overlay.drawn.items)
    elif action == "open" and overlay.searches and _show_selected(overlay):
        pass  # nobody opens what they do not see
    elif action == "open":  # typing may have changed the list since it was drawn
        content: ListContent = list_content(state, overlay, *overlay.drawn.size)
        following = _choose(state, overlay, content.items)
    elif action == "back":
        if overlay.query and overlay.searches:
            overlay.query, overlay.match = "", None
        else:
            state.overlays.pop()
    elif action == overlay.kind:
        state.overlays.pop()  # the key that opened it
    elif action == "help":
        state.overlays.append(ListOverlay("help"))
    elif overlay.searches and action == "filter":
        overlay.query, overlay.match, overlay.typing = "", None, True
    elif overlay.searches and action in ("next-finding", "previous-finding"):
        _go_to_match(state, overlay, 1 if action == "next-finding" else -1)
    elif overlay.kind == "runs" and action in _IN_RUNS:
        _perform_in_runs(state, overlay, command)
    else:
        navigation.say_unused(state, action, "in this list")
    items = overlay.drawn.items
    if overlay.kind == "runs" and items and action not in _SORT_ACTIONS:
        overlay.of = items[min(overlay.at, len(items) - 1)][1]
    return following


def _move(overlay: ListOverlay, by: int) -> None:
    """Go to another item; in a list that is read, scroll by lines."""
    drawn = overlay.drawn
    if not overlay.searches:
        overlay.at = min(max(overlay.at + by, 0), max(len(drawn.items) - 1, 0))
        return
    positions = [position for position, _ in drawn.items]
    to = overlay.at + by
    if (
        abs(by) == 1
        and 0 <= to < len(positions)
        and overlay.top - 1 <= positions[to] <= overlay.top + drawn.rows
    ):
        overlay.at = to  # the next item is in sight, or the next line
        overlay.top = scrolled(overlay.top, positions[to], positions[to], drawn.lines, drawn.rows)
        return
    end = max(drawn.lines - drawn.rows, 0)
    overlay.top = min(max(overlay.top + by, 0), end)
    if not positions:
        return
    if abs(by) > 1 and overlay.top == (end if by > 0 else 0):
        overlay.at = len(positions) - 1 if by > 0 else 0
    elif not _in_sight(overlay, positions[overlay.at]):
        edge = overlay.top if by > 0 else overlay.top + drawn.rows - 1  # where lines have gone out of sight
        overlay.at = nearest_item(drawn.items, edge)


def _show_selected(overlay: ListOverlay) -> bool:
    """Scroll to the selected item if it is out of sight; False if it is in sight."""
    drawn = overlay.drawn
    if not drawn.items or _in_sight(overlay, position := drawn.items[overlay.at][0]):
        return False
    overlay.top = scrolled(overlay.top, position, position, drawn.lines, drawn.rows)
    return True


def _in_sight(overlay: ListOverlay, at: int) -> bool:
    """Whether a line is in sight."""
    return overlay.top <= at < overlay.top + overlay.drawn.rows


def _go_to_match(state: AppState, overlay: ListOverlay, by: int) -> None:
    """Scroll to the next or previous match, and select the item nearest to it."""
    found = overlay.drawn.found
    if not found:
        key = state.options.keys.hint_of("filter")
        state.notify(f"not here: {overlay.query}" if overlay.query else f"{key} searches")
        return
    here = overlay.top if overlay.match is None else overlay.match
    drawn, at = overlay.drawn, next_match(found, here, by)
    overlay.match = at
    overlay.top = scrolled(overlay.top, at, at, drawn.lines, drawn.rows)
    if drawn.items:
        overlay.at = nearest_item(drawn.items, at)


def _choose(
    state: AppState,
    overlay: ListOverlay,
    items: list[tuple[int, str]] | tuple[tuple[int, str], ...],
) -> Command | None:
    """Choose the selected item (Enter, click); returns a command for what is below the list."""
    kind = overlay.kind
    if not items:
        return None
    chosen = items[min(overlay.at, len(items) - 1)][1]
    name, _, argument = chosen.partition(" ")
    if kind in ("explain", "problems"):
        navigation.go_to_tag(state, chosen)
        return None
    state.overlays.pop()
    if kind == "runs":
        navigation.choose_run(state, chosen)
    elif kind in ("group", "column"):
        _apply_choice(state, kind, chosen)
    elif kind == "instead":
        navigation.go_to_chart(state, argument)
    elif kind == "beside":
        actions.perform(state, "together", argument)
    elif name == "metric":
        navigation.go_to_tag(state, argument)
    else:
        return Command(argument) if name == "do" else Command(name, argument)
    return None


def _apply_choice(state: AppState, kind: str, chosen: str) -> None:
    """Group the list of runs, or add or remove a column."""
    if kind == "group":
        state.saved.run_group = chosen
    else:
        navigation.toggle(state.saved.run_columns, chosen)
    below = state.overlay
    if isinstance(below, ListOverlay) and below.kind == "runs":
        _go_to_top(below)


def _go_to_top(overlay: ListOverlay) -> None:
    """Select the first item after sorting."""
    overlay.at = overlay.top = 0
    if overlay.kind == "runs":
        overlay.of = ""


def _perform_in_runs(state: AppState, overlay: ListOverlay, command: Command) -> None:
    """Marking, sorting, grouping, columns, filtering."""
    action, order = command.action, run_list.order_of(state)
    if action == "mark":
        items = run_list.listing(state, overlay.query).items
        if overlay.at < len(items):
            navigation.toggle(state.selection.marked_runs, items[overlay.at][1])
            overlay.at = min(overlay.at + 1, len(items) - 1)
    elif action in ("sort", "sort-back"):
        columns = [*_SORT_COLUMNS, *(name for name in state.saved.run_columns if name not in _SORT_COLUMNS)]
        state.saved.run_order = order.next(columns, 1 if action == "sort" else -1).text
        _go_to_top(overlay)
    elif action in ("reverse", "sort-by"):
        state.saved.run_order = order.by(command.argument or order.column).text
        _go_to_top(overlay)
    elif action in ("group", "columns"):
        state.overlays.append(ListOverlay("group" if action == "group" else "column"))
    elif action == "filter":
        overlay.typing = True


def typed(state: AppState, overlay: ListOverlay, key: str) -> bool:
    """Handle a key as text of the query; False if it is not text."""
    always = overlay.kind in TYPED_LISTS  # lists that always accept text
    in_runs = overlay.kind == "runs"
    if key == "enter" and not always:
        overlay.typing = False
        return True
    if key == "escape":
        if always:
            state.overlays.remove(overlay)
        else:
            overlay.typing, overlay.query, overlay.match = False, "", None
        return True
    if key == "tab" and in_runs:
        offered = run_list.completions(state, overlay.query)
        overlay.query = run_list.completed(overlay.query, offered)
    elif (query := edited(overlay.query, key)) is not None:
        overlay.query = query
    else:
        return False
    if overlay.searches:
        overlay.match = None  # the first match that is drawn
    elif key != "backspace" or not in_runs:
        overlay.at = 0
        overlay.of = "" if in_runs else overlay.of
    return True
