"""What the rules found of all runs as one table: a row for each finding, to be joined with points by run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from rltui.cli.export.points import PointSelection
from rltui.cli.file_problems import note_problems
from rltui.cli.judging import judge_runs
from rltui.cli.output import WRONG, leave, to_json
from rltui.cli.output_file import binary_output
from rltui.cli.sharding import Work
from rltui.rules.finding import Finding
from rltui.shards.verdict import Verdict

TEXTS = (
    "run",
    "framework",
    "state",
    "health",
    "finding",
    "severity",
    "pane",
    "explained_by",
    "title",
    "message",
)
COLUMNS = (
    "run", "framework", "state", "health", "last_step", "last_wall_time", "finding", "severity", "symptom",
    "explained_by", "pane", "tags", "metrics", "since_step", "value", "limit", "title", "message",
)  # fmt: skip
Row = dict[str, str | int | float | bool | list[str] | None]


def export_findings(selection: PointSelection, form: str, output: str | None, how: Work) -> None:
    """Write the findings of the runs, as JSON lines, CSV or one Parquet file."""
    judged = judge_runs(selection.logdirs, selection.run_glob, verify=selection.verify, how=how)
    chosen = [verdict for verdict in judged.verdicts if selection.takes(verdict.run)]
    rows = _rows(sorted(chosen, key=lambda verdict: verdict.run), selection.metrics)
    with binary_output(output, selection.logdirs) as out:
        if form == "parquet":
            out.write(_parquet(list(rows)))
        elif form == "csv":
            out.write(_csv(rows))
        else:
            out.writelines(f"{to_json(row)}\n".encode() for row in rows)
    note_problems(problem for problem in judged.problems if problem.code != "shard-lost")
    if judged.lost:
        leave(WRONG)


def _rows(verdicts: Sequence[Verdict], globs: Sequence[str]) -> Iterator[Row]:
    for verdict in verdicts:
        for finding in verdict.all_findings():
            names = (*finding.metrics, *finding.canonical)
            if not globs or any(fnmatchcase(name, glob) for name in names for glob in globs):
                yield _row(verdict, finding)


def _row(verdict: Verdict, finding: Finding) -> Row:
    """By the names of `COLUMNS`. `metrics` are canonical ids, as in the dataset of points."""
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


def _csv(rows: Iterator[Row]) -> bytes:
    """Lists are JSON in their fields."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([to_json(item) if isinstance(item, list) else item for item in row.values()])
    return text.getvalue().encode("utf-8", "backslashreplace")


def _parquet(rows: Sequence[Row]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {name: pa.string() for name in TEXTS}
    types |= {name: pa.list_(pa.string()) for name in ("tags", "metrics")}
    types |= {name: pa.float64() for name in ("last_wall_time", "value", "limit")}
    types |= {name: pa.int64() for name in ("last_step", "since_step")}
    types["symptom"] = pa.bool_()
    schema = pa.schema([(name, types[name]) for name in COLUMNS])
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), out, compression="zstd")
    return out.getvalue()
