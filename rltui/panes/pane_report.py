"""One pane of a run with what stands around it: what the overview, text, Markdown and JSON are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from rltui.common.named_tuple import NamedTuple
from rltui.panes.answers.files_beside import NOTHING, Beside
from rltui.panes.charts.curve import curve
from rltui.panes.charts.step_window import window_for
from rltui.panes.header import Header, header
from rltui.panes.pane import PaneView, pane_view
from rltui.panes.pane_list import PANES
from rltui.panes.rows.key_rows import KEY_METRICS, rows_and_constants
from rltui.panes.rows.row import Row
from rltui.rules.finding import Finding, as_json
from rltui.session.run_view import RunView
from rltui.session.time_travel import PastFindings

if TYPE_CHECKING:
    from rltui.panes.baseline.comparison import Difference

COLUMNS = 60  # resolution of the curve that goes with a row


class PaneReport(NamedTuple):
    """A header, a pane, and the findings that belong to it: all of them on `overview` and `findings`."""

    header: Header
    pane: PaneView
    findings: tuple[Finding, ...]


def overview(
    view: RunView,
    now: float,
    at_step: int | None = None,
    *,
    share: float = 1.0,
    against: Mapping[str, Difference] | None = None,
    then: PastFindings | None = None,
) -> PaneReport:
    """What is wrong with a run, and the few metrics that matter for it."""
    findings = tuple(view.evaluator.findings()) if then is None else then.findings
    rows, constants = rows_and_constants(view, KEY_METRICS, at_step, against, findings)
    shown = PaneView(
        "overview", PANES["overview"].title, tuple(rows), window_for(view, now, share=share, at_step=at_step),
        empty=PANES["overview"].empty, constants=tuple(constants),
    )  # fmt: skip
    return PaneReport(header(view, now, at_step, then), shown, findings)


def pane_report(
    view: RunView, pane: str, now: float, at_step: int | None = None, then: PastFindings | None = None,
    beside: Beside = NOTHING,
) -> PaneReport:  # fmt: skip
    """A pane of a run, or as of a step; `then` is what was found by then, of a run that has gone on since.

    `beside` is what files beside its logs say.
    """
    if pane == "overview":
        found = overview(view, now, at_step, then=then)
        rows = (*found.pane.rows, *found.pane.constants)
        return found._replace(pane=replace(found.pane, rows=rows, constants=()))
    shown = pane_view(view, pane, now, at_step, findings=None if then is None else then.findings,
                      beside=beside)  # fmt: skip
    findings = shown.findings
    if pane == "findings":
        findings = view.evaluator.findings() if then is None else list(then.findings)
    return PaneReport(header(view, now, at_step, then), shown, tuple(findings))


def as_record(report: PaneReport) -> dict[str, Any]:
    """A report as plain data for programs. Fields may be added, never renamed."""
    head, shown = report.header, report.pane
    return {
        "schema": 1,
        "run": head.run,
        "framework": head.framework,
        "state": head.state,
        "step": head.step,
        "total": head.total,
        "age": head.age,
        "eta": head.eta,
        "health": head.health,
        "sentence": head.sentence,
        "pane": shown.pane,
        "title": shown.title,
        "rows": [_row(row, shown) for row in shown.metrics],
        "findings": [as_json(finding) for finding in report.findings],
        "notes": list(shown.notes),
        "answer": None if shown.answer is None else asdict(shown.answer),
    }


def _row(row: Row, shown: PaneView) -> dict[str, Any]:
    drawn = curve(row, shown.window, COLUMNS)
    return {
        "title": row.title,
        "tag": row.tag,
        "tags": list(row.tags),
        "inside": list(row.branch),
        "canonical": row.name.canonical if row.name is not None else None,
        "unit": row.unit,
        "value": row.value,
        "before": row.before,
        "statistics": row.last_of,
        "severity": row.severity or None,
        "warning": row.finding.title if row.finding is not None else None,
        "since_step": row.finding.since_step if row.finding is not None else None,
        "window": None
        if drawn is None
        else {
            "low_step": shown.window.low,
            "high_step": shown.window.high,
            "low": drawn.low.tolist(),
            "high": drawn.high.tolist(),
            "nonfinite": drawn.nonfinite.tolist(),
        },
    }
