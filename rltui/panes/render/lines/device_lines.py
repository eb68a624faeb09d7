"""The table of GPUs as lines of cells: values in shades, and utilisation over time below phases of steps."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rltui.common.display_text import cell_width, count_of, fit, pad
from rltui.draw.cells import Line, Span, crop, line
from rltui.draw.numbers import format_duration
from rltui.draw.sparkline import BLOCKS, resampled
from rltui.draw.symbols import SHADES, segment_look
from rltui.panes.answers.answer import Device, DeviceCell, DeviceTable

CELL = 11
GPUS = "GPUs"  # the title of a node without a name
MIN_HISTORY = 12  # cells
HOT = 0.9  # of a column's scale, from which a value is emphasised


def device_lines(table: DeviceTable, width: int, height: int | None) -> list[Line]:
    """The table in at most `height` lines: a line for each GPU, or a cell if there are too many."""
    head = 1 + bool(table.phases)
    if height is not None and len(table.devices) + head > height:
        return _grid(table, width, height)
    title = max(max(cell_width(one.title) for one in table.devices), 6)
    title = min(title, max(width // 4, 6))
    note = max(cell_width(one.note) for one in table.devices)
    count = min(len(table.columns), max((width - title - note - 4) // CELL, 1))
    rest = width - title - count * CELL - note - 5
    history = rest if rest >= MIN_HISTORY and any(one.history for one in table.devices) else 0
    words = "".join(pad(column, CELL, right=True) for column in table.columns[:count])
    lines = [line((f" {pad('', title)}{words}", "faint"))]
    if history:
        span = f"use over the last {format_duration(table.seconds)}"
        lines[0] = line(*lines[0].spans, (f"  {span}" if cell_width(span) <= history else "", "faint"))
        if table.phases:
            indent = " " * (1 + title + count * CELL + 2)
            lines.append(line((indent, "text"), *_phases(table, history)))
            lines += _legend(table, width)
    for one in table.devices:
        spans: list[Span] = [(f" {pad(fit(one.title, title), title)}", "warn" if one.note else "text")]
        for cell in one.cells[:count]:
            blank = " " * max(CELL - cell_width(cell.text) - 2, 0)
            spans += [(f"{blank}{_shade(cell)} ", "accent"), (cell.text, _role(cell))]
        if history:
            spans += [("  ", "text"), (_levels(one.history, history), "accent")]
        if one.note:
            spans.append((f" {one.note}", "warn"))
        lines.append(crop(line(*spans), width))
    return lines


def _shade(cell: DeviceCell) -> str:
    return "·" if cell.heat is None else SHADES[round(cell.heat * (len(SHADES) - 1))]


def _role(cell: DeviceCell) -> str:
    if cell.heat is None:
        return "faint"
    return "strong" if cell.heat >= HOT else "dim" if cell.heat < 0.05 else "text"


def _levels(values: Sequence[float], cells: int) -> str:
    return "".join(
        " " if not math.isfinite(value) else BLOCKS[min(int(value * len(BLOCKS)), len(BLOCKS) - 1)]
        for value in resampled(values or (math.nan,), cells).tolist()
    )


def _phases(table: DeviceTable, cells: int) -> list[Span]:
    """The phase of each cell of the histories."""
    count = len(table.phases)
    numbers = [table.phases[int((at + 0.5) * count / cells)] for at in range(cells)]
    return [("·", "faint") if number < 0 else segment_look(number) for number in numbers]


def _legend(table: DeviceTable, width: int) -> list[Line]:
    spans: list[Span] = [(" ", "text")]
    for number in dict.fromkeys(one for one in sorted(table.phases) if one >= 0):
        spans += [segment_look(number), (f" {table.phase_titles[number]}   ", "dim")]
    return [crop(line(*spans), width)] if len(spans) > 1 else []


def _grid(table: DeviceTable, width: int, height: int) -> list[Line]:
    """A line for each node, a cell for each GPU: darker for more use, `_` for an idle one."""
    nodes: dict[str, list[Device]] = {}
    for one in table.devices:
        nodes.setdefault(one.title.rpartition(":")[0], []).append(one)
    title = min(max(cell_width(name or GPUS) for name in nodes) + 1, width // 3)
    lines: list[Line] = []
    for name, devices in nodes.items():
        cells = [one.cells[0] if one.cells else DeviceCell("–") for one in devices]
        spans: list[Span] = [(f" {pad(fit(name or GPUS, title), title)} ", "dim")]
        for cell, one in list(zip(cells, devices, strict=True))[: max(width - title - 3, 1)]:
            spans.append(("_", "warn") if one.note else (_shade(cell), "accent"))
        lines.append(crop(line(*spans), width))
    if len(lines) > height:
        more = len(lines) - height + 1
        lines = [*lines[: max(height - 1, 0)], line((f"   {count_of(more, 'more node')}", "dim"))]
    return lines[:height]
