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
    alive: Liveness, last_step: int | None, last_line: str = "", others: Iterable[Finding] = ()
) -> Finding | None:
    """The remark that a run has stalled, ended early or by a crash, or was stopped; None otherwise.

    None also for a stalled log without scalars, since it has no step. It is a remark because it says nothing
    about the training; the state of the run and the exit code of `check` report it as well.

    last_line: of its console, cleaned. others: other findings of the run; a failure in a console already
    explains why nothing is written.
    """
    if any(finding.console is not None and finding.rank for finding in others):
        return None
    if not (alive.state == "stalled" or alive.unfinished or alive.cut_short or alive.interrupted):
        return None
    # Imported here: the table is not needed for a run that goes on or is complete.
    from rltui.rules.run_status.run_findings import run_finding

    step = 0 if last_step is None else last_step
    line = f"; the last line of its console: {quote(last_line)}" if last_line else ""
    if alive.state == "stalled" and last_step is not None:
        age = "" if alive.age is None or not math.isfinite(alive.age) else _duration(alive.age)
        usual = f" (usual gap {format_duration(alive.gap)})" if alive.gap and alive.gap >= 1 else ""
        where = f", {alive.quiet}" if alive.quiet else ""
        key = STALLED if alive.known else f"{STALLED}-unplanned"
        return run_finding(key, step, age=age, usual=usual, console=where, line=line)
    if alive.unfinished or alive.cut_short or alive.interrupted:
        where = f"step {format_step(step)}"
        if alive.unfinished and alive.total:
            where += f" of {format_step(alive.total)}"
        if alive.interrupted:
            return run_finding(INTERRUPTED, step, where=where)
        if alive.exit_code:
            return run_finding(CRASHED, step, exit_code=alive.exit_code, where=where, line=line)
        key = ENDED_EARLY if alive.known else f"{ENDED_EARLY}-unknown"
        early = run_finding(key, step, where=where, line=line)
        return early._replace(value=float(step), limit=float(alive.total or 0))
    return None


def _duration(seconds: float) -> str:
    return f" for {format_age(seconds).removesuffix(' ago')}"
