"""Whether the content of a file is a log: numbers with a step key, or in a file with the name of a log.

The folder of a run also has settings, tokenizers, data sets and samples, which may be JSON as well.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Container, Iterable
from itertools import pairwise

from rltui.common.regex import regex
from rltui.logs.log_file_names import is_json, is_plain, names
from rltui.logs.records import record_keys

_KEY = regex(rb'"((?:[^"\\]|\\.){1,200})"\s*:\s*(-?[0-9]|NaN|-?Infinity)?')
_LIST = regex(rb"\[[^\[\]]*(?:\]|\Z)")

GZIP = b"\x1f\x8b"  # the first bytes of gzip data
WBITS = 31  # of zlib: a gzip member with header and checksum
_HEAD = 4096  # decompressed bytes that are examined

_NUMBER = regex(r"_\d{1,3}\Z")  # of one of several actions or observations
_OBJECT = regex(rb'\{[ \t]*(?:"|\Z)')  # the beginning of a JSON object, also of one that is being written
_BEFORE = b"\xef\xbb\xbf\0 \t\r\n"  # what may precede the first record: a byte-order mark, empty lines
_CUT_KEY = regex(rb'[,{]\s*"(?:[^"\\]|\\.){1000,}\Z')  # a key whose end is missing


def is_point(record: dict[str, object], telling: bool) -> bool:
    """Whether a record is one of a log: with a step and numbers, or with numbers under a telling name."""
    if is_data(record):
        return False
    steps = record_keys.step_keys(record)
    numbers = _number_keys(record, steps)
    groups = [value for value in record.values() if isinstance(value, dict)]
    if groups and not steps and not numbers:  # {"time": {"step": 1}, "train": {"loss": 0.5}}
        kept = [
            key
            for group in groups
            for key, value in group.items()
            if type(value) in (int, float) and not record_keys.step_keys([key])
        ]
        return bool(record_keys.grouped_steps(record) and kept)
    return bool(steps and (numbers or groups)) or (telling and bool(numbers))


def is_data(record: dict[str, object]) -> bool:
    """Whether a record is one of a data set, a result on an item of one, or a step of an environment."""
    steps = record_keys.step_keys(record)
    return is_transition(record) or (not steps and is_of_data(record, _number_keys(record, steps)))


def _number_keys(record: dict[str, object], steps: Container[str]) -> list[str]:
    """The keys of the numbers of a record and of its `data`, without those of its steps."""
    data = record.get("data")
    inner = data if isinstance(data, dict) else {}
    return [
        key
        for key, value in [*record.items(), *inner.items()]
        if type(value) in (int, float) and key not in steps
    ]


def is_of_data(keys: Iterable[str], numbers: Iterable[str]) -> bool:
    """Whether a record without a step is one of a data set, or of an item of one.

    numbers: keys of numbers; none may be a score, unless the record says by number of which item, or has
    both what a model was asked and what it answered. One with a wall time or with what only an update has,
    such as a loss, is a point of a training on that item.
    """
    keys, numbers = set(keys), set(numbers)
    if names().pair_keys <= keys:
        return True
    known = set(map(record_keys.compared, keys))
    samples = record_keys.log_keys().samples
    answered = not (known.isdisjoint(samples.prompt) or known.isdisjoint(samples.response))
    if (answered or not names().item_keys.isdisjoint(known)) and not _is_of_update(numbers, answered):
        return True
    return not names().data_set_keys.isdisjoint(keys) and not any(map(names().telling.search, numbers))


def _is_of_update(numbers: Iterable[str], answered: bool) -> bool:
    """Whether keys of numbers have one that only updates have, or a wall time, and not only a duration.

    answered: they are beside a prompt and its answer.
    """
    times = {record_keys.compared(key) for key in record_keys.wall_time_keys(numbers)}
    lowered = [*map(str.lower, numbers)]
    return (
        not times <= record_keys.log_keys().maybe_durations
        or any(map(names().update_keys.search, lowered))
        or (answered and any(map(names().sample_update_keys.search, lowered)))
    )


def is_transition(keys: Iterable[str]) -> bool:
    """Whether a record has the keys of an environment step, an action and a state, and so is data.

    The step within an episode takes the place of a state.
    """
    known = {_NUMBER.sub("", record_keys.compared(key)) for key in keys}
    if {"episode", "action"} <= known and record_keys.outer_steps(record_keys.step_keys(known)):
        return True
    return not (names().state_keys.isdisjoint(known) or names().action_keys.isdisjoint(known))


def is_of_evaluation(name: str, steps: Iterable[str], first: Iterable[object]) -> bool:
    """Whether rows are the episodes of evaluations, numbered from the first one on for each policy or seed.

    name: of the file. steps: the step keys of a row. first: the best step of the first rows.
    """
    counted = [number for number in first if isinstance(number, int | float)]
    episodes = record_keys.log_keys().doubtful_steps.episodes
    of_episodes = all(map(episodes.__contains__, map(record_keys.compared, steps)))
    return (
        of_episodes
        and names().evaluation.search(name) is not None
        and len(counted) > 1
        and counted[0] in (0, 1)
        and all(number in (counted[0], before + 1) for before, number in pairwise(counted))
    )


def is_cut_point(line: bytes, telling: bool) -> bool:
    """The same for the beginning of a first line."""
    keys = cut_keys(line)
    steps = record_keys.step_keys(key for key, _ in keys)
    if not steps and is_of_data([key for key, _ in keys], [key for key, number in keys if number]):
        return False
    numbers = sum(number for key, number in keys if key not in steps)
    # The key after the step may be longer than the known part of the line.
    return (numbers > 0 and (bool(steps) or telling)) or bool(steps and _CUT_KEY.search(line))


def from_first_record(head: bytes) -> bytes:
    """The first bytes of a file without a byte-order mark and empty lines."""
    return head.lstrip(_BEFORE)


def begins_with_object(head: bytes) -> bool:
    """Whether a file begins with a JSON object, as JSON lines do and no table does; perhaps half written."""
    return _OBJECT.match(from_first_record(head)) is not None


def cut_keys(line: bytes) -> list[tuple[str, bool]]:
    """The keys in the beginning of an object, and whether the value of each is a number."""
    if not line.lstrip().startswith(b"{"):
        return []
    for _ in range(2):  # of a list in a list, too: what its items are called is no key of the object
        line = _LIST.sub(b"", line)
    return [(match[1].decode("utf-8", "replace"), bool(match[2])) for match in _KEY.finditer(line)]


def decompressed_head(head: bytes) -> bytes:
    """The first decompressed bytes of gzip data that begin with `head`; empty if damaged or no gzip."""
    try:
        return zlib.decompressobj(WBITS).decompress(head, _HEAD)
    except zlib.error:
        return b""


def is_foreign(name: str, head: bytes) -> bool:
    """Whether a file with the name of a log is clearly none: a data set, settings, a table of words.

    Always false for names that only logs have, whose unreadable content is reported.
    """
    if is_plain(name):
        return False
    if head.startswith(GZIP) and not (head := decompressed_head(head)):
        return False
    lines = head.split(b"\n")
    whole = lines[:-1] or lines
    if not is_json(name.removesuffix(".gz")):
        text = b"\n".join(whole).decode("utf-8", "replace")
        return "\ufffd" not in text and all(sign.isprintable() or sign in "\t\r\n" for sign in text)
    try:
        return all(isinstance(json.loads(line), dict | list) for line in whole if line.strip())
    except (ValueError, RecursionError):
        keys = [key for key, _ in cut_keys(head)]
        return len(lines) == 1 and bool(keys) and not any(record_keys.step_keys(keys))
