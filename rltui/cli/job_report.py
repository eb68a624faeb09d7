"""What `doctor` says of the scheduler: whether it answers, which jobs write the runs, how to look inside."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from typing import Any

from rltui.draw.numbers import format_seconds
from rltui.jobs.run_jobs import jobs_of
from rltui.jobs.scheduler import SchedulerError, look_inside
from rltui.jobs.slurm import Slurm
from rltui.session.session import Session
from rltui.text import clean


def job_report(session: Session | None, logdirs: tuple[str, ...]) -> dict[str, Any]:
    """Whether a scheduler answers, which jobs write the runs, and how to look inside."""
    found: dict[str, Any] = {"scheduler": "slurm" if shutil.which("squeue") else None}
    if os.environ.get("SLURM_JOB_ID"):
        found["inside"] = clean(os.environ["SLURM_JOB_ID"], 40)
    if found["scheduler"] is None:
        return found
    scheduler, began = Slurm(), time.monotonic()
    try:
        found["jobs"] = len(scheduler.jobs())
        found["seconds"] = time.monotonic() - began
        runs = {} if session is None else jobs_of(session.job_traces(), scheduler, logdirs)
    except SchedulerError as error:
        return {**found, "problem": str(error)}
    found["runs"] = {
        name: {"job": job.id, "state": job.state, "inside": look_inside(job)} for name, job in runs.items()
    }
    return found


def job_lines(jobs: dict[str, Any]) -> Iterator[str]:
    """The same for people."""
    inside = f", inside job {jobs['inside']}" if "inside" in jobs else ""
    if jobs["scheduler"] is None:
        yield f"Jobs: no Slurm here{inside}"
        return
    if "problem" in jobs:
        yield f"Jobs: Slurm{inside}; {jobs['problem']}"
        return
    took = format_seconds(jobs["seconds"])
    yield f"Jobs: Slurm, squeue answered in {took} with {jobs['jobs']} of your jobs{inside}"
    for name, job in jobs["runs"].items():
        yield f"  {name}: job {job['job']}, {job['state']}"
        if job["inside"]:
            yield f"    live, from inside: {job['inside']}"
