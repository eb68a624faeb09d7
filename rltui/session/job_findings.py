"""The finding that the time limit of a run's job comes before the end of the training."""

from __future__ import annotations

from rltui.draw.numbers import format_duration
from rltui.rules.finding import Finding
from rltui.rules.run_status.liveness import Liveness
from rltui.run_context.jobs.scheduler import Job

FINDING_ID = "job-time-too-short"


def time_limit_finding(
    job: Job | None,
    liveness: Liveness,
    now: float,
    steps: int,
    last_step: int | None,
    before: Finding | None = None,
) -> Finding | None:
    """The finding that a run will not finish within its job; None if it will, or if this is not known.

    now: seconds since 1970. steps: how many have points. before: the finding of the last call; once reported,
    it holds until the time left is enough.
    """
    left = None if job is None or job.state != "running" else job.left_at(now)
    if job is None or left is None or liveness.eta is None or liveness.state != "live":
        return None
    from rltui.rules.run_status.run_findings import run_finding, run_findings  # few runs are told of a job

    short = liveness.eta - left
    limits = run_findings().job
    unsure = steps < limits.steps or liveness.eta < limits.ratio * left or short < limits.missing_seconds
    if before is None and unsure:
        return None
    if short <= 0:
        return None
    found = run_finding(
        FINDING_ID,
        before.since_step if before is not None else last_step or 0,
        needed=format_duration(liveness.eta),
        job=job.id,
        left=format_duration(left),
    )
    return found._replace(value=liveness.eta, limit=left)
