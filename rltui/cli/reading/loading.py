"""Reading the configuration and the logs for commands that evaluate runs.

The modules that read logs are imported on demand, since most verdicts are cached.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

from rltui.cli.options.arguments import readable_logdirs
from rltui.cli.output.file_problems import note_problems
from rltui.cli.output.printing import NothingReadError, fail, no_logs, progress_line
from rltui.common.display_text import clean
from rltui.common.problem import Problem
from rltui.config import Config, load_config
from rltui.draw.numbers import format_bytes, format_step

if TYPE_CHECKING:
    from rltui.logs.delivery import Delivery
    from rltui.logs.run_names import RunFilter
    from rltui.session.run_view import RunView
    from rltui.session.session import Session


def read_config(logdirs: tuple[str, ...] = (), *, strict: bool = False) -> Config:
    """The configuration of the user and the logs; problems are printed on standard error.

    strict: end the command with 2 if a file cannot be read at all. Invalid entries are only reported.
    """
    config = load_config(logdirs)
    if strict:
        refuse_unreadable(config)
    note_problems(config.problems)
    if config.metrics or config.aliases:
        from rltui.metrics.resolve import MetricNames

        note_problems(MetricNames(config=config).problems)
    return config


def refuse_unreadable(config: Config) -> None:
    """End the command with 2 if a configuration file could not be read."""
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
    """Read and evaluate all runs. Ends the command with 2 if there is nothing to read.

    LOGDIRs that cannot be opened are named on standard error; the runs of the others are read.

    charts: False keeps only the data for rules and lists. verify: check every checksum.
    """
    from rltui.panes.runs.selection import RunSelection, hparams_below
    from rltui.session.session import Session

    logdirs, unopened = readable_logdirs(logdirs)
    selection = RunSelection(run_glob)
    config = read_config(logdirs, strict=True)
    with reading_progress() as progress:
        session = Session.load(
            logdirs,
            config,
            run_glob=selection.glob,
            at_step=at_step,
            progress=progress,
            charts=charts,
            verify=verify,
        )
    problems = [session.problems, *(view.run.problems for view in session.runs.values())]
    note_problems(one for of_some in problems for one in of_some.values() if one.code == "not-answering")
    if selection.is_expression:
        session.keep(selection.names(session.ordered(), time.time(), hparams_below(logdirs)))
    if not session.runs:
        nothing_to_read(logdirs, run_glob, list(session.problems.values()))
    session.problems.note(unopened)
    return session


def leave_if_unreadable(views: Sequence[RunView]) -> None:
    """End the command with 2 and the reason if nothing could be read of any run that it output."""
    if views and all(view.unreadable for view in views):
        fail(f"{clean(views[0].shown_name)}: {views[0].unreadable}")


def leave_before_first_step(session: Session, views: Sequence[RunView], at_step: int | None) -> None:
    """End the command with 2 if no run that it outputs had a point at `at_step`, naming the first step."""
    if at_step is None or any(view.run.points for view in views):
        return
    for view in views:
        if (first := session.next_steps.get(view.name)) is not None:
            steps = f"no points up to step {format_step(at_step)}; its first step is {format_step(first)}"
            fail(f"{clean(view.shown_name)}: {steps}")


def nothing_to_read(logdirs: tuple[str, ...], run_glob: str | None, found: Sequence[Problem]) -> NoReturn:
    """End the command with 2 and the reason given by the problems."""
    where = ", ".join(clean(logdir) for logdir in logdirs)
    problems = [problem.as_json() for problem in found]
    places = {problem: where if problem.path == "." else f"{where}: {problem.path}" for problem in found}
    for problem, place in places.items():
        if problem.code == "unreadable":
            raise NothingReadError(f"{place} cannot be read; look at its permissions", problems)
        if problem.code == "not-answering":
            raise NothingReadError(f"{place}: {problem.message}; look at its mount", problems)
    for problem, place in places.items():
        if (problem.level != "info" or problem.code == "not-read") and run_glob is None:
            raise NothingReadError(f"{place}: {problem.message}", problems)
    no_logs(logdirs, run_glob)


def is_run_expression(text: str | None) -> bool:
    """Whether the value of `--run` is an expression, which requires reading all runs."""
    if text is None:
        return False
    from rltui.panes.runs.run_expression import is_expression

    return is_expression(text)


def run_filter(logdirs: tuple[str, ...], text: str | None) -> RunFilter:
    """The runs that `--run` selects, by name; for an expression, all existing runs are read."""
    from rltui.logs.run_names import RunFilter

    if not is_run_expression(text):
        return RunFilter(text)
    return RunFilter(among=frozenset(load(logdirs, text, charts=False).runs))


def as_of(view: RunView, at_step: int | None) -> float:
    """The current time; with `at_step` the wall time of the run's last point, if the log has one."""
    last = view.run.last_wall
    return last if at_step is not None and last == last else time.time()


@contextlib.contextmanager
def reading_progress() -> Iterator[Callable[[Delivery], None] | None]:
    """A function that shows deliveries of large logs in a progress line; None without a terminal."""
    with progress_line() as show:
        if show is None:
            yield None
            return
        read: dict[str, tuple[int, int]] = {}
        due = time.monotonic() + 0.5  # no line for small logs

        def take(delivery: Delivery) -> None:
            nonlocal due
            read[delivery.source.path] = (delivery.source.read, delivery.source.size)
            if time.monotonic() >= due:
                due = time.monotonic() + 0.2
                done, size = map(sum, zip(*read.values(), strict=True))
                show(f"reading {format_bytes(done)} of {format_bytes(size)}")

        yield take
