"""Failures in consoles, as findings of their run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from rltui.common.problem import Severity
from rltui.draw.numbers import format_clock
from rltui.rules.finding import ConsoleEvidence, Finding
from rltui.rules.run_status.measured_pace import finished, steps_between_points
from rltui.rules.run_status.planned_steps import planned
from rltui.run_context.console.failures import console_facts
from rltui.store.run import Run

if TYPE_CHECKING:  # it imports the readers of consoles
    from rltui.run_context.console.failure_search import ConsoleReport, FoundFailure

PANE = "console"
_NAME = 40  # characters of the name of an exception in a title
OUTLIVED_SECONDS = 60.0  # between a failure and the last point of a run that it did not end


def console_findings(
    run: Run, reports: Sequence[ConsoleReport], state: Literal["live", "stalled", "ended"]
) -> tuple[Finding, ...]:
    """One finding for each failure, with the line of the console written last.

    A failure after which the training went on is a remark. While a run is live this is not yet known: then
    a failure is at most a warning, and an exception is no finding.
    """
    found: dict[str, Finding] = {}
    for report in reports:
        for each in report.failures:
            over = each.over or outlived(run, report)
            if each.failure.general and (over or state == "live"):
                continue
            severity: Severity = each.failure.severity
            if over:
                severity = "info"
            elif state == "live" and severity == "critical":
                severity = "warning"
            finding = _finding(run, each, severity, over)
            known = found.get(finding.id)
            if known is None or finding.rank > known.rank:
                found[finding.id] = finding
    # An exception in one console adds nothing where another one names the failure.
    named = any(one.rank > 0 and one.id != "exception" for one in found.values())
    return tuple(one for one in found.values() if not (named and one.id == "exception"))


def outlived(run: Run, report: ConsoleReport) -> bool:
    """Whether points came so long after the last line of a console that this is not the end of the run."""
    return math.isfinite(run.last_wall) and run.last_wall > report.modified + OUTLIVED_SECONDS


def reports_end(run: Run, report: ConsoleReport) -> bool:
    """Whether the last line of a console says that the training has ended, and no points came much later."""
    if outlived(run, report):
        return False
    return console_facts().finished.search(report.last_line) is not None or _is_done(run, report.full_bar)


def _is_done(run: Run, steps: int | None) -> bool:
    """Whether a full progress bar of so many steps is that of the run: no more than one point is missing.

    A bar of an epoch or of an evaluation that happens to have as many steps ends before those planned.
    """
    if steps is None or run.last_step is None:
        return False
    interval = steps_between_points(run)
    plan = planned(run, interval)
    return abs(steps - run.last_step) <= interval and (plan is None or abs(steps - plan) <= interval)


def _finding(run: Run, found: FoundFailure, severity: Severity, over: bool) -> Finding:
    failure = found.failure
    place = f"line {found.line:,} of {found.path}" if found.line else f"byte {found.offset:,} of {found.path}"
    at = "" if found.wall_time is None else f", {format_clock(found.wall_time)}"
    went_on = "; the training went on" if over else ""
    message = failure.message
    if failure.general:  # the exception says more than that there was one
        after = " after the training was complete" if finished(run) else ""
        raised = "" if found.frame is None else f", in {found.frame}"
        message = f"{_short(found.text.rstrip('.'))}{raised}; {message[:1].lower()}{message[1:]}{after}"
    exception = console_facts().exception.match(found.text) if failure.general else None
    return Finding(
        id=failure.id,
        severity=severity,
        pane=PANE,
        metrics=(),
        canonical=(),
        since_step=run.last_step or 0,
        message=f"{message} ({place}{at}{went_on})",
        advice=failure.advice,
        check_next=failure.check_next,
        title=failure.title if exception is None else f"{_short_name(exception['name'])} ended the program",
        source=failure.source,
        console=ConsoleEvidence(found.path, found.offset, found.text, found.line, found.wall_time),
    )


def _short_name(exception: str) -> str:
    """The name of an exception without its modules where it is long."""
    return (exception if len(exception) <= _NAME else exception.rpartition(".")[2])[:_NAME]


def _short(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:157]}…"
