"""Which panes a run has, in which order, with which keys and how many warnings: the tab bar as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rltui.index import index, pane_of

if TYPE_CHECKING:
    from rltui.rules.finding import Finding
    from rltui.session import RunView


# id, short title (tab), long title (heading), key, whether it is there without metrics
_PANES = (
    ("overview", "overview", "Overview", "1", True),
    ("validation", "validation", "Validation", "v", False),
    ("reward", "reward", "Reward", "2", True),
    ("policy", "policy", "Policy stability", "3", True),
    ("critic", "critic", "Critic", "4", True),
    ("lengths", "lengths", "Lengths", "5", True),
    ("preference", "preference", "Preference", "d", False),
    ("reward-model", "reward model", "Reward model", "m", False),
    ("turns", "turns", "Turns", "u", False),
    ("load", "load", "Load balance", "6", True),
    ("timing", "timing", "Timing", "7", True),
    ("perf", "MFU", "MFU and throughput", "8", True),
    ("rollout", "rollout", "Rollouts", "o", False),
)
_LAST = (
    ("findings", "findings", "Findings", "f", True),
    ("all", "all", "All metrics", "9", True),
    ("config", "config", "Config", "c", True),
)
FIXED = tuple(pane[0] for pane in (*_PANES, *_LAST))
LONG_TITLE = {pane[0]: pane[2] for pane in (*_PANES, *_LAST)}
PANE_KEYS = {pane[0]: pane[3] for pane in (*_PANES, *_LAST)}


@dataclass(frozen=True, slots=True)
class PaneTab:
    """One tab. `warnings` counts findings at warning or above, `severity` is the worst of them or empty."""

    id: str
    title: str
    key: str = ""
    warnings: int = 0
    severity: str = ""
    metrics: int = 0


def pane_title(pane: str) -> str:
    """A pane's title as a heading."""
    return LONG_TITLE.get(pane, pane)


def panes_of(
    view: RunView, findings: list[Finding] | None = None, here: str = "", odd: int = 0
) -> list[PaneTab]:
    """The tabs of a run in order: always-present ones, those its metrics call for, its own sections.

    `findings` are those to count, where not all that fire; `here` is a pane that is there whatever it holds;
    `odd` counts warnings about the data, which the findings pane tells too.
    """
    counts = {pane: len(tags) for pane, tags in index(view).panes.items()}
    if findings is None:
        findings = view.judge.findings()
    worst: dict[str, list[Finding]] = {}
    for finding in findings:
        for pane in {
            finding.pane,
            *(pane_of(view, tag) for tag in finding.metrics if tag in view.run.series),
        }:
            worst.setdefault(pane, []).append(finding)
    worst["findings"] = findings

    def tab(pane: str, title: str, key: str) -> PaneTab:
        # The overview lists all findings in words; a number on its tab would count everything twice.
        mine = [] if pane in ("overview", "all") else worst.get(pane, [])
        counted = [finding for finding in mine if finding.severity != "info"]
        more = odd if pane == "findings" else 0
        severity = worst_of(counted) or ("warning" if more else "")
        return PaneTab(id=pane, title=title, key=key, warnings=len(counted) + more, severity=severity,
                       metrics=counts.get(pane, 0))  # fmt: skip

    tabs = [tab(pane, title, key) for pane, title, _, key, always in _PANES
            if always or pane in counts or pane == here]  # fmt: skip
    own = dict.fromkeys([*counts, *([here] if here else [])])
    tabs += [tab(pane, pane, "") for pane in own if pane not in FIXED]
    tabs += [tab(pane, title, key) for pane, title, _, key, _ in _LAST]
    return tabs


def worst_of(findings: list[Finding]) -> str:
    """The highest severity among findings, empty for none."""
    return max(findings, key=lambda finding: finding.rank).severity if findings else ""
