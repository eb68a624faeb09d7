"""The keys of records with a meaning (`rltui/data/record_keys.toml`): steps, times, settings, samples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Annotated

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.schema.fields import ConvertedField, ListField, TextField
from rltui.schema.toml_files import read_table

_ZERO = regex(r"-?0\.00+")  # Python itself prints a zero with one decimal
# Prefix of the tags that rltui computes from samples: a trainer may log `reward/mean` itself.
COMPUTED = "rltui/"


class SampleKeys(NamedTuple):
    """Keys of records of one sample each, the best first."""

    group: tuple[str, ...]
    prompt: tuple[str, ...]
    response: tuple[str, ...]
    reward: tuple[str, ...]
    length: tuple[str, ...]
    stop_reason: tuple[str, ...]
    length_limits: frozenset[str]  # values of a stop reason, in lower case
    truncated: tuple[str, ...]
    names: tuple[str, ...]  # numbers that are labels, not measurements
    identity: frozenset[str]  # those of them that only samples have


Ranks = Annotated[
    Mapping[str, int],
    ConvertedField(ListField(TextField()), lambda keys: {key: rank for rank, key in enumerate(keys)}),
]


class DoubtfulSteps(NamedTuple):
    """Step keys that may be none (`doubtful_step`), and the counters beside which they are not."""

    plans: frozenset[str]
    totals: frozenset[str]  # lengths of episodes by themselves
    counted: frozenset[str]
    lengths: frozenset[str]
    episodes: frozenset[str]


class LogKeys(NamedTuple):
    """All keys with a meaning. steps, writers, wall_times: the rank of each, 0 for the best."""

    steps: Ranks
    numbered_steps: tuple[str, ...]  # words before the number of a step
    step_groups: frozenset[str]  # names of groups of a record in which any step key is one
    steps_beside: Mapping[str, str]  # keys of steps if the other key is present
    inner_steps: frozenset[str]  # that may restart for each value of a coarser one
    idle_steps: frozenset[str]  # that are no steps while they are zero
    integer_steps: frozenset[str]  # that are steps only if written as integers
    column_steps: frozenset[str]  # that are the steps of a table if they increase evenly
    writers: Ranks
    learners: frozenset[str]  # writers that each learn a policy
    learner_words: tuple[str, ...]  # for one of several that one training has
    resumable: frozenset[str]  # writers that usually follow each other
    varying: frozenset[str]  # writers that may be new in each record
    value_names: frozenset[str]  # keys of the name of a single value
    values: frozenset[str]  # keys of such a value
    small: tuple[str, ...]
    wall_times: Ranks
    wall_time_axes: frozenset[str]  # that are no series if they are the wall time
    maybe_durations: frozenset[str]  # wall times whose names other logs have for durations
    planned_steps: Mapping[str, str]
    doubtful_steps: DoubtfulSteps
    hparam_names: frozenset[str]
    hparam_kinds: tuple[str, ...]
    hparam_prefixes: tuple[str, ...]
    summary: tuple[str, ...]
    history_words: frozenset[str]  # of the name of a list of records, and of none of its series
    samples: SampleKeys


@cache
def log_keys() -> LogKeys:
    """The keys, read with the first record."""
    return read_table("record_keys", LogKeys)


def numbered_step_words() -> str:
    """The words before the number of a step, as alternatives of a regular expression."""
    return "|".join(log_keys().numbered_steps)


@lru_cache(maxsize=4096)  # most records have the same keys, within a log and across logs
def compared(key: str) -> str:
    """The normalised key, for comparison with those of `log_keys`."""
    return key.strip().lower().replace(" ", "_").replace("-", "_")


def step_keys(keys: Iterable[str]) -> list[str]:
    """The keys that may be the step, the best first."""
    keys = tuple(keys)
    if found := _ranked(keys, log_keys().steps):
        return found
    known = {compared(key): key for key in keys}
    beside = log_keys().steps_beside.items()
    return [known[name] for name, other in beside if name in known and other in known]


def grouped_steps(record: Mapping[str, object]) -> dict[str, object]:
    """The values that may be the step in the groups of a record, by `group/key`: known ones, the best first.

    In groups that are about progress, any step key is one.
    """
    groups = {key: group for key, group in record.items() if isinstance(group, dict)}
    values = {f"{key}/{name}": value for key, group in groups.items() for name, value in group.items()}
    others = [
        f"{key}/{name}"
        for key, group in groups.items()
        if compared(key) in log_keys().step_groups
        for name in step_keys(group)
    ]
    return {key: values[key] for key in (*step_keys(values), *others)}


def outer_steps(step_keys: Sequence[str]) -> Sequence[str]:
    """The step keys of a record for each of which the first one may restart."""
    return step_keys[1:] if step_keys and compared(step_keys[0]) in log_keys().inner_steps else ()


def writer_keys(keys: Iterable[str]) -> list[str]:
    """The keys that identify one of several writers."""
    return _ranked(keys, log_keys().writers)


def is_learner(writer_key: str) -> bool:
    """Whether the key identifies one of several learners."""
    return compared(writer_key) in log_keys().learners


def is_resumable(writer_key: str) -> bool:
    """Whether the key identifies one of several trainings that usually follow each other."""
    return compared(writer_key) in log_keys().resumable


def is_varying(writer_key: str) -> bool:
    """Whether each record may have another value under this key."""
    return compared(writer_key) in log_keys().varying


@cache
def learner_prefix() -> re.Pattern[str]:
    """The prefix of names of one of several learners, as in `arm_no kl/seed_2/reward`: a group, and a `/`."""
    words, numbered = (
        "|".join(sorted(map(word_of, keys))) for keys in (log_keys().learners, log_keys().writers)
    )
    label = rf"(?:(?:{words})_[^/]{{1,60}}|(?:{numbered})_\d{{1,9}}|[a-z]{{2,12}}_\d{{1,3}})"
    return re.compile(rf"({label}(?:/{label})*)/(?=.)")


def word_of(writer_key: str) -> str:
    """The word for a writer in prefixes of names."""
    name = compared(writer_key).removesuffix("_id").removesuffix("_index")
    joined = name.removesuffix("id")  # of `AgentID`
    return joined if joined in log_keys().writers else name


def name_and_value(keys: Iterable[str]) -> tuple[str, str] | None:
    """The keys of the name and the value of a record with a single value; None for other records."""
    known, keys = log_keys(), tuple(keys)
    name = next((key for key in keys if compared(key) in known.value_names), None)
    value = next((key for key in keys if compared(key) in known.values), None)
    return (name, value) if name is not None and value is not None else None


def ended_at_limit(stop_reason: str) -> bool:
    """Whether a stop reason means that the length limit truncated the response."""
    return stop_reason.lower() in log_keys().samples.length_limits


def wall_time_keys(keys: Iterable[str]) -> list[str]:
    """The keys that may be the wall time, the best first."""
    return _ranked(keys, log_keys().wall_times)


def _ranked(keys: Iterable[str], ranks: Mapping[str, int]) -> list[str]:
    ranked = [(ranks[name], key) for key in keys if (name := compared(key)) in ranks]
    return [key for _, key in sorted(ranked)]


def planned_steps_key(step_key: str, keys: Iterable[str]) -> str | None:
    """The key of the planned number of steps that belongs to a step key, or None."""
    wanted = log_keys().planned_steps.get(compared(step_key))
    return next((key for key in keys if compared(key) == wanted), None) if wanted else None


def is_axis(wall_time_key: str) -> bool:
    """Whether the key is no series if it is the wall time."""
    return compared(wall_time_key) in log_keys().wall_time_axes


def is_idle(step_key: str, step: int) -> bool:
    """Whether a step of 0 is none, because what the key counts has not begun."""
    return not step and compared(step_key) in log_keys().idle_steps


def needs_integer(step_key: str) -> bool:
    """Whether the key is the step only if its value is written as an integer."""
    return compared(step_key) in log_keys().integer_steps


@lru_cache(maxsize=4096)
def is_small(key: str) -> bool:
    """Whether numbers of this name may be too small for a fixed number of decimals."""
    name = compared(key.rpartition("/")[2])
    return any(name == small or name.endswith(f"_{small}") for small in log_keys().small)


def is_rounded_away(key: str, text: str) -> bool:
    """Whether a printed number such as `0.000` may be a small one that was rounded to zero."""
    return _ZERO.fullmatch(text) is not None and is_small(key)


@cache
def text_keys() -> frozenset[str]:
    """Keys of prompts and responses."""
    samples = log_keys().samples
    return frozenset({*samples.prompt, *samples.response})


@cache
def unmeasured_keys() -> frozenset[str]:
    """Keys of the numbers of a sample that are no measurements: its step, time, group and labels."""
    keys = log_keys()
    return frozenset({*keys.samples.group, *keys.samples.names, *keys.steps, *keys.wall_times})
