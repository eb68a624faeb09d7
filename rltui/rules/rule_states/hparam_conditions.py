"""Hyperparameters beyond the limits of rules: in entries, and in the bytes of files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from rltui.common.named_tuple import NamedTuple
from rltui.rules.rule import HParamCondition
from rltui.rules.rulebook import Rulebook
from rltui.run_context.hparams.environments import (
    environment_hparams,
    environment_in,
    id_expression,
    registered_id,
)
from rltui.run_context.hparams.hparams import HParam, find_hparam
from rltui.run_context.hparams.known_hparams import known_hparams, names_of_hparam, plain_key

ENVIRONMENT = "environment"  # in place of the id of a condition: the setting that names a known environment


def hparams_beyond_limits(book: Rulebook, entries: Mapping[str, HParam]) -> dict[str, HParam]:
    """The hyperparameters beyond the limits of a condition, by the id of the condition; and `ENVIRONMENT`."""
    found: dict[str, HParam] = {}
    entries = {key: entry for key, entry in entries.items() if _of_training(key)}
    for each in _conditions(book) if entries else ():
        entry = find_hparam(entries, each.name)
        value = _number(entry)
        if entry is None or value is None:
            continue
        if each.of:
            whole = _number(find_hparam(entries, each.of))
            if whole is None or whole <= 0:
                continue
            value /= whole
        if each.beyond(value):
            found[each.id] = entry
    for name in environment_hparams():
        entry = find_hparam(entries, name)
        if entry is not None and environment_in(entry.text) is not None:
            found[ENVIRONMENT] = entry
            break
    return found


def environment_of_name(name: str) -> HParam | None:
    """What stands for a setting where the name of a run or of a folder contains a known environment."""
    if environment_in(name) is not None:
        return HParam("name", name, "")
    registered = registered_id(name)
    return HParam("name", registered, "") if registered is not None else None


def not_logged(
    book: Rulebook, nearby: Mapping[str, HParam], logged: Mapping[str, HParam]
) -> dict[str, HParam]:
    """Those of files near the logs that the log itself says nothing of, as `hparams_beyond_limits`."""
    return {
        name: entry
        for name, entry in nearby.items()
        if name == ENVIRONMENT
        or (
            isinstance(condition := book.joint_conditions.get(name), HParamCondition)
            and find_hparam(logged, condition.name) is None
        )
    }


class BytesTest(NamedTuple):
    """Whether a file may have a hyperparameter beyond a limit: most have none, and parsing takes 10 ms.

    In YAML, JSON and Python, `name: 0`, `"name": 0` or a list of pairs; a value may be below a key `value`.
    """

    pattern: re.Pattern[bytes]
    conditions: Mapping[bytes, tuple[HParamCondition, ...]]  # by the names of their settings

    def __call__(self, data: bytes) -> bool:
        """Whether it may."""
        for found in self.pattern.finditer(data):
            value, conditions = float(found[2]), self.conditions[found[1].lower()]
            if any(value > 0 if each.of else each.beyond(value) for each in conditions):
                return True
        return False


def environment_in_file(data: bytes) -> HParam | None:
    """The setting of a file that names a known environment, found without parsing the file."""
    found = _environment_pattern().search(data)
    if found is None:
        return None
    key, value = found[1].decode(), f"{found[2].decode()}-{found[3].decode()}"
    return HParam(key, value, "") if environment_in(value) is not None else None


@cache
def _environment_pattern() -> re.Pattern[bytes]:
    names = "|".join(key for name in environment_hparams() for key in names_of_hparam(name))
    return re.compile(
        rb"(?i:\b(%s))%s(?:[\w.]+/)?%s" % (names.encode(), _SEPARATOR, id_expression().encode())
    )


_SEPARATOR = rb"""["']?\s*(?:[:=]|\n\s*-)\s*(?:\{?\s*["']?value["']?\s*:\s*)?["']?"""
_NUMBER = rb"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)"


def bytes_test(book: Rulebook) -> BytesTest:
    """The test for the conditions of these rules."""
    named: dict[bytes, tuple[HParamCondition, ...]] = {}
    for each in _conditions(book):
        for name in names_of_hparam(each.name):
            key = name.encode()
            named[key] = (*named.get(key, ()), each)
    names = b"|".join(map(re.escape, sorted(named, key=len, reverse=True)))
    return BytesTest(re.compile(rb"(?i)\b(%s)%s%s" % (names, _SEPARATOR, _NUMBER)), named)


def _conditions(book: Rulebook) -> Iterator[HParamCondition]:
    return (each for each in book.joint_conditions.values() if isinstance(each, HParamCondition))


@lru_cache(maxsize=8192)
def _of_training(key: str) -> bool:
    """Whether a key is none of a schedule, an evaluation or another model, which have such names, too."""
    others = {*known_hparams().other_models, *known_hparams().other_purposes}
    return others.isdisjoint(plain_key(key).split("/")[:-1])


def _number(entry: HParam | None) -> float | None:
    """Its value; None if it is no number."""
    if entry is None or isinstance(entry.value, bool | str | None):
        return None
    return float(entry.value)
