"""The scheduler's jobs of runs, and the report on the scheduler in `doctor`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rltui.cli.output.printing import note
from rltui.common.display_text import clean
from rltui.draw.numbers import format_seconds
from rltui.many_runs.verdict import Verdict
from rltui.rules.finding import health_of
from rltui.run_context.jobs.scheduler import Job, RunTraces, SchedulerError, look_inside
from rltui.run_context.jobs.slurm import Slurm, is_installed
from rltui.session.job_findings import time_limit_finding

if TYPE_CHECKING:
    from rltui.session.session import Session


def job_report(session: Session | None, logdirs: tuple[str, ...]) -> dict[str, Any]:
    """The scheduler's state, the jobs of runs, and commands to look inside these jobs."""
    report: dict[str, Any] = {"scheduler": "slurm" if is_installed("squeue") else None}
    if os.environ.get("SLURM_JOB_ID"):
        report["inside"] = clean(os.environ["SLURM_JOB_ID"], 40)
    if report["scheduler"] is None:
        return report
    from rltui.run_context.jobs.run_jobs import jobs_of  # only needed with a scheduler

    scheduler, began = Slurm(), time.monotonic()
    try:
        jobs = scheduler.jobs()
        report["jobs"] = len(jobs)
        report["seconds"] = time.monotonic() - began
        runs = {} if session is None else jobs_of(session.job_traces(), jobs, logdirs)
    except SchedulerError as error:
        return {**report, "problem": str(error)}
    report["runs"] = {
        name: {"job": job.id, "state": job.state, "inside": look_inside(job)} for name, job in runs.items()
    }
    return report


def job_lines(jobs: dict[str, Any]) -> Iterator[str]:
    """The report as text."""
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
    """The queued or running jobs, by run."""
    traces = {
        each.name: RunTraces((*each.consoles, *(source.path for source in each.sources))) for each in verdicts
    }
    return jobs_by_traces(traces, logdirs)


def jobs_by_traces(traces: Mapping[str, RunTraces], logdirs: Sequence[str]) -> dict[str, Job]:
    """The queued or running jobs, by run. Errors of the scheduler are printed on standard error."""
    try:
        if not (jobs := Slurm().jobs()):
            return {}
        from rltui.run_context.jobs.run_jobs import jobs_of  # only needed with a scheduler

        return jobs_of(traces, jobs, logdirs)
    except SchedulerError as error:
        note(str(error))
        return {}


def with_time_limits(verdicts: Sequence[Verdict], logdirs: Sequence[str], now: float) -> list[Verdict]:
    """Add the finding that a live run will not finish before its job ends."""
    live = [
        verdict
        for verdict in verdicts
        if verdict.liveness.state == "live" and verdict.liveness.eta is not None
    ]
    jobs = jobs_of_verdicts(live, logdirs) if live else {}
    extended = []
    for verdict in verdicts:
        steps = verdict.points // max(verdict.series, 1)
        finding = time_limit_finding(jobs.get(verdict.name), verdict.liveness, now, steps, verdict.last_step)
        if finding is not None:  # appended, since `notes` are indices of findings
            findings = (*verdict.findings, finding)
            verdict = verdict._replace(findings=findings, health=health_of(findings))
        extended.append(verdict)
    return extended
