"""A table of runs: those that an expression chooses, sorted, in groups with best, median and spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from rltui.common.arrays import median
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_range, format_value
from rltui.panes.runs.columns import MISSING, SETTING, RunOrder, sorted_runs
from rltui.panes.runs.expression import RunExpression
from rltui.panes.runs.facts import RunFacts
from rltui.panes.runs.listed_run import Outcome
from rltui.rules.finding import RUN_HEALTHS

GROUPS: dict[str, Callable[[RunFacts], str]] = {
    "framework": lambda run: run.view.framework,
    "project": lambda run: run.project,
    "health": lambda run: run.health,
    "state": lambda run: run.alive.state,
    "metric": lambda run: run.outcome.title if run.outcome is not None else "",
}
BY_METRIC = "metric"  # of GROUPS: values of one metric stand together


class RunGroup(NamedTuple):
    """Runs that have something in common: what its heading says of them."""

    name: str
    runs: tuple[RunFacts, ...]

    @property
    def healths(self) -> list[tuple[str, int]]:
        """How many of each health, the worst first."""
        return counted_healths(self.runs)

    @property
    def outcome(self) -> str:
        """`Reward: best 1.98 · last: median 1.41, 0.30 … 1.93`, of the metric that most of them have."""
        outcomes = [one for run in self.runs if (one := run.outcome) is not None and one.last is not None]
        if not outcomes:
            return ""
        title = Counter(one.title for one in outcomes).most_common(1)[0][0]
        same = [one for one in outcomes if one.title == title]
        last = [one.last for one in same if one.last is not None and np.isfinite(one.last)]
        unit = same[0].unit
        words = f"{title}:" if len(same) == len(self.runs) else f"{title} of {len(same)}:"
        if title == self.name:
            words = ""
        best = best_of(same)
        if best is not None:
            words += f" best {format_value(best, unit)}"
        if last:
            words += f"{' ·' if best is not None else ''} last: median {format_value(median(last), unit)}"
        if len(last) > 1:
            words += ", " + " … ".join(format_range(min(last), max(last), unit))
        return words.strip()


def best_of(outcomes: Iterable[Outcome]) -> float | None:
    """The best value of several runs of one metric."""
    found = [(one.best, one.direction) for one in outcomes if one.best is not None]
    if not found:
        return None
    return (max if found[0][1] == "up" else min)(best for best, _ in found)


def counted_healths(runs: Iterable[RunFacts]) -> list[tuple[str, int]]:
    """How many of each health, the worst first."""
    count = Counter(run.health for run in runs)
    return [(health, count[health]) for health in RUN_HEALTHS[::-1] if count[health]]


def chosen_runs(expression: RunExpression, order: RunOrder, runs: Iterable[RunFacts]) -> list[RunFacts]:
    """The runs that an expression chooses, sorted."""
    found = [run for run in runs if expression.holds(run)] if expression.terms else list(runs)
    return sorted_runs(order, found)


def grouped_runs(runs: Sequence[RunFacts], group: str) -> list[RunGroup]:
    """Groups in the order of their first runs, each in the order given; group: of GROUPS, or a setting."""
    name_of = GROUPS.get(group)
    key = group.removeprefix(SETTING)

    def of_setting(run: RunFacts) -> str:
        found = run.setting(key)
        return MISSING if found is None else found.text

    groups: dict[str, list[RunFacts]] = {}
    for run in runs:
        groups.setdefault((name_of or of_setting)(run) or MISSING, []).append(run)
    return [RunGroup(name, tuple(members)) for name, members in groups.items()]


class RunListing(NamedTuple):
    """The runs that are listed, in order; groups where they are grouped. total: runs there are."""

    runs: tuple[RunFacts, ...]
    groups: tuple[RunGroup, ...] = ()
    total: int = 0
    group: str = ""  # what they are grouped by
    metrics: tuple[str, ...] = ()  # the titles of their main metrics, the most usual first
    items: tuple[tuple[int, str], ...] = ()  # line and name of each run, headings of groups between them
    lacking: frozenset[str] = frozenset()  # columns of which no run has anything to say
    best_cells: int = 0  # that the longest best value of a few runs takes with its step; 0 of many


def lines_of(runs: Sequence[RunFacts], groups: Sequence[RunGroup]) -> tuple[tuple[int, str], ...]:
    """The line of each run, and its name; the heading of a group takes one, too."""
    if not groups:
        return tuple((at, run.view.name) for at, run in enumerate(runs))
    items: list[tuple[int, str]] = []
    at = 0
    for group in groups:
        items += [(at + 1 + place, run.view.name) for place, run in enumerate(group.runs)]
        at += 1 + len(group.runs)
    return tuple(items)


class Choices(NamedTuple):
    """Settings and metrics that runs have: what filters, groups and columns are made of."""

    differing: tuple[str, ...] = ()  # settings that tell runs apart
    settings: tuple[str, ...] = ()  # the others
    metrics: tuple[str, ...] = ()
