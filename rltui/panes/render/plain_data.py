"""A pane as plain data for programs: what the screen shows, without its drawing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rltui.panes.curve import curve
from rltui.panes.header import Header
from rltui.panes.pane import PaneView
from rltui.panes.row import Row
from rltui.rules.finding import Finding, as_json

COLUMNS = 60  # resolution of the curve that goes with a row


def as_record(head: Header, made: PaneView, findings: Sequence[Finding]) -> dict[str, Any]:
    """Run, pane, rows and findings of one moment. Fields may be added, never renamed."""
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
        "pane": made.pane,
        "title": made.title,
        "rows": [_row(row, made) for row in made.metrics],
        "findings": [as_json(finding) for finding in findings],
        "notes": list(made.notes),
    }


def _row(row: Row, made: PaneView) -> dict[str, Any]:
    drawn = curve(row, made.window, COLUMNS)
    return {
        "title": row.title,
        "tag": row.tag,
        "tags": list(row.tags),
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
            "low_step": made.window.low,
            "high_step": made.window.high,
            "low": drawn.low.tolist(),
            "high": drawn.high.tolist(),
            "nonfinite": drawn.nonfinite.tolist(),
        },
    }
