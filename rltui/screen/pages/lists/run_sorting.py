"""How the list of runs is sorted: by any of its columns, either way, runs that lack the value last."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from rltui.panes.overview import key_rows
from rltui.rules.finding import RUN_HEALTHS
from rltui.screen.state import RunSorting
from rltui.session.run_view import RunView

Health: TypeAlias = Callable[[RunView], str]
SortKey: TypeAlias = int | float | str | list[tuple[int, str]] | tuple[str, float] | None

_STATE = {"live": 0, "stalled": 1, "ended": 2}
_DIGITS = re.compile(r"(\d+)")


def natural(name: str) -> list[tuple[int, str]]:
    """A name in the order of people: `run_9` before `run_10`."""
    return [(int(part), "") if part.isdecimal() else (-1, part.lower()) for part in _DIGITS.split(name)]


def _key_metric(view: RunView, now: float, health: Health) -> tuple[str, float] | None:
    """Its title, so that like stands with like, and its value."""
    rows = key_rows(view, 1)
    value = rows[0].value if rows else None
    return (rows[0].title, value) if value is not None and math.isfinite(value) else None


def _badness(health: str) -> int:
    return RUN_HEALTHS.index(health) if health in RUN_HEALTHS else -1


@dataclass(frozen=True, slots=True)
class RunColumn:
    """A column: its id, the word over it, what it sorts by, and whether the highest comes first by itself."""

    id: str
    word: str
    key: Callable[[RunView, float, Health], SortKey]  # None where the run lacks it
    falling: bool = False


COLUMNS = (
    RunColumn("name", "run", lambda view, now, health: natural(view.name)),
    RunColumn("state", "state", lambda view, now, health: _STATE.get(view.liveness(now).state, 3)),
    RunColumn("health", "health", lambda view, now, health: _badness(health(view)), falling=True),
    RunColumn("step", "step", lambda view, now, health: view.run.last_step, falling=True),
    RunColumn("age", "last", lambda view, now, health: view.liveness(now).age),
    RunColumn("framework", "framework", lambda view, now, health: view.framework),
    RunColumn("key metric", "key metric", _key_metric, falling=True),
)


_PLACES = {column.id: at for at, column in enumerate(COLUMNS)}


def next_sorting(sorting: RunSorting, step: int) -> RunSorting:
    """By the column so many places to the right, in its usual order."""
    return RunSorting(COLUMNS[(_PLACES[sorting.column] + step) % len(COLUMNS)].id)


def sorting_by(sorting: RunSorting, column: str) -> RunSorting:
    """By a column; by the same one the other way round."""
    return RunSorting(column, column == sorting.column and not sorting.reversed)


def sorting_arrow(sorting: RunSorting) -> str:
    """Downwards where the highest comes first."""
    return "↓" if COLUMNS[_PLACES[sorting.column]].falling != sorting.reversed else "↑"


def sorted_runs(sorting: RunSorting, views: Iterable[RunView], now: float, health: Health) -> list[RunView]:
    """Runs in this order; equal ones stay in theirs, those that lack the value come last."""
    column = COLUMNS[_PLACES[sorting.column]]
    found = [(column.key(view, now, health), view) for view in views]
    known = [pair for pair in found if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=column.falling != sorting.reversed)  # type: ignore[arg-type,return-value]
    return [view for _, view in known] + [view for key, view in found if key is None]
