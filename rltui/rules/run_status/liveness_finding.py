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
PANE = "timing"
_HANGS = "Look at its processes and at the console: it may hang in a collective, a tool or the disk."
_HANGS_OR_ENDED = (
    "See whether its program still runs: if so, it hangs in a collective, a tool or the disk; if not, it has "
    "ended. `total_steps` in the configuration says how many steps it plans."
)
_ADVICE = "Look at the end of its console: a time limit, no memory, a full disk or a signal can end it."


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
    step = 0 if last_step is None else last_step
    line = f"; the last line of its console: {quote(last_line)}" if last_line else ""
    if alive.state == "stalled" and last_step is not None:
        age = "" if alive.age is None or not math.isfinite(alive.age) else _duration(alive.age)
        usual = f" (usual gap {format_duration(alive.gap)})" if alive.gap and alive.gap >= 1 else ""
        where = f", {alive.quiet}" if alive.quiet else ""
        over = "" if alive.known else "; no planned number of steps is known, so it may have finished"
        message = f"Nothing has been written{age}{usual}{where}{over}{line}"
        advice = _HANGS if alive.known else _HANGS_OR_ENDED
        return _remark(STALLED, "nothing is written any more", message, advice, step)
    if alive.unfinished or alive.cut_short or alive.interrupted:
        where = f"step {format_step(step)}"
        if alive.unfinished and alive.total:
            where += f" of {format_step(alive.total)}"
        if alive.interrupted:
            message = f"Its console ends with KeyboardInterrupt (Ctrl-C), at {where}"
            advice = "If nobody pressed Ctrl-C, its launcher or scheduler may have sent the signal."
            return _remark(INTERRUPTED, "stopped by its user", message, advice, step)
        if alive.exit_code:
            message = f"Its process ended with exit code {alive.exit_code} at {where}{line}"
            return _remark(CRASHED, "ended by a failure", message, _ADVICE, step)
        ended = "It ended at" if alive.known else "It has written nothing since"
        message = f"{ended} {where}{line}"
        early = _remark(ENDED_EARLY, "ended before its planned steps", message, _ADVICE, step)
        return early._replace(value=float(step), limit=float(alive.total or 0))
    return None


def _duration(seconds: float) -> str:
    return f" for {format_age(seconds).removesuffix(' ago')}"


def _remark(name: str, title: str, message: str, advice: str, step: int) -> Finding:
    return Finding(
        id=name,
        severity="info",
        pane=PANE,
        metrics=(),
        canonical=(),
        since_step=step,
        message=message,
        advice=advice,
        title=title,
        source="reason: the run's own cadence, see its state",
    )
