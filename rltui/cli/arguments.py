"""Arguments that several commands share. Imports little, for `explain` must not wait for rules and runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from rltui.cli.completions import complete_framework, complete_run, complete_theme
from rltui.cli.output import FOUND, emit_json, fail, leave, nothing_read
from rltui.text import clean

FC = TypeVar("FC", bound=Callable[..., Any] | click.Command)


class LogDir(click.Path):
    """A LOGDIR as an argument: `~` stands for the home folder in quotes, too."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """The path with the home folder in it. Asks nothing of the file system, which may not answer."""
        return os.path.expanduser(os.fsdecode(value))  # noqa: PTH111 (never raises)


class Framework(click.ParamType[str]):
    """A framework or one of its variants in any spelling; its label is passed on.

    An unknown name ends the command with 1.
    """

    name = "framework"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The labels that begin so."""
        return complete_framework(ctx, param, incomplete)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The label."""
        from rltui.metrics.frameworks.load import frameworks

        found = frameworks().get(value)
        if found is None:
            fail(f"no framework named {value!r}; frameworks: {', '.join(frameworks().labels)}", FOUND)
        return found.label


LOGDIRS = click.argument("logdirs", metavar="LOGDIR ...", nargs=-1, required=True, type=LogDir())
RUN = click.option(
    "--run",
    "run_glob",
    metavar="GLOB|EXPR",
    shell_complete=complete_run,
    help="Only runs of such names, or such as 'lr>1e-4 critical'.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
JSON_LINES = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")


def schema_option(name: str) -> Callable[[FC], FC]:
    """The option `--schema`: prints a schema of `json_schemas` and ends the command."""

    def print_schema(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            from rltui.cli import json_schemas

            emit_json(json_schemas.SCHEMAS[name], indent=2)
            leave(0)

    return click.option(
        "--schema",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=print_schema,
        help="Print the JSON schema of the --json output.",
    )


AT_STEP = click.option(
    "--at-step", type=int, metavar="N", help="Judge as it would have been judged at step N."
)
THEME = click.option(
    "--theme",
    metavar="NAME",
    shell_complete=complete_theme,
    help="Colours: night, dusk, paper, contrast, colorblind, mono, terminal, or your own.",
)
ASCII = click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII characters only.")
NO_COLOR = click.option("--no-color", is_flag=True, help="Draw without colours.")
NO_MOUSE = click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal.")
VERIFY = click.option(
    "--verify", is_flag=True, help="Prove every checksum of event files: finds single changed bits."
)

ANSWER = 5.0  # seconds after which a file system counts as one that does not answer


def need(logdirs: Sequence[str], advice: str = "name a folder with logs below it") -> None:
    """End the command with 2 when a LOGDIR is not there, or its file system does not answer."""
    for logdir in logdirs:
        there = _exists(Path(logdir))
        if there is None:
            what = f"the file system has not answered for {ANSWER:.0f} s; look at its mount"
            nothing_read(f"{clean(logdir)}: {what}", "not-answering", logdir, what)
        if not there:
            what = "no such file or folder"
            nothing_read(f"{clean(logdir)}: {what}; {advice}", "missing", logdir, what)


def _exists(path: Path) -> bool | None:
    """Whether there is such a file or folder; None when the file system does not answer."""
    answers: list[bool] = []
    # A daemon: nobody waits for a call that never returns.
    asking = threading.Thread(target=lambda: answers.append(path.exists()), daemon=True)
    asking.start()
    asking.join(ANSWER)
    return answers[0] if answers else None
