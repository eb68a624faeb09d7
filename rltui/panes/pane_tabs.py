"""The tab bar as data: the panes of a run with keys and warnings; and the metrics that are shown first.

Those of header and overview, for any run and for kinds of training, are listed in `rltui/data/overview.toml`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache
from typing import TYPE_CHECKING

from rltui.common.named_tuple import NamedTuple
from rltui.metrics.glossary_files import Pane, general_panes, glossary
from rltui.rules.finding import unexplained
from rltui.schema.metric import MetricReference
from rltui.schema.toml_files import read_table

if TYPE_CHECKING:
    from rltui.rules.finding import Finding
    from rltui.session.run_view import RunView


# Those with a key, in the order of their tabs; the others are among a run's own sections.
PANES = {
    pane.id: pane
    for pane in sorted((*general_panes().values(), *glossary().panes), key=lambda pane: pane.order)
    if pane.key
}
FIXED = tuple(PANES)
WITHOUT_METRICS = tuple(pane for pane in PANES if pane in general_panes())
_FIRST = tuple(pane for pane in PANES.values() if pane.order < 1000)  # before a run's own sections
_LAST = tuple(pane for pane in PANES.values() if pane.order >= 1000)


class PaneTab(NamedTuple):
    """One tab. `warnings` counts findings at warning or above, `severity` is the worst of them or empty.

    `acknowledged` counts those that the user has acknowledged, which are of the severity only without others.
    """

    id: str
    title: str
    key: str = ""
    warnings: int = 0
    severity: str = ""
    metrics: int = 0
    acknowledged: int = 0

    @property
    def borrowed(self) -> bool:
        """Whether all it shows are metrics of other panes."""
        return not (self.metrics or self.warnings or self.id in WITHOUT_METRICS)


def pane_title(view: RunView, pane: str) -> str:
    """A pane's title as a heading: the user's own, the glossary's, else its id."""
    return view.names.pane_titles.get(pane) or (PANES[pane].title if pane in PANES else pane)


def panes_of(
    view: RunView,
    findings: list[Finding] | None = None,
    here: str = "",
    odd: int = 0,
    present: Collection[str] = (),
    acknowledged: Iterable[Finding] = (),
) -> list[PaneTab]:
    """The tabs of a run in order: always-present ones, those with metrics, its own sections.

    A pane without content has no tab. Its key still opens it, and it says what to log.

    findings: those to count; None for all that fire. here: a pane that has a tab in any case. odd: the number
    of warnings about the data, which the findings pane lists too. present: panes without metrics that have
    content, such as samples. acknowledged: findings that fire, but do not ask for attention.
    """
    counts = {pane: len(tags) for pane, tags in view.tag_index.panes.items()}
    if findings is None:
        findings = view.evaluator.findings()
    worst, handled = _by_pane(view, findings), _by_pane(view, acknowledged)

    def tab(pane: str, title: str, key: str) -> PaneTab:
        # The overview lists all findings in words; a number on its tab would count everything twice.
        mine, seen = ([], []) if pane in ("overview", "all") else (worst.get(pane, []), handled.get(pane, []))
        more = odd if pane == "findings" else 0
        severity = worst_of(mine) or ("warning" if more else "") or worst_of(seen)
        title = view.names.pane_titles.get(pane, title)
        return PaneTab(pane, title, key, len(mine) + more, severity, counts.get(pane, 0), len(seen))

    def called_for(pane: Pane) -> bool:
        return any(metric in view.tag_index.canonical for metric in pane.also)

    tabs = [
        tab(pane.id, pane.tab, pane.key)
        for pane in _FIRST
        if pane.always or pane.id in counts or pane.id in present or pane.id == here or called_for(pane)
    ]
    own = dict.fromkeys([*counts, *([here] if here else [])])
    tabs += [tab(pane, pane, "") for pane in own if pane not in FIXED]
    tabs += [
        tab(pane.id, pane.tab, pane.key)
        for pane in _LAST
        if pane.always or pane.id in present or pane.id == here
    ]
    return tabs


def _by_pane(view: RunView, findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Warnings and worse by pane, without those that another one in the pane explains; all in findings."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.severity == "info":
            continue
        panes = {view.names.name(tag).pane for tag in finding.metrics if tag in view.run.series}
        for pane in panes | {finding.pane, "findings"}:
            found.setdefault(pane, []).append(finding)
    return {pane: unexplained(mine) for pane, mine in found.items()}


def worst_of(findings: list[Finding]) -> str:
    """The highest severity among findings, empty for none."""
    return max(findings, key=lambda finding: finding.rank).severity if findings else ""


Alternatives = tuple[MetricReference, ...]  # of which the first that a run has is shown


class RunCounter(NamedTuple):
    """A counter that a run may log besides its steps: its metric and what it counts."""

    metric: MetricReference
    unit: str


class MetricGroup(NamedTuple):
    """Metrics on one aspect of a training, in order."""

    name: str
    metrics: tuple[MetricReference, ...]


class Scenario(NamedTuple):
    """A kind of training, how it is recognised, and its most important metrics."""

    id: str
    title: str
    groups: tuple[MetricGroup, ...]
    any: tuple[MetricReference, ...] = ()  # one of which must be there
    none: tuple[MetricReference, ...] = ()
    frameworks: tuple[str, ...] = ()
    source: str = ""


class OverviewTables(NamedTuple):
    """What is shown for any run, in order, and for kinds of training, of which the last has no conditions."""

    core: tuple[Alternatives, ...]
    key_metrics: tuple[Alternatives, ...]
    no_cards: tuple[MetricReference, ...]
    counter: tuple[RunCounter, ...]
    scenario: tuple[Scenario, ...]


@cache
def overview_tables() -> OverviewTables:
    """The tables of the file, read at the first call."""
    return read_table("overview", OverviewTables)


def scenario_of(canonical: Iterable[str | None], framework: str | None = None) -> Scenario:
    """The first scenario whose conditions the canonical ids of a run fulfil."""
    present = {name for name in canonical if name}

    def fits(one: Scenario) -> bool:
        return (
            (not one.frameworks or framework in one.frameworks)
            and (not one.any or not present.isdisjoint(one.any))
            and present.isdisjoint(one.none)
        )

    *known, other = overview_tables().scenario
    return next(filter(fits, known), other)
