"""One record of any shape as scalars: nested objects joined by `/`, lists summed up, the rest left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rltui.logs.records.parse_number import from_text, real, seconds, statistics
from rltui.logs.records.record_keys import compared, log_keys

NESTING = 64  # levels of objects that are followed
TABLE_CAP = 4096  # entries of a table of counts that are summed up


def scalars(record: Mapping[str, object], skip: Sequence[str] = ()) -> Iterator[tuple[str, float]]:
    """Tag and value of every number in a record, in its order; `skip` are the keys that give step and time.

    A list of numbers gives `/mean`, `/min`, `/max`; so does a table of counts by value (`{"0.5": 3}`),
    weighted by its counts. Booleans, null and text that spells no number give nothing.
    """
    return _walk("", record, skip, 0)


def _walk(
    prefix: str, record: Mapping[str, object], skip: Sequence[str], depth: int
) -> Iterator[tuple[str, float]]:
    for key, value in record.items():
        tag = prefix + key
        kind = type(value)
        if tag in skip:
            continue
        if kind is float:
            yield tag, value  # type: ignore[misc]  # it is a float
        elif kind is int:
            yield tag, real(value)  # type: ignore[arg-type]  # it is an int
        elif kind is str and compared(key.rpartition("/")[2]) not in log_keys().samples.names:  # an answer
            number = from_text(value)  # type: ignore[arg-type]  # it is a str
            if number is None:
                number = seconds(tag, value)  # type: ignore[arg-type]  # it is a str
            if number is not None:
                yield tag, number
        elif isinstance(value, dict):
            if (summary := _table(value)) is not None:
                yield from _statistics(tag, summary)
            elif depth < NESTING:
                yield from _walk(f"{tag}/", value, skip, depth + 1)
        elif isinstance(value, list) and not tag.startswith(log_keys().settings_prefixes):
            summary = statistics(value)
            if summary is not None:
                yield from _statistics(tag, summary)


def _statistics(tag: str, summary: tuple[float, float, float]) -> Iterator[tuple[str, float]]:
    mean, low, high = summary
    yield f"{tag}/mean", mean
    yield f"{tag}/min", low
    yield f"{tag}/max", high


def _table(record: Mapping[str, object]) -> tuple[float, float, float] | None:
    """Mean, least and greatest value of a table of counts: its keys are fractions, its values whole counts.

    Whole-number keys are names (of agents, of layers) and stay names.
    """
    if not record or len(record) > TABLE_CAP or not any("." in key for key in record):
        return None
    total, weighted, values = 0.0, 0.0, []
    for key, count in record.items():
        value = from_text(key)
        if value is None or type(count) is not int or count < 0:
            return None
        if count:
            values.append(value)
            total += real(count)
            weighted += value * real(count)
    return (weighted / total, min(values), max(values)) if total else None


def is_declared_settings(record: Mapping[str, object]) -> bool:
    """Whether a record says of itself that it holds settings: `"type": "config"`, `{"config": {...}}`."""
    names = log_keys().settings_names
    for key in log_keys().settings_kinds:
        kind = record.get(key)
        if isinstance(kind, str) and kind.lower() in names:
            return True
    return len(record) <= 3 and any(isinstance(record.get(key), dict) for key in names)


def looks_like_settings(record: Mapping[str, object]) -> bool:
    """Whether most of what a record without a step says is not numbers, as settings are."""
    numbers = sum(type(value) in (int, float) for value in record.values())
    return 2 * numbers <= len(record)


def is_summary(keys: Sequence[str]) -> bool:
    """Whether keys are those of a trainer's closing object (ms-swift), which only repeats the log."""
    return any(key in keys for key in log_keys().summary)
