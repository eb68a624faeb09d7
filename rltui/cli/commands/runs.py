"""`rltui runs`: one line per run."""

from __future__ import annotations

import time
from dataclasses import asdict

import click

from rltui.cli.arguments import JSON, LOGDIRS, RUN, schema_option
from rltui.cli.loading import load
from rltui.cli.output import NothingReadError, emit_json, note
from rltui.cli.runs_report import column_asked_for, columns_of, outcome_fields, print_runs
from rltui.draw.numbers import format_duration
from rltui.jobs.scheduler import Job, SchedulerError, job_of
from rltui.jobs.slurm import Slurm
from rltui.panes.runs.columns import RunOrder, sorted_runs
from rltui.panes.runs.facts import RunFacts
from rltui.panes.runs.selection import settings_below
from rltui.session.session import Session
from rltui.store.continued_runs import Lineage
from rltui.text import clean


@click.command(name="runs")
@LOGDIRS
@RUN
@click.option(
    "--sort", metavar="COLUMN", help="Such as best, last, why, age, or a setting; -COLUMN turns it."
)
@click.option(
    "--columns",
    metavar="NAME,...",
    default="",
    help="Columns, settings or metrics, as 'run,best,lr'; '+lr,seed' adds to the usual ones.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True
)
@JSON
@schema_option("runs")
def command(
    logdirs: tuple[str, ...], run_glob: str | None, sort: str | None, columns: str, form: str, as_json: bool
) -> None:
    """List the runs below LOGDIR: how far each is, its last and best value, its health and why.

    The newest comes first; --sort best and --sort last bring the best run first, --sort why the worst.

    \b
    Examples:
      rltui runs /scratch/me/experiments
      rltui runs sweep/ --sort best --columns run,best,last,lr,seed
      rltui runs sweep/ --run 'lr>1e-4 critical' --format markdown
      rltui runs . --json | jq '.runs[] | select(.state == "live") | .run'
    """
    head = {"schema": 1, "logdir": clean(logdirs[0])}
    as_json = as_json or form == "json"
    try:
        session = load(logdirs, run_glob, charts=False)
    except NothingReadError as error:
        if as_json:
            emit_json({**head, "runs": [], "diagnostics": error.diagnostics})
        raise
    now, settings = time.time(), settings_below(logdirs)
    facts = [RunFacts(view, now, settings) for view in session.ordered()]
    if sort is not None:
        column = column_asked_for(sort.removeprefix("-"), facts)
        facts = sorted_runs(RunOrder(column.id, sort.startswith("-")), facts)
    jobs = _jobs(session)
    if as_json:
        lineage = session.lineage()
        runs = [_json(run, lineage.get(run.view.name), jobs.get(run.view.name)) for run in facts]
        diagnostics = [problem.as_json() for problem in session.diagnostics()]
        emit_json({**head, "runs": runs, "diagnostics": diagnostics})
        return
    texts = {name: _job_text(job) for name, job in jobs.items()}
    print_runs(facts, columns_of(columns, facts), form, texts or None)


def _jobs(session: Session) -> dict[str, Job]:
    """The queued or running job of each run that has one; a scheduler that fails is a note."""
    try:
        jobs = Slurm().jobs()
    except SchedulerError as error:
        note(str(error))
        return {}
    found = {}
    for view in session.ordered() if jobs else ():
        consoles = [report.path for report in view.consoles]
        job = job_of([*consoles, *view.run.sources], jobs)
        if job is not None:
            found[view.name] = job
    return found


def _job_text(job: Job) -> str:
    """`4711 running, 3h 12m left, node[01-04]`."""
    left = "" if job.left is None else f", {format_duration(job.left)} left"
    return f"{job.id} {job.state}{left}" + (f", {job.nodes}" if job.nodes else "")


def _json(run: RunFacts, continues: Lineage | None, job: Job | None) -> dict[str, object]:
    view = run.view
    sources: list[dict[str, object]] = []
    duplicates: list[dict[str, object]] = []
    for source in view.run.sources.values():
        target = sources if source.also_of is None else duplicates
        target.append({"path": source.path, "format": source.format, "bytes": source.size})
    return {
        **view.describe(run.now),
        **outcome_fields(run),
        "series": len(view.run.series),
        "sources": sources,
        "also": duplicates,
        **({"continues": continues._asdict()} if continues else {}),
        **({} if job is None else {"job": asdict(job)}),
    }
