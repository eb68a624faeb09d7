"""Hyperparameters of a run by key, each with its source.

Keys are `a/b/c`. If several sources have the same key, the first one takes precedence; different values of
the others are kept as well.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from rltui.common.digest import digest
from rltui.common.display_text import clean
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.common.regex import regex
from rltui.run_context.hparams.known_hparams import (
    known_hparams,
    names_of_hparam,
    plain_key,
    rank,
    secret_patterns,
)

Value = str | int | float | bool | None

MAX_HPARAMS = 3000  # of one source; a file with more is no list of hyperparameters
MAX_VISITED = 30_000  # values: aliases can make a small document endless
DEEPEST = 24  # levels
MAX_ITEMS = 48  # entries of a list that are shown
MAX_VALUE = 2000  # characters

_NUMBER = regex(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
# Values that look like secrets must not be part of a snapshot.
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
        """See `value_text`."""
        return value_text(self.value)

    @property
    def unset(self) -> bool:
        """Whether the value is none or empty."""
        return self.value is None or self.value in ("", "[]", "{}")


@dataclass(frozen=True, slots=True)
class HParams:
    """All hyperparameters of a run. others: different values of keys in `entries`, from other sources."""

    entries: Mapping[str, HParam] = field(default_factory=dict)
    others: tuple[HParam, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources in order of precedence."""
        return tuple(dict.fromkeys(entry.source for entry in (*self.entries.values(), *self.others)))


NO_HPARAMS = HParams()


def merge(parts: Iterable[HParams]) -> HParams:
    """Merge hyperparameters of several sources; of a key the first source takes precedence."""
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
    """The hyperparameter with this key, with a key that ends with it, or with another framework's name of it.

    Of several keys with that end, the one of the policy, then the one with the fewest parts, then the first.
    """
    found = entries.get(key)
    if found is not None:
        return found
    for name in names_of_hparam(key):
        matches = [entry for entry in entries.values() if f"/{plain_key(entry.key)}".endswith(f"/{name}")]
        if matches:
            return min(matches, key=_distance_from_policy)
    return None


def hparams_digest(entries: Mapping[str, HParam]) -> str:
    """A digest of keys and values, except for seed, names and paths; empty without settings."""
    return _digest(f"{plain_key(entry.key)}={entry.text}" for entry in _hparams(entries))


def keys_digest(entries: Mapping[str, HParam]) -> str:
    """A digest of the keys alone, which the runs of a sweep share; empty without settings."""
    return _digest(plain_key(entry.key) for entry in _hparams(entries))


def _digest(lines: Iterable[str]) -> str:
    text = "\n".join(sorted(lines))
    return digest(text, 24) if text else ""


def _hparams(entries: Mapping[str, HParam]) -> Iterator[HParam]:
    """The hyperparameters that may affect the training."""
    return (entry for entry in entries.values() if not entry.unset and not _is_identity(entry.key))


@lru_cache(maxsize=8192)
def _is_identity(key: str) -> bool:
    """Whether a key identifies the run: a seed, a name or a path."""
    words = re.split(r"[_.\s-]+", plain_key(key).rpartition("/")[2])
    if any(word in ("seed", "seeds") for word in words):
        return True
    return rank(key) is None and any(word in known_hparams().identity_words for word in words)


def _distance_from_policy(entry: HParam) -> tuple[bool, int]:
    parts = plain_key(entry.key).split("/")
    return (any(part in known_hparams().other_models for part in parts), len(parts))


def hparams_of(record: Mapping[str, object], source: str, prefix: str = "") -> HParams:
    """The hyperparameters of a nested record. What exceeds the limits is left out and reported."""
    entries: dict[str, HParam] = {}
    flattener = _Flattener()
    for key, value in flattener.values(prefix, record, 0):
        if len(entries) >= MAX_HPARAMS:
            flattener.exceeded = True
            break
        entries.setdefault(key, HParam(key, _without_secrets(key, value), source))
    if not flattener.exceeded:
        return HParams(entries)
    message = f"only the first {len(entries):,} settings are shown"
    return HParams(entries, (), (Problem("warning", "settings-cut", source, message),))


