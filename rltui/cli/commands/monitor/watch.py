"""`rltui watch`: the monitor."""

from __future__ import annotations

import click

from rltui.cli.exit_codes import FOUND, WRONG
from rltui.cli.options.arguments import (
    ASCII,
    AT_STEP,
    NO_COLOR,
    NO_MOUSE,
    REQUESTS,
    RUN_OPTION,
    THEME,
    LogDir,
    resolve_run_name,
    set_remote_poll,
    update_mirrors,
)
from rltui.cli.options.completions import complete_pane, complete_run
from rltui.cli.output.printing import fail, leave
from rltui.cli.reading.loading import read_config
from rltui.common.interpreter_settings import finish_imports, import_asyncio_without_ssl


@click.command(name="watch")
@click.argument("logdirs", metavar="[LOGDIR ...]", nargs=-1, type=LogDir())
@click.option(
    "--pane",
    shell_complete=complete_pane,
    metavar="NAME",
    help="Open on a pane: overview, reward, policy, critic, lengths, timing, samples, findings, all, …",
)
@RUN_OPTION
@click.option(
    "--baseline",
    shell_complete=complete_run,
    metavar="RUN",
    help="Show how metrics differ from this run, below LOGDIR as well, at equal steps; --run keeps it.",
)
@THEME
@click.option(
    "--poll",
    type=click.FloatRange(min=0.1),
    metavar="SECONDS",
    help="How often to look at logs that grow; default: 1, more on slow file systems.",
)
@AT_STEP
@ASCII
@NO_COLOR
@NO_MOUSE
@REQUESTS
@click.option("--job", metavar="ID", help="Look in the folders of this job of Slurm, in place of LOGDIR.")
@click.option(
    "--no-ui", is_flag=True, help="Print findings as lines when they fire and resolve, without a screen."
)
@click.option("--reset", is_flag=True, help="Forget the remembered layout of this folder.")
def command(
    logdirs: tuple[str, ...],
    pane: str | None,
    run_glob: str | None,
    baseline: str | None,
    theme: str | None,
    poll: float | None,
    at_step: int | None,
    ascii_only: bool,
    no_color: bool,
    no_mouse: bool,
    job: str | None,
    no_ui: bool,
    reset: bool,
) -> None:
    """Open the monitor on the runs below LOGDIR (the current folder when none is given).

    A folder that does not exist yet is waited for. Nothing is ever written into it. In the monitor ? shows
    the keys and what the signs mean, q quits.

    \b
    Examples:
      rltui watch runs/
      ssh -t node7 rltui watch /scratch/me/runs
      rltui watch runs/ --run '*grpo*' --pane policy
      rltui watch runs/ --run 'new*' --baseline good_run
      rltui watch --job 4711
    """
    if job is not None:
        logdirs = _folders_of(job, logdirs)
    logdirs = logdirs or (".",)
    run_glob = resolve_run_name(logdirs, run_glob, fetch=False)
    set_remote_poll(logdirs, poll)
    if no_ui:
        update_mirrors(logdirs)
    config = read_config(logdirs)
    if no_ui:
        from rltui.cli.follow.follow_findings import follow

        finish_imports()
        follow(logdirs, config, run_glob=run_glob, poll=poll)
        return
    import_asyncio_without_ssl()
    from rltui.screen.start import RefusedError, run

    try:
        code = run(
            list(logdirs),
            config=config,
            pane=pane,
            run_glob=run_glob,
            baseline=baseline,
            theme=theme,
            poll=poll,
            at_step=at_step,
            ascii_only=ascii_only,
            color=not no_color,
            mouse=not no_mouse,
            reset=reset,
        )
    except RefusedError as refused:
        fail(str(refused), FOUND if refused.name else WRONG)
    leave(code)


def _folders_of(job: str, logdirs: tuple[str, ...]) -> tuple[str, ...]:
    from rltui.run_context.jobs.scheduler import SchedulerError
    from rltui.run_context.jobs.slurm import Slurm

    if logdirs:
        raise click.UsageError("--job finds the folder by itself: leave LOGDIR out")
    try:
        return Slurm().folders(job)
    except SchedulerError as error:
        fail(str(error), WRONG)
