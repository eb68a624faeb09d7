"""The most important rows of a run: those listed for its kind of training, and those that are pinned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from rltui.panes.answers.values.repeated_totals import repeated_totals
from rltui.panes.pane_tabs import overview_tables, scenario_of
from rltui.panes.rows.row import Row, is_constant, rows_of, with_distinct_titles
from rltui.session.shared_metric_names import MAX_REMEMBERED
from rltui.session.tag_index import TagIndex

if TYPE_CHECKING:
    from rltui.panes.baseline.comparison import Difference
    from rltui.rules.finding import Finding
    from rltui.session.run_view import RunView

KEY_METRICS = 16  # rows of an overview


def key_rows(
    view: RunView, count: int, *, at_step: int | None = None, findings: Sequence[Finding] | None = None
) -> list[Row]:
    """The most important rows for this kind of training, at most `count`, each of another quantity."""
    return rows_and_constants(view, count, at_step=at_step, findings=findings)[0]


def rows_and_constants(
    view: RunView,
    count: int = KEY_METRICS,
    *,
    at_step: int | None = None,
    against: Mapping[str, Difference] | None = None,
    findings: Sequence[Finding] | None = None,
) -> tuple[list[Row], list[Row]]:
    """The most important rows, and those among them that never changed, which need no chart."""
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
    if len(rows) < min(count, 4):  # few of its tags are known metrics: add others
        hidden = shown | repeated_totals(view)
        others = (tag for tags in view.tag_index.panes.values() for tag in tags if tag not in hidden)
        no_cards = overview_tables().no_cards if rows else ()
        rest = [
            t for t in others if view.run.series[t].count and view.names.name(t).canonical not in no_cards
        ]
        rest.sort(key=lambda tag: view.names.name(tag).pane not in ("reward", "validation", "policy"))
        rows += rows_of(view, rest[:64], at_step=at_step, findings=findings)[: count - len(rows)]
    tags = {row.tag for row in rows}
    return rows, [row for row in constants if row.tag not in tags]


def pinned_rows(
    view: RunView,
    pins: Sequence[str],
    *,
    at_step: int | None = None,
    against: Mapping[str, Difference] | None = None,
    findings: Sequence[Finding] | None = None,
) -> list[Row]:
    """The rows of the pinned metrics that the run has, in the order of pinning."""
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
    rows = rows_of(view, tags, at_step=at_step, findings=findings, against=against, apart=False)
    return next((row for row in rows if tag in row.tags), None)


def _order(view: RunView) -> Iterator[str]:
    """Tags in order of importance: the outcome, the core of any run, the rest of the scenario."""
    outcome, others = _candidates(view.tag_index, view.framework)
    # A value that is logged once, at the end of a run, has no curve.
    least = 2 if view.run.points >= 2 * len(view.run.series) else 1
    series, repeated = view.run.series, repeated_totals(view)

    def known(tags: tuple[str, ...]) -> Iterator[str]:
        return (tag for tag in tags if series[tag].count >= least and tag not in repeated)

    def first(tags: tuple[str, ...]) -> str | None:
        return next((tag for tag in known(tags) if not _is_uninformative(view, tag)), None)

    yield from islice(filter(None, map(first, outcome)), 2)
    yield from filter(None, map(first, others))


_Alternatives = tuple[tuple[str, ...], ...]  # for each quantity the tags of which the first is shown


@lru_cache(MAX_REMEMBERED)
def _candidates(index: TagIndex, framework: str) -> tuple[_Alternatives, _Alternatives]:
    """The tags of the outcome, and those of other quantities; for all runs with the same tags.

    They take as long as all else for the one row that lists of runs need, 0.05 ms.
    """
    tables, scenario = overview_tables(), scenario_of(index.canonical, framework)

    def tags_of(*names: str) -> tuple[str, ...]:
        return tuple(tag for name in names for tag in index.canonical.get(name, ()))

    outcome = [tags_of(name) for name in (scenario.groups[0].metrics if scenario.groups else ())]
    others = [tags_of(*names) for names in tables.core]
    others += [tags_of(name) for group in scenario.groups for name in group.metrics]
    others += [tags_of(*names) for names in tables.key_metrics]
    return tuple(filter(None, outcome)), tuple(filter(None, others))


def _is_uninformative(view: RunView, tag: str) -> bool:
    """Whether it is a speed of evaluations, or always zero: frameworks write 0 for unmeasured quantities."""
    series, name = view.run.series[tag], view.names.name(tag)
    if name.pane not in ("perf", "timing"):
        return False
    if name.held_out:
        return True
    if series.last_value != 0 or series.count < 3:
        return False
    return not series.recent(64).value.any()
