"""A table of runs: those that an expression selects, sorted, in groups with best, median and range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from rltui.common.arrays import median
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_range, format_value
from rltui.panes.runs.listed_run import health_role
from rltui.panes.runs.outcome import Outcome
from rltui.panes.runs.run_columns import HPARAM, MISSING, RunOrder, sorted_runs
from rltui.panes.runs.run_expression import RunExpression
from rltui.panes.runs.run_facts import RunFacts
from rltui.rules.finding import RUN_HEALTHS

GROUPS: dict[str, Callable[[RunFacts], str]] = {
    "framework": lambda run: run.view.framework,
    "project": lambda run: run.project,
    "health": lambda run: run.health,
    "state": lambda run: run.liveness.state,
    "metric": lambda run: run.outcome.title if run.outcome is not None else "",
}
BY_METRIC = "metric"  # of GROUPS


class RunGroup(NamedTuple):
    """Runs with a common property, and the text of their heading."""

    name: str
    runs: tuple[RunFacts, ...]

    @property
    def healths(self) -> list[tuple[str, int, str]]:
        """The number of runs by health, the worst first."""
        return counted_healths(self.runs)

    @property
    def outcome(self) -> str:
        """`Reward: best 1.98 · last: median 1.41, 0.30 … 1.93`, of their most common main metric."""
        outcomes = [one for run in self.runs if (one := run.outcome) is not None and one.last is not None]
        if not outcomes:
            return ""
        title = Counter(one.title for one in outcomes).most_common(1)[0][0]
        same = [one for one in outcomes if one.title == title]
        last = [one.last for one in same if one.last is not None and np.isfinite(one.last)]
        unit = same[0].unit
        text = f"{title}:" if len(same) == len(self.runs) else f"{title} of {len(same)}:"
        if title == self.name:
            text = ""
        best = best_of(same)
        if best is not None:
            text += f" best {format_value(best, unit)}"
        if last:
            text += f"{' ·' if best is not None else ''} last: median {format_value(median(last), unit)}"
        if len(last) > 1:
            text += ", " + " … ".join(format_range(min(last), max(last), unit))
        return text.strip()


def best_of(outcomes: Iterable[Outcome]) -> float | None:
    """The best value of the same metric in several runs."""
    values = [(one.best, one.direction) for one in outcomes if one.best is not None]
    if not values:
        return None
    return (max if values[0][1] == "up" else min)(best for best, _ in values)


def counted_healths(runs: Iterable[RunFacts]) -> list[tuple[str, int, str]]:
    """The number of runs by health, the worst first, with a role: that of the first run that is not dim."""
    roles: dict[str, list[str]] = {}
    for run in runs:
        roles.setdefault(run.health, []).append(health_role(run))
    return [
        (health, len(roles[health]), next((role for role in roles[health] if role != "dim"), "dim"))
        for health in RUN_HEALTHS[::-1]
        if health in roles
    ]


def chosen_runs(expression: RunExpression, order: RunOrder, runs: Iterable[RunFacts]) -> list[RunFacts]:
    """The runs that an expression selects, sorted."""
    return sorted_runs(order, filter(expression.holds, runs))


def grouped_runs(runs: Sequence[RunFacts], group: str) -> list[RunGroup]:
    """Groups in the order of their first runs, which keep their order; group: of GROUPS, or a setting."""
    key = group.removeprefix(HPARAM)

    def hparam_text(run: RunFacts) -> str:
        hparam = run.hparam(key)
        return MISSING if hparam is None else hparam.text

    name_of = GROUPS.get(group, hparam_text)
    groups: dict[str, list[RunFacts]] = {}
    for run in runs:
        groups.setdefault(name_of(run) or MISSING, []).append(run)
    return [RunGroup(name, tuple(members)) for name, members in groups.items()]


class RunListing(NamedTuple):
    """The listed runs in order, and their groups if they are grouped. total: the number of all runs."""

    runs: tuple[RunFacts, ...]
    groups: tuple[RunGroup, ...] = ()
    total: int = 0
    group: str = ""  # the property by which they are grouped
    metrics: tuple[str, ...] = ()  # the titles of their main metrics, the most common first
    items: tuple[tuple[int, str], ...] = ()  # line and name of each run; headings of groups take lines
    items_with_reasons: tuple[tuple[int, str], ...] = ()  # the same with a line below each run that has one
    lacking: frozenset[str] = frozenset()  # columns that are empty for all runs
    best_cells: int = 0  # of the longest best value with its step, for a few runs; 0 for many
    why_cells: int | None = None  # of the longest reason, for a few runs; None for many


def lines_of(
    runs: Sequence[RunFacts], groups: Sequence[RunGroup], *, reasons: bool = False
) -> tuple[tuple[int, str], ...]:
    """The line and the name of each run; headings of groups take a line.

    reasons: whether a run has a second line for its reason, if there is one.
    """
    items: list[tuple[int, str]] = []
    at = 0
    for group in groups or (RunGroup("", tuple(runs)),):
        at += bool(groups)
        for run in group.runs:
            items.append((at, run.view.name))
            at += 2 if reasons and run.why else 1
    return tuple(items)


class Choices(NamedTuple):
    """Settings and metrics of runs that can be used in expressions, as groups and as columns."""

    differing: tuple[str, ...] = ()  # settings whose values differ between runs
    hparams: tuple[str, ...] = ()  # the others
    metrics: tuple[str, ...] = ()
