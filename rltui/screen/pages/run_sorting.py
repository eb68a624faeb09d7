"""How the list of runs is sorted: by any of its columns, either way, runs that lack the value last."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rltui.panes.overview import key_rows
from rltui.rules.finding import HEALTHS

if TYPE_CHECKING:
    from rltui.session.run_view import RunView

_STATE = {"live": 0, "stalled": 1, "ended": 2}
_DIGITS = re.compile(r"(\d+)")


def natural(name: str) -> list[tuple[int, str]]:
    """A name in the order of people: `run_9` before `run_10`."""
    return [(int(part), "") if part.isdecimal() else (-1, part.lower()) for part in _DIGITS.split(name)]


def _key_metric(view: RunView, now: float, health: object) -> tuple[str, float] | None:
    """Its title, so that like stands with like, and its value."""
    rows = key_rows(view, 1)
    value = rows[0].value if rows else None
    return (rows[0].title, value) if value is not None and math.isfinite(value) else None


def _badness(health: str) -> int:
    return HEALTHS.index(health) if health in HEALTHS else -1


@dataclass(frozen=True, slots=True)
class RunColumn:
    """A column: its id, the word over it, what it sorts by, and whether the highest comes first by itself."""

    id: str
    word: str
    key: Callable[[RunView, float, Callable[[RunView], str]], Any]  # None where the run lacks it
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


@dataclass(frozen=True, slots=True)
class RunSorting:
    """A column, and whether it is turned round."""

    column: str = "age"
    turned: bool = False

    @property
    def _at(self) -> int:
        return next(at for at, column in enumerate(COLUMNS) if column.id == self.column)

    def by(self, step: int) -> RunSorting:
        """By the column so many places to the right, its usual way."""
        return RunSorting(COLUMNS[(self._at + step) % len(COLUMNS)].id)

    def to(self, column: str) -> RunSorting:
        """By a column; by the same one the other way round."""
        return RunSorting(column, not self.turned if column == self.column else False)

    @property
    def arrow(self) -> str:
        """Downwards where the highest comes first."""
        return "↓" if COLUMNS[self._at].falling != self.turned else "↑"

    def sorted(
        self,
        views: Iterable[RunView],
        now: float,
        health: Callable[[RunView], str] = lambda view: view.evaluator.health,
    ) -> list[RunView]:
        """Runs in this order; equal ones keep theirs. `health`: how a run stands, where that is asked."""
        column = COLUMNS[self._at]
        found = [(column.key(view, now, health), view) for view in views]
        known = [pair for pair in found if pair[0] is not None]
        known.sort(key=lambda pair: pair[0], reverse=column.falling != self.turned)
        return [view for _, view in known] + [view for key, view in found if key is None]
