"""The page of the system pane: the GPUs of this machine, if any, above the metrics of the run."""

from __future__ import annotations

from rltui.draw.cells import BLANK, Line, crop, line
from rltui.panes.context_panes.node_pane import node_sentence, node_table, process_lines
from rltui.panes.render.lines.device_lines import device_lines
from rltui.screen.pages.page import Page
from rltui.screen.pages.pane_page import PAGE as METRICS_PAGE
from rltui.screen.pages.pane_page import metrics_page
from rltui.screen.state import AppState

MIN_METRIC_ROWS = 6  # left for the metrics of the run


def system_page(state: AppState, width: int, height: int) -> Page:
    """The state of the machine above the metrics of the run."""
    page = Page(_node_lines(state, width, max(height - MIN_METRIC_ROWS, 3)))
    return page.below(metrics_page(state, width, height - len(page.lines)))


def _node_lines(state: AppState, width: int, height: int) -> list[Line]:
    node = state.threads.node
    if node.thread.error:
        return [crop(line((f" {node.thread.error}", "dim")), width)]
    reading = node.reading
    if reading is None or not reading.gpus or state.time.at_step is not None:
        return []
    lines = [crop(line((f" {node_sentence(reading)}", "strong")), width)]
    lines += device_lines(node_table(reading), width, height - 1)
    rest = height - len(lines) - 1
    lines += [crop(line((f" {words}", "dim")), width) for words in process_lines(reading)[: max(rest, 0)]]
    return [*lines, BLANK]


PAGE = METRICS_PAGE._replace(draw=system_page)
