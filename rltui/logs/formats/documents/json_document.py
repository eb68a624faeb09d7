"""JSON documents: `trainer_state.json` with its `log_history`, arrays of records, pretty-printed objects.

Custom loops also write an object of columns, `{"reward": [1.0, 2.5, ...], "loss": [...]}`, in a file with a
name typical of logs. The steps of a column are those of the step column of its length, or else row numbers.
In files of Sacred (sacred/observers/file_storage.py @ 0.8.7), each metric has its own steps: `metrics.json`
is `{name: {"steps": [...], "timestamps": [...], "values": [...]}}` with times in UTC, and in `info.json`,
PyMARL's logger stores a list `name` and its steps `name_T`. Evaluations of checkpoints may be one object of
results by step, `{"100": {"accuracy": 0.3}, "200": {...}}`. The files of marl-eval, which Mava and
Stoix write, have such an object for each seed, below environment, task and algorithm. Loops that keep several
histories write one list of records for each, `{"train": [{"step": 1, ...}, ...], "eval": [...]}`.
TensorBoard's page saves a series as `[[wall time, step, value], ...]`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import permutations, repeat
from operator import itemgetter
from typing import TypeGuard

import orjson

from rltui.common.regex import regex
from rltui.logs import log_contents, log_file_names
from rltui.logs.formats.documents.columns import MIN_LENGTH, Column, column_parts, is_axis
from rltui.logs.formats.documents.document import DocumentReader, Parts, Records
from rltui.logs.formats.interface import Format
from rltui.logs.formats.lines.jsonl import whole_objects
from rltui.logs.formats.lines.table_header import saved_tag
from rltui.logs.formats.printed_metrics.line_items import words
from rltui.logs.records import record_keys
from rltui.logs.records.flatten import NESTING
from rltui.logs.records.parse_number import step_of

_NUMBER = r"(?:-?(?:\d[\d.eE+-]*|NaN|Infinity)|null)"
_BETWEEN = " \t\r\n\0\ufeff,"
_HISTORY = regex(r'"log_history"\s*:\s*\[')
_INFO = "info.json"  # Sacred's file for data of the program
# A series as TensorBoard's page saves it: wall time, step and value of each point.
_SAVED = regex(rf"\[\s*\[\s*\d{{10}}[\d.]*(?:e\+?\d+)?\s*,\s*\d{{1,18}}\s*,\s*{_NUMBER}\s*\]")
_SAVED_ROW = ("time", "step", "value")
_VALUE = "value"  # of the records of a list that is one series
_MIN_RECORDS = 3  # of a list without steps, and of one list of several
_RECORD_LIST = regex(r'"[^"\\]{1,200}"\s*:\s*\[\s*(?=\{\s*")')
_SACRED = regex(r'\{\s*"[^"\\]{1,200}"\s*:\s*\{\s*"steps"\s*:\s*\[')
_SACRED_INFO = regex(rf'\{{\s*"[^"\\]{{1,200}}"\s*:\s*\[\s*(?:{_NUMBER}|\{{\s*"dtype")')
_NESTED_STEPS = regex(r'\{\s*(?:"[^"\\]{1,200}"\s*:\s*\{\s*){1,5}"step_\d{1,18}"\s*:\s*\{')
_STEP_COUNT = "step_count"  # of marl-eval: environment steps, where the key counts evaluations
_MIN_STRIDE = 5  # of checkpoints
_COLUMN = regex(
    rf'"([^"\\]{{1,200}})"\s*:\s*\[\s*{_NUMBER}(?:\s*,\s*{_NUMBER}){{{MIN_LENGTH - 1}}}(?=[\s,\]]|\Z)'
)


def _parse(path: str, data: bytes) -> tuple[Parts, int | None]:
    """Records of a complete document and the planned number of steps. Raises ValueError, RecursionError."""
    try:
        whole = orjson.loads(data)
    except ValueError:
        text = data.decode("utf-8", "replace").strip(_BETWEEN)
        try:
            whole = json.loads(text)
        except ValueError:
            found, end = whole_objects(text, 0, _BETWEEN)
            if not found or text[end:].strip(_BETWEEN):
                raise
            return {"": found}, None
    if isinstance(whole, list):
        if points := _saved_points(path, whole):
            return {"": points}, None
        return {"": [record for record in whole if isinstance(record, dict)]}, None
    if not isinstance(whole, dict):
        return {}, None
    history = whole.get("log_history")
    if isinstance(history, list):
        total = step_of(whole.get("max_steps"))
        records = [record for record in history if isinstance(record, dict)]
        return {"": records}, total if total is not None and total > 0 else None
    if by_step := _records_by_step(whole):
        return {"": by_step}, None
    if nested := dict(_nested_by_step("", whole)):
        several = len(nested) > 1
        return {path: _of_evaluations(path if several else "", group) for path, group in nested.items()}, None
    parts = {**_sacred_parts(whole), **column_parts(dict(_columns("", whole)))}
    return {**parts, **_record_lists(whole)} or {"": [whole]}, None


def _saved_points(path: str, whole: Sequence[object]) -> Records:
    """The points of one series that TensorBoard's page saved; none for any other array."""
    rows = [row for row in whole if isinstance(row, list) and len(row) == len(_SAVED_ROW)]
    names = (*_SAVED_ROW[:-1], saved_tag(path))
    return [dict(zip(names, row, strict=True)) for row in rows] if len(rows) == len(whole) else []


