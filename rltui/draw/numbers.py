"""Numbers as text: few digits, a unit, and the same width from one update to the next."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rltui.schema.units import Units

NEGLIGIBLE = 1e-12  # a value closer to zero is rounding: float64 sums round numbers near one to 1e-16 each
NEGLIGIBLE_CHANGE = 1e-9  # share of a value below which a change of it is rounding
FEW = 0.01  # a mean of counts closer to zero is written in words: `almost 0`
RANGE_END = 8  # cells of one end of a range, at most
TICK_CELLS = 7  # of a label of an axis
SHARE = "share"  # unit of values from 0 to 1 that are written in percent
_SI = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@cache
def _units() -> Units:
    """Imported with the first value that has a unit: most short commands print none."""
    from rltui.schema.units import units

    return units()


def format_plain(value: float, digits: int = 4) -> str:
    """A number in at most `digits` significant digits: `0.132`, `12.30`, `1234`, `1.20e-6`, `12.3k`, `NaN`.

    Trailing zeros stay, so that a value that changes in its last digit keeps its width.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    size = abs(value)
    if size < NEGLIGIBLE:
        return "0"
    if size < 1e-3:
        return _scientific(value, 3)
    if size >= 10 ** (digits + 1):
        return format_si(value)
    if size >= 10**digits or (value == int(value) and size >= 10 ** (digits - 1)):
        return f"{value:.0f}"
    power = math.floor(math.log10(size))
    # One digit less below one, so that 0.0241 and 0.520 are equally precise.
    decimals = max(digits - 1 - power if power >= 0 else digits - 2 - power, 0)
    return f"{value:.{decimals}f}"


def _scientific(value: float, digits: int) -> str:
    """A number with an exponent that is neither padded nor has a plus: `1.20e-6`, `1.0e18`."""
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def format_short(value: float | None) -> str:
    """A number for a sentence: `0.132`, `12.3`, `8`, `12,345`, `1.23M`, `1.20e-6`; `-` for None."""
    if value is None:
        return "-"
    size = abs(value)
    if 1e-3 <= size < 1e5:
        return f"{value:.3g}" if size < 1000 else f"{value:,.0f}"
    return format_plain(value)


def format_share(share: float) -> str:
    """A share for a sentence or a table: `48 %`, `9.5 %`, `< 0.1 %`, `0 %`."""
    size = 100 * share
    if not math.isfinite(size):
        return format_plain(size)
    if size < 0:
        text = format_share(-share)
        return f"> -{text[2:]}" if text[0] == "<" else f"-{text}"
    if size >= 9.95 or size == 0:
        return f"{size:.0f} %".removeprefix("-")
    return f"{size:.1f} %" if size >= 0.095 else "< 0.1 %"


def format_percent_change(percent: float) -> str:
    """A change in percent, without the mark of a percent: `+21.4`, `-0.3`, `+140`, `0.0`."""
    return _without_minus_zero(f"{percent:+.1f}" if abs(percent) < 99.95 else f"{percent:+.0f}")


def _without_minus_zero(text: str) -> str:
    """The text of a number, without its sign if it was rounded to zero."""
    return text[1:] if text[:1] in ("-", "+") and not any(sign in text for sign in "123456789") else text


def format_progress(share: float) -> str:
    """Whole percents of what is done, rounded down: 100% is the end."""
    return f"{math.floor(share * 100 + NEGLIGIBLE_CHANGE)}%"  # 0.29 * 100 is 28.999999999999996


def format_bytes(size: float) -> str:
    """A size in the largest decimal unit that it fills, at most six cells: `812 B`, `4.2 MB`, `20 kB`."""
    if not math.isfinite(size):
        return format_plain(size)
    largest = len(_BYTES) - 1
    power = min(int(math.log10(size) / 3), largest) if size >= 1 else 0
    if size >= 999.5 * 1000**power:  # it rounds up to one of the next unit
        power += 1
    if power > largest:  # a number that means "unknown"
        return f"{_scientific(size, 1)} B"
    value = size / 1000**power
    return _without_minus_zero(f"{value:.{int(power > 0 and value < 9.95)}f} {_BYTES[power]}")


