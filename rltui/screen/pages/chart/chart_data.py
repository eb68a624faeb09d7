"""What a large chart is made of: the same metric in other runs, moving averages, ticks, times."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rltui.draw.large_chart import Stroke
from rltui.draw.numbers import format_duration, format_si, format_step
from rltui.draw.ticks import round_steps
from rltui.panes.single_step import AXIS as ARRIVALS

if TYPE_CHECKING:
    from rltui.session.run_view import RunView

Axis = str  # step, relative, wall, or what a run counts: tokens, env steps, episodes, samples


def ema(mean: NDArray[np.float64], count: NDArray[np.int64], weight: float) -> NDArray[np.float64]:
    """A moving average over columns (n,) weighted by points, unbiased at the start; NaN stays NaN."""
    out = np.full(len(mean), math.nan)
    total = norm = 0.0
    for index in np.flatnonzero(np.isfinite(mean)):
        keep = weight ** int(count[index])
        total = total * keep + float(mean[index]) * (1 - keep)
        norm = norm * keep + (1 - keep)
        out[index] = total / norm if norm else mean[index]
    return out


def weave(
    x: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    gap: NDArray[np.bool_],
    role: str,
) -> Stroke:
    """Columns as one line that visits each column's minimum and maximum; empty columns are passed over."""
    there = np.isfinite(low) & np.isfinite(high)
    keep = there | gap
    xs = np.repeat(x[keep], 2)
    ys = np.column_stack((low[keep], high[keep])).reshape(-1)
    flat = np.column_stack((np.ones(keep.sum(), bool), low[keep] != high[keep])).reshape(-1)
    return Stroke(xs[flat], ys[flat], role)


def log_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Decimal logarithms; NaN where there is none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(values > 0, np.log10(values), math.nan)


def start_of(view: RunView) -> float:
    """When a run began, seconds since 1970; 0 when nobody knows."""
    walls = [attempt.first_wall for attempt in view.run.attempts if attempt.first_wall is not None]
    walls = [wall for wall in walls if math.isfinite(wall)]
    return min(walls, default=0.0)


def x_ticks(low: float, high: float, axis: Axis, count: int) -> list[tuple[float, str]]:
    """Round places on the x axis and their words."""
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
    ladder = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
    step = next((one for one in ladder if one >= raw), math.ceil(raw / 86400) * 86400)
    return [float(index * step) for index in range(math.ceil(low / step), math.floor(high / step) + 1)][
        : count + 2
    ]


def at_text(at: float, axis: Axis) -> str:
    """A place on the x axis in words."""
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
