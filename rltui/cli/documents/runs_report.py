"""What `runs` prints of each run: columns as text or Markdown, and fields of the document."""

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
LEAST = {"name": 24, "why": 22, "metric": 14}  # cells, on a terminal that is too narrow for all
GIVES_WAY = (  # there, in this order
    "points", "series", "framework", "metric", "age", "state", "best", "health",
)  # fmt: skip


def columns_of(text: str, runs: Sequence[ListedRun]) -> list[RunColumn]:
    """The columns that somebody asks for, separated by commas; a first `+` adds them to the usual ones.

    Ends the command with 1 for what is no column, no setting and no metric of any run.
    """
    wanted = [word.strip() for word in text.removeprefix("+").split(",") if word.strip()]
    found = [column_asked_for(word, runs) for word in wanted]
    if not found or text.startswith("+"):
        usual = [column for name in USUAL if (column := column_named(name)) is not None]
        found = [*usual[:-1], *found, usual[-1]]
    return found


def column_asked_for(word: str, runs: Sequence[ListedRun]) -> RunColumn:
    """A column by its name, or by a setting or metric that some run has."""
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
    """A line for each run, by the name that a person gave it if one did.

    extra: a last column, by run, under the word `job`.
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
    least = {place[one]: cells for one, cells in LEAST.items() if one in place}
    way = [place[one] for one in GIVES_WAY] if place.keys() >= {*USUAL} else []  # those asked for stay
    emit_table(
        heads, rows, right=right, limits=limits, roles=roles, markdown=markdown, least=least, gives_way=way,
        fits={place["why"]: fitted_summary} if "why" in place else {},
    )  # fmt: skip


def _text(column: RunColumn, called: Mapping[str, str]) -> Callable[[ListedRun], str]:
    if column.id == "name":
        return lambda run: called.get(run.name, run.name)
    if column.id == "step":  # in full: programs cut columns out of tables, too
        return lambda run: "-" if run.step is None else format_step(run.step)
    if column.id == "state":
        return lambda run: run.alive.state
    return column.text


def outcome_fields(run: ListedRun) -> dict[str, object]:
    """How a run does: its main metric with last and best value, how far it is, and why it is as it is."""
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
