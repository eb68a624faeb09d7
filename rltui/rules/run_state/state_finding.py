"""That a run writes no more, as a remark: what was going on, how often it usually writes, its last line."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rltui.common.text import quote
from rltui.draw.numbers import format_age, format_duration, format_step
from rltui.rules.finding import Finding
from rltui.rules.run_state.liveness import Liveness

STALLED, ENDED_EARLY, CRASHED = "run-stalled", "run-ended-early", "run-crashed"
STATES = (STALLED, ENDED_EARLY, CRASHED)
PANE = "timing"
_AFTER = "Look at the end of its console: a time limit, no memory, a full disk, or somebody who stopped it."


def state_finding(
    alive: Liveness, last_step: int | None, last_line: str = "", told: Iterable[Finding] = ()
) -> Finding | None:
    """The remark that a run has stalled, or has ended before its planned steps or by a crash; None otherwise.

    Of a log without scalars nothing is known since when: that there are none yet is said instead.

    It is a remark, because it says nothing of the training: the state of the run and the exit code of `check`
    tell of it, too. last_line: of its console, cleaned. told: what else is known: a failure that a console
    tells of is why nothing is written, so that there is nothing more to say.
    """
    if any(one.console is not None and one.rank for one in told):
        return None
    step = 0 if last_step is None else last_step
    line = f"; the last line of its console: {quote(last_line)}" if last_line else ""
    if alive.state == "stalled" and last_step is not None:
        age = "" if alive.age is None or not math.isfinite(alive.age) else _for(alive.age)
        usual = f" (usual gap {format_duration(alive.gap)})" if alive.gap else ""
        where = f", {alive.quiet}" if alive.quiet else ""
        over = "" if alive.known else "; no planned number of steps is known, so it may have finished"
        message = f"Nothing has been written{age}{usual}{where}{over}{line}"
        advice = "Look at its processes and at the console: it may hang in a collective, a tool or the disk."
        return _remark(STALLED, "nothing is written any more", message, advice, step)
    if alive.unfinished or alive.cut_short:
        where = f"step {format_step(step)}"
        if alive.unfinished and alive.total:
            where += f" of {format_step(alive.total)}"
        if alive.exit_code:
            message = f"Its process ended with exit code {alive.exit_code} at {where}{line}"
            return _remark(CRASHED, "ended by a failure", message, _AFTER, step)
        ended = "It ended at" if alive.known else "It has written nothing since"
        message = f"{ended} {where}{line}"
        early = _remark(ENDED_EARLY, "ended before its planned steps", message, _AFTER, step)
        return early._replace(value=float(step), limit=float(alive.total or 0))
    return None


def _for(seconds: float) -> str:
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
