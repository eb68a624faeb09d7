"""What was wrong when a run was at an earlier step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rltui.batch import Problem
from rltui.rules.evaluate.evaluator import Evaluator
from rltui.rules.evaluate.rule_selection import RuleSelection
from rltui.rules.finding import Finding
from rltui.store.model import Fresh, Points

if TYPE_CHECKING:
    from rltui.store import Run

MOST = 150_000  # points that are judged again: about a tenth of a second


@dataclass(frozen=True, slots=True)
class PastFindings:
    """What was found by then. Not `whole`: only as far as it is remembered now, without its values."""

    findings: tuple[Finding, ...]
    history: tuple[Finding, ...] = ()
    diagnostics: tuple[Problem, ...] = ()
    whole: bool = False


class _Run:
    """A run as far as it had come."""

    def __init__(self, run: Run, step: int) -> None:
        self.name = run.name
        self.step_walls = [pair for pair in run.step_walls if pair[0] <= step]


def judged_by(run: Run, names: Any, selection: RuleSelection, step: int) -> PastFindings | None:
    """The judgement of all points up to a step. None where the store no longer has them all singly."""
    there = [series for series in run.series.values() if series.count]
    if sum(series.count for series in there) > MOST:
        return None
    fresh = []
    for series in there:
        first = series.first_step
        if first is None or first > step:
            continue
        if series.exact_from > first:
            return None
        points = series.recent()
        end = int(np.searchsorted(points.step, step, "right"))
        points = Points(points.step[:end], points.wall_time[:end], points.value[:end])
        fresh.append(Fresh(series.tag, points, None))
    judge = Evaluator(_Run(run, step), names, selection=selection)
    judge.feed(fresh)
    return now_of(judge)


def now_of(judge: Evaluator) -> PastFindings:
    """What a judge says of the points that it knows."""
    return PastFindings(tuple(judge.findings()), tuple(judge.history()), tuple(judge.diagnostics()), True)


def remembered(findings: Iterable[Finding], history: Iterable[Finding], step: int) -> PastFindings:
    """Of what fires now and of what is over, what held at a step, without values: they are not of then."""
    begun = [one for one in (*findings, *history) if one.since_step <= step]
    over = [one for one in begun if one.resolved_step is not None and one.resolved_step <= step]
    lasting = [one for one in begun if one.resolved_step is None or one.resolved_step > step]
    return PastFindings(
        tuple(replace(_bare(one), state="firing", resolved_step=None) for one in lasting),
        tuple(_bare(one) for one in over),
    )


def _bare(finding: Finding) -> Finding:
    """A finding without its values."""
    message = finding.message if finding.symptom or not finding.title else finding.title
    return replace(finding, value=None, message=message, evidence=())
