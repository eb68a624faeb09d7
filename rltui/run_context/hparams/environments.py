"""Environments with known returns, and which of them a run is trained in."""

from __future__ import annotations

import math
import re
from functools import cache

from rltui.common.named_tuple import NamedTuple
from rltui.schema.toml_files import read_table


class KnownEnvironment(NamedTuple):
    """Returns of episodes in an environment, and steps of it; see `rltui/data/environments.toml`."""

    id: str
    random: float  # mean return of random actions
    good: float  # return that agents reach which learn
    steps: float  # by which they do
    length: float = 1.0  # mean steps of an episode of random actions, at least
    lowest: float = -math.inf  # bounds of a return
    highest: float = math.inf
    registered: str = ""  # id that a name without a version stands for

    def part(self, value: float) -> float:
        """Which part of the way from random to good a return has come: 0 at random, 1 at good."""
        return (value - self.random) / (self.good - self.random)


class Environments(NamedTuple):
    """`rltui/data/environments.toml`."""

    environments: tuple[KnownEnvironment, ...]
    hparams: tuple[str, ...]  # that name the environment of a run, the first that it has


@cache
def _environments() -> Environments:
    return read_table("environments", Environments)


def environment_hparams() -> tuple[str, ...]:
    """The settings that name the environment of a run, the most telling first."""
    return _environments().hparams


@cache
def _by_id() -> dict[str, KnownEnvironment]:
    return {each.id.lower(): each for each in _environments().environments}


@cache
def id_expression() -> str:
    """A regular expression for the id of a known environment with its version, in two groups.

    Environments of other packages have such names with something in front (`Isaac-Ant-v0`).
    """
    names = {re.sub(r"-v\d+$", "", each.id) for each in _by_id().values()}
    known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    variant = "(?:-ram)?(?:NoFrameskip|Deterministic)?"
    return rf"(?i:(?<![a-z0-9])(?<!isaac-)({known}){variant}-(v\d+)(?![0-9a-z]))"


@cache
def _id_pattern() -> re.Pattern[str]:
    return re.compile(id_expression())


def environment_in(text: str) -> KnownEnvironment | None:
    """The only known environment that a setting or the name of a run names; None without, or of several."""
    if "-v" not in text.lower():  # compiling the expression takes 1 ms
        return None
    found = {_of(name, version) for name, version in _id_pattern().findall(text)}
    return found.pop() if len(found) == 1 else None


def _of(name: str, version: str) -> KnownEnvironment | None:
    known, name = _by_id(), name.lower()
    return known.get(f"{name}-{version.lower()}") or known.get(name)


@cache
def _names_pattern() -> re.Pattern[str]:
    names = sorted((each.split("-")[0] for each in _registered()), key=len, reverse=True)
    return re.compile(rf"(?<![A-Za-z0-9])({'|'.join(names)})(?![A-Za-z0-9])")


@cache
def _registered() -> tuple[str, ...]:
    return tuple(each.registered for each in _by_id().values() if each.registered)


def registered_id(name: str) -> str | None:
    """The id of the only environment that the name of a run or a folder contains without its version."""
    found = set(_names_pattern().findall(name))
    if len(found) != 1:
        return None
    (plain,) = found
    return next(each for each in _registered() if each.split("-")[0] == plain)
