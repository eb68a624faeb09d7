"""The report of a run as data: health, findings with evidence, key metrics, settings, problems of data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.panes.answers.pane_answers import outcome_sentence
from rltui.panes.charts.sister_band import sister_series
from rltui.panes.charts.step_window import StepWindow, window_for
from rltui.panes.context_panes.hparams_pane import HParamsPane
from rltui.panes.evidence import EvidenceRow, evidence_of
from rltui.panes.header import Header, header
from rltui.panes.rows.key_rows import key_rows
from rltui.panes.rows.row import Row
from rltui.panes.runs.outcome import Outcome, outcome_of
from rltui.rules.finding import Finding
from rltui.session.run_view import RunView
from rltui.store.series import Series

KEY_METRICS = 8


class ReportedFinding(NamedTuple):
    """A finding that no other one explains, its evidence, and the titles of findings that it explains."""

    finding: Finding
    evidence: tuple[EvidenceRow, ...]
    explains: tuple[str, ...] = ()
    look_next: tuple[str, ...] = ()  # keys of this run


@dataclass(frozen=True, slots=True)
class RunReport:
    """The report of one run."""

    header: Header
    findings: tuple[ReportedFinding, ...]
    rows: tuple[Row, ...]
    outcomes: tuple[Outcome, ...]  # of the rows
    window: StepWindow
    hparams_pane: HParamsPane
    problems: tuple[Problem, ...]
    sisters: Mapping[str, Sequence[Series]] = field(default_factory=dict)  # by tag, of the metrics drawn
    achieved: str = ""  # a sentence on its outcome; empty if it logs none


def run_report(
    view: RunView, now: float, hparams_pane: HParamsPane, at_step: int | None = None,
    sisters: Sequence[RunView] = (),
) -> RunReport:  # fmt: skip
    """The report of a run at a moment. now: seconds since 1970. sisters: its sister runs."""
    findings = view.evaluator.findings()
    rows = key_rows(view, KEY_METRICS, at_step=at_step, findings=findings)
    evidence = {one.id: tuple(evidence_of(view, one, at_step)) for one in findings}
    drawn = [*rows, *(item.row for each in evidence.values() for item in each if item.row is not None)]
    return RunReport(
        header=header(view, now, at_step),
        findings=tuple(
            ReportedFinding(
                one,
                evidence[one.id],
                tuple(other.title or other.id for other in findings if other.explained_by == one.id),
                view.tag_index.keys_of(one.check_next),
            )
            for one in findings
            if one.explained_by is None
        ),
        rows=tuple(rows),
        outcomes=tuple(map(outcome_of, rows)),
        window=window_for(view, at_step=at_step),
        hparams_pane=hparams_pane,
        problems=(*view.file_problems(now), *view.evaluator.diagnostics()),
        sisters={row.tag: sister_series(view, row.tag, sisters) for row in drawn},
        achieved=outcome_sentence(view, at_step),
    )
