"""The selected metric below a short board: a curve as wide as the screen, and what is healthy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rltui.draw.cells import BLANK, Line, cut_sentence, line
from rltui.panes.render.frame_lines import card_lines
from rltui.screen.pages.chart.overlaid_runs import others

if TYPE_CHECKING:
    from rltui.panes.row import Row
    from rltui.panes.step_window import StepWindow
    from rltui.screen.state import AppState

LEAST = 8  # free rows below the board from which a curve is worth looking at
MOST = 26  # a taller one says no more, and costs bytes whenever a pane is opened


def detail_lines(desk: AppState, row: Row, window: StepWindow, width: int, height: int) -> list[Line]:
    """At most `height` lines, the first of them a rule; none where they would say little."""
    if height < LEAST or width < 50 or desk.memory.density == "compact" or not row.parts:
        return []
    words = _words(row)
    tall = min(height, MOST) - 1 - bool(words)
    lines = [line((" " + "─" * (width - 2), "faint"))]
    card = card_lines(row, width - 3, tall, window, ranges=desk.ranges, glyphs=desk.glyphs, selected=False,
                      others=others(desk)(row))  # fmt: skip
    lines += [line((" ", "text"), *one.spans) if one.spans else BLANK for one in card]
    if words:
        lines[-1] = line((" " * 9 + cut_sentence(words, width - 11), "dim"))
    return [BLANK] * (height - len(lines)) + lines


def _words(row: Row) -> str:
    metric = row.name.metric if row.name is not None else None
    if metric is None:
        return ""
    return f"healthy: {metric.healthy}" if metric.healthy else metric.meaning
