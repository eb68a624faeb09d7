"""`rltui check`: the health of every run, for people, for programs, and as an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import click

from rltui.cli.arguments import AT_STEP, JSON, LOGDIRS, RUN, VERIFY, need, schema_option
from rltui.cli.check_report import markdown_lines, text_lines
from rltui.cli.loading import as_of, load, read_config
from rltui.cli.output import FOUND, STALLED, WRONG, NothingReadError, emit, emit_json, leave
from rltui.rules.finding import RANK, as_json, worst
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.text import clean

# Problems of a metric, not of its file: files with such metrics are healthy.
REMARKS = frozenset({"not-reported"})
OWN = "own-"  # rules of the user's configuration
FailOn = Literal["warning", "critical", "never"]


@click.command(name="check")
@LOGDIRS
@RUN
@JSON
@schema_option("check")
@click.option(
    "--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True
)
@click.option(
    "--fail-on",
    type=click.Choice(["warning", "critical", "never"]),
    help="Exit with 1 from this severity on.  [default: critical]",
)
@AT_STEP
@VERIFY
@click.option("--follow", "following", is_flag=True, help="Go on: print findings as they fire and resolve.")
def command(
    logdirs: tuple[str, ...],
    run_glob: str | None,
    as_json: bool,
    form: str,
    fail_on: FailOn | None,
    at_step: int | None,
    verify: bool,
    following: bool,
) -> None:
    """Judge the health of every run below LOGDIR.

    Exit code 0: fine. 1: a finding at or above --fail-on. 2: nothing that can be read, or no run that could
    be judged. 3: no such finding, but a run that should be live has stalled.

    \b
    Examples:
      rltui check runs/
      rltui check runs/ --json --fail-on warning
      rltui check runs/new --format markdown >> "$GITHUB_STEP_SUMMARY"
      rltui check runs/ --at-step 640
      rltui check runs/ --verify
      rltui check runs/ --follow
    """
    as_json = as_json or form == "json"
    if following:
        if at_step is not None or form == "markdown" or fail_on is not None or verify:
            others = "--at-step, --format markdown, --fail-on and --verify"
            raise click.UsageError(f"--follow goes with none of {others}")
        need(logdirs, "`rltui watch --no-ui` waits for one")
        from rltui.cli.follow_findings import follow

        follow(logdirs, read_config(logdirs, strict=True), run_glob=run_glob, as_json=as_json)
        return
    try:
        session = load(logdirs, run_glob, at_step, charts=False, verify=verify)
    except NothingReadError as error:
        if as_json:
            emit_json(
                {**_head(logdirs, "unreadable"), "runs": [], "diagnostics": error.diagnostics, "notes": []}
            )
        raise
    if as_json:
        emit_json(report(session, logdirs[0], at_step, logdirs))
    else:
        lines = markdown_lines if form == "markdown" else text_lines
        emit("\n".join(lines(session.ordered(), session.diagnostics(), at_step)))
    leave(exit_code(session.ordered(), fail_on or "critical", at_step))


def exit_code(views: Sequence[RunView], fail_on: FailOn, at_step: int | None = None) -> int:
    """The promised code for these runs. As of an earlier step no run has stalled."""
    if all(view.health == "unjudged" for view in views):
        return WRONG
    if fail_on == "never":
        return 0
    rank = max((finding.rank for view in views for finding in view.evaluator.findings()), default=-1)
    if rank >= RANK[fail_on]:
        return FOUND
    stalled = any(view.liveness(as_of(view, at_step)).state == "stalled" for view in views)
    return STALLED if stalled else 0


def report(
    session: Session, logdir: str, at_step: int | None = None, logdirs: Sequence[str] = ()
) -> dict[str, Any]:
    """The promised JSON document."""
    views = session.ordered()
    problems = [(problem, problem.as_json()) for problem in session.diagnostics()]
    damaged = all(_damaged(view) for view in views)
    return {
        **_head(logdirs or (logdir,), "unreadable" if damaged else worst(view.health for view in views)),
        "runs": []
        if damaged
        else [{**view.describe(as_of(view, at_step)), **_judged(view)} for view in views],
        "diagnostics": [data for problem, data in problems if problem.code not in REMARKS],
        "notes": [data for problem, data in problems if problem.code in REMARKS],
    }


def _head(logdirs: Sequence[str], health: str) -> dict[str, Any]:
    return {
        "schema": 1,
        "logdir": clean(logdirs[0]),
        "logdirs": [clean(each) for each in logdirs],
        "health": health,
    }


def _damaged(view: RunView) -> bool:
    """Whether its files have something wrong with them, and gave not one point."""
    return not view.run.points and any(problem.level != "info" for problem in view.run.problems.values())


def _judged(view: RunView) -> dict[str, Any]:
    """Findings and notes of a run.

    A healthy training has no findings: what is merely worth a look is a note there, unless the user's own
    limits asked for it. Where something is wrong, the same remarks are part of the picture.
    """
    found = view.evaluator.findings()
    notes = [one for one in found if view.evaluator.health == "ok" and not one.id.startswith(OWN)]
    return {
        "findings": [as_json(one) for one in found if one not in notes],
        "notes": [as_json(one) for one in notes],
    }
