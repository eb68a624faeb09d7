"""Which job writes which run, asked for by a thread of its own: a scheduler that hangs stops no key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import orjson

from rltui.common.regex import regex
from rltui.common.worker_thread import WorkerThread
from rltui.run_context.hparams.hparam_files import folders_of
from rltui.run_context.jobs.scheduler import Job, RunTraces, Scheduler, SchedulerError, job_of
from rltui.run_context.jobs.slurm import AGAIN, Slurm

LARGEST = 1 << 20  # bytes of a file that may name the job
_METADATA = Path("files", "wandb-metadata.json")
_SETTING = regex(r"(?i)(?:^|[/._])slurm(?:[/._]|_)?(?:array_)?job_?id$")


def ids_in_settings(settings: Mapping[str, object]) -> tuple[str, ...]:
    """The job numbers among settings by key, such as `SLURM_JOB_ID` and `slurm/job_id`."""
    found = (str(value) for key, value in settings.items() if _SETTING.search(key))
    return tuple(value for value in found if value.isdigit())


def jobs_of(
    runs: Mapping[str, RunTraces], scheduler: Scheduler, logdirs: Sequence[str] = ()
) -> dict[str, Job]:
    """The queued or running job of each run that has one. Raises SchedulerError."""
    jobs = scheduler.jobs()
    if not jobs:
        return {}
    found = {}
    for name, traces in runs.items():
        job = job_of(traces.paths, jobs, traces.ids)
        if job is None and logdirs and any(path.endswith(".wandb") for path in traces.paths):
            job = job_of((), jobs, _ids_beside(traces.paths, logdirs))
        if job is not None:
            found[name] = job
    return found


def _ids_beside(paths: Iterable[str], logdirs: Sequence[str]) -> tuple[str, ...]:
    """The job numbers that W&B notes beside its logs."""
    found: list[str] = []
    for folder in folders_of([path for path in paths if path.endswith(".wandb")], logdirs):
        try:
            place = folder.place / _METADATA
            if place.stat().st_size > LARGEST:
                continue
            said = orjson.loads(place.read_bytes())
        except (OSError, ValueError):
            continue
        slurm = said.get("slurm") if isinstance(said, dict) else None
        if isinstance(slurm, dict):
            found += ids_in_settings({f"slurm/{key}": value for key, value in slurm.items()})
    return tuple(found)


class JobThread:
    """The jobs of followed runs. Nothing is asked before `follow`, and nothing without a scheduler."""

    def __init__(self, logdirs: Sequence[str], scheduler: Scheduler | None = None) -> None:
        self.thread = WorkerThread("jobs", self._step, lambda: self._asked)
        self._logdirs = tuple(logdirs)
        self._scheduler = scheduler if scheduler is not None else Slurm()
        self._runs: Mapping[str, RunTraces] = {}
        self._found: Mapping[str, Job] | None = None
        self._any = False  # whether any run had a job
        self._asked = False

    def follow(self, runs: Mapping[str, RunTraces]) -> None:
        """The runs that there are now."""
        new = self._runs != runs
        self._runs = runs
        if new and runs and self._logdirs:
            self.thread.start()
            self.thread.wake()  # the answer of the last minute may name the job of what is new

    def take(self) -> Mapping[str, Job] | None:
        """The jobs that were found last, once; None where nothing was asked since, or still none has one."""
        found, self._found = self._found, None
        return found

    def _step(self) -> float:
        """Ask once."""
        try:
            found, self.thread.error = jobs_of(self._runs, self._scheduler, self._logdirs), ""
            self._found = found if found or self._any else None
            self._any = bool(found)
        except SchedulerError as error:  # what was known stays
            self.thread.error = str(error)
        self._asked = True
        return AGAIN
