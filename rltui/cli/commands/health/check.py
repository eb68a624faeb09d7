"""`rltui check`: the health of every run, as text, JSON and exit code."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace

import click

from rltui.cli.documents import check_document
from rltui.cli.documents.check_exit_code import FailOn, exit_code
from rltui.cli.documents.check_report import markdown_lines, one_line, text_lines
from rltui.cli.options.arguments import (
    AT_STEP,
    FAIL_ON,
    JSON,
    LOGDIRS,
    RUN,
    VERIFY,
    readable_logdirs,
    schema_option,
)
from rltui.cli.options.sharding import ENGINE, NO_CACHE, SHARD, Work
from rltui.cli.output.printing import NothingReadError, emit, emit_json, leave
from rltui.cli.reading.evaluation import evaluate_runs
from rltui.cli.reading.job_report import with_time_limits
from rltui.cli.reading.loading import read_config
from rltui.many_runs.engine import Engine


@click.command(name="check")
@LOGDIRS
@RUN
@JSON
@schema_option("check")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json", "line"]),
    default="text",
    show_default=True,
    help="line: one line for a chat, with the worst runs.",
)
@FAIL_ON
@AT_STEP
@VERIFY
@SHARD
@ENGINE
@NO_CACHE
@click.option("--follow", "following", is_flag=True, help="Go on: print findings as they fire and resolve.")
def command(
    logdirs: tuple[str, ...],
    run_glob: str | None,
    as_json: bool,
    form: str,
    fail_on: FailOn | None,
    at_step: int | None,
    verify: bool,
    shard: tuple[int, int] | None,
    engine: Engine,
    no_cache: bool,
    following: bool,
) -> None:
    """Judge the health of every run below LOGDIR.

    Exit code 0: fine. 1: a finding at or above --fail-on. 2: a LOGDIR that cannot be read (the others are
    judged), or no run that could be judged. 3: no such finding, but a run that should be live has stalled,
    or failed or ended before its planned steps in the last week.

    \b
    Examples:
      rltui check runs/
      rltui check runs/ --json --fail-on warning
      rltui check runs/new --format markdown >> "$GITHUB_STEP_SUMMARY"
      rltui check runs/ --format line               (one line for a chat)
      rltui check runs/ --at-step 640
      rltui check runs/ --verify
      rltui check runs/ --follow
      rltui check runs/ --follow --json --shard 3/40 >> findings-3.jsonl
      rltui check runs/ --json --shard 3/40 > part-3.json   (see: rltui merge)
      rltui check /shared/runs --engine slurm:cpu
    """
    as_json = as_json or form == "json"
    if following:
        elsewhere = engine.name != "local"
        if at_step is not None or form in ("markdown", "line") or fail_on is not None or verify or elsewhere:
            others = "--at-step, --format markdown or line, --fail-on, --verify and --engine"
            raise click.UsageError(f"--follow goes with none of {others}")
        readable_logdirs(logdirs, "`rltui watch --no-ui` waits for one")
        from rltui.cli.follow.follow_findings import follow

        follow(logdirs, read_config(logdirs, strict=True), run_glob=run_glob, shard=shard, as_json=as_json)
        return
    how = Work(engine, shard, cached=not no_cache)
    try:
        evaluated = evaluate_runs(logdirs, run_glob, at_step=at_step, verify=verify, how=how)
        if at_step is None:
            evaluated = replace(
                evaluated, verdicts=with_time_limits(evaluated.verdicts, logdirs, time.time())
            )
    except NothingReadError as error:
        if as_json:
            lists = {"runs": [], "diagnostics": error.diagnostics, "notes": []}
            with contextlib.suppress(BrokenPipeError):
                emit_json({**check_document.head(logdirs, "unreadable"), **lists})
        raise
    with contextlib.suppress(BrokenPipeError):  # the exit code is that of the runs, also with `| head`
        if as_json:
            part = {} if shard is None else {"shard": check_document.shard_block(evaluated, shard)}
            emit_json({**check_document.streamed_report(evaluated, logdirs, at_step), **part})
        else:
            lines = {"markdown": markdown_lines, "line": one_line}.get(form, text_lines)
            emit("\n".join(lines(evaluated.verdicts, evaluated.diagnostics(), at_step, logdirs)))
    leave(exit_code(evaluated, fail_on or "critical", at_step))