_BYTES = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def format_si(value: float, digits: int = 3) -> str:
    """A large number with a letter: `12.3k`, `4.56M`; with an exponent beyond peta."""
    if not math.isfinite(value):
        return format_plain(value)
    size = abs(value)
    if size >= 1e18:
        return _scientific(value, 2)
    for factor, letter in _SI:
        # a value that rounds up to the next letter gets it: never `1000k`
        if size >= factor * (1 - 0.5 * 10.0**-digits):
            scaled = value / factor
            decimals = max(digits - 1 - math.floor(math.log10(max(abs(scaled), 1.0))), 0)
            return f"{scaled:.{decimals}f}{letter}"
    return f"{value:.0f}" if value == int(value) else f"{value:.{digits - 1}f}"


def format_value(value: float, unit: str = "") -> str:
    """A metric's value with its unit, at most ten cells: `0.132`, `41.8 %`, `12.3 s`, `1.20e-6`, `8.19k`."""
    if not math.isfinite(value):
        return format_plain(value)
    if unit == "s":
        return format_seconds(value)
    if unit == "ms":
        return format_seconds(value / 1e3) if abs(value) >= 1e4 else f"{format_plain(value, 3)} ms"
    if unit == SHARE:
        value, unit = 100 * value, "percent"
    if unit == "percent":
        text = _without_minus_zero(f"{value:.1f}") if abs(value) < 1000 else format_si(value)
        return f"{text} %"
    if unit in _units().counts:
        if abs(value) < 1e4:
            return f"{value:.0f}" if value == int(value) else format_plain(value)
        return format_si(value)
    if unit == "rate" and 0 < abs(value) < 0.01:  # usual learning rates
        return _scientific(value, 3)
    if unit in _units().signs:
        text = format_si(value) if abs(value) >= 1000 else format_plain(value, 3)
        return f"{text} {_units().signs[unit]}"
    return format_plain(value)


def format_change(value: float, before: float, unit: str = "") -> str:
    """The change from `before` to `value` with its sign and the value's own decimals: `+0.012`, `-3.1 %`.

    A change that is smaller than those decimals is written with its own, as is one to a value of 0, which
    has none. `=` without a change; empty if it is not finite.
    """
    if unit == SHARE:
        value, before, unit = 100 * value, 100 * before, "percent"
    change = value - before
    if not math.isfinite(change):
        return ""
    size = abs(change)
    if size <= max(NEGLIGIBLE, NEGLIGIBLE_CHANGE * abs(value)):
        return "="
    if unit in _units().counts:
        text = format_si(size)
    elif unit in ("s", "ms"):
        text = format_seconds(size if unit == "s" else size / 1e3)
        if text == "0 µs":
            return "="
    else:
        shown = format_value(value, unit).split(" ")[0]
        text = format_plain(size, 3)
        if unit == "percent" and size < 1000:
            text = f"{size:.1f} %"
        elif shown != "0" and "e" not in shown and shown[-1:].isdigit() and size < 1e4:
            decimals = len(shown.partition(".")[2])
            same = f"{size:.{decimals}f}"
            text = same if float(same) and len(same) <= 6 else text
    return ("+" if change > 0 else "-") + text


def format_bound(value: float, unit: str = "") -> str:
    """An end of a range beside values of that unit, in at most seven cells: `0.12s`, `41.8%`, `5.0e-4`."""
    if not math.isfinite(value):
        return format_plain(value)
    if unit in ("s", "ms"):
        seconds = value if unit == "s" else value / 1e3
        text = format_seconds(seconds)
        return text.replace(" ", "") if abs(seconds) < 60 else text
    if unit == SHARE:
        value, unit = 100 * value, "percent"
    if unit == "percent":
        return f"{_without_minus_zero(f'{value:.1f}')}%" if abs(value) < 1000 else format_si(value)
    if unit in _units().counts and value == int(value) and abs(value) < 1e4:
        return f"{value:.0f}"
    text = format_plain(value, 3)
    if NEGLIGIBLE <= abs(value) < (0.01 if unit == "rate" else 1e-3):
        text = _scientific(value, 2)
    elif abs(value) >= (1e3 if unit in _units().signs else 1e4) and (
        unit in _units().counts or unit in _units().signs
    ):
        text = format_si(value)
    return text if len(text) <= 7 else _scientific(value, 1)


