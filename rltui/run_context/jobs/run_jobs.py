"""Which job writes which run, queried in a thread: a scheduler that hangs blocks no key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from rltui.common.regex import regex
from rltui.common.worker_thread import WorkerThread
from rltui.run_context.hparams.hparam_files import read
from rltui.run_context.hparams.hparams import HParam
from rltui.run_context.jobs.scheduler import Job, RunTraces, SchedulerError, job_of
from rltui.run_context.jobs.slurm import QUERY_INTERVAL, Slurm
from rltui.run_context.nearby_folders import folders_near

_METADATA = Path("files", "wandb-metadata.json")
_HPARAM = regex(r"(?i)(?:^|[/._])slurm(?:[/._]|_)?(?:array_)?job_?id$")


def ids_in_hparams(hparams: Mapping[str, HParam]) -> tuple[str, ...]:
    """The job ids among settings by key, such as `SLURM_JOB_ID` and `slurm/job_id`."""
    found = (hparam.text for key, hparam in hparams.items() if _HPARAM.search(key))
    return tuple(text for text in found if text.isdigit())


def jobs_of(
    runs: Mapping[str, RunTraces], jobs: Sequence[Job], logdirs: Sequence[str] = ()
) -> dict[str, Job]:
    """The queued or running job of each run that has one. jobs: all of this user."""
    if not jobs:
        return {}
    found = {}
    for name, traces in runs.items():
        wandb_logs = [path for path in traces.paths if path.endswith(".wandb")]
        job = job_of(traces.paths, jobs, traces.ids)
        if job is None and logdirs and wandb_logs:
            job = job_of((), jobs, _ids_in_metadata(wandb_logs, logdirs))
        if job is not None:
            found[name] = job
    return found


def _ids_in_metadata(paths: Iterable[str], logdirs: Sequence[str]) -> tuple[str, ...]:
    """The job ids in the metadata that W&B writes next to its logs."""
    found = (read(folder.place / _METADATA, "") for folder in folders_near(paths, logdirs))
    return tuple(job for metadata in found for job in ids_in_hparams(metadata.entries))


class JobThread:
    """The jobs of followed runs. Queries begin with `follow`.

    user_jobs: all jobs of this user, by Slurm if not given. It may block, and raises SchedulerError.
    """

    def __init__(self, logdirs: Sequence[str], user_jobs: Callable[[], Sequence[Job]] | None = None) -> None:
        self.thread = WorkerThread("jobs", self._step, lambda: self._queried)
        self._logdirs = tuple(logdirs)
        self._user_jobs = user_jobs or Slurm().jobs
        self._runs: Mapping[str, RunTraces] = {}
        self._found: Mapping[str, Job] | None = None
        self._any = False  # whether any run had a job
        self._queried = False

    def follow(self, runs: Mapping[str, RunTraces]) -> None:
        """Set the present runs."""
        new = self._runs != runs
        self._runs = runs
        if new and runs and self._logdirs:
            self.thread.start()
            self.thread.wake()  # the jobs of the last minute may include those of new runs

    def take(self) -> Mapping[str, Job] | None:
        """The result of the last query, once; None if there is no new one, or still no run has a job."""
        found, self._found = self._found, None
        return found

    def _step(self) -> float:
        try:
            found, self.thread.error = jobs_of(self._runs, self._user_jobs(), self._logdirs), ""
            self._found = found if found or self._any else None
            self._any = bool(found)
        except SchedulerError as error:  # the last result remains
            self.thread.error = str(error)
        self._queried = True
        return QUERY_INTERVAL
