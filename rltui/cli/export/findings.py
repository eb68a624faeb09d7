"""The findings of all runs as a table that can be joined with points by run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from rltui.cli.evaluation import evaluate_runs
from rltui.cli.exit_codes import WRONG
from rltui.cli.export.export_points import PointSelection
from rltui.cli.export.tables import Row, write_table
from rltui.cli.file_problems import note_problems
from rltui.cli.printing import leave
from rltui.cli.sharding import Work
from rltui.many_runs.verdict import Verdict
from rltui.rules.finding import Finding

COLUMNS = {
    "run": "text", "framework": "text", "state": "text", "health": "text", "last_step": "integer",
    "last_wall_time": "number", "finding": "text", "severity": "text", "symptom": "flag",
    "explained_by": "text", "pane": "text", "tags": "texts", "metrics": "texts", "since_step": "integer",
    "value": "number", "limit": "number", "title": "text", "message": "text",
}  # fmt: skip


def export_findings(selection: PointSelection, form: str, output: str | None, how: Work) -> None:
    """Write the findings as JSON lines, CSV or one Parquet file."""
    evaluated = evaluate_runs(selection.logdirs, selection.run_glob, verify=selection.verify, how=how)
    chosen = [verdict for verdict in evaluated.verdicts if selection.takes(verdict.run)]
    rows = _rows(sorted(chosen, key=lambda verdict: verdict.run), selection.metrics)
    write_table(rows, COLUMNS, form, output, selection.logdirs)
    note_problems(problem for problem in evaluated.problems if problem.code != "shard-lost")
    if evaluated.lost:
        leave(WRONG)


def _rows(verdicts: Sequence[Verdict], globs: Sequence[str]) -> Iterator[Row]:
    for verdict in verdicts:
        for finding in verdict.all_findings():
            names = (*finding.metrics, *finding.canonical)
            if not globs or any(fnmatchcase(name, glob) for name in names for glob in globs):
                yield _row(verdict, finding)


def _row(verdict: Verdict, finding: Finding) -> Row:
    """The columns of a finding. `metrics` are canonical ids, as in the dataset of points."""
    return {
        "run": verdict.run,
        "framework": verdict.framework,
        "state": verdict.liveness.state,
        "health": verdict.health,
        "last_step": verdict.last_step,
        "last_wall_time": verdict.last_wall,
        "finding": finding.id,
        "severity": finding.severity,
        "symptom": finding.symptom,
        "explained_by": finding.explained_by,
        "pane": finding.pane,
        "tags": list(finding.metrics),
        "metrics": list(finding.canonical),
        "since_step": finding.since_step,
        "value": finding.value,
        "limit": finding.limit,
        "title": finding.title or finding.id,
        "message": finding.message,
    }
