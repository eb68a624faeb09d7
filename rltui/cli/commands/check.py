"""`rltui check`: the health of every run, for people, for programs, and as an exit code."""

from __future__ import annotations

import click

from rltui.cli import check_document
from rltui.cli.arguments import AT_STEP, JSON, LOGDIRS, RUN, VERIFY, need, schema_option
from rltui.cli.check_document import FailOn
from rltui.cli.check_report import markdown_lines, text_lines
from rltui.cli.loading import load, read_config
from rltui.cli.output import NothingReadError, emit, emit_json, leave


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
                {
                    **check_document.head(logdirs, "unreadable"),
                    "runs": [],
                    "diagnostics": error.diagnostics,
                    "notes": [],
                }
            )
        raise
    if as_json:
        emit_json(check_document.report(session, logdirs[0], at_step, logdirs))
    else:
        lines = markdown_lines if form == "markdown" else text_lines
        emit("\n".join(lines(session.ordered(), session.diagnostics(), at_step)))
    leave(check_document.exit_code(session.ordered(), fail_on or "critical", at_step))
