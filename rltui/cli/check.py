"""`rltui check`: the health of every run, for people, for programs, and as an exit code."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import click

from rltui.alerts import Alerts, settings_of
from rltui.cli.options import AT_STEP, JSON, LOGDIRS, RUN, load, read_config
from rltui.cli.output import FOUND, STALLED, emit, emit_json, leave
from rltui.config import Config
from rltui.draw.line import wrap
from rltui.draw.number import format_age, format_duration, format_step, format_value
from rltui.rules.finding import RANK, Finding, Health, as_json
from rltui.scalars import Problem
from rltui.session import RunView, Session

FailOn = Literal["warning", "critical", "never"]
GLYPHS = {"ok": "✓", "info": "·", "warning": "▲", "critical": "✖"}
WIDTH = 100
LOOK = 1.0  # seconds between looks when following


@click.command(name="check")
@LOGDIRS
@RUN
@JSON
@click.option("--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text")
@click.option(
    "--fail-on",
    type=click.Choice(["warning", "critical", "never"]),
    default="critical",
    show_default=True,
    help="Exit with 1 from this severity on.",
)
@AT_STEP
@click.option("--follow", "following", is_flag=True, help="Go on: print findings as they fire and resolve.")
def command(
    logdirs: tuple[str, ...],
    run_glob: str | None,
    as_json: bool,
    form: str,
    fail_on: FailOn,
    at_step: int | None,
    following: bool,
) -> None:
    """Judge the health of every run below LOGDIR.

    Exit code 0: fine. 1: a finding at or above --fail-on. 2: nothing that can be read. 3: no such finding,
    but a run that should be live has stalled.

    \b
    Examples:
      rltui check runs/
      rltui check runs/ --json --fail-on warning
      rltui check runs/new --format markdown >> "$GITHUB_STEP_SUMMARY"
      rltui check runs/ --at-step 640
    """
    if following:
        leave(follow(logdirs, read_config(logdirs), run_glob=run_glob))
    session = load(logdirs, run_glob, at_step)
    views = session.ordered()
    if as_json or form == "json":
        emit_json(report(session, logdirs[0], at_step))
    elif form == "markdown":
        _markdown(views, session.diagnostics(), at_step)
    else:
        _text(views, session.diagnostics(), at_step)
    leave(exit_code(views, fail_on, at_step))


def moment(view: RunView, at_step: int | None) -> float:
    """Now; when judged as of an earlier step, the moment of that run's last point then."""
    last = view.run.last_wall
    return last if at_step is not None and last == last else time.time()


def exit_code(views: Sequence[RunView], fail_on: FailOn, at_step: int | None = None) -> int:
    """The promised code for these runs."""
    if fail_on != "never":
        worst = max((finding.rank for view in views for finding in view.judge.findings()), default=-1)
        if worst >= RANK[fail_on]:
            return FOUND
    stalled = any(view.liveness(moment(view, at_step)).state == "stalled" for view in views)
    return STALLED if stalled and fail_on != "never" else 0


def report(session: Session, logdir: str, at_step: int | None = None) -> dict[str, Any]:
    """The promised JSON document."""
    views = session.ordered()
    return {
        "schema": 1,
        "logdir": logdir,
        "health": _worst(view.judge.health for view in views),
        "runs": [
            {
                **view.describe(moment(view, at_step)),
                "findings": [as_json(finding) for finding in view.judge.findings()],
            }
            for view in views
        ],
        "diagnostics": [
            {"level": problem.level, "code": problem.code, "path": problem.path, "message": problem.message}
            for problem in session.diagnostics()
        ],
    }


def _worst(healths: Any) -> Health:
    order: tuple[Health, ...] = ("ok", "warning", "critical")
    return max(healths, key=order.index, default="ok")


def _facts(view: RunView, at_step: int | None) -> str:
    live = view.liveness(moment(view, at_step))
    step = "no step" if view.run.last_step is None else f"step {format_step(view.run.last_step)}"
    facts = [view.framework, live.state, step]
    if live.age is not None and at_step is None:
        facts.append(f"last point {format_age(live.age)}")
    if live.eta is not None:
        facts.append(f"eta {format_duration(live.eta)}")
    return " · ".join(facts)


def _text(views: Sequence[RunView], problems: Sequence[Problem], at_step: int | None) -> None:
    for view in views:
        emit(f"{GLYPHS[view.judge.health]} {view.name}")
        emit(f"  {_facts(view, at_step)}")
        findings = view.judge.findings()
        if not findings:
            emit("  nothing is wrong")
        for finding in findings:
            if finding.explained_by is None:
                _finding(finding, [it for it in findings if it.explained_by == finding.id])
        emit()
    if problems:
        emit("Files and data:")
        for problem in problems:
            emit(f"  {problem.level}: {problem.path}: {problem.message}")
        emit()
    counts = {
        health: sum(view.judge.health == health for view in views) for health in ("critical", "warning", "ok")
    }
    emit(", ".join(f"{count} {health}" for health, count in counts.items() if count))


