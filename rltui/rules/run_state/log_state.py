"""What has become of a run's log files: gone, cut off within a record for good, or ended by a crash."""

from __future__ import annotations

from rltui.common.problem import Level, Problem
from rltui.logs.delivery import Source
from rltui.store.run import Run

OLD = 600.0  # seconds without a write after which a record that is begun will hardly be finished
# What readers tell of the end of a file themselves: then it need not be told again.
_TOLD = ("torn-tail", "damaged-stretch", "implausible-length")


def of_sources(run: Run, now: float) -> list[Problem]:
    """Troubles with files that only show with time; `now` in seconds since 1970."""
    told = {problem.path for problem in run.problems.values() if problem.code in _TOLD}
    mains = _mains(run)
    others = any(not source.gone for source in mains)
    found = []
    for source in mains:
        left = source.size - source.read
        if source.gone:
            level: Level = (
                "info" if others else "warning"
            )  # a run whose other logs are there may have cleaned up
            found.append(Problem(level, "log-gone", source.path, "the file is gone; what was read is kept"))
        elif left > 0 and source.caught_up and now - source.modified > OLD and source.path not in told:
            message = f"the last record is cut off: {left:,} bytes are no whole one"
            found.append(Problem("info", "torn-tail", source.path, message, source.read, left))
    if run.exit_code:
        path = next(path for path, code in run.exit_codes.items() if code == run.exit_code)
        found.append(Problem("warning", "crashed", path, f"crashed with exit code {run.exit_code}"))
    return found


def all_gone(run: Run) -> bool:
    """Whether none of its log files is there any more: then nothing more can come."""
    mains = _mains(run)
    return bool(mains) and all(source.gone for source in mains)


def _mains(run: Run) -> list[Source]:
    """The files that say something of their own."""
    return [source for source in run.sources.values() if source.duplicate_of is None]
