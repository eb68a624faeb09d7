"""One pane of a run with its header and findings: the source of text, Markdown and JSON."""

from __future__ import annotations

from typing import Any

from rltui.common.named_tuple import NamedTuple
from rltui.panes.answers.answer_inputs import NO_INPUTS, AnswerInputs
from rltui.panes.charts.curve import curve
from rltui.panes.charts.step_window import window_for
from rltui.panes.header import Header, header
from rltui.panes.pane import PaneView, overview_pane, pane_view
from rltui.panes.rows.key_rows import rows_and_constants
from rltui.panes.rows.row import Row
from rltui.rules.finding import Finding, as_json
from rltui.session.run_view import RunView
from rltui.session.time_travel import PastFindings

COLUMNS = 60  # resolution of the curve that goes with a row
JSON_NAMES = {"in_sentence": "told"}  # of fields that programs know by another name


class PaneReport(NamedTuple):
    """A header, a pane, and the findings that belong to it: all of them on `overview` and `findings`."""

    header: Header
    pane: PaneView
    findings: tuple[Finding, ...]


def pane_report(
    view: RunView, pane: str, now: float, at_step: int | None = None, then: PastFindings | None = None,
    inputs: AnswerInputs = NO_INPUTS,
) -> PaneReport:  # fmt: skip
    """A pane of a run, now or as of a step; then: the findings at that step."""
    if pane == "overview":
        every = tuple(view.evaluator.findings()) if then is None else then.findings
        rows, constants = rows_and_constants(view, at_step=at_step, findings=every)
        shown = overview_pane([*rows, *constants], (), window_for(view, now, at_step=at_step))
        return PaneReport(header(view, now, at_step, then), shown, every)
    shown = pane_view(view, pane, now, at_step, findings=None if then is None else then.findings,
                      inputs=inputs)  # fmt: skip
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
        "total": head.liveness.total,
        "age": head.liveness.age,
        "eta": head.liveness.eta,
        "health": head.health,
        "sentence": head.sentence,
        "pane": shown.pane,
        "title": shown.title,
        "rows": [_row(row, shown) for row in shown.metrics],
        "findings": [as_json(finding) for finding in report.findings],
        "notes": list(shown.notes),
        "answer": _plain(shown.answer),
    }


def _plain(value: object) -> object:
    """Named tuples, at any depth, as mappings of their fields, by their names in JSON."""
    if not isinstance(value, tuple):
        return value
    plain = [_plain(item) for item in value]
    fields = getattr(value, "_fields", None)
    if fields is None:
        return plain
    return dict(zip((JSON_NAMES.get(name, name) for name in fields), plain, strict=True))


def _row(row: Row, shown: PaneView) -> dict[str, Any]:
    drawn = curve(row, shown.window, COLUMNS)
    return {
        "title": row.title,
        "tag": row.tag,
        "tags": list(row.tags),
        "inside": list(row.branch),
        "canonical": row.name.canonical if row.name is not None else None,
        "unit": row.unit if row.name is None else row.name.unit,
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