def format_ticks(
    values: Sequence[float], unit: str = "", cells: int = TICK_CELLS, near: float = math.inf
) -> list[str] | None:
    """Round values along an axis, with their unit and as many decimals as all of them need: `0`, `2.5k`.

    None if these are more than fit in so many cells: a label that is rounded is that of another value. near:
    the most by which it may differ.
    """
    if unit == SHARE:
        values, unit, near = [100 * value for value in values], "percent", 100 * near
    size = max(map(abs, values), default=0.0)
    if not math.isfinite(size) or size < 1e-300:
        return [format_plain(value, 3) for value in values]
    factor, letter = 1.0, ""
    if unit in ("s", "ms"):
        factor, letter = _time_scale(size if unit == "s" else size / 1e3)
        factor *= 1.0 if unit == "s" else 1e3
    elif size >= 1e4:
        factor, letter = next(
            ((one, letter) for one, letter in _SI if size >= one and size < 1e18), (1.0, "")
        )
    if unit == "percent":
        letter += "%"
    power = math.floor(math.log10(size))
    if not letter and (size < (1e-2 if unit == "rate" else 1e-3) or size >= 1e18):
        factor, letter = 10.0**power, f"e{power}"
    forms = [(factor, letter)]
    if letter == "" or letter in "kMGTP":
        forms += [(1.0, ""), (10.0**power, f"e{power}")] if power >= -300 else []
    apart = min((abs(one - other) for one, other in pairwise(values)), default=size)
    for factor, letter in forms:
        scaled = [0.0 if abs(value) < NEGLIGIBLE_CHANGE * size else value / factor for value in values]
        most = min(1e-6 * size, 0.01 * apart, near) / factor  # by which a label may differ from its value
        longest = 3 if letter in ("m", "h", "d") else 7  # of minutes and longer, two units are easier to read
        decimals = next(
            (d for d in range(longest) if all(abs(round(one, d) - one) <= most for one in scaled)), -1
        )
        texts = [f"{one:.{decimals}f}{letter}" if one else "0" for one in scaled] if decimals >= 0 else []
        if texts and max(map(len, texts)) <= cells:
            return texts
    if unit in ("s", "ms"):
        times = [format_bound(value, unit) for value in values]
        whole = all(value == 0 or _is_whole_time(value if unit == "s" else value / 1e3) for value in values)
        return times if whole and max(map(len, times)) <= cells else None
    return None


def _is_whole_time(seconds: float) -> bool:
    """Whether a time has no smaller unit than the two in which `format_duration` writes it."""
    size = abs(seconds)
    unit = 1 if size < 3600 else 60 if size < 48 * 3600 else 3600
    return 60 <= size < 1e5 * 86400 and abs(size / unit - round(size / unit)) < 1e-6


def _time_scale(seconds: float) -> tuple[float, str]:
    """The unit in which a time is written on an axis: its seconds and its letter."""
    for least, factor, letter in (
        (2 * 86400, 86400.0, "d"), (7200, 3600.0, "h"), (120, 60.0, "m"), (1, 1.0, "s"), (1e-3, 1e-3, "ms"),
        (1e-6, 1e-6, "µs"),
    ):  # fmt: skip
        if seconds >= least:
            return factor, letter
    return 1e-9, "ns"


def format_range(low: float, high: float, unit: str = "") -> tuple[str, str]:
    """Both ends of a range; with more digits when two different ends would be written the same.

    An end that is negligible compared with the other one is 0.
    """
    if math.isfinite(low) and math.isfinite(high):
        least = NEGLIGIBLE_CHANGE * max(abs(low), abs(high))
        low, high = (0.0 if abs(end) < least else end for end in (low, high))
    ends = (format_bound(low, unit), format_bound(high, unit))
    if ends[0] == ends[1] and low != high and math.isfinite(low) and math.isfinite(high):
        for digits in (4, 5, 6):
            longer = (f"{low:.{digits}g}", f"{high:.{digits}g}")
            if max(map(len, longer)) > RANGE_END:
                break  # it would be cut where the ends differ
            if longer[0] != longer[1]:
                return longer
    return ends


