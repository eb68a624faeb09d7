"""Which panes a run has, in which order, with which keys and how many warnings: the tab bar as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rltui.metrics.glossary import Pane, glossary

if TYPE_CHECKING:
    from rltui.rules.finding import Finding
    from rltui.session.run_view import RunView


NO_METRICS = "No metric has been read yet."


def _of_all(pane: str, title: str, key: str, empty: str = "") -> Pane:
    """A pane that says something of any run, whatever its metrics."""
    return Pane(pane, title, "", pane, key, always=True, empty=empty)


# Those of the glossary that have a key of their own; the others stand among a run's own sections.
_OVERVIEW = _of_all("overview", "Overview", "1", NO_METRICS)
_OF_METRICS = tuple(pane for pane in glossary().panes if pane.key)
_LAST = (
    _of_all("findings", "Findings", "f", "Nothing to report."),
    _of_all("all", "All metrics", "9", NO_METRICS),
    _of_all("config", "Config", "c"),
)
PANES = {pane.id: pane for pane in (_OVERVIEW, *_OF_METRICS, *_LAST)}
FIXED = tuple(PANES)
WITHOUT_METRICS = (_OVERVIEW.id, *(pane.id for pane in _LAST))


@dataclass(frozen=True, slots=True)
class PaneTab:
    """One tab. `warnings` counts findings at warning or above, `severity` is the worst of them or empty."""

    id: str
    title: str
    key: str = ""
    warnings: int = 0
    severity: str = ""
    metrics: int = 0


def pane_title(view: RunView, pane: str) -> str:
    """A pane's title as a heading: the user's own, the glossary's, else its id."""
    return view.names.pane_titles.get(pane) or (PANES[pane].title if pane in PANES else pane)


def panes_of(
    view: RunView, findings: list[Finding] | None = None, here: str = "", odd: int = 0
) -> list[PaneTab]:
    """The tabs of a run in order: always-present ones, those its metrics call for, its own sections.

    `findings` are those to count, where not all that fire; `here` is a pane that is there whatever it holds;
    `odd` counts warnings about the data, which the findings pane tells too.
    """
    counts = {pane: len(tags) for pane, tags in view.tag_index.panes.items()}
    if findings is None:
        findings = view.evaluator.findings()
    worst: dict[str, list[Finding]] = {}
    for finding in findings:
        for pane in {
            finding.pane,
            *(view.names.name(tag).pane for tag in finding.metrics if tag in view.run.series),
        }:
            worst.setdefault(pane, []).append(finding)
    worst["findings"] = findings

    def tab(pane: str, title: str, key: str) -> PaneTab:
        # The overview lists all findings in words; a number on its tab would count everything twice.
        mine = [] if pane in ("overview", "all") else worst.get(pane, [])
        counted = [finding for finding in mine if finding.severity != "info"]
        more = odd if pane == "findings" else 0
        severity = worst_of(counted) or ("warning" if more else "")
        title = view.names.pane_titles.get(pane, title)
        return PaneTab(pane, title, key, len(counted) + more, severity, counts.get(pane, 0))

    tabs = [
        tab(pane.id, pane.tab, pane.key)
        for pane in (_OVERVIEW, *_OF_METRICS)
        if pane.always or pane.id in counts or pane.id == here
    ]
    own = dict.fromkeys([*counts, *([here] if here else [])])
    tabs += [tab(pane, pane, "") for pane in own if pane not in FIXED]
    tabs += [tab(pane.id, pane.tab, pane.key) for pane in _LAST]
    return tabs


def worst_of(findings: list[Finding]) -> str:
    """The highest severity among findings, empty for none."""
    return max(findings, key=lambda finding: finding.rank).severity if findings else ""
