"""`rltui export`: all points of all runs."""

from __future__ import annotations

import click

from rltui.cli.export.export_points import PointSelection
from rltui.cli.export.point_lines import export_lines
from rltui.cli.options.arguments import LOGDIRS, RUN, VERIFY, readable_logdirs
from rltui.cli.options.completions import complete_metric
from rltui.cli.options.sharding import ENGINE, SHARD, Work
from rltui.cli.output.output_file import form_by_ending, require_place
from rltui.cli.output.printing import require_extra
from rltui.logs.run_names import RunFilter
from rltui.many_runs.engine import Engine

FORMATS = ("jsonl", "csv", "parquet")
ENDINGS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
KINDS = ("scalars", "findings", "histograms", "text", "hparams", "tensors")


@click.command("export")
@LOGDIRS
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="Default: by the ending of --output, else jsonl."
)
@click.option(
    "--output",
    "output",
    metavar="FILE",
    type=click.Path(),
    help="Default: standard output. A folder for parquet.",
)
@RUN
@click.option(
    "--metric",
    "metrics",
    shell_complete=complete_metric,
    metavar="GLOB",
    multiple=True,
    help="Only keys that match, such as '*kl*'; may be repeated.",
)
@click.option("--follow", is_flag=True, help="jsonl only: go on printing points as they are written.")
@VERIFY
@click.option(
    "--all-sources", is_flag=True, help="Also print duplicate logs, which repeat the points of another log."
)
@click.option(
    "--kind", type=click.Choice(KINDS), default="scalars", show_default=True,
    help="What the rules found; or other records of event files, for csv and parquet.",
)  # fmt: skip
@SHARD
@ENGINE
def command(
    logdirs: tuple[str, ...],
    form: str | None,
    output: str | None,
    run_glob: str | None,
    metrics: tuple[str, ...],
    follow: bool,
    verify: bool,
    all_sources: bool,
    kind: str,
    shard: tuple[int, int] | None,
    engine: Engine,
) -> None:
    """Print every point that the logs below LOGDIR hold, in the order of each file.

    Points of a restarted run that a later attempt replaced are marked superseded, never left out. Parquet is
    written as one dataset partitioned by run; exporting again into the same folder adds only what is new.

    \b
    Examples:
      rltui export runs/ --metric '*reward*' | jq -r '[.run, .step, .value] | @tsv'
      rltui export runs/new --output points.csv
      rltui export runs/ --output points/ --format parquet
      rltui export runs/ --kind findings --output findings.parquet
      rltui export runs/new --follow | my-own-alarm
    """
    form = form or form_by_ending(output, ENDINGS, "jsonl")
    if form != "parquet":
        require_place(output, logdirs)
    if not follow:
        logdirs, _ = readable_logdirs(logdirs)
    runs = RunFilter()
    if run_glob is not None:
        from rltui.cli.reading.loading import run_filter  # imports rules, which other exports do not need

        runs = run_filter(logdirs, run_glob)
    selection = PointSelection(logdirs, runs, metrics, all_sources, verify)
    work = Work(engine, shard)
    if follow:
        if form != "jsonl" or output not in (None, "-") or kind != "scalars" or verify or work != Work():
            raise click.UsageError("--follow prints scalars as jsonl to standard output, unverified")
        from rltui.cli.export.follow_points import follow as follow_points

        follow_points(selection)
        return
    if kind not in ("scalars", "findings") and work != Work():
        raise click.UsageError(f"--shard and --engine go with scalars and findings, not with --kind {kind}")
    if form == "parquet":
        if output in (None, "-"):
            raise click.UsageError("--format parquet needs --output")
        require_extra("parquet", "export as Parquet")
    _export(selection, kind, form, output, work)


def _export(selection: PointSelection, kind: str, form: str, output: str | None, work: Work) -> None:
    """Write one kind of records in a format."""
    if kind == "findings":
        from rltui.cli.export.findings import export_findings

        export_findings(selection, form, output, work)
    elif kind != "scalars":
        if form == "jsonl":
            raise click.UsageError(f"--kind {kind} needs --format csv or parquet")
        from rltui.cli.export.event_records import export_event_records

        export_event_records(selection, kind, form, output)
    elif form == "parquet":
        from rltui.cli.export.parquet import export_parquet

        export_parquet(selection, str(output), work)
    else:
        export_lines(selection, form, output, work)
