"""A record of any shape as scalars: keys of nested objects are joined by `/`, lists become statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rltui.logs.records.parse_number import from_text, real, seconds, statistics
from rltui.logs.records.record_keys import compared, log_keys

NESTING = 64  # highest depth of nested objects
TABLE_CAP = 4096  # highest number of entries of a table of counts


def scalars(record: Mapping[str, object], skip: Sequence[str] = ()) -> Iterator[tuple[str, float]]:
    """Tag and value of every number in a record, in its order. skip: the keys of step and time.

    A list of numbers gives `/mean`, `/min` and `/max`. So does a table of counts by value (`{"0.5": 3}`),
    weighted by the counts. Booleans, null and text without a number are omitted.
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
        elif kind is str and compared(key.rpartition("/")[2]) not in log_keys().samples.names:  # not a label
            number = from_text(value)  # type: ignore[arg-type]  # it is a str
            if number is None:
                number = seconds(tag, value)  # type: ignore[arg-type]  # it is a str
            if number is not None:
                yield tag, number
        elif isinstance(value, dict):
            if (summary := _table_of_counts(value)) is not None:
                yield from _statistics(tag, summary)
            elif depth < NESTING:
                yield from _walk(f"{tag}/", value, skip, depth + 1)
        elif isinstance(value, list) and not tag.startswith(log_keys().hparam_prefixes):
            summary = statistics(value)
            if summary is not None:
                yield from _statistics(tag, summary)


def _statistics(tag: str, summary: tuple[float, float, float]) -> Iterator[tuple[str, float]]:
    mean, low, high = summary
    yield f"{tag}/mean", mean
    yield f"{tag}/min", low
    yield f"{tag}/max", high


def _table_of_counts(record: Mapping[str, object]) -> tuple[float, float, float] | None:
    """Mean, minimum and maximum of a table of counts: its keys are fractions, its values whole numbers.

    None for any other object: whole numbers as keys are names, of agents or layers for example.
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


def is_declared_hparams(record: Mapping[str, object]) -> bool:
    """Whether a record declares that it contains settings: `"type": "config"`, `{"config": {...}}`."""
    names = log_keys().hparam_names
    for key in log_keys().hparam_kinds:
        kind = record.get(key)
        if isinstance(kind, str) and kind.lower() in names:
            return True
    return len(record) <= 3 and any(isinstance(record.get(key), dict) for key in names)


def looks_like_hparams(record: Mapping[str, object]) -> bool:
    """Whether at most half of the values of a record without a step are numbers, as in settings."""
    numbers = sum(type(value) in (int, float) for value in record.values())
    return 2 * numbers <= len(record)


def is_summary(keys: Sequence[str]) -> bool:
    """Whether keys are those of a trainer's final summary (ms-swift), which only repeats the log."""
    return any(key in keys for key in log_keys().summary)
