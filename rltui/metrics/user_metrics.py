"""Metrics, aliases, panes and ranges from the user's configuration."""

from __future__ import annotations

from fnmatch import fnmatchcase

from rltui.common.problem import Problem
from rltui.config import Config
from rltui.metrics.catalogue import Catalogue
from rltui.metrics.frameworks.framework import Resolved
from rltui.metrics.frameworks.framework_schema import expand_names
from rltui.metrics.frameworks.patterns import Matcher
from rltui.schema.fields import KeyPath, dotted_key
from rltui.schema.metric import Metric, NameTarget

_REWARD = ("reward.", "validation.reward.", "validation.return.")
_REWARD_UNITS = ("score", "return")
_SPREADS = ("std", "var")


def _is_on_reward_scale(metric: Metric | None) -> bool:
    """Whether a metric is a mean or an extreme of the reward."""
    return (
        metric is not None
        and metric.id.startswith(_REWARD)
        and metric.unit in _REWARD_UNITS
        and not metric.id.endswith(_SPREADS)
    )


class UserMetrics:
    """Look-ups in the user's configuration."""

    def __init__(self, config: Config, shipped: Catalogue) -> None:
        self._config = config
        self._shipped = shipped.metrics
        self._path = config.files[0] if config.files else "configuration"  # for problems
        self._problems: list[Problem] = []
        self._metrics = {
            each.metric.id: each.metric._replace(importance=number)
            for number, each in enumerate(config.metrics, 1)
        }
        self.pane_titles = {id_: pane.title for id_, pane in config.panes.items() if pane.title}
        self._panes = [(glob, id_) for id_, pane in config.panes.items() for glob in pane.metrics]
        self._no_ranges = not config.metrics_ranges and not config.environments
        entries: dict[str, NameTarget] = {}
        for each in config.metrics:
            names = dict.fromkeys(each.aliases, each.metric.id)
            entries |= expand_names(names, ("metrics", each.metric.id, "aliases"), self._fault)
        entries |= expand_names(config.aliases, ("aliases",), self._fault)
        for name in [name for name, entry in entries.items() if self.metric(entry.canonical) is None]:
            canonical = entries.pop(name).canonical
            from difflib import get_close_matches  # only needed for a mistake

            near = get_close_matches(canonical, [*self._metrics, *self._shipped], 3)
            hint = f"; nearest: {', '.join(near)}" if near else ""
            self._fault(("aliases", name), f"leads to no metric: {canonical}{hint}")
        self._matcher = Matcher(entries) if entries else None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of names."""
        return tuple(self._problems)

    def _fault(self, path: KeyPath, message: str) -> None:
        number = len(self._problems)  # a distinct offset, since path and code are equal
        self._problems.append(Problem("error", "config", self._path, f"{dotted_key(path)} {message}", number))

    def find(self, tag: str) -> Resolved | None:
        """The configured meaning of a tag."""
        if self._matcher is None:
            return None
        entry = self._matcher.exact(tag)
        if entry is not None:
            return Resolved(entry, tag, "", False)
        found = self._matcher.wild(tag)
        return None if found is None else Resolved(found.target, found.pattern, found.part, False)

    def metric(self, canonical: str) -> Metric | None:
        """A metric of the configuration or the glossary."""
        return self._metrics.get(canonical) or self._shipped.get(canonical)

    def pane_of(self, tag: str, canonical: str | None) -> str | None:
        """The configured pane of a metric."""
        for glob, pane in self._panes:
            if glob in (tag, canonical) or fnmatchcase(tag, glob) or fnmatchcase(canonical or "", glob):
                return pane
        return None

    def range_of(self, tag: str, canonical: str | None, part: str = "") -> tuple[float, float] | None:
        """The configured range of a tag: by name, then by environment, then by canonical id."""
        if self._no_ranges:
            return self._metrics[canonical].range if canonical in self._metrics else None
        ranges = self._config.metrics_ranges
        if tag in ranges:
            return ranges[tag]
        names = {tag, *tag.split("/"), canonical, *part.split(" ")}
        for environment_name, environment in self._config.environments.items():
            if not _is_of_environment(tag, environment_name):
                continue
            for name, declared in environment.metrics_ranges.items():
                if name in names:
                    return declared
            low, high = environment.reward_min, environment.reward_max
            on_scale = _is_on_reward_scale(self.metric(canonical or ""))
            if on_scale and low is not None and high is not None and low < high:
                return (low, high)
        if canonical is None:
            return None
        own = self._metrics.get(canonical)
        return ranges.get(canonical) or (own.range if own is not None else None)


def _is_of_environment(tag: str, environment: str) -> bool:
    """Whether the environment's name is a part of the tag, or `*`."""
    return environment == "*" or f"/{environment}/" in f"/{tag}/" or f"_{environment}_" in f"_{tag}_"