def _record_lists(whole: Mapping[str, object]) -> Parts:
    """The records of each list of records with steps; tags begin with what its name says of them.

    That depends on no other list, so tags stay the same while the document grows. A list that repeats records
    of another, or some of their columns, is left out. Lists may be below other objects.
    """
    lists = dict(_lists_below("", whole))
    series = {path: points for path, records in lists.items() if (points := _as_series(path, records))}
    tables = [(path, records) for path, records in lists.items() if path not in series]
    copies = {
        name
        for (name, records), (other, others) in permutations(tables, 2)
        if _repeats(records, others) and not (name < other and _repeats(others, records))
    }
    return {
        path: series.get(path) or [_named(_prefix(path), record) for record in records]
        for path, records in lists.items()
        if path not in copies
    }


def _lists_below(prefix: str, whole: Mapping[str, object]) -> Iterator[tuple[str, Records]]:
    """Path and records of each list of records with steps."""
    for key, value in whole.items():
        if _is_record_list(value):
            yield prefix + key, value
        elif isinstance(value, dict) and prefix.count("/") < NESTING:
            yield from _lists_below(f"{prefix}{key}/", value)


def _as_series(path: str, records: Records) -> Records:
    """The points of one series, of records of a step and a `value`; its tag is their path. None of others."""
    tag = _prefix(path).removesuffix("/")
    axes = {*record_keys.step_keys(records[0]), *record_keys.wall_time_keys(records[0])}
    if not tag or records[0].keys() - axes != {_VALUE}:
        return []
    return [{tag if key == _VALUE else key: value for key, value in record.items()} for record in records]


def _is_record_list(value: object) -> TypeGuard[Records]:
    """Whether a value is a list of enough objects, the first of which have steps."""
    return (
        isinstance(value, list)
        and len(value) >= _MIN_RECORDS
        and all(isinstance(record, dict) for record in value)
        and all(map(record_keys.step_keys, value[:_MIN_RECORDS]))
    )


def _repeats(records: Records, others: Records) -> bool:
    """Whether each record is part of one of the others."""
    if not records[0].keys() <= {key for other in others for key in other}:
        return False
    at_step: dict[int | None, Records] = {}
    for other in others:
        at_step.setdefault(_step(other), []).append(other)
    return all(
        any(record.items() <= other.items() for other in at_step.get(_step(record), ())) for record in records
    )


def _step(record: Mapping[str, object]) -> int | None:
    keys = record_keys.step_keys(record)
    return step_of(record[keys[0]]) if keys else None


