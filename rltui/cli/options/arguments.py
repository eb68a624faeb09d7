"""Arguments and options of several commands. Imports little, since `explain` needs neither rules nor runs."""

from __future__ import annotations

import contextlib
import errno
import functools
import glob
import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from rltui.cli.exit_codes import FOUND, UNOPENED
from rltui.cli.options.completions import complete_run, complete_theme, matching_items
from rltui.cli.output.printing import (
    NothingReadError,
    emit_json,
    fail,
    leave,
    note,
    nothing_read,
    progress_line,
)
from rltui.common.display_text import clean, some_of
from rltui.common.problem import Problem
from rltui.common.writable_paths import cache, is_url, local_path

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from rltui.logs.found_file import AssignedLog

F = TypeVar("F", bound=Callable[..., Any])
FC = TypeVar("FC", bound=Callable[..., Any] | click.Command)
_NAMED_LOG = ".wandb"  # ending of logs with a name that the user gave to the run
_MAX_NAMES = 8  # of runs in a message


class LogDir(click.Path):
    """A LOGDIR argument. Expands `~`; removes passwords from URLs."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """See click. Does not access the file system, which may hang."""
        if is_url(value):
            from rltui.logs.remote.remote_folders import REMOTE  # rarely needed

            if cache() is None:
                fail("what is fetched goes into your cache, but no home folder is known: set XDG_CACHE_HOME")
            return REMOTE.shown(os.fsdecode(value))
        return os.path.expanduser(os.fsdecode(value))  # noqa: PTH111 (never raises)


class FrameworkArgument(click.ParamType[str]):
    """A framework or variant in any spelling, converted to its label. Exit code 1 for an unknown name."""

    name = "framework"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """See click."""
        from rltui.metrics.frameworks.framework_files import frameworks

        return matching_items(frameworks().labels, incomplete)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """See click."""
        from rltui.metrics.frameworks.framework_files import frameworks

        found = frameworks().get(value)
        if found is None:
            fail(f"no framework named {value!r}; frameworks: {', '.join(frameworks().labels)}", FOUND)
        return found.label


def _limit_requests(ctx: click.Context, param: click.Parameter, value: int | None) -> None:
    if value is not None:
        from rltui.logs.remote.remote_folders import REMOTE

        REMOTE.requests_per_hour = value


REQUESTS = click.option(
    "--requests-per-hour",
    type=click.IntRange(min=10),
    metavar="N",
    expose_value=False,
    callback=_limit_requests,
    help="Ask a remote folder (s3://…) at most so often; the configuration's limit otherwise.",
)


def LOGDIRS(command: FC) -> FC:  # noqa: N802 - one of the decorators below
    """The required LOGDIRs of a command, and the option for remote folders."""
    argument = click.argument("logdirs", metavar="LOGDIR ...", nargs=-1, required=True, type=LogDir())
    return argument(REQUESTS(command))


_GLOB = frozenset("*?[")
RUN_OPTION = click.option(
    "--run",
    "run_glob",
    metavar="GLOB|EXPR",
    shell_complete=complete_run,
    help="Only runs whose names match, or that fit an expression such as 'lr>1e-4 critical'.",
)


def RUN(command: F) -> F:  # noqa: N802 - a decorator like the others here
    """The option `--run` of a command with LOGDIRs. Names as displayed are resolved to full names."""

    @functools.wraps(command)
    def resolved(*args: object, logdirs: tuple[str, ...], run_glob: str | None, **options: object) -> object:
        return command(*args, logdirs=logdirs, run_glob=resolve_run_name(logdirs, run_glob), **options)

    return RUN_OPTION(cast("F", resolved))


def _runs_with_given_name(logs: Sequence[AssignedLog], names: Collection[str], text: str) -> set[str]:
    """The runs to which the user gave this name in W&B; `text` may include their id."""
    from rltui.logs.follow.read_all import read_assigned
    from rltui.panes.runs.short_names import short_run_names, with_given_names
    from rltui.session.session import Session

    given: dict[str, str] = {}
    for log in logs:
        if not log.found.name.endswith(_NAMED_LOG):
            continue
        session = Session()
        for delivery in read_assigned([log]):
            session.apply((delivery,))
            if session.given_names:
                break
        given |= session.given_names
    shown = with_given_names(short_run_names(names), given)
    return {name for name in given if text in (given[name], shown[name])}


def resolve_run_name(logdirs: Sequence[str], text: str | None, *, fetch: bool = True) -> str | None:
    """The value of `--run`; a displayed name, or some folders of a name, becomes the glob of the full name.

    Any other text is returned unchanged. Exit code 2 if several runs match. fetch: whether to update the
    mirrors of remote folders before.
    """
    if text is None or _GLOB & set(text):
        return text
    for url in filter(is_url, logdirs) if fetch else ():
        with contextlib.suppress(NothingReadError):  # reported by the command itself, which may also wait
            _fetch(url)
    logdirs = [logdir for logdir in logdirs if _failure(local_path(logdir)) is None]
    if not logdirs:
        return text
    from rltui.logs.follow.read_all import assign_all
    from rltui.logs.run_names import goes_by, shown_name
    from rltui.panes.runs.short_names import short_run_names

    logs = [log for log in assign_all(logdirs)[0] if log.duplicate_of is None]
    names = {log.run for log in logs}
    if text in names:
        return text
    shown = {
        name for name, short in short_run_names(names).items() if text in (short, shown_name(name, logdirs))
    }
    found = (
        shown or {name for name in names if goes_by(name, text)} or _runs_with_given_name(logs, names, text)
    )
    if len(found) > 1:
        which = some_of([clean(name) for name in sorted(found)], _MAX_NAMES)
        fail(f"run {clean(text)!r} may be any of {which}; name more of its folders, or use a glob")
    return glob.escape(found.pop()) if found else text


JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
FORMAT = click.option(
    "--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True
)
FAIL_ON = click.option(
    "--fail-on",
    type=click.Choice(["warning", "critical", "never"]),
    help="Exit with 1 from this severity on.  [default: critical]",
)
JSON_LINES = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")


def schema_option(name: str) -> Callable[[FC], FC]:
    """The option `--schema`, which prints a schema of `json_schemas` and ends the command."""

    def print_schema(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            from rltui.cli import json_schemas

            emit_json(json_schemas.schema_of(name), indent=2)
            leave(0)

    return click.option(
        "--schema",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=print_schema,
        help="Print the JSON schema of the --json output.",
    )


AT_STEP = click.option("--at-step", type=int, metavar="N", help="Show and judge the run as it was at step N.")
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
    "--verify", is_flag=True, help="Check every checksum of event files, which finds single changed bits."
)

MIN_SYNC_INTERVAL = 2.0  # seconds between updates of a mirror
FILE_SYSTEM_TIMEOUT = 5.0  # seconds


def readable_logdirs(
    logdirs: Sequence[str], advice: str = "name a folder with logs below it"
) -> tuple[tuple[str, ...], list[Problem]]:
    """The LOGDIRs that can be opened, and a problem for each other one, which standard error names.

    A command that outputs the others exits with 2 instead of 0. Ends the command with 2 if none can be
    opened: it does not exist, or its file system does not respond. Updates the mirrors of remote folders.
    """
    readable: list[str] = []
    errors: list[NothingReadError] = []
    for logdir in logdirs:
        try:
            _open(logdir, advice)
        except NothingReadError as error:
            errors.append(error)
        else:
            readable.append(logdir)
    diagnostics = [diagnostic for error in errors for diagnostic in error.diagnostics]
    if errors and not readable:
        raise NothingReadError("; ".join(error.message for error in errors), diagnostics)
    problems = [Problem("error", one["code"], one["path"], one["message"]) for one in diagnostics]
    for problem in problems:
        note(problem.text)
    context = click.get_current_context(silent=True)  # None for a tool of the MCP server, in its own thread
    if problems and context is not None:
        context.meta[UNOPENED] = True
    return tuple(readable), problems


def _open(logdir: str, advice: str) -> None:
    """Update the mirror of a remote LOGDIR. Ends the command with 2 if the LOGDIR cannot be opened."""
    if is_url(logdir):
        _fetch(logdir)
    failure = _failure(local_path(logdir))
    if failure is not None:
        code, what, action = failure
        nothing_read(f"{clean(logdir)}: {what}; {action or advice}", code, logdir, what)


def _failure(path: str) -> tuple[str, str, str] | None:
    """Why a LOGDIR cannot be opened, as code, message and advice (maybe empty); None if it can."""
    errors: list[OSError | None] = []

    def look() -> None:
        try:
            Path(path).stat()
        except OSError as error:
            errors.append(error)
        else:
            errors.append(None)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(FILE_SYSTEM_TIMEOUT)
    if not errors:
        what = f"the file system has not answered for {FILE_SYSTEM_TIMEOUT:.0f} s"
        return "not-answering", what, "look at its mount"
    if errors[0] is None:
        return None
    if errors[0].errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG):
        return "missing", "no such file or folder", ""
    return "unreadable", f"cannot be read: {errors[0].strerror}", "look at its permissions"


def set_remote_poll(logdirs: Sequence[str], poll: float | None) -> None:
    """Apply `--poll`, if given, to remote folders."""
    if poll is not None and any(map(is_url, logdirs)):
        from rltui.logs.remote.remote_folders import REMOTE

        REMOTE.poll = poll


def update_mirrors(logdirs: Sequence[str]) -> None:
    """Update the mirrors of remote folders, for the configuration next to the logs.

    Errors are ignored here; the threads that follow the folders report them and try again.
    """
    if any(map(is_url, logdirs)):
        from rltui.logs.remote.object_store import StoreError
        from rltui.logs.remote.remote_folders import REMOTE

        for url in filter(is_url, logdirs):
            with contextlib.suppress(StoreError):
                REMOTE.of(url).sync()


def _fetch(url: str) -> None:
    """Update the mirror of a remote folder. Ends the command with 2 if that fails."""
    from rltui.draw.numbers import format_bytes
    from rltui.logs.remote.object_store import StoreError
    from rltui.logs.remote.remote_folders import REMOTE

    folder = REMOTE.of(url)
    if time.time() - folder.mirror.synced < MIN_SYNC_INTERVAL:
        return
    with progress_line() as show:
        try:
            last = folder.sync(
                None
                if show is None
                else lambda fetched, total: show(f"fetched {format_bytes(fetched)} of {format_bytes(total)}")
            )
        except StoreError as error:
            nothing_read(f"{clean(url)}: {error}", "remote-unreadable", url, str(error))
    for problem in folder.mirror.problems():
        if last.wait and problem.code == "remote-limit":
            nothing_read(problem.text, problem.code, url, problem.message)
        note(problem.text)
