"""Round values along an axis, and their labels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rltui.draw.numbers import NEGLIGIBLE_CHANGE, SHARE, format_bound, format_plain, format_ticks

FEW_TICKS = 3  # of a small chart
TICK_CELLS = 7  # of a label of a small chart
UNITS_IN_TICKS = ("s", "ms", "percent", SHARE)
_ROUND = (1, 5, 2, 2.5, 4)  # times a power of ten: the distances of ticks, the roundest first
MINUTES = 120  # seconds from which times are given in minutes
DAY = 86400  # seconds
_ROUND_TIMES = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, DAY)
_PARTS_OF_MINUTES = tuple(time for time in _ROUND_TIMES if time >= 15)


def y_ticks(
    y: tuple[float, float], count: int, *, log: bool = False, unit: str = ""
) -> list[tuple[float, str]]:
    """Round values within the range and their labels, with their unit if that is a short one."""
    low, high = y
    if log:
        found = _log_ticks(low, high, count)
        return (
            [(at, format_ticks([10.0**at], unit)[0]) for at, _ in found] if unit in UNITS_IN_TICKS else found
        )
    seconds = {"s": 1.0, "ms": 1e3}.get(unit, 0.0)
    steps: list[float] = []
    if seconds and high >= MINUTES * seconds and high > low:
        times = time_steps(low / seconds, high / seconds, count + 1, _PARTS_OF_MINUTES)
        steps = [time * seconds for time in times]
    if len(steps) < 2:
        steps = round_steps(low, high, count)
    if len(steps) < 2:
        return [(at, format_plain(at, 3)) for at in (low, high)]
    if unit in UNITS_IN_TICKS:
        return list(zip(steps, format_ticks(steps, unit), strict=True))
    size = max(abs(low), abs(high))
    decimals = max(-math.floor(math.log10(steps[1] - steps[0]) + 1e-9), 0)
    if size >= 1e5 or (size < 1 and decimals > 5):
        return [(at, format_plain(at, 4)) for at in steps]
    return [(at, f"{at:.{decimals}f}" if abs(at) > NEGLIGIBLE_CHANGE * size else "0") for at in steps]


def time_steps(low: float, high: float, count: int, distances: Sequence[int] = _ROUND_TIMES) -> list[float]:
    """Multiples of a round time, of whole days from one on, in a range of seconds; at most about `count`."""
    least = max((high - low) / max(count, 1), 1e-9)
    step = next((time for time in distances if time >= least), math.ceil(least / DAY) * DAY)
    return _multiples(step, low, high)[: count + 2]


def _multiples(step: float, low: float, high: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def _log_ticks(low: float, high: float, count: int) -> list[tuple[float, str]]:
    """Ticks between two decimal logarithms: powers of ten, if these are few also 2 and 5 times them.

    Within less than a decade even those are too few: the axis is nearly linear there, and so are its ticks.
    """
    powers = range(math.floor(low), math.floor(high + 1e-9) + 1)
    fine = [
        (math.log10(factor) + power, _times_power(factor, power)) for power in powers for factor in (1, 2, 5)
    ]
    fine = [tick for tick in fine if low - 1e-9 <= tick[0] <= high + 1e-9]
    if len(fine) > count + 2:
        whole = [power for power in powers if power >= low - 1e-9]
        step = max(math.ceil(len(whole) / count), 1)
        return [(float(power), _times_power(1, power)) for power in whole if power % step == 0]
    if len(fine) > 2 or not -300 < low <= high < 300:
        return fine
    linear = y_ticks((10.0**low, 10.0**high), count)
    return [(math.log10(at), label) for (at, label) in linear if at > 0]


def _times_power(factor: int, power: int) -> str:
    """A factor times a power of ten: `0.02`, `5000`; with an exponent if that is shorter."""
    return f"{factor * 10.0**power:.{max(-power, 0)}f}" if -4 <= power <= 4 else f"{factor}e{power:+03d}"


def few_ticks(low: float, high: float, unit: str = "", *, log: bool = False) -> list[tuple[float, str]]:
    """About three round values from `low` to `high` (decimal logarithms where `log`), with their unit.

    One in the middle where they differ only in digits that an axis of a card has no room for.
    """
    if log:
        return _few_log_ticks(low, high, unit)
    values = _few_steps(low, high, unit) if low < high else [float(f"{low:.3g}")]
    texts = format_ticks(values, unit)
    if max(map(len, texts)) > TICK_CELLS:
        middle = values[len(values) // 2]
        return [(middle, format_bound(middle, unit))]
    return list(zip(values, texts, strict=True))


def _few_log_ticks(low: float, high: float, unit: str) -> list[tuple[float, str]]:
    powers = list(range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1))
    powers = powers[:: max(math.ceil(len(powers) / FEW_TICKS), 1)]
    if len(powers) > 1 and powers[0] > -300 and powers[-1] < 300:
        return [
            (float(power), format_ticks([10.0**power], unit)[0] if power > -12 else _times_power(1, power))
            for power in powers
        ]
    if not -300 < low <= high < 300:
        return []
    values = [value for value in _few_steps(10.0**low, 10.0**high, unit) if value > 0]
    return [(math.log10(at), text) for at, text in zip(values, format_ticks(values, unit), strict=True)]


def _few_steps(low: float, high: float, unit: str) -> list[float]:
    """Multiples of a round distance, about `FEW_TICKS` of them; of several the roundest."""
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return [low] if low == high else [low, high]
    power = 10.0 ** math.floor(math.log10(span))
    steps = [factor * scale for scale in (power, power / 10) for factor in _ROUND]
    seconds = {"s": 1.0, "ms": 1e3}.get(unit, 0.0)
    if seconds and high >= MINUTES * seconds and 2 * _PARTS_OF_MINUTES[0] <= span / seconds < 4 * DAY:
        steps = [step * seconds for step in _PARTS_OF_MINUTES]
    candidates = (_multiples(step, low, high) for step in steps if span / step < 2 * FEW_TICKS + 1)
    few = (ticks for ticks in candidates if len(ticks) <= 2 * FEW_TICKS)
    best = min(few, key=lambda ticks: (abs(len(ticks) - FEW_TICKS), -len(ticks)), default=[low, high])
    return [float(f"{at:.12g}") for at in best] or [low, high]


def round_steps(low: float, high: float, count: int) -> list[float]:
    """At most `count` + 1 values within the range, at distances of 1, 2 or 5 times a power of ten."""
    span = high - low
    if not math.isfinite(span) or span <= 0 or count < 1:
        return [low]
    raw = span / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    return [round(at, 12) if step > 1e-9 else at for at in _multiples(step, low, high)][: count + 2]
