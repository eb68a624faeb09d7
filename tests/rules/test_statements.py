"""Statements of guides to training metrics, each with a run that must be reported and a healthy one."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from rltui.metrics.resolve import MetricNames
from rltui.rules.evaluator import Evaluator
from rltui.rules.finding import Finding
from tests.support.runs.evaluators import grow, run_with
from tests.support.runs.window_language import values

STATEMENTS = tomllib.loads(Path(__file__).with_name("statements.toml").read_text())["statement"]
PARTS = 12  # pieces in which a run is fed, as it grows


def told(framework: str, run: dict[str, str], *, at_end: bool = False) -> list[Finding]:
    """All findings of a run at any time, including resolved ones; or those at its end."""
    evaluator = Evaluator(run_with(), MetricNames(framework))
    series = {tag: values(text) for tag, text in run.items()}
    found: dict[str, Finding] = {}
    for _ in grow(evaluator, series, PARTS):
        found |= {finding.id: finding for finding in evaluator.findings()}
    return evaluator.findings() if at_end else list(found.values())


@pytest.mark.parametrize("row", STATEMENTS, ids=lambda row: row["says"])
def test_what_a_guide_states_is_reported(row: dict[str, Any]) -> None:
    """The run that shows the statement has a finding or a remark, under the framework's own names."""
    found = {finding.id for finding in told(row["framework"], row["run"], at_end=row.get("lasting", False))}
    assert not row["told"] or found & set(row["told"]), sorted(found)
    assert not found & set(row.get("not_told", ()))


@pytest.mark.parametrize("row", STATEMENTS, ids=lambda row: row["says"])
def test_a_healthy_run_does_not_show_it(row: dict[str, Any]) -> None:
    """The healthy run raises no alarm, and does not have the finding of the statement."""
    found = told(row["framework"], row["healthy"])
    assert [finding.id for finding in found if finding.rank] == []
    assert not {finding.id for finding in found} & set(row["told"])
