"""The overview pane as data: the header, what is wrong, and the few metrics that matter for this run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rltui.common.named_tuple import NamedTuple
from rltui.panes.charts.step_window import StepWindow, window_for
from rltui.panes.header import Header, header
from rltui.panes.rows.key_rows import rows_and_constants
from rltui.panes.rows.row import Row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rltui.panes.baseline.comparison import Difference
    from rltui.rules.finding import Finding
    from rltui.session.run_view import RunView
    from rltui.session.time_travel import PastFindings


class Overview(NamedTuple):
    """The overview pane as data."""

    header: Header
    findings: tuple[Finding, ...]
    rows: tuple[Row, ...]
    window: StepWindow
    constants: tuple[Row, ...] = ()  # rows that would stand among the others if they ever changed


def overview(
    view: RunView,
    now: float,
    at_step: int | None = None,
    *,
    count: int = 12,
    share: float = 1.0,
    against: Mapping[str, Difference] | None = None,
    then: PastFindings | None = None,
) -> Overview:
    """The overview of a run with at most `count` metrics; of an earlier step with what was wrong `then`."""
    findings = tuple(view.evaluator.findings()) if then is None else then.findings
    rows, constants = rows_and_constants(view, count, at_step, against, findings)
    return Overview(
        header=header(view, now, at_step, then),
        findings=findings,
        rows=tuple(rows),
        constants=tuple(constants),
        window=window_for(view, now, share=share, at_step=at_step),
    )
