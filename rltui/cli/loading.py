"""How commands that judge read the configuration and the logs."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import NoReturn

from rltui.cli.arguments import need
from rltui.cli.file_problems import note_problems
from rltui.cli.output import NothingReadError, fail, no_logs, note
from rltui.config import Config, load_config
from rltui.jobs.run_jobs import jobs_of
from rltui.jobs.scheduler import SchedulerError
from rltui.jobs.slurm import Slurm
from rltui.logs.delivery import Delivery
from rltui.metrics import MetricNames
from rltui.panes.runs.selection import RunSelection, settings_below
from rltui.problem import Problem
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.text import clean


def read_config(logdirs: tuple[str, ...] = (), *, strict: bool = False) -> Config:
    """The user's configuration and `rltui.toml` beside the logs; what is wrong in them is said on stderr.

    strict: a file that cannot be read at all ends the command with 2, for its limits are not known. Wrong
    entries never do: the others and the defaults hold.
    """
    config = load_config(logdirs)
    if strict:
        refuse_unreadable(config)
    note_problems((*config.problems, *MetricNames(config=config).problems))
    return config


def refuse_unreadable(config: Config) -> None:
    """End the command with 2 when a file of the configuration could not be read."""
    for problem in config.problems:
        if problem.code == "config-unreadable":
            fail(
                f"{problem.path}: {problem.message.removesuffix('; the defaults hold')}; correct or remove it"
            )


def load(
    logdirs: tuple[str, ...],
    run_glob: str | None = None,
    at_step: int | None = None,
    *,
    charts: bool = True,
    verify: bool = False,
) -> Session:
    """Read and judge everything below the folders. Ends the command with 2 when there is nothing to read.

    charts: False holds only what judging and listing need. verify: prove every checksum.
    """
    need(logdirs)
    selection = RunSelection(run_glob)
    progress = ReadingProgress() if sys.stderr.isatty() else None
    session = Session.load(
        logdirs,
        read_config(logdirs, strict=True),
        run_glob=selection.glob,
        at_step=at_step,
        progress=progress,
        charts=charts,
        verify=verify,
    )
    if progress is not None:
        progress.wipe()
    note_problems(problem for problem in session.diagnostics() if problem.code == "not-answering")
    if selection.is_expression:
        session.keep(selection.names(session.ordered(), time.time(), settings_below(logdirs)))
    if not session.runs:
        nothing_to_read(logdirs, run_glob, list(session.problems.values()))
    return session


def nothing_to_read(logdirs: tuple[str, ...], run_glob: str | None, found: Sequence[Problem]) -> NoReturn:
    """End the command with 2, for the reason that the problems tell."""
    where = ", ".join(clean(logdir) for logdir in logdirs)
    problems = [problem.as_json() for problem in found]
    for problem in found:
        if problem.code == "unreadable":
            message = f"{where}: {problem.path} cannot be read; look at its permissions"
            raise NothingReadError(message, problems)
        if problem.code == "not-answering":
            message = f"{where}: {problem.path}: {problem.message}; look at its mount"
            raise NothingReadError(message, problems)
    for problem in found:
        if problem.level != "info" and run_glob is None:
            raise NothingReadError(f"{where}: {problem.path}: {problem.message}", problems)
    no_logs(logdirs, run_glob)


def chosen_names(logdirs: tuple[str, ...], text: str | None) -> frozenset[str] | None:
    """The runs that an expression chooses of those that are there now; None where `--run` is a glob."""
    if not RunSelection(text).is_expression:
        return None
    return frozenset(load(logdirs, text, charts=False).runs)


def ask_for_jobs(session: Session, logdirs: Sequence[str]) -> None:
    """Find the queued or running job of each run; a scheduler that fails is a note. At most a few seconds."""
    try:
        jobs = jobs_of(session.job_traces(), Slurm(), logdirs)
    except SchedulerError as error:
        note(str(error))
        return
    session.set_jobs(jobs, time.time())


def as_of(view: RunView, at_step: int | None) -> float:
    """Now; as of an earlier step the wall time of the run's last point then, when the log has one."""
    last = view.run.last_wall
    return last if at_step is not None and last == last else time.time()


class ReadingProgress:
    """A line on a terminal's standard error while a large log is being read; nothing for small ones."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._written = 0.0
        self._read: dict[str, tuple[int, int]] = {}

    def __call__(self, delivery: Delivery) -> None:
        """Something of a log was read."""
        source = delivery.source
        self._read[source.path] = (source.read, source.size)
        now = time.monotonic()
        if now - self._began < 0.5 or now - self._written < 0.2:
            return
        self._written = now
        read = sum(read for read, _ in self._read.values()) / 1e6
        size = sum(size for _, size in self._read.values()) / 1e6
        sys.stderr.write(f"\r\x1b[Krltui: reading {read:.0f} of {size:.0f} MB")
        sys.stderr.flush()

    def wipe(self) -> None:
        """Leave no trace of the progress line."""
        if self._written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
