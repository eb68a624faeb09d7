"""Kinds of training, and what of each is looked at first: `rltui/data/scenarios.toml`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from rltui.data.fields import ListField, table_of
from rltui.data.metric import METRIC_ID
from rltui.data.toml_files import read_table


class MetricGroup(NamedTuple):
    """What says one thing about a training, in order."""

    name: str
    metrics: tuple[str, ...]  # canonical ids


class Scenario(NamedTuple):
    """A kind of training, how it is told, and what to look at first."""

    id: str
    title: str
    groups: tuple[MetricGroup, ...]
    any: tuple[str, ...] = ()  # canonical ids, one of which must be there
    none: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    source: str = ""


class Scenarios(NamedTuple):
    """The file: the first that fits is taken, and the last one asks for nothing."""

    scenario: tuple[Scenario, ...]


@cache
def scenarios() -> tuple[Scenario, ...]:
    """All of them, in order."""
    ids = ListField(METRIC_ID)
    group = table_of(MetricGroup, metrics=ids)
    scenario = table_of(Scenario, groups=ListField(group), any=ids, none=ids)
    return read_table("scenarios", table_of(Scenarios, scenario=ListField(scenario))).scenario


def scenario_of(canonical: Iterable[str | None], framework: str | None = None) -> Scenario:
    """The first scenario whose signs are among the canonical ids of a run."""
    present = {name for name in canonical if name}

    def fits(one: Scenario) -> bool:
        return (
            (not one.frameworks or framework in one.frameworks)
            and (not one.any or not present.isdisjoint(one.any))
            and present.isdisjoint(one.none)
        )

    *known, other = scenarios()
    return next(filter(fits, known), other)
