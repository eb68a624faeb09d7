"""Hyperparameters: what a run was started with, by key, each with the place that says so.

Keys are `a/b/c`. Several places may say the same key; the first one is believed, those that say it
otherwise are kept beside it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache

from rltui.common import paths
from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.common.regex import regex
from rltui.common.text import clean
from rltui.run_context.hparams.known_hparams import (
    known_hparams,
    names_of_setting,
    plain_key,
    rank,
    secret_patterns,
)

Value = str | int | float | bool | None

MOST = 3000  # of one place; a file with more is no list of hyperparameters
VISITED = 30_000  # values looked at: aliases can make a small document endless
DEPTH = 24
ITEMS = 48  # entries of a list that are shown
LENGTH = 2000  # characters of one value

_NUMBER = regex(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
# Values that look like secrets must not leave with a snapshot.
_LOGIN = regex(r"://[^/\s:@]+:[^/\s@]+@")
HIDDEN = "(hidden)"
_WORDS: dict[str, Value] = {
    "true": True, "false": False, "none": None, "null": None,
    "nan": math.nan, "inf": math.inf, "-inf": -math.inf,
}  # fmt: skip


class HParam(NamedTuple):
    """One hyperparameter. `source`: a record of an event file, or a file relative to LOGDIR; both cleaned."""

    key: str
    value: Value
    source: str

    @property
    def text(self) -> str:
        """The value as people read it; a dash stands for none."""
        return value_text(self.value)

    @property
    def unset(self) -> bool:
        """Whether it says nothing: none, or empty text."""
        return self.value is None or self.value in ("", "[]", "{}")


@dataclass(frozen=True, slots=True)
class HParams:
    """All hyperparameters of a run. `others` contradict what `entries` say of the same key."""

    entries: Mapping[str, HParam] = field(default_factory=dict)
    others: tuple[HParam, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The places, in the order in which they are believed."""
        return tuple(dict.fromkeys(entry.source for entry in (*self.entries.values(), *self.others)))


NONE = HParams()


def merge(parts: Iterable[HParams]) -> HParams:
    """Several places as one: of a key the first place is believed."""
    entries: dict[str, HParam] = {}
    others: list[HParam] = []
    problems: list[Problem] = []
    for part in parts:
        for entry in (*part.entries.values(), *part.others):
            known = entries.setdefault(entry.key, entry)
            if known is not entry and not same(known.value, entry.value):
                others.append(entry)
        problems += part.problems
    return HParams(entries, tuple(others), tuple(problems))


def find_hparam(entries: Mapping[str, HParam], key: str) -> HParam | None:
    """The hyperparameter that a person means: its key, the end of one, or another framework's name of it.

    Of several keys with that end that of the policy, then the one with the fewest parts, then the first.
    """
    found = entries.get(key)
    if found is not None:
        return found
    for name in names_of_setting(key):
        fitting = [
            entry
            for entry in entries.values()
            if (known := plain_key(entry.key)) == name or known.endswith(f"/{name}")
        ]
        if fitting:
            return min(fitting, key=_distance_from_policy)
    return None


def settings_digest(entries: Mapping[str, HParam]) -> str:
    """The same for runs that were started alike but for seed, names and places; empty without settings."""
    kept = sorted(f"{plain_key(entry.key)}={value_text(entry.value)}" for entry in _settings(entries))
    return paths.digest("\n".join(kept), 24) if kept else ""


def keys_digest(entries: Mapping[str, HParam]) -> str:
    """The same for runs with the same settings whatever their values, as in a sweep; empty without any."""
    kept = sorted(plain_key(entry.key) for entry in _settings(entries))
    return paths.digest("\n".join(kept), 24) if kept else ""


def _settings(entries: Mapping[str, HParam]) -> list[HParam]:
    """What may make a difference to the training."""
    return [entry for entry in entries.values() if not entry.unset and not _only_identity(entry.key)]


@lru_cache(maxsize=8192)
def _only_identity(key: str) -> bool:
    words = re.split(r"[_.\s-]+", plain_key(key).rpartition("/")[2])
    if any(word in ("seed", "seeds") for word in words):
        return True
    return rank(key) is None and any(word in known_hparams().identity_words for word in words)


def _distance_from_policy(entry: HParam) -> tuple[bool, int]:
    parts = plain_key(entry.key).split("/")
    return (any(part in known_hparams().other_models for part in parts), len(parts))


def hparams_of(record: Mapping[str, object], source: str, prefix: str = "") -> HParams:
    """A nested record as hyperparameters. What goes beyond the limits is left out, which is a problem."""
    entries: dict[str, HParam] = {}
    problems: tuple[Problem, ...] = ()
    walk = _Walk()
    for key, value in walk.values(prefix, record, 0):
        if len(entries) >= MOST:
            walk.full = True
            break
        entries.setdefault(key, HParam(key, _discreet(key, value), source))
    if walk.full:
        message = f"only the first {len(entries):,} settings are shown"
        problems = (Problem("warning", "settings-cut", source, message),)
    return HParams(entries, (), problems)