def _without_secrets(key: str, value: Value) -> Value:
    if not isinstance(value, str) or not value:
        return value
    keys, values = secret_patterns()
    if keys.search(key):
        return HIDDEN
    return _LOGIN.sub(f"://{HIDDEN}@", values.sub(HIDDEN, value)) if len(value) > 8 else value


class _Flattener:
    """Flattens a record once, with a limit on the number of values that are visited."""

    def __init__(self) -> None:
        self.left = MAX_VISITED
        self.exceeded = False

    def _visit(self) -> bool:
        self.left -= 1
        self.exceeded = self.exceeded or self.left < 0
        return self.left >= 0

    def values(self, prefix: str, value: object, depth: int) -> Iterator[tuple[str, Value]]:
        if not self._visit():
            return
        if depth >= DEEPEST and isinstance(value, Mapping | list | tuple):
            self.exceeded = True
            return
        if isinstance(value, Mapping) and (value or not prefix):
            for key, item in value.items():
                word = clean(str(key)[:MAX_VALUE], 200)
                yield from self.values(f"{prefix}/{word}" if prefix else word, item, depth + 1)
        elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value[:MAX_ITEMS]):
            for index, item in enumerate(value[:MAX_ITEMS]):
                yield from self.values(f"{prefix}/{index}", item, depth + 1)
            if len(value) > MAX_ITEMS:
                yield (f"{prefix}/…", f"{len(value):,} in all")
        else:
            yield (prefix, self._scalar(value, depth))

    def _scalar(self, value: object, depth: int) -> Value:
        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int):
            return value if abs(value) < 10**300 else "a number beyond all bounds"
        if isinstance(value, str):
            return clean(value[: 2 * MAX_VALUE], MAX_VALUE)
        return clean(self._text(value, depth)[: 2 * MAX_VALUE], MAX_VALUE)

    def _text(self, value: object, depth: int) -> str:
        if isinstance(value, Mapping):
            return "{}" if not value else "{…}"
        if not isinstance(value, list | tuple | set | frozenset):
            return str(value)[:MAX_VALUE]
        if depth >= DEEPEST:
            return "[…]"
        words = []
        for index, item in enumerate(value):
            if index >= MAX_ITEMS or not self._visit():
                words.append(f"… {len(value):,} in all")
                break
            nested = isinstance(item, list | tuple | set | frozenset | Mapping)
            words.append(self._text(item, depth + 1) if nested else value_text(self._scalar(item, depth)))
        return f"[{', '.join(words)}]"


def value_text(value: Value) -> str:
    """A value as it is displayed; a dash for none."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else repr(value).replace("inf", "Infinity")
    return str(value)


def parse_value(text: str) -> Value:
    """The value of a word: a number, true, false, none, or the word itself."""
    word = text.strip()
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if _NUMBER.match(word) and len(word) < 40:
        plain = word.lstrip("+-").isdigit()
        if plain and len(word.lstrip("+-")) > 1 and word.lstrip("+-").startswith("0"):
            return word  # a name made of digits
        return int(word) if plain else float(word)
    return clean(word[: 2 * MAX_VALUE], MAX_VALUE)


def same(one: Value, other: Value) -> bool:
    """Whether two values are equal: formats write 1, 1.0, `1.0` and true for the same value."""
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
    """A JSON object, None if it is none. Parsed by `json`, since settings contain NaN and Infinity."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def parse_yaml(text: str) -> object:
    """A YAML document as plain data; tags of objects are ignored.

    Raises ValueError with one line that says what is wrong, and where.
    """
    import yaml  # 18 ms, only needed for YAML

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
        # Raised by PyYAML's constructors for values that do not have their declared type, such as `!!bool
        # maybe`.
        raise ValueError(f"cannot be read as YAML ({type(error).__name__})") from error
