"""The few rows that matter: those of a kind of run, and those that the user pinned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from rltui.panes.pane_list import pane_tables, scenario_of
from rltui.panes.rows.row import Row, is_constant, rows_of, with_distinct_titles
from rltui.session.tag_index import TagIndex

if TYPE_CHECKING:
    from rltui.panes.baseline.comparison import Difference
    from rltui.rules.finding import Finding
    from rltui.session.run_view import RunView

KEY_METRICS = 16  # rows of an overview


def key_rows(
    view: RunView, count: int, *, at_step: int | None = None, findings: Sequence[Finding] | None = None
) -> list[Row]:
    """The rows that matter most for this kind of run, at most `count`, each of another thing."""
    return rows_and_constants(view, count, at_step=at_step, findings=findings)[0]


def rows_and_constants(
    view: RunView,
    count: int = KEY_METRICS,
    *,
    at_step: int | None = None,
    against: Mapping[str, Difference] | None = None,
    findings: Sequence[Finding] | None = None,
) -> tuple[list[Row], list[Row]]:
    """The rows that matter most, and those between them that never changed: they need no chart."""
    rows: list[Row] = []
    constants: list[Row] = []
    shown: set[str] = set()
    findings = view.evaluator.findings() if findings is None else findings
    for tag in _order(view):
        if len(rows) >= count:
            break
        if tag in shown:
            continue
        row = _row_with(view, tag, at_step, against, findings)
        if row is not None:
            shown.update(row.tags)
            (constants if is_constant(row) else rows).append(row)
    rows = with_distinct_titles(rows or constants)
    if len(rows) < min(count, 4):  # a run whose names nobody knows: its own most important rows
        left = (tag for tags in view.tag_index.panes.values() for tag in tags if tag not in shown)
        quiet = pane_tables().no_cards if rows else ()
        rest = [t for t in left if view.run.series[t].count and view.names.name(t).canonical not in quiet]
        rest.sort(key=lambda tag: view.names.name(tag).pane not in ("reward", "validation", "policy"))
        rows += rows_of(view, rest[:64], at_step=at_step, findings=findings)[: count - len(rows)]
    there = {row.tag for row in rows}
    return rows, [row for row in constants if row.tag not in there]


def pinned_rows(
    view: RunView,
    pins: Sequence[str],
    *,
    at_step: int | None = None,
    against: Mapping[str, Difference] | None = None,
    findings: Sequence[Finding] | None = None,
) -> list[Row]:
    """The rows of the metrics that the user pinned and the run has, in the order in which they were."""
    rows: list[Row] = []
    for tag in pins:
        if tag not in view.run.series or any(tag in row.tags for row in rows):
            continue
        row = _row_with(view, tag, at_step, against, findings)
        rows += [row] if row is not None else []
    return with_distinct_titles(rows)


def _row_with(
    view: RunView, tag: str, at_step: int | None, against: Mapping[str, Difference] | None,
    findings: Sequence[Finding] | None,
) -> Row | None:  # fmt: skip
    """The row of a tag with the other statistics of its distribution."""
    tags = view.tag_index.distribution_of(tag)
    made = rows_of(view, tags, at_step=at_step, findings=findings, against=against, apart=False)
    return next((row for row in made if tag in row.tags), None)


def _order(view: RunView) -> Iterator[str]:
    """Tags in the order of what to look at: the outcome, the core of any run, the rest of the scenario."""
    outcome, others = _wanted(view.tag_index, view.framework)
    # What is logged once, at the end of a run, is no curve.
    least = 2 if view.run.points >= 2 * len(view.run.series) else 1
    series = view.run.series

    def first(tags: tuple[str, ...]) -> str | None:
        return next((t for t in tags if series[t].count >= least and not _says_nothing(view, t)), None)

    yield from islice(filter(None, map(first, outcome)), 2)
    yield from filter(None, map(first, others))


_Wanted = tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]
_WANTED: WeakKeyDictionary[TagIndex, tuple[str, _Wanted]] = WeakKeyDictionary()


def _wanted(index: TagIndex, framework: str) -> _Wanted:
    """The tags of the outcome, and of what comes after it: of each quantity those that may stand for it.

    Found once for all runs that log the same.
    """
    known = _WANTED.get(index)
    if known is not None and known[0] == framework:
        return known[1]
    tables, scenario = pane_tables(), scenario_of(index.canonical, framework)

    def tags_of(*names: str) -> tuple[str, ...]:
        return tuple(tag for name in names for tag in index.canonical.get(name, ()))

    outcome = [tags_of(name) for name in (scenario.groups[0].metrics if scenario.groups else ())]
    others = [tags_of(*names) for names in tables.core]
    others += [tags_of(name) for group in scenario.groups for name in group.metrics]
    others += [tags_of(*names) for names in tables.key_metrics]
    found = tuple(filter(None, outcome)), tuple(filter(None, others))
    _WANTED[index] = framework, found
    return found


def _says_nothing(view: RunView, tag: str) -> bool:
    """Whether it is a speed of evaluations, or always zero: frameworks write 0 for what is not measured."""
    series, name = view.run.series[tag], view.names.name(tag)
    if name.pane not in ("perf", "timing"):
        return False
    if name.held_out:
        return True
    if series.last_value != 0 or series.count < 3:
        return False
    return not series.recent(64).value.any()