def format_limits(low: float, high: float, *, above: str = "above", below: str = "below") -> str:
    """A range whose ends are round, one of which may be infinite: `0 to 0.2`, `below 0.05`."""
    if math.isinf(low):
        return f"{below} {high:g}"
    return f"{above} {low:g}" if math.isinf(high) else f"{low:g} to {high:g}"


def format_seconds(seconds: float) -> str:
    """A duration that a metric reports: `350 ms`, `12.3 s`, `4m 05s`, `3h 12m`."""
    if not math.isfinite(seconds):
        return format_plain(seconds)
    size = abs(seconds)
    if size == 0:
        return "0 s"
    if size < 1e-3:
        return _without_minus_zero(f"{seconds * 1e6:.0f} µs")
    if size < 1:
        return f"{seconds * 1e3:.3g} ms"
    if size < 99.95:
        return f"{seconds:.1f} s" if size >= 9.995 else f"{seconds:.2f} s"
    return format_duration(seconds)


def format_pace(seconds: float) -> str:
    """Seconds per step as a rate: `12 steps/min`, in the smallest unit in which there is a step."""
    scale, unit = next((each for each in _RATES if each[0] >= seconds), _RATES[-1])
    return f"{format_two_digits(scale / seconds)} steps/{unit}"


_RATES = ((1.0, "s"), (60.0, "min"), (3600.0, "h"))  # seconds of units


def format_two_digits(value: float) -> str:
    """A rate with two digits: it is not known more exactly, and seldom changes."""
    rounded = float(f"{value:.1e}")
    return format_si(rounded, 2) if rounded >= 1000 else f"{rounded:g}"


def format_duration(seconds: float) -> str:
    """A duration in at most two units: `42s`, `4m 05s`, `3h 12m`, `5d 03h`; `?` when unknown."""
    if not math.isfinite(seconds):
        return "?"
    if abs(seconds) >= 1e5 * 86400:  # no run lasts for centuries: an invalid number, kept short
        return f"{seconds / 86400:.0e}d"
    sign, whole = ("-" if seconds < 0 else ""), round(abs(seconds))
    if whole < 60:
        return f"{sign}{whole}s"
    minutes, secs = divmod(whole, 60)
    if minutes < 60:
        return f"{sign}{minutes}m {secs:02d}s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{sign}{hours}h {minutes:02d}m"
    days, hours = divmod(hours, 24)
    return f"{sign}{days}d {hours:02d}h"


def format_clock(wall: float) -> str:
    """The local time of day of a wall time: `14:02:09`; `?` when unknown."""
    return _local_time(wall, "%H:%M:%S")


def format_moment(wall: float, now: float = math.inf) -> str:
    """A local time: `2026-11-28 14:02`, without the date within a day of now; `?` when unknown."""
    return _local_time(wall, "%H:%M" if abs(now - wall) < 86400 else "%Y-%m-%d %H:%M")


def _local_time(wall: float, form: str) -> str:
    try:
        return time.strftime(form, time.localtime(wall))
    except (OverflowError, ValueError, OSError):  # no time of any clock
        return "?"


def format_age(seconds: float | None) -> str:
    """How long ago, in one unit so that it changes seldom: `now`, `12s ago`, `5d ago`; `?` if unknown."""
    if seconds is None or not math.isfinite(seconds):
        return "?"
    if seconds < 2:
        return "now"
    for span, letter in _AGES:
        if seconds >= 2 * span:
            return f"{seconds // span:.0f}{letter} ago"
    return f"{seconds:.0f}s ago"


def age_lasts(seconds: float) -> float:
    """Seconds, at least, after which `format_age` of a growing age returns another text."""
    span = next((span for span, _ in _AGES if seconds >= 2 * span), 0.5)
    next_units = [2 * other - seconds for other, _ in _AGES if other > span]
    return min([span - seconds % span, *next_units])


_AGES = (
    (365.25 * 86400, "y"),
    (86400.0, "d"),
    (3600.0, "h"),
    (60.0, "m"),
)  # seconds of units, used from 2 on


def format_step(step: int) -> str:
    """A step in full, with thousands separators: `12,340`."""
    return f"{step:,}"


def short_step(step: int, width: int) -> str:
    """A step in full if that fits in `width` cells, else with a letter: `4.95G`."""
    text = format_step(step)
    return text if len(text) <= width else format_si(step)
