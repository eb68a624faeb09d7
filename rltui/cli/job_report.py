"""The jobs of runs that were judged, and what `doctor` says of the scheduler."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rltui.cli.output import note
from rltui.common.text import clean
from rltui.draw.numbers import format_seconds
from rltui.many_runs.verdict import Verdict
from rltui.rules.finding import health_of
from rltui.run_context.jobs.scheduler import Job, RunTraces, SchedulerError, look_inside
from rltui.run_context.jobs.slurm import Slurm, is_installed
from rltui.session.job_findings import time_limit_finding

if TYPE_CHECKING:
    from rltui.session.session import Session


def job_report(session: Session | None, logdirs: tuple[str, ...]) -> dict[str, Any]:
    """Whether a scheduler answers, which jobs write the runs, and how to look inside."""
    found: dict[str, Any] = {"scheduler": "slurm" if is_installed("squeue") else None}
    if os.environ.get("SLURM_JOB_ID"):
        found["inside"] = clean(os.environ["SLURM_JOB_ID"], 40)
    if found["scheduler"] is None:
        return found
    from rltui.run_context.jobs.run_jobs import jobs_of  # which only a machine with a scheduler needs

    scheduler, began = Slurm(), time.monotonic()
    try:
        jobs = scheduler.jobs()
        found["jobs"] = len(jobs)
        found["seconds"] = time.monotonic() - began
        runs = {} if session is None else jobs_of(session.job_traces(), jobs, logdirs)
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


def jobs_of_verdicts(verdicts: Sequence[Verdict], logdirs: Sequence[str]) -> dict[str, Job]:
    """The queued or running job of each run that has one."""
    traces = {
        each.name: RunTraces((*each.consoles, *(source.path for source in each.sources))) for each in verdicts
    }
    return jobs_by_traces(traces, logdirs)


def jobs_by_traces(traces: Mapping[str, RunTraces], logdirs: Sequence[str]) -> dict[str, Job]:
    """The queued or running job of each run that has one; a scheduler that fails is a note."""
    try:
        if not (jobs := Slurm().jobs()):
            return {}
        from rltui.run_context.jobs.run_jobs import jobs_of  # which only a machine with a scheduler needs

        return jobs_of(traces, jobs, logdirs)
    except SchedulerError as error:
        note(str(error))
        return {}


def with_time_limits(verdicts: Sequence[Verdict], logdirs: Sequence[str], now: float) -> list[Verdict]:
    """Verdicts with the finding that a live run will not finish before its job ends."""
    live = [each for each in verdicts if each.liveness.state == "live" and each.liveness.eta is not None]
    jobs = jobs_of_verdicts(live, logdirs) if live else {}
    found = []
    for each in verdicts:
        steps = each.points // max(each.series, 1)
        told = time_limit_finding(jobs.get(each.name), each.liveness, now, steps, each.last_step)
        if told is not None:  # behind the others: `notes` are places among them
            findings = (*each.findings, told)
            each = each._replace(findings=findings, health=health_of(findings))
        found.append(each)
    return found
