"""The footer: a message or the status on the left, the most useful keys on the right."""

from __future__ import annotations

import math

from rltui.common.display_text import cell_width, fit
from rltui.draw.cells import Span
from rltui.draw.numbers import format_progress
from rltui.panes.charts.curve import run_at_one_step
from rltui.panes.pane_tabs import PANES
from rltui.screen import shown_run
from rltui.screen.input.key_table import key_table
from rltui.screen.pages.page import Hint, Page, fitting, hint_bar, hints_for, short_message
from rltui.screen.pages.page_registry import page_of
from rltui.screen.shown_pane import rows
from rltui.screen.state import AppState

HINT_BLOCK_CELLS = 24  # cells
ROW_HINTS = ("open", "explain")  # hints that need a selected row
WITHOUT_ROWS = ("config", "samples", "console")  # panes that tell their own hints
MIN_HINT_CELLS = 9  # that a message leaves, for help


def footer(state: AppState, width: int) -> Page:
    """The footer; its hints can be clicked."""
    left: list[Span] = [(" ", "dim")]
    message = short_message(state, width)
    left += [(message, "strong")] if message else _status(state, width // 2 - 8)
    # The status changes at every step; its width is rounded up so that the hints do not move.
    used = sum(cell_width(text) for text, _ in left)
    most = max(width - MIN_HINT_CELLS, width // 2) if message else width // 2 - 8
    reach = min(math.ceil((used + 1) / HINT_BLOCK_CELLS) * HINT_BLOCK_CELLS, most) if used > 1 else 9
    return hint_bar(_hints(state, width, width - reach), width, left)


def _hints(state: AppState, width: int, room: int) -> list[Hint]:
    """The most useful hints that fit, in the order of the table; without a run only those that work."""
    pane_id, contexts = state.shown_pane, key_table().context
    context = pane_id if pane_id in PANES and pane_id in contexts else "pane"
    words = {**contexts[context].hints, **page_of(state).hints(state, width)}
    if state.shown_pane not in WITHOUT_ROWS and not rows(state):
        words |= dict.fromkeys(ROW_HINTS, "")
    if shown_run.run(state) is None:
        words = {action: words[action] for action in ("help", "quit")}
    return fitting(hints_for(state.options.keys, words), room, contexts["pane"].kept)


def _status(state: AppState, room: int) -> list[Span]:
    """Loading, pause, the visible share of the run, notes of the pane: as many as fit, in this order."""
    view = shown_run.run(state)
    pieces: list[Span] = []
    if state.loading is not None:
        pieces.append((f"reading {format_progress(state.loading)}", "info"))
    if state.time.at_step is not None:  # the header shows which step
        pieces.append((f"{state.options.keys.hint_of('pause')}: newest", "mark"))
    if view is not None and run_at_one_step(view):
        pieces.append(("one step only: in order of arrival", "mark"))
    if state.time.window:
        pieces.append((f"last 1/{round(1 / state.time.share)} of the run", "dim"))
    name = state.selection.baseline
    if name and state.loading is None and shown_run.baseline(state) is None:
        pieces.append((f"no run here is the baseline {fit(name, 24)}", "warn"))
    pieces += page_of(state).notes(state)
    spans: list[Span] = []
    for index, (text, role) in enumerate(pieces):
        room -= cell_width(text) + 3 * bool(index)
        if index and room < 0:
            break
        spans += [(" · ", "faint")] if index else []
        spans.append((text, role))
    return spans
