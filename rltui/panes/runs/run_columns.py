"""The columns of lists of runs, including those of settings and metrics, and the order of runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, TypeVar

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.draw.numbers import (
    format_age,
    format_duration,
    format_progress,
    format_si,
    format_value,
    short_step,
)
from rltui.draw.symbols import STATE_ROLE
from rltui.metrics.glossary_files import glossary
from rltui.panes.runs.listed_run import ListedRun, health_role
from rltui.panes.runs.outcome import Outcome
from rltui.rules.finding import RUN_HEALTHS
from rltui.run_context.hparams.hparams import parse_value

SortKey: TypeAlias = (
    int | float | str | tuple[int, int, int] | list[tuple[int, str]] | tuple[int, float, str] | None
)
AnyRun = TypeVar("AnyRun", bound=ListedRun)
HPARAM, METRIC = "setting:", "metric:"  # prefixes of the ids of columns that users add
MISSING = "–"

_STATE = {"live": 0, "stalled": 1, "ended": 2}
_STALL = RUN_HEALTHS.index("warning")
_DIGITS = regex(r"(\d+)")


def natural(name: str) -> list[tuple[int, str]]:
    """The key of natural sorting: `run_9` before `run_10`."""
    return [(int(part), "") if part.isdecimal() else (-1, part.lower()) for part in _DIGITS.split(name)]


class RunColumn(NamedTuple):
    """A column: its id, heading, text, sort key; runs whose key is None come last.

    falling: whether the highest value comes first by default. width: cells on the screen. by_metric: whether
    runs are grouped by their main metric, since values of different metrics cannot be compared.
    """

    id: str
    word: str
    text: Callable[[ListedRun], str]
    key: Callable[[ListedRun], SortKey]
    width: int
    right: bool = False
    falling: bool = False
    by_metric: bool = False
    role: Callable[[ListedRun], str] | None = None


def _outcome(run: ListedRun, text: Callable[[Outcome], str]) -> str:
    outcome = run.outcome
    return MISSING if outcome is None else text(outcome)


def _value(outcome: Outcome, value: float | None) -> str:
    return MISSING if value is None else format_value(value, outcome.unit)


def _goodness(value: float | None, direction: str) -> float | None:
    """A number that is highest for the best value."""
    if value is None or not math.isfinite(value):
        return None
    return -value if direction in ("down", "near0") else value


def best_text(outcome: Outcome) -> str:
    """`1.98 @371`; `~` before a step that is not exact."""
    if outcome.best is None or outcome.best_step is None:
        return MISSING
    step = short_step(outcome.best_step, 7)
    return f"{_value(outcome, outcome.best)} @{'' if outcome.exact else '~'}{step}"


def _written(run: ListedRun) -> SortKey:
    """The newest first."""
    return -run.modified if math.isfinite(run.modified) else None


def _framework(run: ListedRun) -> str:
    return "" if run.framework == "unknown" else run.framework


def _share_text(run: ListedRun) -> str:
    return "" if run.share is None else format_progress(run.share)


def step_text(run: ListedRun, width: int = 19) -> str:
    """`116/400`, without the planned steps if they do not fit."""
    if run.step is None:
        return MISSING
    total = run.liveness.total
    whole = f"{short_step(run.step, 9)}/{short_step(total, 9)}" if total else ""
    return whole if whole and len(whole) <= width else short_step(run.step, min(width, 11))


def _why_key(run: ListedRun) -> SortKey:
    """The worst first, a stall or early end as bad as a warning; then those with the earliest finding."""
    bad = RUN_HEALTHS.index(run.urgency) if run.urgency in RUN_HEALTHS else -1
    stalled = _STALL if run.liveness.state == "stalled" or run.liveness.cut_short else -1
    steps = [one.since_step for one in run.findings if one.rank]
    return (max(bad, stalled), bad, -min(steps, default=0))


COLUMNS: tuple[RunColumn, ...] = (
    RunColumn("age", "age", lambda run: format_age(run.liveness.age), _written, 8, right=True,
              role=lambda run: "dim"),
    RunColumn("best", "best", lambda run: _outcome(run, best_text),
              lambda run: _goodness(run.outcome.best, run.outcome.direction) if run.outcome else None, 16,
              falling=True, by_metric=True),
    RunColumn("last", "last", lambda run: _outcome(run, lambda one: _value(one, one.last)),
              lambda run: _goodness(run.outcome.last, run.outcome.direction) if run.outcome else None, 9,
              right=True, falling=True, by_metric=True),
    RunColumn("health", "health", lambda run: run.health, _why_key, 9, falling=True,
              role=health_role),
    RunColumn("step", "step", step_text, lambda run: run.step, 15, right=True, falling=True),
    RunColumn("share", "done", _share_text, lambda run: run.share, 4, right=True, falling=True),
    RunColumn("eta", "eta",
              lambda run: MISSING if run.liveness.eta is None else format_duration(run.liveness.eta),
              lambda run: run.liveness.eta, 7, right=True),
    RunColumn("name", "run", lambda run: run.name, lambda run: natural(run.name), 30),
    RunColumn("state", "state", lambda run: run.liveness.word,
              lambda run: _STATE.get(run.liveness.state, 3), 9,
              role=lambda run: STATE_ROLE.get(run.liveness.shown_state, "dim")),
    RunColumn("framework", "framework", _framework, lambda run: run.framework, 17,
              role=lambda run: "dim"),
    RunColumn("project", "project", lambda run: run.project, lambda run: natural(run.project), 16,
              role=lambda run: "dim"),
    RunColumn("metric", "metric", lambda run: _outcome(run, lambda one: one.title),
              lambda run: run.outcome.title if run.outcome else None, 18, role=lambda run: "dim"),
    RunColumn("series", "series", lambda run: str(run.series),
              lambda run: run.series, 6, right=True, falling=True),
    RunColumn("points", "points", lambda run: format_si(run.points),
              lambda run: run.points, 7, right=True, falling=True),
    RunColumn("sisters", "vs its sisters",
              lambda run: run.sister_comparison.words if run.sister_comparison is not None else "",
              lambda run: None if run.sister_comparison is None else run.sister_comparison.spreads_below, 44,
              falling=True,
              role=lambda run: "dim"),
    RunColumn("why", "why", lambda run: run.why, _why_key, 40, falling=True,
              role=health_role),
)  # fmt: skip

_BY_ID = {column.id: column for column in COLUMNS}
_ALIASES = {"run": "name", "last_step": "step", "done": "share", "written": "age"}


def column_named(name: str) -> RunColumn | None:
    """A column by its id, its heading, or `setting:KEY` and `metric:KEY`; None if there is none."""
    if name.startswith(HPARAM):
        return _hparam_column(name)
    if name.startswith(METRIC):
        return _metric(name)
    return _BY_ID.get(_ALIASES.get(name, name))


def _hparam_column(name: str) -> RunColumn:
    key = name.removeprefix(HPARAM)
    logged = _metric(f"{METRIC}{key}")  # for settings that are only logged as a metric, as `lr` often is

    def text(run: ListedRun) -> str:
        hparam = run.hparam(key)
        return logged.text(run) if hparam is None else hparam.text

    def order(run: ListedRun) -> SortKey:
        hparam = run.hparam(key)
        if hparam is None:
            value = logged.key(run)
            return (0, value, "") if isinstance(value, float) else None
        if hparam.unset:
            return None
        value = parse_value(hparam.value) if isinstance(hparam.value, str) else hparam.value
        number = float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None
        if number is None or number != number:
            return (1, 0.0, hparam.text.lower())
        return (0, number, "")

    return RunColumn(name, key.rpartition("/")[2], text, order, 11, right=True)


def _metric(name: str) -> RunColumn:
    key = name.removeprefix(METRIC)

    def text(run: ListedRun) -> str:
        value, unit = run.last_value(key) or (None, "")
        return MISSING if value is None else format_value(value, unit)

    def order(run: ListedRun) -> SortKey:
        value, _ = run.last_value(key) or (None, "")
        return value if value is not None and math.isfinite(value) else None

    metric = glossary().metrics.get(key)
    heading = key.rpartition("/")[2] if metric is None else metric.title
    return RunColumn(name, heading, text, order, 11, right=True, falling=True)


# ---- order


class RunOrder(NamedTuple):
    """How runs are sorted: by a column, in its default order or reversed."""

    column: str = "age"
    reversed: bool = False

    @classmethod
    def parse(cls, text: str) -> RunOrder:
        """`best`, or `-best` for the reversed order; the default for unknown columns."""
        name = text.removeprefix("-")
        column = column_named(name)
        return cls() if column is None else cls(column.id, text.startswith("-"))

    @property
    def text(self) -> str:
        """The text that `parse` reads."""
        return f"{'-' if self.reversed else ''}{self.column}"

    @property
    def arrow(self) -> str:
        """Downwards if the highest value comes first."""
        column = column_named(self.column) or COLUMNS[0]
        return "↓" if column.falling != self.reversed else "↑"

    def next(self, columns: Sequence[str], step: int) -> RunOrder:
        """By the column `step` places further among `columns`, in its default order."""
        at = columns.index(self.column) if self.column in columns else -step if step > 0 else 0
        return RunOrder(columns[(at + step) % len(columns)])

    def by(self, column: str) -> RunOrder:
        """By a column; reversed if it is the same one."""
        return RunOrder(column, column == self.column and not self.reversed)


def sorted_runs(order: RunOrder, runs: Iterable[AnyRun]) -> list[AnyRun]:
    """Runs in this order (stable); those without a value come last.

    If values of several metrics are sorted, the metric that most runs have comes first.
    """
    column = column_named(order.column) or COLUMNS[0]
    keyed = [(column.key(run), run) for run in runs]
    known = [pair for pair in keyed if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=column.falling != order.reversed)  # type: ignore[arg-type,return-value]
    out = [run for _, run in known]
    if column.by_metric:
        count = Counter(run.outcome.title for run in out if run.outcome is not None)
        out.sort(key=lambda run: (-count[run.outcome.title], run.outcome.title) if run.outcome else (0, ""))
    return out + [run for key, run in keyed if key is None]
