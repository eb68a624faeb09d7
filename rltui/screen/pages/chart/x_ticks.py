"""Ticks of the x axis, and the text for a value on it."""

from __future__ import annotations

import math
import time
from typing import TypeAlias

from rltui.draw.axis_ticks import round_steps
from rltui.draw.numbers import format_duration, format_si, format_step
from rltui.panes.charts.curve import ARRIVALS

Axis: TypeAlias = str  # step, relative, wall, or what a run counts: tokens, env steps, episodes, samples


def x_ticks(low: float, high: float, axis: Axis, count: int) -> list[tuple[float, str]]:
    """Round places on the x axis and their labels."""
    if axis == "step":
        return [(at, format_step(round(at))) for at in round_steps(low, high, count) if at == round(at)]
    if axis == "relative":
        return [(at, format_duration(at)) for at in _time_steps(low, high, count)]
    if axis != "wall":
        return [(at, _short(at)) for at in round_steps(low, high, count + count // 2)]
    return [(at, at_text(at, axis)) for at in _time_steps(low, high, count)]


def _short(value: float) -> str:
    """A round count: `50k`, `2.5M`."""
    text = format_si(value)
    number, letter = (text[:-1], text[-1]) if text[-1:].isalpha() else (text, "")
    return (number.rstrip("0").rstrip(".") if "." in number else number) + letter


def _time_steps(low: float, high: float, count: int) -> list[float]:
    raw = max((high - low) / max(count, 1), 1e-9)
    sizes = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
    step = next((one for one in sizes if one >= raw), math.ceil(raw / 86400) * 86400)
    return [float(index * step) for index in range(math.ceil(low / step), math.floor(high / step) + 1)][
        : count + 2
    ]


def at_text(at: float, axis: Axis) -> str:
    """The text for a value on the x axis."""
    if axis == "step":
        return f"step {format_step(round(at))}"
    if axis == "relative":
        return format_duration(at)
    if axis == ARRIVALS:
        return f"point {round(at)}"
    if axis != "wall":
        return f"{format_si(at)} {axis}"
    try:
        return time.strftime("%b %d %H:%M", time.localtime(at))
    except (OverflowError, ValueError, OSError):
        return "?"
