"""The GPUs of this machine as the pane system shows them: a table, and the job's processes."""

from __future__ import annotations

from rltui.draw.numbers import format_si, format_value
from rltui.panes.answers.answer import Device, DeviceCell, DeviceTable
from rltui.run_context.node.node_reading import GpuReading, NodeReading

COLUMNS = ("use", "memory", "power", "temp", "throttled")
HOTTEST = (30.0, 90.0)  # °C between which the colour of a temperature changes
MOST_PROCESSES = 4


def node_sentence(reading: NodeReading) -> str:
    """What the table is of."""
    verb = "is" if reading.others == 1 else "are"
    others = f"; {reading.others} more {verb} not its own" if reading.others else ""
    count = len(reading.gpus)
    return f"Now on {reading.host}: {count} GPU{'s' * (count != 1)} of this job{others}"


def node_table(reading: NodeReading) -> DeviceTable:
    """A line for each GPU of the job."""
    return DeviceTable(COLUMNS, tuple(_device(gpu) for gpu in reading.gpus))


def process_words(reading: NodeReading) -> list[str]:
    """The job's processes on its GPUs, those with most memory first."""
    found = [(gpu, process) for gpu in reading.gpus for process in gpu.processes]
    found.sort(key=lambda pair: -(pair[1].gpu_memory or 0.0))
    words = []
    for gpu, process in found[:MOST_PROCESSES]:
        facts = [
            "" if process.gpu_memory is None else f"{format_si(process.gpu_memory)}B on GPU {gpu.number}",
            "" if process.cpu is None else f"{100 * process.cpu:.0f} % CPU",
            "" if process.memory is None else f"{format_si(process.memory)}B of the host",
        ]
        words.append(f"{process.name or 'process'} {process.pid}: {', '.join(filter(None, facts))}")
    if len(found) > MOST_PROCESSES:
        words.append(f"and {len(found) - MOST_PROCESSES} more")
    return words


def _device(gpu: GpuReading) -> Device:
    memory = None
    if gpu.memory_used is not None and gpu.memory_total:
        memory = gpu.memory_used / gpu.memory_total
    power = None if gpu.power is None or not gpu.power_limit else gpu.power / gpu.power_limit
    low, high = HOTTEST
    warm = None if gpu.temperature is None else (gpu.temperature - low) / (high - low)
    return Device(
        f"GPU {gpu.number}",
        (
            _cell(None if gpu.use is None else format_value(100 * gpu.use, "percent"), gpu.use),
            _cell(None if memory is None else format_value(100 * memory, "percent"), memory),
            _cell(None if gpu.power is None else format_value(gpu.power, "W"), power),
            _cell(None if gpu.temperature is None else format_value(gpu.temperature, "°C"), warm),
            DeviceCell(", ".join(gpu.throttled) or "no", 1.0 if gpu.throttled else 0.0),
        ),
        note="" if gpu.processes else "no process of yours",
    )


def _cell(text: str | None, heat: float | None) -> DeviceCell:
    return (
        DeviceCell("–")
        if text is None
        else DeviceCell(text.strip(), None if heat is None else min(max(heat, 0.0), 1.0))
    )
