"""Jobs of a scheduler, whichever it is, and which of them writes a run."""

from __future__ import annotations

import os
from collections.abc import Iterable

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex

# Consoles named after their job: slurm-4711.out, train-4711_3.err, 4711.log.
_CONSOLE = regex(r"(?:^|[/._-])(?P<job>\d{2,12})(?:_\d{1,6})?\.(?:out|err|log)$")


class Job(NamedTuple):
    """A job that is queued or runs. Texts are cleaned."""

    id: str
    state: str  # the scheduler's word in lower case: running, pending, ...
    nodes: str
    left: float | None  # seconds until its time limit; None: unknown or unlimited
    end: float | None  # seconds since 1970
    folder: str  # from which it was submitted
    name: str

    def left_at(self, now: float) -> float | None:
        """Seconds until its time limit at `now`, seconds since 1970; as of the query if `end` is unknown."""
        return self.left if self.end is None or self.left is None else max(self.end - now, 0.0)


class RunTraces(NamedTuple):
    """What identifies the job of a run: paths of its logs and consoles, and job ids in its settings."""

    paths: tuple[str, ...]
    ids: tuple[str, ...] = ()


class SchedulerError(Exception):
    """The scheduler did not answer, or not as expected: one line with the reason."""


def job_of(paths: Iterable[str], jobs: Iterable[Job], ids: Iterable[str] = ()) -> Job | None:
    """The job that writes a run, by ids in its settings and in the names of its consoles; the newest."""
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
