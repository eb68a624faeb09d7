"""A configuration as the program sees it; every field has the default that holds when nothing is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeVar

from rltui.batch import Problem

Range = tuple[float, float]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Threshold:
    """A user's own rule: a metric beyond a limit for a number of points.

    `metric` is a canonical id or a tag, `*` allowed. The limit is on the canonical scale for an id, as
    written for a tag.
    """

    metric: str
    above: float | None = None
    below: float | None = None
    hold: int = 1  # `for`: points in a row
    severity: Literal["info", "warning", "critical"] = "warning"
    message: str = ""
    title: str = ""
    where: str = ""  # file and entry, for messages


@dataclass(frozen=True, slots=True)
class Environment:
    """What an environment declares: the scale of charts, nothing else."""

    reward: tuple[float | None, float | None] = (None, None)  # reward_min, reward_max
    ranges: Mapping[str, Range] = field(default_factory=dict)  # sample metric -> low, high


@dataclass(frozen=True, slots=True)
class OwnPane:
    """A pane of the user's making, or more metrics for a known one."""

    id: str
    title: str = ""
    metrics: tuple[str, ...] = ()  # canonical ids or tags, `*` allowed


@dataclass(frozen=True, slots=True)
class Config:
    """What the user says and wants."""

    # display: also from rltui.toml beside the logs
    metrics: tuple[Mapping[str, Any], ...] = ()  # glossary entries, plus `pane` and `aliases`
    aliases: Mapping[str, Any] = field(default_factory=dict)  # pattern -> canonical id or entry
    panes: Mapping[str, OwnPane] = field(default_factory=dict)
    thresholds: tuple[Threshold, ...] = ()
    metrics_ranges: Mapping[str, Range] = field(default_factory=dict)  # canonical id or tag -> low, high
    environments: Mapping[str, Environment] = field(default_factory=dict)
    frameworks: Mapping[str, str] = field(default_factory=dict)  # run glob -> framework
    total_steps: Mapping[str, int] = field(default_factory=dict)  # run glob -> planned steps

    # the user's own file only
    theme: str | None = None
    smoothing: float | None = None  # weight of the past in a moving average, 0 to 0.999
    poll: float | None = None  # seconds
    pane: str | None = None  # to open on
    ascii: bool | None = None
    color: bool | None = None
    mouse: bool | None = None
    keys: Mapping[str, Any] = field(default_factory=dict)  # action -> key or keys
    alerts: Mapping[str, Any] = field(default_factory=dict)

    files: tuple[str, ...] = ()  # that were read
    problems: tuple[Problem, ...] = ()

    def framework_of(self, run: str) -> str | None:
        """The framework that the user says wrote this run."""
        return _first(self.frameworks, run)

    def total_of(self, run: str) -> int | None:
        """The number of steps that the user says are planned for this run."""
        return _first(self.total_steps, run)


def _first(table: Mapping[str, T], name: str) -> T | None:
    if name in table:
        return table[name]
    return next((value for glob, value in table.items() if fnmatchcase(name, glob)), None)
