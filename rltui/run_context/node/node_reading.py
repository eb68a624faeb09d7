"""A reading of the machine: its GPUs, and which of them and of their processes belong to the job."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence

from rltui.common.display_text import clean
from rltui.common.named_tuple import NamedTuple

# Environment variables with the GPUs of a job, the most specific first.
GPU_VARIABLES = ("CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS")


class Process(NamedTuple):
    """A process that uses a GPU. None: not reported by the driver or the system."""

    pid: int
    gpu_memory: float | None = None  # bytes
    name: str = ""  # cleaned
    cpu: float | None = None  # 1.0 is one core
    memory: float | None = None  # bytes, resident


class GpuReading(NamedTuple):
    """One GPU. None: not reported by the driver."""

    number: int  # the driver's index
    uuid: str
    name: str
    use: float | None = None  # 0..1
    memory_used: float | None = None  # bytes
    memory_total: float | None = None
    power: float | None = None  # watts
    power_limit: float | None = None
    temperature: float | None = None  # degrees Celsius
    throttled: tuple[str, ...] = ()  # reasons for reduced clocks: heat, power, hardware
    processes: tuple[Process, ...] = ()


class NodeReading(NamedTuple):
    """The GPUs of the job on this machine, at a time in seconds since 1970."""

    host: str
    time: float
    gpus: tuple[GpuReading, ...]
    others: int = 0  # GPUs that are not the job's, or on which none of its processes runs


class DriverError(Exception):
    """The driver is missing or fails: one line with the reason."""


def node_reading(
    gpus: Sequence[GpuReading],
    own_process: Callable[[Process, str | None], Process | None],
    environ: Mapping[str, str] = os.environ,
) -> NodeReading:
    """The GPUs that the environment assigns to this job, with its own processes.

    Outside of a job, those on which processes of this user run. gpus: all of the machine. own_process: see
    `SystemProcesses.own`.
    """
    job = environ.get("SLURM_JOB_ID")
    listed = next((environ[key] for key in GPU_VARIABLES if key in environ), None)
    own_gpus = []
    for gpu in gpus:
        processes = tuple(own for each in gpu.processes if (own := own_process(each, job)) is not None)
        if processes or (is_listed(gpu, listed) if listed is not None else job is not None):
            own_gpus.append(gpu._replace(processes=processes))
    host = clean(platform.node(), 60)
    return NodeReading(host, time.time(), tuple(own_gpus), len(gpus) - len(own_gpus))


def is_listed(gpu: GpuReading, listed: str) -> bool:
    """Whether a list such as `0,2-3` or `GPU-8f2c,GPU-1a` contains a GPU."""
    for word in filter(None, (part.strip() for part in listed.split(","))):
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
