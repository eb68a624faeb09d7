"""The overview of a run as it is drawn."""

from __future__ import annotations

from rltui.draw.cells import Line
from rltui.panes.charts.step_window import window_for
from rltui.panes.pane import overview_pane
from rltui.panes.render.card_curve import CardStyle
from rltui.panes.render.cards import MetricCard, most_findings, overview_lines
from rltui.panes.render.lines.header_lines import finding_lines
from rltui.panes.rows.key_rows import rows_and_constants
from rltui.session.run_view import RunView


def overview_of(view: RunView, now: float, width: int, height: int) -> tuple[list[Line], list[MetricCard]]:
    """The overview of a run in a box, and its cards."""
    pane = overview_pane(*rows_and_constants(view), window_for(view, now))
    lead = finding_lines(view.evaluator.findings(), width, most_findings(height))
    return overview_lines(pane, lead, width, height, CardStyle())