def _prefix(path: str) -> str:
    """What tags of a list begin with: `eval/` of `eval_history`, nothing of `raw_log_history`."""
    known = record_keys.log_keys().history_words
    parts = (
        [word for word in re.split(r"[_\- ]", part) if word.lower() not in known] for part in path.split("/")
    )
    return "".join("_".join(kept) + "/" for kept in parts if kept)


def _named(prefix: str, record: dict[str, object]) -> dict[str, object]:
    """A record whose keys, but for its step and wall time, begin with a prefix: lists share no series."""
    kept = {*record_keys.step_keys(record)[:1], *record_keys.wall_time_keys(record)}
    return {key if key in kept else prefix + key: value for key, value in record.items()}


def _records_by_step(whole: Mapping[str, object]) -> list[dict[str, object]]:
    """The records of an object whose keys are steps, in order; none for any other object."""
    groups = [group for group in whole.values() if isinstance(group, dict)]
    steps = [step for key in whole if (step := step_of(key)) is not None and step >= 0]
    if len(whole) < 2 or not len(whole) == len(groups) == len({*steps}):
        return []
    records = [{"step": step, **group} for step, group in zip(steps, groups, strict=True)]
    return sorted(records, key=itemgetter("step"))


def _nested_by_step(prefix: str, whole: Mapping[str, object]) -> Iterator[tuple[str, Records]]:
    """The records of each object below this one that has results by step, with its path as prefix."""
    for key, value in whole.items():
        if not isinstance(value, dict) or prefix.count("/") >= NESTING:
            continue
        steps = {name: group for name, group in value.items() if name.startswith("step_")}
        if by_step := _records_by_step(steps):
            yield f"{prefix}{key}/", by_step
        else:
            yield from _nested_by_step(f"{prefix}{key}/", value)


def _of_evaluations(prefix: str, records: Records) -> Records:
    """Records of marl-eval with a prefix of their names; the only episode of an evaluation is no list."""
    return [
        {
            "step": record.get(_STEP_COUNT, record["step"]),
            **{
                prefix + name: value[0] if isinstance(value, list) and len(value) == 1 else value
                for name, value in record.items()
                if name not in ("step", _STEP_COUNT)
            },
        }
        for record in records
    ]


