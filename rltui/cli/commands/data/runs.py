"""`rltui runs`: a line for each run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import click

from rltui.cli.exit_codes import FOUND, WRONG
from rltui.cli.options.arguments import FORMAT, JSON, LOGDIRS, RUN, schema_option
from rltui.cli.options.sharding import NO_CACHE, Work
from rltui.cli.output.printing import (
    NothingReadError,
    emit_json,
    emit_table,
    fail,
    leave,
    note_omitted,
    text_width,
)
from rltui.cli.reading.evaluation import evaluate_runs
from rltui.cli.reading.job_report import jobs_of_verdicts
from rltui.cli.reading.loading import is_run_expression, load
from rltui.common.display_text import cell_width, clean, fit
from rltui.draw.numbers import format_duration, format_step, short_step
from rltui.draw.symbols import HEALTH_GLYPH, HEALTH_ROLE, STATE_GLYPH, STATE_ROLE
from rltui.many_runs.listed_verdict import ListedVerdict
from rltui.many_runs.merged_verdicts import EvaluatedRuns, of_session
from rltui.many_runs.verdict import Verdict
from rltui.panes.runs.listed_run import ListedRun, fitted_summary
from rltui.panes.runs.run_columns import (
    COLUMNS,
    HPARAM,
    METRIC,
    MISSING,
    RunColumn,
    RunOrder,
    column_named,
    sorted_runs,
)
from rltui.panes.runs.short_names import fitted_names, short_run_names, with_given_names
from rltui.run_context.jobs.scheduler import Job
from rltui.store.continued_runs import Lineage

USUAL = (
    "name", "framework", "state", "step", "age", "metric", "last", "best", "health", "series", "points",
    "why",
)  # fmt: skip
LIMITS = {"name": 60, "why": 100, "metric": 30}  # cells
MIN_WIDTHS = {"name": 24, "why": 22, "metric": 14}  # cells, on a narrow terminal
OPTIONAL = (  # omitted on a narrow terminal, in this order
    "points", "series", "framework", "metric", "age", "state", "best", "health",
)  # fmt: skip
# On a narrow terminal the reasons come first: signs, name, step, the last value of a common metric, and why.
NARROW = 110  # cells of a line below which that is so
MAX_METRIC_CELLS = 14  # of its name as a heading
REASON_SHARE = 0.6  # of the room for names and reasons
_NARROW = ("state", "health", "name", "step", "why")
_WORDS = frozenset(column.word for column in COLUMNS)
WITHOUT_HPARAMS = frozenset(column.id for column in COLUMNS) - {"project"}  # known from verdicts alone


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
    sisters = as_json or "sisters" in f"{columns},{sort}"
    try:
        if _needs_hparams(columns, sort) or is_run_expression(run_glob):
            evaluated, facts = _with_hparams(logdirs, run_glob)
        else:
            how = Work(cached=not no_cache)
            evaluated = evaluate_runs(logdirs, run_glob, compare_sisters=sisters, how=how)
            facts = [ListedVerdict(verdict) for verdict in evaluated.verdicts]
    except NothingReadError as error:
        if as_json:
            emit_json({**head, "runs": [], "diagnostics": error.diagnostics})
        raise
    if sort is not None:
        column = _column_named(sort.removeprefix("-"), facts)
        facts = sorted_runs(RunOrder(column.id, sort.startswith("-")), facts)
    jobs = jobs_of_verdicts(evaluated.verdicts, logdirs)
    if as_json:
        verdicts = {verdict.name: verdict for verdict in evaluated.verdicts}
        runs = (
            _json(run, verdicts[run.name], evaluated.lineage.get(run.name), jobs.get(run.name))
            for run in facts
        )
        diagnostics = (problem.as_json() for problem in evaluated.diagnostics())
        emit_json({**head, "runs": runs, "diagnostics": diagnostics})
    else:
        texts = {name: _job_text(job) for name, job in jobs.items()}
        by = None if sort is None else _column_named(sort.removeprefix("-"), facts)
        _print_runs(facts, _columns_of(columns, facts), form, by, texts or None)
    leave(WRONG if evaluated.incomplete or evaluated.unreadable() else 0)


def _with_hparams(
    logdirs: tuple[str, ...], run_glob: str | None
) -> tuple[EvaluatedRuns, Sequence[ListedRun]]:
    """The runs with all of their metrics and settings, which cached verdicts do not have."""
    from rltui.panes.runs.run_facts import RunFacts
    from rltui.panes.runs.selection import hparams_below

    session = load(logdirs, run_glob, charts=False)
    evaluated, hparams, now = of_session(session), hparams_below(logdirs), time.time()
    return evaluated, [
        RunFacts(session.runs[each.name], now, hparams, sister_comparison=each.sister_comparison)
        for each in evaluated.verdicts
    ]


def _needs_hparams(columns: str, sort: str | None) -> bool:
    """Whether a column needs settings, or a metric that verdicts do not have."""
    words = [word.strip() for word in columns.removeprefix("+").split(",")]
    found = [column_named(word) for word in (*words, (sort or "").removeprefix("-")) if word]
    return any(column is None or column.id not in WITHOUT_HPARAMS for column in found)


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
        **_outcome_fields(run),
        **({} if verdict.sister_comparison is None else {"sisters": verdict.sister_comparison.as_json()}),
        "series": verdict.series,
        "sources": sources,
        "also": duplicates,
        **({"continues": continues._asdict()} if continues else {}),
        **({} if job is None else {"job": job._asdict()}),
    }


def _columns_of(text: str, runs: Sequence[ListedRun]) -> list[RunColumn]:
    """The columns of a comma-separated list; a leading `+` adds them to the usual ones.

    Ends the command with 1 for unknown names.
    """
    wanted = [word.strip() for word in text.removeprefix("+").split(",") if word.strip()]
    found = [_column_named(word, runs) for word in wanted]
    if not found or text.startswith("+"):
        usual = [column for name in USUAL if (column := column_named(name)) is not None]
        found = [*usual[:-1], *found, usual[-1]]
    return found


def _column_named(word: str, runs: Sequence[ListedRun]) -> RunColumn:
    """A column by its name, or by a setting or metric of any run."""
    found = column_named(word)
    if found is None and any(run.hparam(word) is not None for run in runs):
        found = column_named(f"{HPARAM}{word}")
    if found is None and any(run.last_value(word) is not None for run in runs):
        found = column_named(f"{METRIC}{word}")
    if found is None:
        known = ", ".join(column.id for column in COLUMNS)
        fail(f"no column, setting or metric is called {clean(word)!r}; columns are {known}", FOUND)
    return found


def _print_runs(
    runs: Sequence[ListedRun], columns: Sequence[RunColumn], form: str, sort: RunColumn | None,
    extra: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Print a line for each run, with the name given by the user if there is one.

    sort: the column by which they are sorted. extra: values of an additional column `job`, by run.
    """
    heads = [column.word for column in columns]
    given = {run.name: run.given_name for run in runs if run.given_name}
    usual = [column.id for column in columns] == list(USUAL)
    narrow = usual and form == "text" and extra is None and text_width(NARROW) < NARROW
    shown = with_given_names(short_run_names([run.name for run in runs]), given) if given or narrow else {}
    if narrow:
        _print_narrow(runs, columns, shown, sort)
        return
    called = {name: shown[name] for name in given}
    rows = [[_text(column, called)(run) for column in columns] for run in runs]
    if extra is not None:
        heads.append("job")
        rows = [[*row, extra.get(run.name, "-")] for run, row in zip(runs, rows, strict=True)]
    right = [at for at, column in enumerate(columns) if column.right]
    limits = {at: LIMITS[column.id] for at, column in enumerate(columns) if column.id in LIMITS}
    guessed = {f"{state}?": role for state, role in STATE_ROLE.items()}
    roles, markdown = {**HEALTH_ROLE, **STATE_ROLE, **guessed}, form == "markdown"
    position = {column.id: at for at, column in enumerate(columns)}
    min_widths = {position[id_]: cells for id_, cells in MIN_WIDTHS.items() if id_ in position}
    # Columns that the user selects are never omitted.
    optional = [position[id_] for id_ in OPTIONAL] if position.keys() >= {*USUAL} else []
    omitted = emit_table(
        heads, rows, right=right, limits=limits, roles=roles, markdown=markdown,
        min_widths=min_widths, optional=optional,
        shorten={position["why"]: fitted_summary} if "why" in position else {},
    )  # fmt: skip
    note_omitted(omitted)


