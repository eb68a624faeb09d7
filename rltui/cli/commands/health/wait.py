"""`rltui wait`: wait for a condition."""

from __future__ import annotations

import contextlib

import click

from rltui.cli.follow import DEFAULT, TIMEOUT
from rltui.cli.options.arguments import LOGDIRS, RUN, update_mirrors
from rltui.cli.output.printing import emit, emit_json, leave


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
    """Wait until a condition holds, and print which one. The first that holds ends the wait.

    One run is enough for a step, a metric, a finding or a stall; `end` waits for all of them: pick some with
    --run. A LOGDIR that does not exist yet is waited for. Until then findings are printed as they fire and
    resolve.

    Exit code 0: reached. 1: a finding ended it. 2: an error. 3: a run has stalled. 4: timed out.

    \b
    Examples:
      rltui wait runs/new
      rltui wait runs/new --until 'step>=500' --until 'finding>=critical' --timeout 300
      rltui wait runs/new --until 'metric reward.mean>0.6' --until end --json
    """
    from rltui.cli.follow.wait_conditions import ConditionError, parse_condition  # not for `--help`
    from rltui.cli.follow.waiting import wait
    from rltui.cli.reading.loading import read_config

    try:
        wanted = [parse_condition(text) for text in conditions or DEFAULT]
    except ConditionError as error:
        raise click.UsageError(f"--until: {error}") from None
    update_mirrors(logdirs)
    config = read_config(logdirs, strict=True)
    outcome = wait(logdirs, config, wanted, run_glob=run_glob, timeout=timeout, events=not as_json)
    with contextlib.suppress(BrokenPipeError):  # the exit code says what happened, also without a reader
        if as_json:
            emit_json(outcome)
        else:
            emit(f"{outcome['outcome']}: {outcome['message']}")
    leave(outcome["exit_code"])
