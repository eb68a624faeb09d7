"""Recognises log files by their names, and whether they were rotated.

The names are data: `rltui/data/log_files.toml`.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Annotated

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.schema.fields import ConvertedField, ListField, TextField
from rltui.schema.toml_files import read_table

TRAINER_STATE = "trainer_state.json"  # of transformers' Trainer: everything it logged so far
CHECKPOINT = regex(r"checkpoint-(\d{1,12})")  # a folder in which it saves a copy of that
_ENDING = regex(r"\.(jsonl|ndjson|json|csv|tsv|txt|dat|log|out|err|md|npz|npy)$", re.IGNORECASE)
_TABLE = regex(r"\A[^.].*\.[ct]sv\Z", re.IGNORECASE)
_JSON = regex(r"\.(jsonl|ndjson|jsonlines|json)\Z", re.IGNORECASE)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_TEXTS = ListField(TextField())
Pattern = Annotated[
    re.Pattern[str], ConvertedField(TextField(), lambda text: re.compile(text, re.IGNORECASE))
]
Patterns = Annotated[re.Pattern[str], ConvertedField(_TEXTS, _any_of)]
Globs = Annotated[
    re.Pattern[str], ConvertedField(_TEXTS, lambda globs: _any_of(map(fnmatch.translate, globs)))
]


class LogFileNames(NamedTuple):
    """The tables of `log_files.toml`, where they are explained. Lists of patterns are one pattern."""

    plain_stems: frozenset[str]
    plain_folders: frozenset[str]
    worker_words: frozenset[str]
    monitor_words: frozenset[str]
    monitor_kinds: frozenset[str]
    rank_folder: Pattern
    rank_file: Pattern
    tracker_endings: tuple[str, ...]
    tracker_folder: Pattern
    tracker_consoles: tuple[str, ...]
    part_logs: Pattern
    companions: Pattern
    saved_series: Pattern
    saved_columns: tuple[str, ...]
    exported_column: Pattern
    step_files: Patterns
    not_logs: Globs
    no_runs: Patterns
    checkpoint_folder: Pattern
    no_logs_without_ending: frozenset[str]
    may_print_metrics: Pattern
    telling: Patterns
    vague: tuple[str, ...]
    evaluation: Patterns
    column: Patterns
    values: Patterns
    traces: Patterns
    data_sets: Patterns
    ambiguous_endings: tuple[str, ...]
    data_set_keys: frozenset[str]
    item_keys: frozenset[str]
    update_keys: Patterns
    sample_update_keys: Patterns
    pair_keys: frozenset[str]
    state_keys: frozenset[str]
    action_keys: frozenset[str]
    skipped_folders: tuple[str, ...]
    entered_folders: tuple[str, ...]
    rotated: Pattern
    rotated_joints: str
    compressed: tuple[str, ...]
    growing_endings: tuple[str, ...]
    unread_endings: tuple[str, ...]
    subrun_folder: Pattern
    writer: Pattern
    numbered_copy: Pattern
    richest_formats: tuple[str, ...]
    richest_stems: frozenset[str]
    poorer_formats: frozenset[str]
    copied_formats: frozenset[str]
    repeated_formats: frozenset[str]
    printed_formats: frozenset[str]
    partial_copies: frozenset[str]
    sparse_stems: frozenset[str]
    saved_tables: dict[str, tuple[tuple[str, ...], ...]]
    epoch_outcomes: tuple[str, ...]
    unread_logs: dict[str, str]
    unread_values: dict[str, str]


@cache
def names() -> LogFileNames:
    """The shipped tables."""
    return read_table("log_files", LogFileNames)


def is_entered(folder: str, above: str = "") -> bool:
    """Whether folders with that base name are searched for logs. above: the path of the folder it is in."""
    known = names()
    if known.checkpoint_folder.search(f"{above.rpartition('/')[2]}/{folder}"):
        return False
    return not folder.startswith(known.skipped_folders) or folder in known.entered_folders


def has_no_ending(name: str) -> bool:
    """Whether a base name has no ending, and is not one of a file that is never a log."""
    return "." not in name and name.lower() not in names().no_logs_without_ending


def is_events(name: str) -> bool:
    """Whether a base name is that of a TensorBoard event file."""
    return "tfevents" in name


def is_metrics_log(name: str) -> bool:
    """Whether a base name is that of a log that makes other copies of the history unnecessary."""
    return is_events(name) or name == TRAINER_STATE or name.endswith((".jsonl", ".csv"))


def is_json(name: str) -> bool:
    """Whether a base name may be one of a JSON log."""
    if name.startswith("."):
        return False
    ending = _JSON.search(name)
    return ending is not None and not names().not_logs.match(name[: ending.start()])


def is_table(name: str) -> bool:
    """Whether a base name is one of a table. Some programs write JSON lines to files that are named so."""
    return _TABLE.match(name) is not None


def is_telling(name: str) -> bool:
    """Whether a base name identifies a log, so that its records need no step key."""
    return bool(names().telling.search(name))


def why_unread(name: str, could_be_log: Callable[[str], bool]) -> str:
    """Why a file that is clearly a log, by its base name, is not read, and what to do; empty for others.

    could_be_log: whether a name without the ending may be that of a log.
    """
    inner, dot, ending = name.rpartition(".")
    ending = (dot + ending).lower()
    if (why := names().unread_logs.get(ending)) and ("tfevents" in inner or is_telling(inner)):
        return why if could_be_log(inner) else ""
    return names().unread_values.get(ending, "") if names().values.search(inner) else ""


def without_vague_words(name: str) -> str:
    """A base name in lower case without what other files than logs have in their names, too."""
    name = name.lower()
    for word in names().vague:
        name = name.replace(word, "")
    return name


def tells_of_training(name: str) -> bool:
    """Whether a base name identifies the log of a training, as opposed to that of an evaluation."""
    return is_telling(name) and names().evaluation.search(name) is None


def stem_of(name: str) -> str:
    """A base name without `.gz` and without the ending of its format."""
    name = name[:-3] if name.endswith(".gz") else name
    return _ENDING.sub("", name) or name


def is_plain(name: str) -> bool:
    """Whether a base name is one that frameworks give their one metrics log."""
    name = name.lower()
    return not {stem_of(name), name.removesuffix(".gz")}.isdisjoint(names().plain_stems)


def are_saved_columns(heads: Sequence[str]) -> bool:
    """Whether the columns of a table are those of a series downloaded from TensorBoard."""
    return [re.sub("[ _]", "", head).lower() for head in heads] == [
        head.replace(" ", "") for head in names().saved_columns
    ]


def exported_columns(heads: Sequence[str]) -> list[re.Match[str]]:
    """Run, tag and bound of each column after the first, of a table exported from W&B; none for other tables.

    Such a table has bounds next to values: `loss - train` and `loss - val` alone are no metrics of a run
    "loss".
    """
    found = [names().exported_column.match(head) for head in heads[1:]]
    columns = [column for column in found if column is not None]
    bounded = any(column["bound"] for column in columns)
    return columns if bounded and len(columns) == len(found) else []


def rotated_from(name: str) -> str | None:
    """The original name of a rotated log (``metrics.jsonl`` for ``metrics.jsonl.1``), None for other logs."""
    name = name[:-3] if name.endswith(".gz") else name
    match = None if is_events(name) else names().rotated.match(name)
    return match["base"] if match else None


def file_order(name: str) -> tuple[str, int, int]:
    """Sorts the logs of a folder by age: rotated ones first, the oldest of them first."""
    base = rotated_from(name)
    if base is None:
        return (name, 1, 0)
    number = re.sub(r"\D", "", name[len(base) :].removesuffix(".gz")) or "0"
    return (base, 0, -int(number) if len(number) < 8 else int(number))  # a count, or a date
