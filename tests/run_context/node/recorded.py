"""A node with GPUs as the driver's library reports it: four GPUs, two of them used by this user's job."""

from __future__ import annotations

import threading
from types import ModuleType, SimpleNamespace

from rltui.run_context.node.node_reading import Process

GB = 1_000_000_000
# number: use in percent, bytes used, milliwatts, degrees, reasons of clocks, processes (pid, bytes)
GPUS = {
    0: (97, 61 * GB, 668_000, 71, 0x4, ((812, 60 * GB),)),
    1: (0, 60 * GB, 121_000, 45, 0x1, ((813, 60 * GB),)),
    2: (88, 40 * GB, 540_000, 90, 0x60, ((99, 40 * GB),)),
    3: (0, 1 * GB, 70_000, 33, 0x1, ()),
}
OWN = {812: ("python", 3.4, 82.0 * GB), 813: ("ray::WorkerDict", 0.0, 11.0 * GB)}


class NVMLError(Exception):
    """What the library raises."""


def own_process(process: Process, job: str | None) -> Process | None:
    """A process of this user with its figures; None for all others."""
    known = OWN.get(process.pid)
    return None if known is None else Process(process.pid, process.gpu_memory, *known)


def library(
    *, lacks: tuple[str, ...] = (), fails: bool = False, hangs: threading.Event | None = None
) -> ModuleType:
    """The library over the recorded node. lacks: functions that no GPU answers; hangs: waited for."""
    made = ModuleType("pynvml")

    def count() -> int:
        if hangs is not None:
            hangs.wait()
        if fails:
            raise NVMLError("GPU is lost")
        return len(GPUS)

    functions = {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetCount": count,
        "nvmlDeviceGetHandleByIndex": lambda number: number,
        "nvmlDeviceGetUUID": lambda number: f"GPU-{number}a2b".encode(),
        "nvmlDeviceGetName": lambda number: "NVIDIA H100\x1b[31m",
        "nvmlDeviceGetUtilizationRates": lambda number: SimpleNamespace(gpu=GPUS[number][0]),
        "nvmlDeviceGetMemoryInfo": lambda number: SimpleNamespace(used=GPUS[number][1], total=80 * GB),
        "nvmlDeviceGetPowerUsage": lambda number: GPUS[number][2],
        "nvmlDeviceGetEnforcedPowerLimit": lambda number: 700_000,
        "nvmlDeviceGetTemperature": lambda number, sensor: GPUS[number][3],
        "nvmlDeviceGetCurrentClocksThrottleReasons": lambda number: GPUS[number][4],
        "nvmlDeviceGetComputeRunningProcesses": lambda number: [
            SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in GPUS[number][5]
        ],
    }

    def refuses(*_: object) -> None:
        raise NVMLError("Not Supported")

    made.__dict__.update(functions | dict.fromkeys(lacks, refuses), NVMLError=NVMLError)
    return made
