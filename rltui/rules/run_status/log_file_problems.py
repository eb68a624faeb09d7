"""Problems of a run's log files that only show with time: deleted, cut off within a record, crashed."""

from __future__ import annotations

from rltui.common.problem import Problem, ProblemLevel
from rltui.logs.delivery import Source
from rltui.store.run import Run

TORN_SECONDS = 600.0  # without a write, after which an incomplete record is reported
# Problems at the end of a file that readers report: then nothing is added.
_REPORTED_BY_READERS = ("torn-tail", "damaged-stretch", "implausible-length")


def log_file_problems(run: Run, now: float) -> list[Problem]:
    """Problems of the log files at a time (seconds since 1970)."""
    reported = {problem.path for problem in run.problems.values() if problem.code in _REPORTED_BY_READERS}
    mains = _main_logs(run)
    others = any(not source.gone for source in mains)
    found = []
    for source in mains:
        left = source.size - source.read
        if source.gone:
            # A run whose other logs exist may delete some itself.
            level: ProblemLevel = "info" if others else "warning"
            found.append(Problem(level, "log-gone", source.path, "the file is gone; what was read is kept"))
        elif (
            left > 0
            and source.caught_up
            and now - source.modified > TORN_SECONDS
            and source.path not in reported
        ):
            message = f"the last record is cut off: {left:,} bytes are not a complete record"
            found.append(Problem("info", "torn-tail", source.path, message, source.read, left))
    if run.exit_code:
        path = next(path for path, code in run.exit_codes.items() if code == run.exit_code)
        found.append(Problem("warning", "crashed", path, f"crashed with exit code {run.exit_code}"))
    return found


def all_gone(run: Run) -> bool:
    """Whether none of its log files exists any more, so that no points can follow."""
    mains = _main_logs(run)
    return bool(mains) and all(source.gone for source in mains)


def _main_logs(run: Run) -> list[Source]:
    return [source for source in run.sources.values() if source.duplicate_of is None]
