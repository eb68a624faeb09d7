"""The GPUs of this machine in the system pane: a table of the job's GPUs, and its processes."""

from __future__ import annotations

from rltui.common.display_text import count_of
from rltui.draw.numbers import SHARE, format_bytes, format_share
from rltui.panes.answers.answer import Device, DeviceCell, DeviceTable, device_cell
from rltui.run_context.node.node_reading import GpuReading, NodeReading

COLUMNS = ("use", "memory", "power", "temp", "throttled")
TEMPERATURES = (30.0, 90.0)  # °C between which the colour of a temperature changes
MAX_PROCESSES = 4


def node_sentence(reading: NodeReading) -> str:
    """The title of the table: the host, and the number of GPUs."""
    verb = "is" if reading.others == 1 else "are"
    others = f"; {reading.others} more {verb} not its own" if reading.others else ""
    count = len(reading.gpus)
    return f"Now on {reading.host}: {count_of(count, 'GPU')} of this job{others}"


def node_table(reading: NodeReading) -> DeviceTable:
    """A line for each GPU of the job."""
    return DeviceTable(COLUMNS, tuple(_device(gpu) for gpu in reading.gpus))


def process_lines(reading: NodeReading) -> list[str]:
    """The job's processes on its GPUs, those with most memory first."""
    processes = [(gpu, process) for gpu in reading.gpus for process in gpu.processes]
    processes.sort(key=lambda pair: -(pair[1].gpu_memory or 0.0))
    lines = []
    for gpu, process in processes[:MAX_PROCESSES]:
        facts = [
            "" if process.gpu_memory is None else f"{format_bytes(process.gpu_memory)} on GPU {gpu.number}",
            "" if process.cpu is None else f"{format_share(process.cpu)} CPU",
            "" if process.memory is None else f"{format_bytes(process.memory)} of the host",
        ]
        lines.append(f"{process.name or 'process'} {process.pid}: {', '.join(filter(None, facts))}")
    if len(processes) > MAX_PROCESSES:
        lines.append(f"and {len(processes) - MAX_PROCESSES} more")
    return lines


def _device(gpu: GpuReading) -> Device:
    memory = None
    if gpu.memory_used is not None and gpu.memory_total:
        memory = gpu.memory_used / gpu.memory_total
    return Device(
        f"GPU {gpu.number}",
        (
            device_cell(gpu.use, SHARE, (0.0, 1.0)),
            device_cell(memory, SHARE, (0.0, 1.0)),
            device_cell(gpu.power, "W", (0.0, gpu.power_limit) if gpu.power_limit else None),
            device_cell(gpu.temperature, "°C", TEMPERATURES),
            DeviceCell(", ".join(gpu.throttled) or "no", 1.0 if gpu.throttled else 0.0),
        ),
        note="" if gpu.processes else "no process of yours",
    )