@cache
def _numbered_objects() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Expressions for the key of an object that is named by its step, and for the first two such objects."""
    key = rf'"((?:global_?)?(?:{record_keys.numbered_step_words()})?[_ -]?\d{{1,18}})"\s*:\s*\{{'
    return re.compile(key), re.compile(rf"\{{\s*{key}[^{{}}]{{1,60000}}\}}\s*,\s*{key}")


def _holds_steps(name: str, text: str) -> bool:
    """Whether an object has numbers by step. Whole numbers without a stride are names, or count on."""
    step_key, two_steps = _numbered_objects()
    if not (two_steps.match(text) and log_file_names.is_telling(name)):
        return False
    keys = step_key.findall(text)
    steps = [step for key in keys if (step := step_of(key)) is not None]
    if not keys[0].isdigit() or math.gcd(*steps) >= _MIN_STRIDE:
        return True
    counted = steps == [*range(steps[0], steps[0] + len(steps))] and len(steps) >= MIN_LENGTH
    return counted and words().telling.search(text) is not None


def _sacred_parts(whole: dict[str, object]) -> Parts:
    """The records of metrics with their own steps, which are removed from the document."""
    parts: Parts = {}
    for name, group in list(whole.items()):
        steps, times = whole.get(f"{name}_T"), None
        values = group
        if isinstance(group, dict):
            values, steps, times = (group.get(key) for key in ("values", "steps", "timestamps"))
        if isinstance(values, list) and isinstance(steps, list):
            parts[name] = list(_records(name, steps, values, times if isinstance(times, list) else ()))
            whole.pop(name)
            whole.pop(f"{name}_T", None)
    return parts


def _records(
    name: str, steps: Iterable[object], values: Iterable[object], times: Iterable[object]
) -> Iterator[dict[str, object]]:
    for step, value, time in zip(steps, values, [*times] or repeat(None), strict=False):
        plain = value.get("value") if isinstance(value, dict) else value  # numbers of numpy in jsonpickle
        yield {"step": step, name: plain, "timestamp": f"{time}Z"} if time else {"step": step, name: plain}


def _columns(prefix: str, whole: Mapping[str, object]) -> Iterator[tuple[str, Column]]:
    """Name and numbers of each long list of numbers, with the names of nested objects as prefixes."""
    for key, value in whole.items():
        if isinstance(value, dict) and prefix.count("/") < NESTING:
            yield from _columns(f"{prefix}{key}/", value)
        elif isinstance(value, list) and len(value) >= MIN_LENGTH and all(map(_is_number_or_null, value)):
            yield prefix + key, value


def _is_number_or_null(value: object) -> bool:
    return value is None or type(value) in (int, float)


def _holds_columns(name: str, text: str) -> bool:
    """Whether an object has columns of a training: one with steps, or one with a typical name."""
    keys = [match[1] for match in _COLUMN.finditer(text)]
    if not (keys and text.startswith("{") and name.lower().endswith(".json")):
        return False
    if any(map(is_axis, keys)):
        return log_file_names.is_telling(name)
    return log_file_names.tells_of_training(name) and any(map(words().telling.search, keys))


def _holds_record_lists(name: str, text: str) -> bool:
    """Whether an object has a list of records with steps, in a file with a name typical of logs."""
    if not (text.startswith("{") and name.lower().endswith(".json") and log_file_names.is_telling(name)):
        return False
    found = _RECORD_LIST.search(text)
    records = whole_objects(text, found.end(), _BETWEEN)[0] if found else ()
    return len(records) >= _MIN_RECORDS and all(
        record_keys.step_keys(record) and log_contents.is_point(record, telling=True)
        for record in records[:_MIN_RECORDS]
    )


def _complete_records(text: str) -> list[dict[str, object]]:
    """The complete records of a truncated document."""
    text = text.lstrip(_BETWEEN)
    if history := _HISTORY.search(text, 0, 1 << 16):
        return whole_objects(text, history.end(), _BETWEEN)[0]
    return whole_objects(text, 1 if text.startswith("[") else 0, _BETWEEN)[0]


def _matches(name: str, head: bytes) -> bool:
    """`trainer_state.json`, or JSON over several lines whose first record looks like that of a log."""
    if not log_file_names.is_json(name):
        return False
    if not head:
        return True
    text = head.decode("utf-8", "replace").lstrip(_BETWEEN)
    if name == "trainer_state.json" or _HISTORY.search(text):
        return text.startswith("{")
    if (
        _holds_columns(name, text)
        or _holds_steps(name, text)
        or _NESTED_STEPS.match(text)
        or _SACRED.match(text)
        or (name == _INFO and _SACRED_INFO.match(text))
        or _holds_record_lists(name, text)
        or _SAVED.match(text)
    ):
        return True
    if not re.match(r'\[\s*\{\s*"|\{\s*\n\s*"', text):
        return False
    found = _complete_records(text)
    telling = log_file_names.is_telling(name)
    if found and text.startswith("{") and name.lower().endswith(".json"):
        # A single object is settings or results, unless similar ones follow.
        return len(found) > 1 and all(record_keys.step_keys(record) for record in found[:2])
    if found:
        # A complete list of one or two records without steps is one of results.
        few = len(found) < _MIN_RECORDS and text.rstrip().endswith("]")
        return log_contents.is_point(found[0], telling and not few and not text.startswith("{"))
    return text.startswith("[") and log_contents.is_cut_point(text[1:].lstrip().encode(), telling)


def _reader(path: str) -> DocumentReader:
    return DocumentReader(
        path, partial(_parse, path), lambda data: _complete_records(data.decode("utf-8", "replace"))
    )


FORMAT = Format("document", _matches, lambda path, _: _reader(path), rewrites=True)
