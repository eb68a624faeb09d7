"""The evidence of a finding: which metrics changed, from which value to which, since which step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from rltui.common.display_text import cell_width, in_sentence
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_value
from rltui.panes.rows.row import Row, rows_of, shown_unit, with_distinct_titles
from rltui.rules.finding import Evidence, EvidenceName, Finding, unit_of_change

if TYPE_CHECKING:
    from rltui.session.run_view import RunView

MAX_METRICS = 4  # of a finding without evidence


class EvidenceRow(NamedTuple):
    """One metric of the evidence: its row, unless the run has it no more, and its change as text."""

    tag: str
    title: str
    change: str  # `0.154 → 5.61`
    since_step: int
    row: Row | None


def rows_of_evidence(
    view: RunView, finding: Finding, at_step: int | None, findings: Iterable[Finding]
) -> list[Row]:
    """The metrics of a finding that the run has, in the order of onset; of a ratio the numerator's."""
    evidence = sorted(finding.evidence, key=lambda one: one.since_step)
    tags = [one.tag for one in evidence] or list(finding.metrics[:MAX_METRICS])
    known = dict.fromkeys(tag for tag in tags if tag in view.run.series)
    rows = [
        row for tag in known for row in rows_of(view, [tag], at_step=at_step, merge=False, findings=findings)
    ]
    titled, per = with_distinct_titles(rows, of_panes=False), {one.tag: one.per for one in evidence}
    return [_with_denominator(view, row, per.get(row.tag, "")) for row in titled]


def _with_denominator(view: RunView, row: Row, per: str) -> Row:
    """A row whose title says that what changed is a ratio: `Waiting for data / step time`."""
    return replace(row, title=f"{row.title} / {in_sentence(view.title_of(per))}") if per else row


def evidence_of(view: RunView, finding: Finding, at_step: int | None = None) -> list[EvidenceRow]:
    """The evidence of a finding in the order of onset; without any, its value and limit."""
    items = sorted(finding.evidence, key=lambda one: one.since_step)
    if not items and finding.value is not None:
        items = [
            Evidence(tag, None, finding.value, finding.since_step, canonical=None)
            for tag in finding.metrics[:1]
        ]
    evidence = []
    for item in items:
        known = item.tag in view.run.series
        rows = rows_of(view, [item.tag], at_step=at_step, merge=False) if known else []
        if rows:
            row = _with_denominator(view, rows[0], item.per)
            title, change = row.title, change_of_row(row, finding, item)
        else:
            title, change = view.names.name(item.tag).title, item.course()
        evidence.append(EvidenceRow(item.name, title, change, item.since_step, rows[0] if rows else None))
    return evidence


def names_of_evidence(view: RunView, findings: Iterable[Finding]) -> tuple[EvidenceName, ...]:
    """The meaning of each key of a run in the evidence of findings, and of those to look at next."""
    tags = dict.fromkeys(
        tag
        for finding in findings
        for tag in (*(one.tag for one in finding.evidence), *finding.look_next)
        if tag in view.run.series
    )
    return tuple(EvidenceName(tag, view.title_of(tag), shown_unit(view.names.name(tag))) for tag in tags)


def change_of_row(row: Row, finding: Finding, evidence: Evidence | None, width: int = 80) -> str:
    """`3.00e-4 → 30.00` on the scale of the row; for a finding without evidence its value and limit.

    If `width` cells are too few for both the present and the worst value, only the worst is given.
    """
    if evidence is None or not finding.evidence:
        value, limit = row.as_written(finding.value), row.as_written(finding.limit)
        text = "" if value is None else format_value(value, row.unit)
        return text if limit is None or not text else f"{text}, limit {format_value(limit, row.unit)}"
    written, unit = evidence, unit_of_change(finding, evidence, row.unit)
    if not evidence.per:
        before, now, worst = map(row.as_written, (evidence.before, evidence.now, evidence.worst))
        written = evidence._replace(before=before, now=now, worst=worst)
    course = written.course(unit)
    if written.worst is not None and cell_width(course) > width:
        course = written._replace(now=written.worst, worst=None).course(unit)
    return course
