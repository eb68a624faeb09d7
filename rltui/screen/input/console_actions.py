"""Actions in the console pane: moving, following, unfolding, levels, searching, the chart of a line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rltui.panes.rows.key_rows import key_rows
from rltui.run_context.console.line_at_time import TimeAndStep, time_and_step_of
from rltui.run_context.console.lines import ConsoleLine, LineLevel
from rltui.screen import shown_run
from rltui.screen.input import navigation
from rltui.screen.input.key_table import Command
from rltui.screen.pages.chart.chart_page import chart_axis
from rltui.screen.pages.console_page import (
    console_window,
    has_more,
    lines_shown,
    reports,
    selected_index,
)
from rltui.screen.state import AppState, ChartOverlay

_OF_LINES = ("open", "copy", "next-finding", "previous-finding")
_LEVELS: tuple[LineLevel, ...] = ("", "warning", "error")


def perform(state: AppState, command: Command) -> bool:
    """Do an action in the console pane; False if the pane does not have it."""
    does = _ACTIONS.get(command.action)
    if does is None and (by := navigation.distance(command.action, state.drawn_pane.rows)):
        _move(state, by)
        return True
    if does is None:
        return False
    if command.action in _OF_LINES and not _lines(state):
        state.notify("there are no lines here")
        return True
    return does(state, command.argument) is not False


def _lines(state: AppState) -> tuple[ConsoleLine, ...]:
    window = console_window(state)
    return () if window is None else lines_shown(window, state)


def _move(state: AppState, by: int) -> None:
    """Move the selection; beyond the last line the end is followed again."""
    lines = _lines(state)
    if not lines:
        return
    to = selected_index(lines, state) + by
    window = console_window(state)
    at_end = window is not None and (window.at_end or bool(state.console.level))
    state.console.at = None if to >= len(lines) and at_end else lines[min(max(to, 0), len(lines) - 1)].offset


def _to_start(state: AppState) -> None:
    lines = _lines(state)
    state.console.at = lines[0].offset if state.console.level and lines else 0


def _select(state: AppState, argument: str) -> None:
    lines = _lines(state)
    if lines and lines[selected_index(lines, state)].offset == int(argument):
        _unfold(state)
    state.console.at = int(argument)


def _unfold(state: AppState) -> None:
    """Show the selected line in full, or fold it again."""
    lines, chosen = _lines(state), state.console
    if lines:
        line = lines[selected_index(lines, state)]
        chosen.at = line.offset
        if line.offset in chosen.unfolded or has_more(line, state.drawn_pane.width):
            chosen.unfolded ^= {line.offset}
        else:
            state.notify("this line is shown in full")


def _level(state: AppState) -> None:
    """Show the lines of the next level; keep the selected line if it is among them."""
    chosen = state.console
    lines = _lines(state)
    if lines and chosen.at is not None:
        chosen.at = lines[selected_index(lines, state)].offset
    chosen.level = _LEVELS[(_LEVELS.index(chosen.level) + 1) % len(_LEVELS)]
    words = {"": "all lines", "warning": "only errors and warnings", "error": "only errors"}
    state.notify(words[chosen.level])


def _back(state: AppState) -> bool:
    """Show the lines of all levels again; False if they are shown."""
    if state.console.query or not state.console.level:
        return False
    state.console.level = ""
    return True


def _next_match(state: AppState, by: int) -> None:
    """Go to the next match of the search, or without one to the next error."""
    window = console_window(state)
    if window is None:
        return
    if state.console.query:
        found, what = window.found.lines if window.found is not None else (), "found"
    else:
        found, what = tuple(line for line in window.levels.lines if line.level == "error"), "error"
    lines = lines_shown(window, state)
    at = lines[selected_index(lines, state)].offset if lines else 0
    if state.console.at is None and by < 0:
        at = window.size
    ahead = [line.offset for line in found if (line.offset - at) * by > 0]
    if not found:
        state.notify("not found so far" if state.console.query else "no error was printed")
    elif not ahead:
        state.notify(f"the {'last' if by > 0 else 'first'} {what} line")
    else:
        state.console.at = ahead[0] if by > 0 else ahead[-1]


def _turn_console(state: AppState, by: int) -> None:
    known = reports(state)
    if len(known) < 2:
        state.notify("this run has one console" if known else "no console beside this run's logs")
        return
    at = next((index for index, one in enumerate(known) if one.place == state.console.place), 0)
    navigation.open_console(state, known[(at + by) % len(known)])


def _copy(state: AppState) -> None:
    lines = _lines(state)
    if lines:
        line = lines[selected_index(lines, state)]
        state.requests.append(("copy", "\n".join(line.folded or (line.text,))))
        state.notify("copied the traceback" if line.folded else "copied the line")


def _explain(state: AppState) -> None:
    key = state.options.keys.hint_of("pane:findings")
    state.notify(f"a line has no explanation; {key} tells what failed and what to do")


def _chart(state: AppState) -> None:
    """Open the chart from which the console was opened, else the first metric, at the time of the line."""
    view, lines = shown_run.run(state), _lines(state)
    wanted = _time_and_step_near(lines, selected_index(lines, state), _total(state)) if lines else None
    if view is None or wanted is None:
        state.notify("neither this line nor one before it says a time or a step")
        return
    charted = state.console.charted
    if charted is None or charted.tag not in view.run.series:
        charted = next(iter(key_rows(view, 1)), None)
    axis = chart_axis(state)
    if charted is None or charted.main is None or axis is None:
        state.notify("the run has no metric to draw")
        return
    x = axis.x_of_time(charted.main, wanted.step, wanted.wall_time)
    if x is None:
        state.notify("the metric has no times to compare with")
        return
    navigation.go_to_tag(state, charted.tag)
    low, high = axis.full(charted.main, state.time.at_step)
    chart = ChartOverlay(charted, cursor=min(max(x, low), high))
    state.overlays.append(chart)
    if not low <= x <= high:
        state.notify(f"the line is from {'before the first' if x < low else 'after the last'} point")


def _total(state: AppState) -> int | None:
    view = shown_run.run(state)
    return None if view is None else view.liveness(state.now).total


def _time_and_step_near(lines: Sequence[ConsoleLine], at: int, total: int | None) -> TimeAndStep | None:
    """The time and the step of a line, or of the nearest lines before it that have them."""
    found = TimeAndStep(total=total)
    for line in reversed(lines[: at + 1]):
        said = time_and_step_of(line, total)
        wall = found.wall_time if found.wall_time is not None else said.wall_time
        step = found.step if found.step is not None else said.step
        found = TimeAndStep(wall, step, total)
        if wall is not None and step is not None:
            break
    return None if found == TimeAndStep(total=total) else found


_ACTIONS: dict[str, Callable[[AppState, str], bool | None]] = {
    "home": lambda state, _: _to_start(state),
    "end": lambda state, _: setattr(state.console, "at", None),
    "open": lambda state, _: _unfold(state),
    "select": lambda state, argument: _select(state, argument),
    "back": lambda state, _: _back(state),
    "console-level": lambda state, _: _level(state),
    "next-finding": lambda state, _: _next_match(state, 1),
    "previous-finding": lambda state, _: _next_match(state, -1),
    "console-before": lambda state, _: _turn_console(state, -1),
    "console-after": lambda state, _: _turn_console(state, 1),
    "console-chart": lambda state, _: _chart(state),
    "copy": lambda state, _: _copy(state),
    "explain": lambda state, _: _explain(state),
}
