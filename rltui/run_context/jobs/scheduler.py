"""What is asked of a scheduler, whichever it is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Protocol

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex

# Consoles that carry the number of their job: slurm-4711.out, train-4711_3.err, 4711.log.
_CONSOLE = regex(r"(?:^|[/._-])(?P<job>\d{2,12})(?:_\d{1,6})?\.(?:out|err|log)$")


class Job(NamedTuple):
    """A job that is queued or runs. Texts are cleaned."""

    id: str
    state: str  # as the scheduler spells it, in lower case: running, pending, ...
    nodes: str
    left: float | None  # seconds until its time limit; None: not known or unlimited
    end: float | None  # seconds since 1970
    folder: str  # where it was submitted from
    name: str

    def left_at(self, now: float) -> float | None:
        """Seconds until its time limit; now: seconds since 1970. As asked for last where no end is known."""
        return self.left if self.end is None or self.left is None else max(self.end - now, 0.0)


class RunTraces(NamedTuple):
    """What tells the job of a run: paths of its logs and consoles, and job numbers in its settings."""

    paths: tuple[str, ...]
    ids: tuple[str, ...] = ()


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


def job_of(paths: Iterable[str], jobs: Iterable[Job], ids: Iterable[str] = ()) -> Job | None:
    """The job that writes a run: by numbers that it noted, and those in the names of its consoles.

    The newest of several.
    """
    by_id = {job.id.partition("_")[0]: job for job in jobs}
    matches = (_CONSOLE.search(path) for path in paths)
    named = [match["job"] for match in matches if match is not None]
    known = [each for each in (*ids, *named) if each in by_id]
    return by_id[max(known, key=int)] if known else None


def look_inside(job: Job) -> str:
    """The command that shows a running job from one of its nodes; empty where this is one."""
    number = job.id.partition("_")[0]
    if job.state != "running" or os.environ.get("SLURM_JOB_ID") == number:
        return ""
    return f"srun --jobid={number} --overlap --pty rltui watch --job {number}"
