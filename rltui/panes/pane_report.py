"""One pane of a run with what stands around it: what text, Markdown and JSON are made of."""

from __future__ import annotations

from rltui.common.named_tuple import NamedTuple
from rltui.panes.answers.files_beside import NOTHING, Beside
from rltui.panes.header import Header, header
from rltui.panes.overview import overview
from rltui.panes.pane import PaneView, pane_view
from rltui.panes.pane_list import PANES
from rltui.rules.finding import Finding
from rltui.session.run_view import RunView
from rltui.session.time_travel import PastFindings

KEY_METRICS = 16  # rows of an overview


class PaneReport(NamedTuple):
    """A header, a pane, and the findings that belong to it: all of them on `overview` and `findings`."""

    header: Header
    pane: PaneView
    findings: tuple[Finding, ...]


def pane_report(
    view: RunView, pane: str, now: float, at_step: int | None = None, then: PastFindings | None = None,
    beside: Beside = NOTHING,
) -> PaneReport:  # fmt: skip
    """A pane of a run, or as of a step; `then` is what was found by then, of a run that has gone on since.

    `beside` is what files beside its logs say.
    """
    if pane == "overview":
        found = overview(view, now, at_step, count=KEY_METRICS, then=then)
        known = PANES[pane]
        shown = PaneView(pane, known.title, (*found.rows, *found.constants), found.window, empty=known.empty)
        return PaneReport(found.header, shown, found.findings)
    shown = pane_view(view, pane, now, at_step, findings=None if then is None else then.findings,
                      beside=beside)  # fmt: skip
    findings = shown.findings
    if pane == "findings":
        findings = view.evaluator.findings() if then is None else list(then.findings)
    return PaneReport(header(view, now, at_step, then), shown, tuple(findings))
