"""GPUs through NVIDIA's management library (nvidia-ml-py), processes through psutil: extra `rltui[gpu]`.

Both are imported only here, and only if there is a driver.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from rltui.common.display_text import clean
from rltui.common.extras import install_hint
from rltui.run_context.node.node_reading import DriverError, GpuReading, Process

T = TypeVar("T")
DRIVER = Path("/proc/driver/nvidia/version")
MISSING = f"reading the GPUs of this machine {install_hint('gpu')}"
# Bits of nvmlClocksThrottleReasons (NVML API reference).
THROTTLE_REASONS = {0x4: "power", 0x8: "hardware", 0x20: "heat", 0x40: "heat", 0x80: "power"}


def has_driver() -> bool:
    """Whether a driver of NVIDIA is loaded."""
    return DRIVER.exists()


class NvmlDriver:
    """NVIDIA's driver. library: used in place of `pynvml`, if given. Raises DriverError."""

    def __init__(self, library: ModuleType | None = None) -> None:
        if library is None:
            try:
                library = importlib.import_module("pynvml")
            except ImportError:
                raise DriverError(MISSING) from None
        self._nvml = library
        self._error: type[Exception] = library.NVMLError
        try:
            library.nvmlInit()
        except self._error as error:
            raise DriverError(f"the driver of the GPUs does not answer: {clean(str(error), 100)}") from None

    def read(self) -> tuple[GpuReading, ...]:
        """All GPUs that the driver reports. May block. Raises DriverError."""
        try:
            return tuple(self._gpu(number) for number in range(self._nvml.nvmlDeviceGetCount()))
        except self._error as error:
            raise DriverError(f"the driver of the GPUs fails: {clean(str(error), 100)}") from None

    def _gpu(self, number: int) -> GpuReading:
        nvml = self._nvml
        handle = nvml.nvmlDeviceGetHandleByIndex(number)
        supported = self._if_supported
        memory = supported(lambda: nvml.nvmlDeviceGetMemoryInfo(handle))
        reasons = supported(lambda: int(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle))) or 0
        running = supported(lambda: list(nvml.nvmlDeviceGetComputeRunningProcesses(handle))) or []
        return GpuReading(
            number,
            _text(nvml.nvmlDeviceGetUUID(handle)),
            _text(nvml.nvmlDeviceGetName(handle)),
            supported(lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100),
            None if memory is None else float(memory.used),
            None if memory is None else float(memory.total),
            supported(lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1000),
            supported(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000),
            supported(lambda: float(nvml.nvmlDeviceGetTemperature(handle, 0))),
            tuple(dict.fromkeys(word for bit, word in THROTTLE_REASONS.items() if reasons & bit)),
            tuple(
                Process(each.pid, None if each.usedGpuMemory is None else float(each.usedGpuMemory))
                for each in running
            ),
        )

    def _if_supported(self, query: Callable[[], T]) -> T | None:
        """The result of a query; None if this GPU does not support it (MIG, old boards)."""
        try:
            return query()
        except self._error:
            return None


class SystemProcesses:
    """Processes of this user, by psutil. Raises DriverError if that is not installed."""

    def __init__(self) -> None:
        try:
            self._psutil = importlib.import_module("psutil")
        except ImportError:
            raise DriverError(MISSING) from None
        self._known: dict[int, object] = {}  # by pid; psutil measures CPU use between two calls
        self._user = self._psutil.Process().uids().real

    def own(self, process: Process, job: str | None) -> Process | None:
        """A process with its figures; None for one of another user, or of another job than `job`."""
        psutil = self._psutil
        try:
            found = self._known.get(process.pid)
            if not isinstance(found, psutil.Process) or not found.is_running():
                found = self._known[process.pid] = psutil.Process(process.pid)
            if found.uids().real != self._user:
                return None
            if job is not None and found.environ().get("SLURM_JOB_ID", job) != job:
                return None
            cpu, memory = found.cpu_percent(None) / 100, float(found.memory_info().rss)
            return Process(process.pid, process.gpu_memory, clean(found.name(), 40), cpu, memory)
        except (psutil.Error, OSError):  # it ended, or is another user's
            self._known.pop(process.pid, None)
            return None


def _text(value: str | bytes) -> str:
    return clean(value.decode(errors="replace") if isinstance(value, bytes) else value, 80)
