"""What is asked of a scheduler, whichever it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

# Consoles that carry the number of their job: slurm-4711.out, train-4711_3.err, 4711.log.
_CONSOLE = re.compile(r"(?:^|[/._-])(?P<job>\d{2,12})(?:_\d{1,6})?\.(?:out|err|log)$")


@dataclass(frozen=True, slots=True)
class Job:
    """A job that is queued or runs. Texts are cleaned."""

    id: str
    state: str  # as the scheduler spells it, in lower case: running, pending, ...
    nodes: str
    left: float | None  # seconds until its time limit; None: not known or unlimited
    end: float | None  # seconds since 1970
    folder: str  # where it was submitted from
    name: str


class SchedulerError(Exception):
    """The scheduler did not answer, or not as expected: one line that says why."""


class Scheduler(Protocol):
    """Answers within seconds, from memory where the last answer is young."""

    def jobs(self) -> tuple[Job, ...]:
        """This user's jobs; empty without the scheduler. Raises SchedulerError."""
        ...

    def folders(self, job: str) -> tuple[str, ...]:
        """The folders in which a job works and writes its console. Raises SchedulerError."""
        ...


def job_of(paths: Iterable[str], jobs: Iterable[Job]) -> Job | None:
    """The job that writes a run, by the numbers in the names of its consoles; the newest of several."""
    by_id = {job.id.partition("_")[0]: job for job in jobs}
    matches = (_CONSOLE.search(path) for path in paths)
    ids = [match["job"] for match in matches if match is not None and match["job"] in by_id]
    return by_id[max(ids, key=int)] if ids else None
