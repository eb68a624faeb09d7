"""The output of `runs`: columns as text or Markdown, and JSON fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rltui.cli.exit_codes import FOUND
from rltui.cli.output import emit_table, fail
from rltui.common.text import clean
from rltui.draw.numbers import format_step
from rltui.draw.symbols import HEALTH_ROLE, STATE_ROLE
from rltui.panes.runs.columns import COLUMNS, METRIC, SETTING, RunColumn, column_named
from rltui.panes.runs.listed_run import ListedRun, fitted_summary
from rltui.panes.runs.short_names import short_run_names, with_given_names

USUAL = (
    "name", "framework", "state", "step", "age", "metric", "last", "best", "health", "series", "points",
    "why",
)  # fmt: skip
LIMITS = {"name": 60, "why": 100, "metric": 30}  # cells
MIN_WIDTHS = {"name": 24, "why": 22, "metric": 14}  # cells, on a narrow terminal
OPTIONAL = (  # omitted on a narrow terminal, in this order
    "points", "series", "framework", "metric", "age", "state", "best", "health",
)  # fmt: skip


def columns_of(text: str, runs: Sequence[ListedRun]) -> list[RunColumn]:
    """The columns of a comma-separated list; a leading `+` adds them to the usual ones.

    Ends the command with 1 for unknown names.
    """
    wanted = [word.strip() for word in text.removeprefix("+").split(",") if word.strip()]
    found = [column_asked_for(word, runs) for word in wanted]
    if not found or text.startswith("+"):
        usual = [column for name in USUAL if (column := column_named(name)) is not None]
        found = [*usual[:-1], *found, usual[-1]]
    return found


def column_asked_for(word: str, runs: Sequence[ListedRun]) -> RunColumn:
    """A column by its name, or by a setting or metric of any run."""
    found = column_named(word)
    if found is None and any(run.setting(word) is not None for run in runs):
        found = column_named(f"{SETTING}{word}")
    if found is None and any(run.last_value(word) is not None for run in runs):
        found = column_named(f"{METRIC}{word}")
    if found is None:
        known = ", ".join(column.id for column in COLUMNS)
        fail(f"no column, setting or metric is called {clean(word)!r}; columns are {known}", FOUND)
    return found


def print_runs(
    runs: Sequence[ListedRun], columns: Sequence[RunColumn], form: str, extra: Mapping[str, str] | None = None
) -> None:
    """Print a line for each run, with the name given by the user if there is one.

    extra: values of an additional column `job`, by run.
    """
    heads = [column.word for column in columns]
    given = {run.name: run.given_name for run in runs if run.given_name}
    shown = with_given_names(short_run_names([run.name for run in runs]), given) if given else {}
    called = {name: shown[name] for name in given}
    rows = [[_text(column, called)(run) for column in columns] for run in runs]
    if extra is not None:
        heads.append("job")
        rows = [[*row, extra.get(run.name, "-")] for run, row in zip(runs, rows, strict=True)]
    right = [at for at, column in enumerate(columns) if column.right]
    limits = {at: LIMITS[column.id] for at, column in enumerate(columns) if column.id in LIMITS}
    roles, markdown = {**HEALTH_ROLE, **STATE_ROLE}, form == "markdown"
    place = {column.id: at for at, column in enumerate(columns)}
    min_widths = {place[id_]: cells for id_, cells in MIN_WIDTHS.items() if id_ in place}
    # Columns that the user selects are never omitted.
    optional = [place[id_] for id_ in OPTIONAL] if place.keys() >= {*USUAL} else []
    emit_table(
        heads, rows, right=right, limits=limits, roles=roles, markdown=markdown,
        min_widths=min_widths, optional=optional,
        shorten={place["why"]: fitted_summary} if "why" in place else {},
    )  # fmt: skip


def _text(column: RunColumn, called: Mapping[str, str]) -> Callable[[ListedRun], str]:
    if column.id == "name":
        return lambda run: called.get(run.name, run.name)
    if column.id == "step":  # without a unit prefix, since scripts may parse tables
        return lambda run: "-" if run.step is None else format_step(run.step)
    if column.id == "state":
        return lambda run: run.alive.state
    return column.text


def outcome_fields(run: ListedRun) -> dict[str, object]:
    """The JSON fields of a run's progress: main metric, last and best value, planned steps, and summary."""
    found, alive = run.outcome, run.alive
    return {
        "metric": None if found is None else found.tag,
        "last": None if found is None else found.last,
        "best": None if found is None else found.best,
        "best_step": None if found is None else found.best_step,
        "best_step_exact": None if found is None or found.best is None else found.exact,
        "total_steps": alive.total,
        "eta": alive.eta,
        "why": run.why,
    }
