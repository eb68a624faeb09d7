"""What the keys of records say, as `rltui/data/log_keys.toml` has it: steps, times, settings, samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.schema.fields import ConvertedField, ListField, TableField, TextField, table_of
from rltui.schema.toml_files import read_table

_ZERO = regex(r"-?0\.00+")  # no zero that Python prints by itself has two decimals
# Begins the tags of what rltui makes of samples: a trainer may write `reward/mean` itself.
COMPUTED = "rltui/"


class SampleKeys(NamedTuple):
    """Keys of records of one sample each, the best first."""

    group: tuple[str, ...]
    prompt: tuple[str, ...]
    completion: tuple[str, ...]
    reward: tuple[str, ...]
    length: tuple[str, ...]
    stop_reason: tuple[str, ...]
    length_limits: frozenset[str]  # values of a stop reason, in lower case
    truncated: tuple[str, ...]
    names: tuple[str, ...]  # of numbers that measure nothing
    identity: frozenset[str]  # those of them that only samples have


class LogKeys(NamedTuple):
    """All keys that have a meaning. steps, writers, wall_times: the place of each, the best first."""

    steps: Mapping[str, int]
    steps_beside: Mapping[str, str]  # keys that give the step where another one is there
    inner_steps: frozenset[str]  # that may begin again for each of a coarser one
    integer_steps: frozenset[str]  # that give the step only where they are written as integers
    column_steps: frozenset[str]  # that give the step of a table where they count evenly
    writers: Mapping[str, int]
    learners: frozenset[str]  # writers that learn something of their own
    small: tuple[str, ...]
    wall_times: Mapping[str, int]
    wall_time_axes: frozenset[str]  # that are no series where they give the wall time
    planned_steps: Mapping[str, str]
    settings_names: frozenset[str]
    settings_kinds: tuple[str, ...]
    settings_prefixes: tuple[str, ...]
    summary: tuple[str, ...]
    samples: SampleKeys


def _log_keys_field() -> TableField[LogKeys]:
    ranks = ConvertedField(ListField(TextField()), lambda keys: {key: rank for rank, key in enumerate(keys)})
    return table_of(LogKeys, steps=ranks, writers=ranks, wall_times=ranks, samples=table_of(SampleKeys))


@cache
def log_keys() -> LogKeys:
    """The keys, read when the first record is looked at."""
    return read_table("log_keys", _log_keys_field)


@lru_cache(maxsize=4096)  # the records of a log have the same keys, and so have most logs
def compared(key: str) -> str:
    """The key as it is compared."""
    return key.strip().lower().replace(" ", "_").replace("-", "_")


def step_keys(keys: Iterable[str]) -> list[str]:
    """Those of the keys that may give the step, the best first."""
    keys = tuple(keys)
    if found := _ranked(keys, log_keys().steps):
        return found
    known = {compared(key): key for key in keys}
    beside = log_keys().steps_beside.items()
    return [known[name] for name, other in beside if name in known and other in known]


def outer_steps(step_keys: Sequence[str]) -> Sequence[str]:
    """Those of the step keys of a record for each of which the first one may begin again."""
    return step_keys[1:] if step_keys and compared(step_keys[0]) in log_keys().inner_steps else ()


def writer_key(keys: Iterable[str]) -> str | None:
    """The key that tells from whom of several a record is, or None."""
    return next(iter(_ranked(keys, log_keys().writers)), None)


def is_learner(writer_key: str) -> bool:
    """Whether the key tells of one of several that learn something of their own."""
    return compared(writer_key) in log_keys().learners


def ended_at_limit(stop_reason: str) -> bool:
    """Whether a stop reason says that the length limit cut a response off."""
    return stop_reason.lower() in log_keys().samples.length_limits


def wall_time_keys(keys: Iterable[str]) -> list[str]:
    """Those of the keys that may give the wall time, the best first."""
    return _ranked(keys, log_keys().wall_times)


def _ranked(keys: Iterable[str], ranks: Mapping[str, int]) -> list[str]:
    ranked = [(ranks[name], key) for key in keys if (name := compared(key)) in ranks]
    return [key for _, key in sorted(ranked)]


def planned_steps_key(step_key: str, keys: Iterable[str]) -> str | None:
    """The key that gives the planned number of steps beside a step key, or None."""
    wanted = log_keys().planned_steps.get(compared(step_key))
    return next((key for key in keys if compared(key) == wanted), None) if wanted else None


def is_axis(wall_time_key: str) -> bool:
    """Whether the key is no series where it gives the wall time."""
    return compared(wall_time_key) in log_keys().wall_time_axes


def needs_integer(step_key: str) -> bool:
    """Whether the key gives the step only where its value is written as an integer."""
    return compared(step_key) in log_keys().integer_steps


@lru_cache(maxsize=4096)
def is_small(key: str) -> bool:
    """Whether a number of that name may be too small for a fixed number of decimals."""
    name = compared(key.rpartition("/")[2])
    return any(name == small or name.endswith(f"_{small}") for small in log_keys().small)


def is_rounded_away(key: str, text: str) -> bool:
    """Whether a number that was printed, such as `0.000`, is one that its decimals cannot show."""
    return _ZERO.fullmatch(text) is not None and is_small(key)


@cache
def text_keys() -> frozenset[str]:
    """Keys of what a sample was asked and what it answered."""
    samples = log_keys().samples
    return frozenset({*samples.prompt, *samples.completion})


@cache
def unmeasured_keys() -> frozenset[str]:
    """Keys of the numbers of a sample that measure nothing: of its step, its time, its group and its name."""
    keys = log_keys()
    return frozenset({*keys.samples.group, *keys.samples.names, *keys.steps, *keys.wall_times})
