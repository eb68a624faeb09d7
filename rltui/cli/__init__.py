"""The command line. Scripts rely on names and exit codes; the wording may change.

The module of a command is imported when it is called, so that `rltui explain` does not import the screen.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import click

from rltui import __version__
from rltui.cli.exit_codes import UNOPENED, WRONG
from rltui.cli.output.printing import CommandError, note
from rltui.common import crash
from rltui.common.display_text import clean
from rltui.common.interpreter_settings import finish_imports

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMAND_FOLDERS = {
    "monitor": {
        "watch": "open the monitor on a folder of logs",
        "demo": "open the monitor on a recorded run that breaks while you watch",
        "snapshot": "print one pane without a terminal",
    },
    "health": {
        "check": "judge every run; the exit code says whether it is healthy",
        "merge": "join the documents of several shards into one",
        "wait": "wait until a step, a value, a finding or the end, and say which",
    },
    "data": {
        "runs": "list the runs: how far, last and best value, health, why",
        "report": "write a report of a run: Markdown, or one HTML file",
        "compare": "compare runs with a baseline at matched steps",
        "export": "print every point of every run",
        "samples": "print rollouts: prompts, responses, rewards",
    },
    "reference": {
        "explain": "say what a metric means",
        "glossary": "print what every metric means",
    },
    "setup": {
        "config": "check or locate the configuration",
        "alert": "try the configured alerts",
        "doctor": "say how logs are read and noticed, and what is not recognised",
        "mcp": "answer agents over standard input and output",
        "completion": "print the completion script of bash, zsh or fish",
        "help": "print the keys of the monitor, or the manual page",
    },
}
_FOLDER_OF = {name: folder for folder, commands in COMMAND_FOLDERS.items() for name in commands}
COMMANDS = {name: text for commands in COMMAND_FOLDERS.values() for name, text in commands.items()}

EXAMPLES = """
\b
Examples:
  rltui runs/                         watch the runs below a folder
  ssh -t host rltui watch /scratch/me/runs
  rltui check runs/ --json            health for scripts; exit code 1 when critical
  rltui report runs/ --output r.html  the newest run for somebody who was not there
  rltui snapshot runs/ --pane reward  one pane as text, for a chat
  rltui explain actor/pg_clipfrac     what a metric means
"""


class Commands(click.Group):
    """A group that imports commands on demand and reads `rltui LOGDIR` as `rltui watch LOGDIR`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the module of a command and return its `command`."""
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"rltui.cli.commands.{_FOLDER_OF[name]}.{name}")
        command: click.Command = module.command
        command.params.sort(key=lambda parameter: parameter.name == "requests_per_hour")  # rare: last
        if name not in ("watch", "demo"):  # the screen calls it with its first frame
            finish_imports()
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands and their help without importing them; files if no command matches."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        found = [
            CompletionItem(name, help=COMMANDS[name]) for name in COMMANDS if name.startswith(incomplete)
        ]
        return found or [CompletionItem(incomplete, type="file")]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read `rltui`, `rltui LOGDIR` and `rltui --pane reward LOGDIR` as the watch command."""
        first = next((arg for arg in args if not arg.startswith("-")), None)
        if first in COMMANDS or args[:1] in (["--help"], ["-h"], ["--version"]):
            try:
                return super().parse_args(ctx, args)
            except BrokenPipeError:  # `rltui --help | head -0`
                ctx.exit(_drop_output(0))
        if ctx.resilient_parsing:  # completion: the first word may be part of a command
            return super().parse_args(ctx, ["watch", *args] if args else args)
        if first is not None and not _is_path(first) and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(first, COMMANDS, n=3, cutoff=0.6) or ["watch", "check", "snapshot", "…"]
            message = f"no command or folder named {clean(first)!r}; commands: {', '.join(close)}"
            raise click.UsageError(message, ctx)
        return super().parse_args(ctx, ["watch", *args])

    def invoke(self, ctx: click.Context) -> object:
        """Run the command and return its exit code: 2 instead of 0 if a LOGDIR could not be opened.

        So does an error message: a name that is not found may be one of that LOGDIR. A closed pipe, as with
        `| head`, ends it with 0; click would exit with 1.
        """
        try:
            code = super().invoke(ctx)
        except click.exceptions.Exit as end:
            code = end.exit_code
        except CommandError as error:
            if UNOPENED in ctx.meta:
                error.code = WRONG
            raise
        except BrokenPipeError:
            code = _drop_output(0)
        return code or (WRONG if UNOPENED in ctx.meta else 0)


def _is_path(word: str) -> bool:
    return os.sep in word or word in (".", "..") or Path(word).exists()


@click.group(cls=Commands, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="rltui %(version)s")
def command_group() -> None:
    """Watch reinforcement learning runs in the terminal: what each metric means, what is wrong, since when.

    rltui reads TensorBoard event files and JSONL, CSV and console logs while they are written. It never
    writes into a log folder, opens no port and sends nothing anywhere.
    """


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """Exit after SIGTERM or SIGHUP, so that temporary files are deleted."""
    raise SystemExit(128 + number)


def run(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process with the documented exit code, without tracebacks."""
    # If standard streams are closed (`>&-`, some daemons), files opened later would get their descriptors.
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    with contextlib.suppress(ValueError):  # not in the main thread of an embedding program
        signal.signal(signal.SIGTERM, _terminate)
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # started with nohup
            signal.signal(signal.SIGHUP, _terminate)
    sys.exit(_run(args))


def _run(args: Sequence[str] | None) -> int:
    try:
        result: object = command_group.main(args=args, prog_name="rltui", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as end:
        return _flushed(end.exit_code)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return 130
    except click.UsageError as error:
        hint = f" (see: {error.ctx.command_path} --help)" if error.ctx is not None else ""
        note(f"{error.format_message()}{hint}")
        return WRONG
    except click.ClickException as error:
        note(error.format_message())
        return _flushed(error.code if isinstance(error, CommandError) else error.exit_code)
    except BrokenPipeError:
        return _drop_output(0)
    except OSError as error:
        note(f"{error.strerror or error}: {error.filename or 'standard output'}")
        return _drop_output(WRONG)
    except Exception as error:  # noqa: BLE001 - the traceback goes to a file
        note(crash.report(error))
        return _drop_output(crash.EXIT)


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _drop_output(code)
    return code


def _drop_output(code: int) -> int:
    """Redirect standard output to the null device, so that the interpreter's flush at exit succeeds."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
