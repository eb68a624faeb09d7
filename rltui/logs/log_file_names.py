"""What the names of files say: whether one may be a log, of which kind, and whether it was rotated.

The names themselves are data: `rltui/data/log_files.toml`.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from functools import cache

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.schema.fields import ConvertedField, Field, ListField, TableField, TextField, table_of
from rltui.schema.toml_files import read_table

TRAINER_STATE = "trainer_state.json"  # of transformers' Trainer: all that it logged so far
CHECKPOINT = regex(r"checkpoint-(\d{1,12})")  # a folder in which it leaves a copy of that
_ENDING = regex(r"\.(jsonl|ndjson|json|csv|tsv|txt|log|out|err|npz|npy)$", re.IGNORECASE)
_JSON = regex(r"\.(jsonl|ndjson|jsonlines|json)\Z", re.IGNORECASE)


class LogFileNames(NamedTuple):
    """The tables of `log_files.toml`; see there for what each says. Lists of patterns are one pattern."""

    plain_stems: frozenset[str]
    plain_folders: frozenset[str]
    rank_folder: re.Pattern[str]
    rank_file: re.Pattern[str]
    tracker_endings: tuple[str, ...]
    tracker_folder: re.Pattern[str]
    tracker_consoles: tuple[str, ...]
    part_logs: re.Pattern[str]
    companions: re.Pattern[str]
    saved_series: re.Pattern[str]
    saved_columns: tuple[str, ...]
    exported_column: re.Pattern[str]
    step_files: re.Pattern[str]
    not_logs: re.Pattern[str]
    no_runs: re.Pattern[str]
    console: re.Pattern[str]
    telling: re.Pattern[str]
    evaluation: re.Pattern[str]
    column: re.Pattern[str]
    ambiguous_endings: tuple[str, ...]
    data_set_keys: frozenset[str]
    state_keys: frozenset[str]
    action_keys: frozenset[str]
    skipped_folders: tuple[str, ...]
    entered_folders: tuple[str, ...]
    rotated: re.Pattern[str]
    rotated_joints: str
    compressed: tuple[str, ...]
    growing_endings: tuple[str, ...]
    unread_endings: tuple[str, ...]
    subrun_folder: re.Pattern[str]
    writer: re.Pattern[str]
    numbered_copy: re.Pattern[str]
    richest_formats: tuple[str, ...]
    richest_stems: frozenset[str]
    poorer_formats: frozenset[str]
    copied_formats: frozenset[str]
    printed_formats: frozenset[str]
    partial_copies: frozenset[str]


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


def log_files_field() -> TableField[LogFileNames]:
    """What the table must hold."""
    texts = ListField(TextField())
    pattern = ConvertedField(TextField(), lambda each: re.compile(each, re.IGNORECASE))
    patterns = ConvertedField(texts, _any_of)
    one = (
        *("rank_folder", "rank_file", "tracker_folder", "part_logs", "companions"),
        *("saved_series", "exported_column"),
        *("console", "rotated", "subrun_folder", "writer", "numbered_copy"),
    )
    special: dict[str, Field[object]] = {
        **dict.fromkeys(one, pattern),
        **dict.fromkeys(("step_files", "no_runs", "telling", "evaluation", "column"), patterns),
        "not_logs": ConvertedField(texts, lambda globs: _any_of(map(fnmatch.translate, globs))),
    }
    return table_of(LogFileNames, **special)


@cache
def names() -> LogFileNames:
    """The tables, read when the first name is looked at."""
    return read_table("log_files", log_files_field)


def is_entered(folder: str) -> bool:
    """Whether logs are looked for in folders of that base name."""
    known = names()
    return not folder.startswith(known.skipped_folders) or folder in known.entered_folders


def is_events(name: str) -> bool:
    """Whether a base name is that of a TensorBoard event file."""
    return "tfevents" in name


def is_metrics_log(name: str) -> bool:
    """Whether a base name is that of a log beside which no other copy of the history is looked for."""
    return is_events(name) or name == TRAINER_STATE or name.endswith((".jsonl", ".csv"))


def is_json(name: str) -> bool:
    """Whether a base name may be one of a JSON log."""
    if name.startswith("."):
        return False
    ending = _JSON.search(name)
    return ending is not None and not names().not_logs.match(name[: ending.start()])


def is_telling(name: str) -> bool:
    """Whether a base name says that the file is a log, so that its records need no step key."""
    return bool(names().telling.search(name))


def tells_of_training(name: str) -> bool:
    """Whether a base name says "a log of a training", not "the episodes of one evaluation"."""
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
    """Whether the columns of a table are those of one series that TensorBoard's page saved."""
    return [re.sub("[ _]", "", head).lower() for head in heads] == [
        head.replace(" ", "") for head in names().saved_columns
    ]


def exported_columns(heads: Sequence[str]) -> list[re.Match[str]]:
    """Run, tag and bound of each column but the first of a table that W&B's page saves; none of any other.

    Bounds stand beside values: `loss - train` and `loss - val` alone are no metrics of a run "loss".
    """
    found = [names().exported_column.match(head) for head in heads[1:]]
    columns = [column for column in found if column is not None]
    bounded = any(column["bound"] for column in columns)
    return columns if bounded and len(columns) == len(found) else []


def rotated_from(name: str) -> str | None:
    """The name that a rotated log had (``metrics.jsonl`` for ``metrics.jsonl.1``), None if it is not one."""
    name = name[:-3] if name.endswith(".gz") else name
    match = None if is_events(name) else names().rotated.match(name)
    return match["base"] if match else None


def file_order(name: str) -> tuple[str, int, int]:
    """Sorts the logs of one folder as they were written: rotated ones first, the oldest of them first."""
    base = rotated_from(name)
    if base is None:
        return (name, 1, 0)
    turn = re.sub(r"\D", "", name[len(base) :].removesuffix(".gz")) or "0"
    return (base, 0, -int(turn) if len(turn) < 8 else int(turn))
