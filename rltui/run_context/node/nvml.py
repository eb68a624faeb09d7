"""NVIDIA's management library through nvidia-ml-py, and processes through psutil: extra `rltui[gpu]`.

Both are imported here alone, when a driver is there.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from rltui.common.text import clean
from rltui.run_context.node.node_reading import DriverError, GpuReading, Process

T = TypeVar("T")
DRIVER = Path("/proc/driver/nvidia/version")
MISSING = "GPUs of this machine need nvidia-ml-py and psutil: pip install 'rltui[gpu]'"
# Bits of the reasons for which clocks are held down, as NVML documents them.
REASONS = {0x4: "power", 0x8: "hardware", 0x20: "heat", 0x40: "heat", 0x80: "power"}


def has_driver() -> bool:
    """Whether a driver of NVIDIA is loaded. Without one nothing is imported."""
    return DRIVER.exists()


class NvmlDriver:
    """A GpuDriver. library: stands in for `pynvml`, which is imported otherwise. Raises DriverError."""

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
        """See GpuDriver."""
        try:
            return tuple(self._gpu(number) for number in range(self._nvml.nvmlDeviceGetCount()))
        except self._error as error:
            raise DriverError(f"the driver of the GPUs fails: {clean(str(error), 100)}") from None

    def _gpu(self, number: int) -> GpuReading:
        nvml = self._nvml
        handle = nvml.nvmlDeviceGetHandleByIndex(number)
        rates = self._said(lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100)
        memory = self._said(lambda: nvml.nvmlDeviceGetMemoryInfo(handle))
        reasons = self._said(lambda: int(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle))) or 0
        running = self._said(lambda: list(nvml.nvmlDeviceGetComputeRunningProcesses(handle))) or []
        return GpuReading(
            number,
            _text(nvml.nvmlDeviceGetUUID(handle)),
            _text(nvml.nvmlDeviceGetName(handle)),
            rates,
            None if memory is None else float(memory.used),
            None if memory is None else float(memory.total),
            self._said(lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1000),
            self._said(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000),
            self._said(lambda: float(nvml.nvmlDeviceGetTemperature(handle, 0))),
            tuple(dict.fromkeys(word for bit, word in REASONS.items() if reasons & bit)),
            tuple(
                Process(one.pid, None if one.usedGpuMemory is None else float(one.usedGpuMemory))
                for one in running
            ),
        )

    def _said(self, ask: Callable[[], T]) -> T | None:
        """An answer; None where this GPU has none (MIG, old boards)."""
        try:
            return ask()
        except self._error:
            return None


class SystemProcesses:
    """The Processes of psutil. Raises DriverError where that is missing."""

    def __init__(self) -> None:
        try:
            self._psutil = importlib.import_module("psutil")
        except ImportError:
            raise DriverError(MISSING) from None
        self._known: dict[int, object] = {}  # by pid: use of processors is counted between two looks
        self._user = self._psutil.Process().uids().real

    def own(self, process: Process, job: str | None) -> Process | None:
        """See Processes."""
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
        except (psutil.Error, OSError):  # gone, or another user's
            self._known.pop(process.pid, None)
            return None


def _text(value: str | bytes) -> str:
    return clean(value.decode(errors="replace") if isinstance(value, bytes) else value, 80)
