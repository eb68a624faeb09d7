"""What is read of a machine at one moment, and which GPUs and processes of it are the job's own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Protocol

from rltui.common.named_tuple import NamedTuple

# What names the GPUs of a job, the nearest to its processes first.
GIVEN = ("CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS")


class Process(NamedTuple):
    """A process that uses a GPU. None: the driver or the system does not say."""

    pid: int
    gpu_memory: float | None = None  # bytes
    name: str = ""  # cleaned
    cpu: float | None = None  # 1.0 is one core
    memory: float | None = None  # bytes, resident


class GpuReading(NamedTuple):
    """One GPU. None: the driver does not say."""

    number: int  # as the driver counts
    uuid: str
    name: str
    use: float | None = None  # 0..1
    memory_used: float | None = None  # bytes
    memory_total: float | None = None
    power: float | None = None  # watts
    power_limit: float | None = None
    temperature: float | None = None  # degrees Celsius
    throttled: tuple[str, ...] = ()  # why the clocks are held down: heat, power, hardware
    processes: tuple[Process, ...] = ()


class NodeReading(NamedTuple):
    """The GPUs of the job on this machine, at a time in seconds since 1970."""

    host: str
    time: float
    gpus: tuple[GpuReading, ...]
    others: int = 0  # GPUs that are not the job's, or on which none of its processes runs


class DriverError(Exception):
    """The driver is not there, or fails: one line that says why."""


class GpuDriver(Protocol):
    """Reads the GPUs of this machine."""

    def read(self) -> tuple[GpuReading, ...]:
        """All GPUs that the driver shows. May block. Raises DriverError."""
        ...


class Processes(Protocol):
    """What the system knows of processes of this user."""

    def own(self, process: Process, job: str | None) -> Process | None:
        """A process with its figures; None for one of somebody else, or of another job than `job`."""
        ...


def own_reading(
    gpus: Sequence[GpuReading],
    processes: Processes,
    environ: Mapping[str, str] | None = None,
) -> tuple[GpuReading, ...]:
    """The GPUs that the environment gives to this job, with its own processes.

    Outside of a job, those on which processes of this user run.
    """
    environ = os.environ if environ is None else environ
    job = environ.get("SLURM_JOB_ID")
    given = next((environ[key] for key in GIVEN if key in environ), None)
    found = []
    for gpu in gpus:
        mine = tuple(own for each in gpu.processes if (own := processes.own(each, job)) is not None)
        if mine or (given is not None and is_given(gpu, given)) or (given is None and job is not None):
            found.append(gpu._replace(processes=mine))
    return tuple(found)


def is_given(gpu: GpuReading, given: str) -> bool:
    """Whether a list such as `0,2-3` or `GPU-8f2c,GPU-1a` names a GPU."""
    for word in filter(None, (part.strip() for part in given.split(","))):
        first, dash, last = word.partition("-")
        if word.isdigit():
            if int(word) == gpu.number:
                return True
        elif dash and first.isdigit() and last.isdigit():
            if int(first) <= gpu.number <= int(last):
                return True
        elif gpu.uuid.startswith(word):
            return True
    return False
