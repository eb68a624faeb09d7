"""`rltui runs`: one line per run."""

from __future__ import annotations

import time
from collections.abc import Sequence

import click

from rltui.cli.arguments import FORMAT, JSON, LOGDIRS, RUN, schema_option
from rltui.cli.documents.runs_report import column_asked_for, columns_of, outcome_fields, print_runs
from rltui.cli.exit_codes import WRONG
from rltui.cli.job_report import jobs_of_verdicts
from rltui.cli.judging import judge_runs
from rltui.cli.loading import is_run_expression, load
from rltui.cli.output import NothingReadError, emit_json, leave
from rltui.cli.sharding import NO_CACHE, Work
from rltui.common.text import clean
from rltui.draw.numbers import format_duration
from rltui.many_runs.listed_verdict import ListedVerdict
from rltui.many_runs.merged_verdicts import JudgedRuns, of_session
from rltui.many_runs.verdict import Verdict
from rltui.panes.runs.columns import COLUMNS, RunOrder, column_named, sorted_runs
from rltui.panes.runs.listed_run import ListedRun
from rltui.run_context.jobs.scheduler import Job
from rltui.store.continued_runs import Lineage

REMEMBERED = frozenset(column.id for column in COLUMNS) - {"project"}  # columns that need no settings


@click.command(name="runs")
@LOGDIRS
@RUN
@click.option(
    "--sort", metavar="COLUMN", help="Such as best, last, why, age, or a setting; -COLUMN reverses the order."
)
@click.option(
    "--columns",
    metavar="NAME,...",
    default="",
    help="Columns, settings or metrics, as 'run,best,lr'; '+lr,seed' adds to the usual ones.",
)
@FORMAT
@JSON
@schema_option("runs")
@NO_CACHE
def command(
    logdirs: tuple[str, ...],
    run_glob: str | None,
    sort: str | None,
    columns: str,
    form: str,
    as_json: bool,
    no_cache: bool,
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
    judged: JudgedRuns
    facts: Sequence[ListedRun]
    try:
        if _needs_settings(columns, sort) or is_run_expression(run_glob):
            from rltui.panes.runs.facts import RunFacts
            from rltui.panes.runs.selection import settings_below

            session = load(logdirs, run_glob, charts=False)
            judged, settings = of_session(session), settings_below(logdirs)
            now = time.time()
            facts = [
                RunFacts(session.runs[each.name], now, settings, standing=each.standing)
                for each in judged.verdicts
            ]
        else:
            standings = as_json or "sisters" in f"{columns},{sort}"
            judged = judge_runs(logdirs, run_glob, standings=standings, how=Work(cached=not no_cache))
            facts = [ListedVerdict(verdict) for verdict in judged.verdicts]
    except NothingReadError as error:
        if as_json:
            emit_json({**head, "runs": [], "diagnostics": error.diagnostics})
        raise
    if sort is not None:
        column = column_asked_for(sort.removeprefix("-"), facts)
        facts = sorted_runs(RunOrder(column.id, sort.startswith("-")), facts)
    jobs = jobs_of_verdicts(judged.verdicts, logdirs)
    if as_json:
        verdicts = {verdict.name: verdict for verdict in judged.verdicts}
        runs = (
            _json(run, verdicts[run.name], judged.lineage.get(run.name), jobs.get(run.name)) for run in facts
        )
        diagnostics = (problem.as_json() for problem in judged.diagnostics())
        emit_json({**head, "runs": runs, "diagnostics": diagnostics})
    else:
        texts = {name: _job_text(job) for name, job in jobs.items()}
        print_runs(facts, columns_of(columns, facts), form, texts or None)
    leave(WRONG if judged.lost else 0)


def _needs_settings(columns: str, sort: str | None) -> bool:
    """Whether more is asked for than is remembered of runs: settings, or metrics of one's choice."""
    words = [word.strip() for word in columns.removeprefix("+").split(",")]
    found = [column_named(word) for word in (*words, (sort or "").removeprefix("-")) if word]
    return any(column is None or column.id not in REMEMBERED for column in found)


def _job_text(job: Job) -> str:
    """`4711 running, 3h 12m left, node[01-04]`."""
    left = "" if job.left is None else f", {format_duration(job.left)} left"
    return f"{job.id} {job.state}{left}" + (f", {job.nodes}" if job.nodes else "")


def _json(run: ListedRun, verdict: Verdict, continues: Lineage | None, job: Job | None) -> dict[str, object]:
    sources: list[dict[str, object]] = []
    duplicates: list[dict[str, object]] = []
    for source in verdict.sources:
        target = duplicates if source.duplicate else sources
        target.append({"path": source.path, "format": source.format, "bytes": source.bytes})
    return {
        **verdict.describe(),
        **outcome_fields(run),
        **({} if verdict.standing is None else {"sisters": verdict.standing.as_json()}),
        "series": verdict.series,
        "sources": sources,
        "also": duplicates,
        **({"continues": continues._asdict()} if continues else {}),
        **({} if job is None else {"job": job._asdict()}),
    }
