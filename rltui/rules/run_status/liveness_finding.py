"""The remark that a run has stalled, ended early or was stopped: the gap, what stopped, its last line."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rltui.common.display_text import quote
from rltui.draw.numbers import format_age, format_duration, format_step
from rltui.rules.finding import Finding
from rltui.rules.run_status.liveness import Liveness

STALLED, ENDED_EARLY, CRASHED = "run-stalled", "run-ended-early", "run-crashed"
INTERRUPTED = "run-interrupted"
STATES = (STALLED, ENDED_EARLY, CRASHED, INTERRUPTED)


def liveness_finding(
    liveness: Liveness, last_step: int | None, last_line: str = "", others: Iterable[Finding] = ()
) -> Finding | None:
    """The remark that a run has stalled, ended early or by a crash, or was stopped; None otherwise.

    None also for a stalled log without scalars, since it has no step. It is a remark because it says nothing
    about the training; the state of the run and the exit code of `check` report it as well.

    last_line: of its console, cleaned. others: other findings of the run; a failure in a console already
    explains why nothing is written.
    """
    if any(finding.console is not None and finding.rank for finding in others):
        return None
    if not (liveness.state == "stalled" or liveness.unfinished or liveness.cut_short or liveness.interrupted):
        return None
    # Imported here: the table is not needed for a run that goes on or is complete.
    from rltui.rules.run_status.run_findings import run_finding

    step = 0 if last_step is None else last_step
    line = f"; the last line of its console: {quote(last_line)}" if last_line else ""
    if liveness.state == "stalled" and last_step is not None:
        age = "" if liveness.age is None or not math.isfinite(liveness.age) else _duration(liveness.age)
        usual = f" (usual gap {format_duration(liveness.gap)})" if liveness.gap and liveness.gap >= 1 else ""
        where = f", {liveness.quiet}" if liveness.quiet else ""
        key = STALLED if liveness.known else f"{STALLED}-unplanned"
        return run_finding(key, step, age=age, usual=usual, console=where, line=line)
    if liveness.unfinished or liveness.cut_short or liveness.interrupted:
        where = f"step {format_step(step)}"
        if liveness.unfinished and liveness.total:
            where += f" of {format_step(liveness.total)}"
        if liveness.interrupted:
            return run_finding(INTERRUPTED, step, where=where)
        if liveness.exit_code:
            return run_finding(CRASHED, step, exit_code=liveness.exit_code, where=where, line=line)
        key = ENDED_EARLY if liveness.known else f"{ENDED_EARLY}-unknown"
        early = run_finding(key, step, where=where, line=line)
        return early._replace(value=float(step), limit=float(liveness.total or 0))
    return None


def _duration(seconds: float) -> str:
    return f" for {format_age(seconds).removesuffix(' ago')}"
