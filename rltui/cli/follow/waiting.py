"""Waiting for conditions on the runs below the LOGDIRs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

from rltui.cli.exit_codes import FOUND, STALLED, TIMED_OUT
from rltui.cli.follow import TIMEOUT
from rltui.cli.follow.follow_findings import FindingReporter
from rltui.cli.follow.followed_session import POLL, FollowedSession
from rltui.cli.follow.wait_conditions import (
    Condition,
    Match,
    first_match,
    nothing_follows,
    unknown_metric,
)
from rltui.cli.output.printing import about, emit, note
from rltui.common.display_text import clean
from rltui.config import Config
from rltui.draw.numbers import format_clock, format_step
from rltui.logs.delivery import Delivery
from rltui.many_runs.evaluate_shard import verdict_of, with_written_values
from rltui.rules.finding import as_json as finding_json
from rltui.session.run_view import RunView

_OUTCOMES = {"finding": ("finding", FOUND), "stalled": ("stalled", STALLED)}  # by kind of condition


def wait(
    logdirs: Sequence[str],
    config: Config,
    conditions: Sequence[Condition],
    *,
    run_glob: str | None = None,
    timeout: float = TIMEOUT,
    events: bool = True,
    deliveries: Iterable[list[Delivery]] | None = None,
) -> dict[str, Any]:
    """Wait, and return the document of `wait --json`.

    timeout: seconds. events: whether to print findings and changes of state. deliveries: read instead of the
    LOGDIRs.
    """
    began = time.monotonic()
    every = min(config.poll or POLL, timeout)
    followed = FollowedSession(logdirs, config, run_glob=run_glob, wait=every, deliveries=deliveries)
    findings = FindingReporter(as_json=False)
    seen: set[str] = set()
    match: Match | None = None
    reported_unknown = reported_end = read_once = False
    for session in followed:
        views = session.ordered() if followed.all_found else []
        if events:
            try:
                for view in views:
                    _report_new(view, seen)
                    findings.report(view)
            except BrokenPipeError:  # nobody reads the events, but the exit code may still be awaited
                events = False
        read_once = read_once or followed.at_rest
        match = first_match(conditions, views, time.time(), at_rest=followed.at_rest)
        if match is None and followed.at_rest and views and not reported_unknown:
            reported_unknown, why = True, unknown_metric(conditions, views)
            if why:
                note(f"{why}; waiting for it")
        if match is None and followed.at_rest and not reported_end:
            why = nothing_follows(conditions, views, time.time())
            if why:
                reported_end = True
                note(f"{why}; waiting for one")
        if match is not None or time.monotonic() - began >= timeout:
            break
    waited = time.monotonic() - began
    views = followed.session.ordered()
    if match is not None:
        fields = _reached(match, views)
    else:
        fields = _timed_out(conditions, views, run_glob, timeout, unread=bool(views) and not read_once)
    runs = [verdict_of(view, time.time()).describe() for view in views]
    return {**about(logdirs), **fields, "waited": round(waited, 3), "runs": runs}


def _timed_out(
    conditions: Sequence[Condition],
    views: Sequence[RunView],
    run_glob: str | None,
    timeout: float,
    *,
    unread: bool,
) -> dict[str, Any]:
    """The outcome if no condition held within `timeout` seconds, and why that may be.

    unread: whether logs of runs were still being read for the first time.
    """
    what = " or ".join(condition.text for condition in conditions)
    whys = [unknown_metric(conditions, views), nothing_follows(conditions, views, time.time())]
    if not views:
        whys = [_no_run(run_glob)]
    elif unread:
        whys.append("not all logs had been read by then")
    message = "; ".join([f"{clean(what)} did not hold within {timeout:g} s", *filter(None, whys)])
    fields = dict.fromkeys(("condition", "run", "step", "value", "finding"))
    return {"outcome": "timed-out", "exit_code": TIMED_OUT, **fields, "message": message}


def _reached(match: Match, views: Sequence[RunView]) -> dict[str, Any]:
    """The outcome if a condition holds."""
    outcome, code = _OUTCOMES.get(match.condition.kind, ("reached", 0))
    found = match.finding
    if found is not None:
        found = next((with_written_values(view, found) for view in views if view.name == match.run), found)
    return {
        "outcome": outcome,
        "exit_code": code,
        "condition": clean(match.condition.text),
        "run": match.run,
        "step": match.step,
        "value": match.value,
        "finding": None if found is None else finding_json(found),
        "message": match.message,
    }


def _no_run(run_glob: str | None) -> str:
    return "no run was found" if run_glob is None else f"no run matches {clean(run_glob)!r}"


def _report_new(view: RunView, seen: set[str]) -> None:
    """Print a line for a new run, after its existing points have been read."""
    if view.loading or view.name in seen:
        return
    seen.add(view.name)
    step = "no step yet" if view.run.last_step is None else f"step {format_step(view.run.last_step)}"
    state = view.liveness(time.time()).word
    emit(f"{format_clock(time.time())} {view.shown_name}: {view.framework}, {state}, {step}")
    sys.stdout.flush()
