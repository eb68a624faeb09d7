"""`rltui watch`: the monitor."""

from __future__ import annotations

import click

from rltui.cli.arguments import LogDir
from rltui.cli.loading import read_config
from rltui.cli.output import FOUND, WRONG, fail, leave
from rltui.interpreter import finish_imports, import_asyncio_without_ssl


@click.command(name="watch")
@click.argument("logdirs", metavar="[LOGDIR ...]", nargs=-1, type=LogDir())
@click.option(
    "--pane",
    metavar="NAME",
    help="Open on a pane: overview, reward, policy, critic, lengths, timing, findings, all, …",
)
@click.option(
    "--run",
    "run_glob",
    metavar="GLOB",
    help="Only runs whose name matches, such as '*grpo*'; the baseline is read in any case.",
)
@click.option(
    "--baseline",
    metavar="RUN",
    help="Show how metrics differ from this run, below LOGDIR as well, at equal steps.",
)
@click.option(
    "--theme",
    metavar="NAME",
    help="Colours: night, dusk, paper, contrast, colorblind, mono, terminal, or your own.",
)
@click.option(
    "--poll",
    type=click.FloatRange(min=0.1),
    metavar="SECONDS",
    help="How often to look at logs that grow; default: 1, more on slow file systems.",
)
@click.option("--at-step", type=int, metavar="N", help="Show and judge as it would have been at step N.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII characters only.")
@click.option("--no-color", is_flag=True, help="Draw without colours.")
@click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal.")
@click.option("--no-ui", is_flag=True, help="No screen: print findings as lines when they fire and resolve.")
@click.option("--reset", is_flag=True, help="Forget the remembered layout of this folder.")
def command(
    logdirs: tuple[str, ...], no_ui: bool, poll: float | None, run_glob: str | None, **options: object
) -> None:
    """Open the monitor on the runs below LOGDIR (the current folder when none is given).

    A folder that does not exist yet is waited for. Nothing is ever written into it. In the monitor H shows
    the keys and what the signs mean, q leaves.

    \b
    Examples:
      rltui watch runs/
      ssh -t node7 rltui watch /scratch/me/runs
      rltui watch runs/ --run '*grpo*' --pane policy
      rltui watch runs/ --run 'new*' --baseline good_run
    """
    logdirs = logdirs or (".",)
    config = read_config(logdirs)
    if no_ui:
        from rltui.cli.follow_findings import follow

        finish_imports()
        follow(logdirs, config, run_glob=run_glob, poll=poll)
        return
    import_asyncio_without_ssl()
    from rltui.screen.start import RefusedError, run

    finish_imports()
    color = not options.pop("no_color")
    mouse = not options.pop("no_mouse")
    try:
        code = run(
            list(logdirs),
            config=config,
            run_glob=run_glob,
            poll=poll,
            color=color,
            mouse=mouse,
            **options,  # type: ignore[arg-type]
        )
    except RefusedError as refused:
        fail(str(refused), FOUND if refused.name else WRONG)
    leave(code)
