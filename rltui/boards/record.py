"""A pane as plain data for programs: what the screen shows, without its drawing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rltui.boards.board import Board
from rltui.boards.overview import Header
from rltui.boards.row import Row, curve

if TYPE_CHECKING:
    from rltui.rules.finding import Finding

COLUMNS = 60  # resolution of the curve that goes with a row


def as_record(head: Header, made: Board, findings: Sequence[Finding]) -> dict[str, Any]:
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
        "findings": [finding_record(finding) for finding in findings],
        "notes": list(made.notes),
    }


def finding_record(finding: Finding) -> dict[str, Any]:
    """The promised fields of a finding."""
    return {
        "id": finding.id,
        "severity": finding.severity,
        "pane": finding.pane,
        "metrics": list(finding.metrics),
        "canonical": list(finding.canonical),
        "since_step": finding.since_step,
        "value": finding.value,
        "limit": finding.limit,
        "message": finding.message,
        "advice": finding.advice,
        "check_next": list(finding.check_next),
    }


def _row(row: Row, made: Board) -> dict[str, Any]:
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