def _discreet(key: str, value: Value) -> Value:
    """A value without passwords and tokens."""
    if not isinstance(value, str) or not value:
        return value
    keys, values = secret_patterns()
    if keys.search(key):
        return HIDDEN
    return _LOGIN.sub(f"://{HIDDEN}@", values.sub(HIDDEN, value)) if len(value) > 8 else value


class _Walk:
    """Goes through a record once, with a limit on what it looks at."""

    def __init__(self) -> None:
        self.left = VISITED
        self.full = False

    def _spend(self) -> bool:
        self.left -= 1
        self.full = self.full or self.left < 0
        return self.left >= 0

    def values(self, prefix: str, value: object, depth: int) -> Iterator[tuple[str, Value]]:
        if not self._spend():
            return
        if depth >= DEPTH and isinstance(value, Mapping | list | tuple):
            self.full = True
            return
        if isinstance(value, Mapping) and (value or not prefix):
            for key, item in value.items():
                word = clean(str(key)[:LENGTH], 200)
                yield from self.values(f"{prefix}/{word}" if prefix else word, item, depth + 1)
        elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value[:ITEMS]):
            for index, item in enumerate(value[:ITEMS]):
                yield from self.values(f"{prefix}/{index}", item, depth + 1)
            if len(value) > ITEMS:
                yield (f"{prefix}/…", f"{len(value):,} in all")
        else:
            yield (prefix, self._scalar(value, depth))

    def _scalar(self, value: object, depth: int) -> Value:
        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int):
            return value if abs(value) < 10**300 else "a number beyond all bounds"
        if isinstance(value, str):
            return clean(value[: 2 * LENGTH], LENGTH)
        return clean(self._listed(value, depth)[: 2 * LENGTH], LENGTH)

    def _listed(self, value: object, depth: int) -> str:
        if isinstance(value, Mapping):
            return "{}" if not value else "{…}"
        if not isinstance(value, list | tuple | set | frozenset):
            return str(value)[:LENGTH]
        if depth >= DEPTH:
            return "[…]"
        words = []
        for index, item in enumerate(value):
            if index >= ITEMS or not self._spend():
                words.append(f"… {len(value):,} in all")
                break
            nested = isinstance(item, list | tuple | set | frozenset | Mapping)
            words.append(self._listed(item, depth + 1) if nested else value_text(self._scalar(item, depth)))
        return f"[{', '.join(words)}]"


def value_text(value: Value) -> str:
    """A value as people read it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else repr(value).replace("inf", "Infinity")
    return str(value)


def parse_value(text: str) -> Value:
    """What a word in a table stands for: a number, true, false, none, or itself."""
    word = text.strip()
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if _NUMBER.match(word) and len(word) < 40:
        plain = word.lstrip("+-").isdigit()
        if plain and len(word.lstrip("+-")) > 1 and word.lstrip("+-").startswith("0"):
            return word  # a name made of digits
        return int(word) if plain else float(word)
    return clean(word[: 2 * LENGTH], LENGTH)


def same(one: Value, other: Value) -> bool:
    """Whether two values mean the same: formats write 1, 1.0, `1.0` and true for one thing."""
    one = parse_value(one) if isinstance(one, str) else one
    other = parse_value(other) if isinstance(other, str) else other
    if one == other or (one in (None, "") and other in (None, "")):
        return True
    first, second = _number(one), _number(other)
    if first is not None and second is not None:
        return first == second or (math.isnan(first) and math.isnan(second))
    return False


def _number(value: Value) -> float | None:
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def parse_json(text: str) -> Mapping[str, object] | None:
    """A JSON object, None if it is none. Python's own parser: settings hold NaN and Infinity."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def parse_yaml(text: str) -> object:
    """A YAML document by a loader that makes plain data only. Tags of objects are passed over.

    Raises ValueError with one line that says where it is wrong.
    """
    import yaml

    base: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader = type("Loader", (base,), {})

    def plain(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> object:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return getattr(node, "value", None)

    loader.add_multi_constructor("", plain)  # type: ignore[attr-defined]
    try:
        return yaml.load(text, loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 1}" if mark is not None else ""
        raise ValueError(f"{getattr(error, 'problem', None) or 'no YAML'}{place}") from error
    except (RecursionError, TypeError, AttributeError, OverflowError, LookupError) as error:
        # What PyYAML's own makers raise for values that do not suit the type they claim, as `!!bool maybe`.
        raise ValueError(f"no YAML that can be read ({type(error).__name__})") from error
