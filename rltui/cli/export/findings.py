"""The findings of all runs as a table that can be joined with points by run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rltui.cli.exit_codes import WRONG
from rltui.cli.export.export_points import PointSelection, TagFilter
from rltui.cli.export.tables import Row, write_table
from rltui.cli.options.sharding import Work
from rltui.cli.output.file_problems import note_problems
from rltui.cli.output.printing import leave
from rltui.cli.reading.evaluation import evaluate_runs
from rltui.many_runs.verdict import Verdict

VERDICT_COLUMNS = {
    "run": "text", "framework": "text", "state": "text", "health": "text", "last_step": "integer",
    "last_wall_time": "number",
}  # fmt: skip
FINDING_COLUMNS = {
    "finding": "text", "severity": "text", "symptom": "flag", "explained_by": "text", "pane": "text",
    "tags": "texts", "metrics": "texts", "since_step": "integer", "value": "number", "limit": "number",
    "title": "text", "message": "text",
}  # fmt: skip
# Metrics are canonical ids, as in the dataset of points.
ATTRIBUTES = {"finding": "id", "tags": "metrics", "metrics": "canonical"}  # of a finding


def export_findings(selection: PointSelection, form: str, output: str | None, how: Work) -> None:
    """Write the findings as JSON lines, CSV or one Parquet file."""
    evaluated = evaluate_runs(selection.logdirs, selection.runs.glob, verify=selection.verify, how=how)
    chosen = [verdict for verdict in evaluated.verdicts if selection.runs.takes(verdict.run)]
    rows = _rows(sorted(chosen, key=lambda verdict: verdict.run), selection.metrics)
    write_table(rows, VERDICT_COLUMNS | FINDING_COLUMNS, form, output, selection.logdirs)
    note_problems(problem for problem in evaluated.problems if problem.code != "shard-lost")
    if evaluated.incomplete:
        leave(WRONG)


def _rows(verdicts: Sequence[Verdict], globs: Sequence[str]) -> Iterator[Row]:
    wanted = TagFilter(globs)
    for verdict in verdicts:
        of_run = verdict.describe()
        row = {name: of_run[name] for name in VERDICT_COLUMNS}
        for finding in verdict.all_findings():
            names = (*finding.metrics, *finding.canonical)
            if not globs or any(map(wanted.tag, names)):
                of_finding = {name: getattr(finding, ATTRIBUTES.get(name, name)) for name in FINDING_COLUMNS}
                yield {**row, **of_finding, "title": finding.title or finding.id}
