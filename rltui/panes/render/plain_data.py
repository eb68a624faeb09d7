"""A pane as plain data for programs: what the screen shows, without its drawing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rltui.panes.charts.curve import curve
from rltui.panes.pane import PaneView
from rltui.panes.pane_report import PaneReport
from rltui.panes.rows.row import Row
from rltui.rules.finding import as_json

COLUMNS = 60  # resolution of the curve that goes with a row


def as_record(report: PaneReport) -> dict[str, Any]:
    """Run, pane, rows and findings as of one step. Fields may be added, never renamed."""
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
