"""Round values along an axis, and their labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from rltui.common.regex import regex
from rltui.draw.numbers import NEGLIGIBLE_CHANGE, SHARE, TICK_CELLS, format_bound, format_plain, format_ticks

FEW_TICKS = 3  # of a small chart
LABEL_CELLS = 8  # of a label of a large chart
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
        if unit not in UNITS_IN_TICKS:
            return found
        return [(at, (format_ticks([10.0**at], unit, LABEL_CELLS) or [text])[0]) for at, text in found]
    seconds = {"s": 1.0, "ms": 1e3}.get(unit, 0.0)
    steps: list[float] = []
    if seconds and high >= MINUTES * seconds and high > low:
        times = time_steps(low / seconds, high / seconds, count + 1, _PARTS_OF_MINUTES)
        steps = [time * seconds for time in times]
    if len(steps) < 2:
        steps = round_steps(low, high, count)
    if not 0 < high - low < math.inf:
        return [(at, format_plain(at, 3)) for at in dict.fromkeys((low, high))]
    if len(steps) < 2:  # a small chart, whose range begins and ends between round values
        finer = (round_steps(low, high, count + more) for more in (1, 2, 3))
        steps = next((each for each in finer if len(each) > 1), steps)
    if len(steps) < 2:
        return _labelled(_round_values(low, high), unit, LABEL_CELLS, high - low)
    size = max(abs(low), abs(high))
    decimals = max(-math.floor(math.log10(steps[1] - steps[0]) + 1e-9), 0)
    if size >= 1e5 or (size < 1 and decimals > 5):
        texts = [format_plain(at, 4) for at in steps]
    else:
        texts = [f"{at:.{decimals}f}" if abs(at) > NEGLIGIBLE_CHANGE * size else "0" for at in steps]
    if unit not in UNITS_IN_TICKS and _are_true(texts, steps):
        return list(zip(steps, texts, strict=True))
    fewer = (round_steps(low, high, most) for most in range(count - 1, 0, -1))
    choices = [steps, *(each for each in fewer if len(each) > 1), *_round_values(low, high)]
    return _labelled(choices, unit, LABEL_CELLS, high - low)


_NUMBER = regex(r"(-?[\d.]+(?:e-?\d+)?)([kMGTP]?)")
_LETTERS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


def _are_true(texts: Sequence[str], values: Sequence[float]) -> bool:
    """Whether labels without a unit fit, and say the values at which they are, not only numbers nearby."""
    numbers = [_NUMBER.fullmatch(text) for text in texts]
    near = 0.01 * (values[1] - values[0])
    return max(map(len, texts)) <= LABEL_CELLS and all(
        number is not None and abs(float(number[1]) * _LETTERS[number[2]] - value) <= near
        for number, value in zip(numbers, values, strict=True)
    )


def _labelled(choices: Iterable[list[float]], unit: str, cells: int, span: float) -> list[tuple[float, str]]:
    """The first values whose labels fit in so many cells; none if no label that fits is true."""
    for values in choices:
        texts = format_ticks(values, unit, cells, 0.01 * span)
        if texts is not None and len(set(texts)) == len(texts):
            return list(zip(values, texts, strict=True))
    return []


def _round_values(low: float, high: float) -> Iterator[list[float]]:
    """Single values of a range, the roundest first."""
    size, middle = max(abs(low), abs(high)), low / 2 + high / 2
    if not math.isfinite(size) or size < 1e-290:
        return
    top = math.floor(math.log10(size))
    for power in range(top, top - TICK_CELLS, -1):
        for step in (10.0**power, 5 * 10.0 ** (power - 1)):
            nearest = float(f"{round(middle / step) * step:.12g}")
            if low <= nearest <= high:
                yield [nearest]


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

    One if they differ only in digits that an axis of a card has no room for; none if that is true of all
    values. Of a single value a rounded label.
    """
    if log:
        return _few_log_ticks(low, high, unit)
    if not low < high:
        return [(low, (format_ticks([float(f"{low:.3g}")], unit) or [format_bound(low, unit)])[0])]
    return _labelled([*_few_steps(low, high, unit), *_round_values(low, high)], unit, TICK_CELLS, high - low)


def _few_log_ticks(low: float, high: float, unit: str) -> list[tuple[float, str]]:
    powers = list(range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1))
    powers = powers[:: max(math.ceil(len(powers) / FEW_TICKS), 1)]
    if len(powers) > 1 and powers[0] > -300 and powers[-1] < 300:
        return [
            (
                float(power),
                ((power > -12 and format_ticks([10.0**power], unit)) or [_times_power(1, power)])[0],
            )
            for power in powers
        ]
    if not -300 < low <= high < 300:
        return []
    linear = few_ticks(10.0**low, 10.0**high, unit)
    return [(math.log10(at), text) for at, text in linear if at > 0]


def _few_steps(low: float, high: float, unit: str) -> list[list[float]]:
    """Multiples of round distances, first those that are nearest to `FEW_TICKS`; of several the roundest."""
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return [[low, high]]
    power = 10.0 ** math.floor(math.log10(span))
    steps = [factor * scale for scale in (power, power / 10) for factor in _ROUND]
    seconds = {"s": 1.0, "ms": 1e3}.get(unit, 0.0)
    if seconds and max(high, -low) >= MINUTES * seconds and span / seconds >= 2 * _PARTS_OF_MINUTES[0]:
        longest = span / seconds / DAY
        scale = 10.0 ** math.floor(math.log10(max(longest, 4)))
        days = (
            [factor * each * DAY for each in (scale, scale / 10) for factor in _ROUND] if longest >= 4 else []
        )
        steps = [step * seconds for step in (*_PARTS_OF_MINUTES, *days)]
    candidates = (_multiples(step, low, high) for step in steps if span / step < 2 * FEW_TICKS + 1)
    few = [ticks for ticks in candidates if 0 < len(ticks) <= 2 * FEW_TICKS]
    few.sort(key=lambda ticks: (abs(len(ticks) - FEW_TICKS), -len(ticks)))
    return [[float(f"{at:.12g}") for at in ticks] for ticks in few]


def round_steps(low: float, high: float, count: int) -> list[float]:
    """At most `count` + 1 values within the range, at distances of 1, 2 or 5 times a power of ten."""
    span = high - low
    if not math.isfinite(span) or span <= 0 or count < 1:
        return [low]
    raw = span / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    return [round(at, 12) if step > 1e-9 else at for at in _multiples(step, low, high)][: count + 2]