def _print_narrow(
    runs: Sequence[ListedRun], columns: Sequence[RunColumn], called: Mapping[str, str], sort: RunColumn | None
) -> None:
    """Print the lines for a narrow terminal, and which of the columns have no room."""
    heads, rows = _narrow_table(runs, called, sort)
    why = len(heads) - 1
    width = text_width(NARROW)
    fixed = [max(cell_width(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    room = width - sum(fixed[at] + 2 for at in range(len(heads)) if at not in (1, why))
    reasons = min(fixed[why], max(int(room * REASON_SHARE), room - 2 - fixed[1]))
    names = fitted_names([row[1] for row in rows], max(room - 2 - reasons, 12))
    signs = {f"{state} {health}": HEALTH_ROLE[name]
             for state in (*STATE_GLYPH.values(), "?") for name, health in HEALTH_GLYPH.items()}  # fmt: skip
    emit_table(
        heads, [[row[0], names[row[1]], *row[2:]] for row in rows], right=range(2, why), limits={},
        roles=signs, min_widths={why: MIN_WIDTHS["why"]}, shorten={why: fitted_summary},
    )  # fmt: skip
    more = heads[3:why]
    told = {*_NARROW, *(column.id for column in columns if column.word in more)}
    if not _WORDS.issuperset(more):
        told |= {"metric", "last"}
    note_omitted([column.word for column in columns if column.id not in told])


def _narrow_table(
    runs: Sequence[ListedRun], called: Mapping[str, str], sort: RunColumn | None
) -> tuple[list[str], list[list[str]]]:
    """Headings and cells for a narrow terminal: which runs are wrong, and why.

    State and health are signs as on the screen, steps are short, and the last value is there if it is of one
    metric, which is its heading. A column by which runs are sorted is there, too.
    """
    metrics = {run.outcome.title for run in runs if run.outcome is not None}
    last = column_named("last")
    more = [(sort.word, sort.text)] if sort is not None and sort.id not in _NARROW else []
    if last is not None and len(metrics) == 1 and sort is not last:
        more.append((fit(metrics.pop(), MAX_METRIC_CELLS), last.text))
    heads = ["", "run", "step", *(word for word, _ in more), "why"]
    rows = [
        [
            f"{STATE_GLYPH.get(run.liveness.state, '?')} {HEALTH_GLYPH.get(run.health, '?')}",
            called.get(run.name, run.name),
            MISSING if run.step is None else short_step(run.step, 7),
            *(text(run) for _, text in more),
            run.why,
        ]
        for run in runs
    ]
    return heads, rows


def _text(column: RunColumn, called: Mapping[str, str]) -> Callable[[ListedRun], str]:
    if column.id == "name":
        return lambda run: called.get(run.name, run.name)
    if column.id == "step":  # without a unit prefix, since scripts may parse tables
        return lambda run: "-" if run.step is None else format_step(run.step)
    return column.text


def _outcome_fields(run: ListedRun) -> dict[str, object]:
    """The JSON fields of a run's progress: main metric, last and best value, planned steps, and summary."""
    found, liveness = run.outcome, run.liveness
    return {
        "metric": None if found is None else found.tag,
        "last": None if found is None else found.last,
        "best": None if found is None else found.best,
        "best_step": None if found is None else found.best_step,
        "best_step_exact": None if found is None or found.best is None else found.exact,
        "total_steps": liveness.total,
        "eta": liveness.eta,
        "why": run.why,
    }
