"""`rltui runs`: one line per run."""

from __future__ import annotations

import time
from dataclasses import asdict

import click

from rltui.cli.arguments import JSON, LOGDIRS, RUN, schema_option
from rltui.cli.loading import load
from rltui.cli.output import emit_json, emit_table, note
from rltui.draw.numbers import format_age, format_duration, format_si, format_step
from rltui.draw.symbols import HEALTH_ROLE, STATE_ROLE
from rltui.jobs.scheduler import Job, SchedulerError, job_of
from rltui.jobs.slurm import Slurm
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.store.continued_runs import Lineage
from rltui.text import clean

HEADS = ("run", "framework", "state", "last step", "age", "series", "points", "health")


@click.command(name="runs")
@LOGDIRS
@RUN
@JSON
@schema_option("runs")
def command(logdirs: tuple[str, ...], run_glob: str | None, as_json: bool) -> None:
    """List the runs below LOGDIR: name, framework, state, last step, age, series.

    \b
    Examples:
      rltui runs /scratch/me/experiments
      rltui runs . --json | jq '.runs[] | select(.state == "live") | .run'
    """
    session = load(logdirs, run_glob, charts=False)
    now = time.time()
    jobs = _jobs(session)
    if as_json:
        lineage = session.lineage()
        runs = [_json(view, now, lineage.get(view.name), jobs.get(view.name)) for view in session.ordered()]
        emit_json({"schema": 1, "logdir": clean(logdirs[0]), "runs": runs})
        return
    rows = [_row(view, now) for view in session.ordered()]
    if jobs:
        rows = [
            (*row, _job_text(jobs.get(view.name))) for row, view in zip(rows, session.ordered(), strict=True)
        ]
    heads = (*HEADS, "job") if jobs else HEADS
    emit_table(heads, rows, right=(3, 4, 5, 6), limits={0: 60}, roles={**HEALTH_ROLE, **STATE_ROLE})


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


def _job_text(job: Job | None) -> str:
    """`4711 running, 3h 12m left, node[01-04]`."""
    if job is None:
        return "-"
    left = "" if job.left is None else f", {format_duration(job.left)} left"
    return f"{job.id} {job.state}{left}" + (f", {job.nodes}" if job.nodes else "")


def _row(view: RunView, now: float) -> tuple[str, ...]:
    run, live = view.run, view.liveness(now)
    return (
        view.name,
        view.framework,
        live.state,
        format_step(run.last_step) if run.last_step is not None else "-",
        format_age(live.age),
        str(len(run.series)),
        format_si(run.points),
        view.health,
    )


def _json(view: RunView, now: float, continues: Lineage | None, job: Job | None) -> dict[str, object]:
    sources: list[dict[str, object]] = []
    duplicates: list[dict[str, object]] = []
    for source in view.run.sources.values():
        target = sources if source.also_of is None else duplicates
        target.append({"path": source.path, "format": source.format, "bytes": source.size})
    return {
        **view.describe(now),
        "series": len(view.run.series),
        "sources": sources,
        "also": duplicates,
        **({"continues": continues._asdict()} if continues else {}),
        **({} if job is None else {"job": asdict(job)}),
    }
