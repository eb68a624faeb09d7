"""`rltui wait`: until something is so, for scripts and agents that would poll otherwise."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from rltui.cli.arguments import LOGDIRS, RUN
from rltui.cli.follow_findings import FindingReporter
from rltui.cli.followed_session import POLL, FollowedSession
from rltui.cli.loading import read_config
from rltui.cli.output import FOUND, STALLED, TIMED_OUT, emit, emit_json, leave
from rltui.cli.wait_conditions import (
    DEFAULT,
    Condition,
    ConditionError,
    Match,
    first_match,
    parse_condition,
)
from rltui.config import Config
from rltui.logs.delivery import Delivery
from rltui.rules.finding import as_json as finding_json
from rltui.session.run_view import RunView
from rltui.text import clean

TIMEOUT = 540.0  # seconds: below the ten minutes after which many callers give up
_OUTCOMES = {"finding": ("finding", FOUND), "stalled": ("stalled", STALLED)}  # by kind; else reached, 0


@click.command(name="wait")
@LOGDIRS
@click.option(
    "--until",
    "conditions",
    metavar="CONDITION",
    multiple=True,
    help="step>=500, finding>=critical, end, stalled, or 'metric reward.mean>0.6'; may be repeated.  "
    f"[default: {', '.join(DEFAULT)}]",
)
@RUN
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=TIMEOUT,
    metavar="SECONDS",
    show_default=True,
    help="Give up after so long.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document at the end, and nothing else.")
def command(
    logdirs: tuple[str, ...],
    conditions: tuple[str, ...],
    run_glob: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Wait until something is so, and say what. The first condition that holds ends the wait.

    One run is enough for a step, a metric, a finding or a stall; `end` waits for all of them: pick some with
    --run. A LOGDIR that does not exist yet is waited for. Until then findings are printed as they fire and
    resolve.

    Exit code 0: reached. 1: a finding ended it. 3: a run has stalled. 4: timed out.

    \b
    Examples:
      rltui wait runs/new
      rltui wait runs/new --until 'step>=500' --until 'finding>=critical' --timeout 300
      rltui wait runs/new --until 'metric reward.mean>0.6' --until end --json
    """
    try:
        wanted = [parse_condition(text) for text in conditions or DEFAULT]
    except ConditionError as error:
        raise click.UsageError(f"--until: {error}") from None
    config = read_config(logdirs, strict=True)
    outcome = wait(logdirs, config, wanted, run_glob=run_glob, timeout=timeout, events=not as_json)
    if as_json:
        emit_json(outcome)
    else:
        emit(f"{outcome['outcome']}: {outcome['message']}")
    leave(outcome["exit_code"])


def wait(
    logdirs: Sequence[str],
    config: Config,
    conditions: Sequence[Condition],
    *,
    run_glob: str | None = None,
    timeout: float = TIMEOUT,
    events: bool = True,
    clock: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
    deliveries: Iterable[list[Delivery]] | None = None,
) -> dict[str, Any]:
    """Wait, and return the document that `--json` prints.

    timeout: seconds. events: print findings and changes of state as lines. deliveries: what is read instead
    of the LOGDIRs.
    """
    began = monotonic()
    every = min(config.poll or POLL, timeout)
    followed = FollowedSession(logdirs, config, run_glob=run_glob, wait=every, deliveries=deliveries)
    findings = FindingReporter(as_json=False, clock=clock)
    seen: set[str] = set()
    match: Match | None = None
    for session in followed:
        views = session.ordered()
        if events:
            for view in views:
                _report_new(view, seen, clock)
                findings.report(view)
        match = first_match(conditions, views, clock(), at_rest=followed.at_rest)
        if match is not None or monotonic() - began >= timeout:
            break
    waited = monotonic() - began
    views = followed.session.ordered()
    if match is None:
        outcome, code = "timed-out", TIMED_OUT
        what = " or ".join(condition.text for condition in conditions)
        message = f"{clean(what)} did not hold within {waited:.0f} s" + (
            "" if views else "; no run was found"
        )
    else:
        outcome, code = _OUTCOMES.get(match.condition.kind, ("reached", 0))
        message = match.message
    return {
        "schema": 1,
        "logdir": clean(logdirs[0]),
        "logdirs": [clean(each) for each in logdirs],
        "outcome": outcome,
        "exit_code": code,
        "condition": None if match is None else clean(match.condition.text),
        "run": None if match is None else match.run,
        "step": None if match is None else match.step,
        "value": None if match is None else match.value,
        "finding": None if match is None or match.finding is None else finding_json(match.finding),
        "message": message,
        "waited": round(waited, 3),
        "runs": [view.describe(clock()) for view in views],
    }


def _report_new(view: RunView, seen: set[str], clock: Callable[[], float]) -> None:
    """A line for a run that was not there before, once its history has been read."""
    if view.loading or view.name in seen:
        return
    seen.add(view.name)
    step = "no step yet" if view.run.last_step is None else f"step {view.run.last_step}"
    state = view.liveness(clock()).state
    emit(
        f"{time.strftime('%H:%M:%S', time.localtime(clock()))} {view.name}: {view.framework}, {state}, {step}"
    )
    sys.stdout.flush()
