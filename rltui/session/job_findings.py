"""The finding that the time limit of a run's job comes before the end of the training."""

from __future__ import annotations

from rltui.draw.numbers import format_duration
from rltui.rules.finding import Finding
from rltui.rules.run_status.liveness import Liveness
from rltui.run_context.jobs.scheduler import Job

FINDING_ID = "job-time-too-short"
PANE = "timing"
MIN_RATIO = 1.1  # of the time needed to the time left: the pace is an estimate
MIN_STEPS = 20  # for an estimate of the pace
MIN_MISSING_SECONDS = 600.0  # less is not reported
ADVICE = "Save a checkpoint before the limit and resume in another job, or ask for more time or nodes."


def time_limit_finding(
    job: Job | None,
    alive: Liveness,
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
    if job is None or left is None or alive.eta is None or alive.state != "live":
        return None
    short = alive.eta - left
    if before is None and (steps < MIN_STEPS or alive.eta < MIN_RATIO * left or short < MIN_MISSING_SECONDS):
        return None
    if short <= 0:
        return None
    message = (
        f"At its pace the run needs {format_duration(alive.eta)} more, its job {job.id} ends in "
        f"{format_duration(left)}"
    )
    return Finding(
        id=FINDING_ID,
        severity="warning",
        pane=PANE,
        metrics=(),
        canonical=(),
        since_step=before.since_step if before is not None else last_step or 0,
        message=message,
        advice=ADVICE,
        title="Time limit of the job comes first",
        value=alive.eta,
        limit=left,
        source="Slurm, squeue man page (time left, end time)",
    )
