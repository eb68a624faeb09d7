"""Numbers in the spellings of logs: JSON numbers, tokens, text, percentages, durations, lists.

Booleans, other text and null are no scalars. Text is a number if it is spelled as in JSON (`"0.5"`, but not
`"000005"`, which is a name), is a non-finite token, or has a percent sign.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime, tzinfo
from functools import cache

from rltui.common.regex import regex
from rltui.logs.records.record_keys import numbered_step_words

LIST_CAP = 4096  # highest length of a list with statistics; longer lists are data, not a metric

_NUMBER = regex(r"[+-]?(?:0|[1-9][0-9]{0,400})(?:\.[0-9]{0,400})?(?:[eE][+-]?[0-9]{1,4})?\Z")
_NON_FINITE = {
    "nan": math.nan,
    "inf": math.inf,
    "+inf": math.inf,
    "-inf": -math.inf,
    "infinity": math.inf,
    "+infinity": math.inf,
    "-infinity": -math.inf,
}
_DURATION_KEY = regex(r"elapsed|remaining|duration|runtime|(?:^|[/_])eta(?:$|[/_])", re.IGNORECASE)
_CLOCK = regex(r"(?:(\d{1,6}) days?, ?)?(?:(\d{1,6}):)?(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)\Z")
_UNITS = regex(r"(?:(\d+)d)? ?(?:(\d+)h)? ?(?:(\d+)m)? ?(?:(\d+(?:\.\d+)?)s)?\Z")
_RATIO = regex(r"(-?[0-9]{1,18})/([0-9]{1,18})\Z")

# Clock readings are distinguished from elapsed times by size; larger ones are milli-, micro-, nanoseconds.
_EARLIEST = 5e8  # 1985, before any of these programs
_SCALES = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))


@cache
def _named_step() -> re.Pattern[str]:
    words = numbered_step_words()
    return re.compile(rf"(?:global[_-]?)?(?:{words})[ _-]?([0-9]{{1,18}})\Z", re.IGNORECASE)


def real(number: int | float) -> float:
    """The number as float64; integers beyond its range become infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def from_text(text: str) -> float | None:
    """The number in a text, or None. A percent sign is dropped without scaling."""
    if _NUMBER.match(text):
        return float(text)
    text = text.strip()
    if text[-1:] == "%":
        text = text[:-1].rstrip()
    if len(text) > 420:
        return None
    return float(text) if _NUMBER.match(text) else _NON_FINITE.get(text.lower())


def seconds(key: str, text: str) -> float | None:
    """Seconds of a duration (`3 days, 17:51:32`, `0:01:02`, `1m 3s`) if the key is about time, or None."""
    if not _DURATION_KEY.search(key):
        return None
    text = text.strip()
    match = _CLOCK.match(text) or (_UNITS.match(text) if 0 < len(text) < 64 else None)
    if match is None:
        return None
    days, hours, minutes, rest = match.groups("0")
    return int(days) * 86400 + int(hours) * 3600 + int(minutes) * 60 + float(rest)


def ratio(text: str) -> tuple[int, int] | None:
    """The two numbers of `10/438`: a step and the planned number of steps. None for other text."""
    match = _RATIO.match(text.strip())
    return (int(match[1]), int(match[2])) if match else None


def step_of(value: object) -> int | None:
    """The exact whole number of a step key, or None. Text is accepted: `10`, `10/438`, `step_10`."""
    if type(value) is int:
        return value if -(1 << 63) <= value < 1 << 63 else None
    if type(value) is float:
        return int(value) if value.is_integer() and abs(value) < 1 << 63 else None
    if type(value) is str and len(value) < 64:
        if pair := ratio(value):
            return pair[0]
        text = value.strip()
        if text.isascii() and text.removeprefix("-").isdigit():
            return step_of(int(text))
        if named := _named_step().match(text):
            return int(named[1])
        number = from_text(text)
        return None if number is None else step_of(number)
    return None


def rounded_step(value: object) -> int | None:
    """The nearest step of a number of at least 1, for means over runs and curves digitised from a figure.

    None for any other value: a fraction below 1 is the progress of a training.
    """
    known = type(value) is float and math.isfinite(value) and 1 <= abs(value) < 1 << 63
    return round(value) if known else None  # type: ignore[call-overload]  # a float


def wall_time(value: object) -> float:
    """Seconds since 1970 of a clock reading (number or ISO text), NaN for any other value.

    Numbers too small for a date are elapsed times. Text without a time zone is local time.
    """
    if type(value) is str:
        number = from_text(value)
        if number is None:
            return iso_time(value)
    elif type(value) is float or type(value) is int:
        number = real(value)
    else:
        return math.nan
    if number >= _EARLIEST:
        for limit, scale in _SCALES:
            if number < limit:
                return number / scale
    return math.nan


def iso_time(text: str, zone: tzinfo | None = None) -> float:
    """Seconds since 1970 of an ISO 8601 time, NaN of other text. zone: the default time zone; None: local."""
    try:
        time = datetime.fromisoformat(text.strip())
        return (time if time.tzinfo else time.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError, OSError):
        return math.nan


def statistics(values: list[object]) -> tuple[float, float, float] | None:
    """Mean, minimum and maximum of a list; None if it is empty, too long, or has other items than numbers."""
    if not values or len(values) > LIST_CAP or not {int, float}.issuperset(map(type, values)):
        return None
    numbers = [real(value) for value in values]  # type: ignore[arg-type]  # the types were just checked
    if any(map(math.isnan, numbers)):
        return (math.nan, math.nan, math.nan)
    return (mean(numbers), min(numbers), max(numbers))


def mean(values: Sequence[float]) -> float:
    """The mean of n >= 1 numbers; NaN if there is a NaN or infinities of both signs."""
    try:
        return math.fsum(values) / len(values)
    except (OverflowError, ValueError):  # infinities of both signs, or a sum beyond float64
        return sum(value / len(values) for value in values)