def _finding(finding: Finding, below: Sequence[Finding]) -> None:
    since = f"since step {format_step(finding.since_step)}"
    emit(f"  {GLYPHS[finding.severity]} {finding.title or finding.id}, {since}")
    for text in (finding.message, f"→ {finding.advice}" if finding.advice else ""):
        for line in wrap(text, WIDTH - 6) if text else []:
            emit(f"      {line}")
    if below:
        for line in wrap("explains: " + ", ".join(it.title or it.id for it in below), WIDTH - 6):
            emit(f"      {line}")
    for evidence in finding.evidence:
        before = "" if evidence.before is None else f"{format_value(evidence.before)} → "
        now = "" if evidence.now is None else format_value(evidence.now)
        emit(f"      {evidence.tag}  {before}{now}  since step {format_step(evidence.since_step)}")
    if finding.check_next:
        emit(f"      look next at {', '.join(finding.check_next)}")


def _markdown(views: Sequence[RunView], problems: Sequence[Problem], at_step: int | None) -> None:
    emit("| | run | framework | state | step | finding | since step | what to do |")
    emit("|---|---|---|---|---:|---|---:|---|")
    for view in views:
        live = view.liveness(moment(view, at_step))
        step = "" if view.run.last_step is None else format_step(view.run.last_step)
        head = (GLYPHS[view.judge.health], view.name, view.framework, live.state, step)
        rows = [
            (f"{GLYPHS[finding.severity]} {finding.message}", format_step(finding.since_step), finding.advice)
            for finding in view.judge.findings()
            if finding.explained_by is None
        ]
        for number, row in enumerate(rows or [("nothing is wrong", "", "")]):
            cells = (*(head if number == 0 else ("",) * len(head)), *row)
            emit("| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells) + " |")
    for number, problem in enumerate(problems):
        emit(("\n" if number == 0 else "") + f"- {problem.level}: `{problem.path}`: {problem.message}")


def follow(
    logdirs: Sequence[str],
    config: Config,
    *,
    run_glob: str | None = None,
    poll: float | None = None,
    sleep: Callable[[float], object] = time.sleep,
    looks: int | None = None,
) -> int:
    """Print findings as they fire and resolve, until a signal. `looks` ends it earlier, for tests."""
    from rltui.logs.follow import Follower

    session = Session(config, run_glob=run_glob)
    follower = Follower(logdirs, run_glob=run_glob, poll=poll or LOOK)
    told: dict[tuple[str, str], Finding] = {}
    states: dict[str, str] = {}
    alerts = Alerts(settings_of(config.alerts))
    try:
        while looks is None or looks > 0:
            session.apply(follower.look())
            session.judge()
            _tell_changes(session, told)
            _tell_states(session, states, time.time())
            for view in session.ordered():
                _alert(alerts, view)
            if looks is not None:
                looks -= 1
            sleep(poll or LOOK)
    finally:
        alerts.close()
    return 0


def _alert(alerts: Alerts, view: RunView) -> None:
    alive = view.liveness(time.time())
    if alive.state == "ended" or view.loading:
        return  # what is over alarms nobody
    text = alerts.look(view.name, view.judge.findings(), time.monotonic(), alive)
    if text and sys.stdout.isatty():
        sys.stdout.write(text)
        sys.stdout.flush()


def _tell_changes(session: Session, told: dict[tuple[str, str], Finding]) -> None:
    """A line for what began or ended; what a symptom explains is said by the symptom."""
    loading = {view.name for view in session.ordered() if view.loading}
    firing = {
        (view.name, finding.id): finding
        for view in session.ordered()
        if view.name not in loading
        for finding in view.judge.findings()
        if finding.explained_by is None and finding.rank > 0
    }
    for key, finding in firing.items():
        if key not in told:
            _tell(key[0], GLYPHS[finding.severity], finding, f"since step {format_step(finding.since_step)}")
    for key, finding in told.items():
        if key not in firing and key[0] not in loading:
            _tell(key[0], GLYPHS["ok"], finding, "resolved")
    told.clear()
    told.update(firing)


def _tell_states(session: Session, states: dict[str, str], now: float) -> None:
    """A line when a run stalls, ends or comes back."""
    for view in session.ordered():
        state = view.liveness(now).state
        if states.get(view.name, state) != state:
            emit(f"{time.strftime('%H:%M:%S')} {GLYPHS['info']} {view.name}: {state}")
            sys.stdout.flush()
        states[view.name] = state


def _tell(run: str, glyph: str, finding: Finding, when: str) -> None:
    clock = time.strftime("%H:%M:%S")
    emit(f"{clock} {glyph} {run}: {finding.message} ({when})")
    sys.stdout.flush()
