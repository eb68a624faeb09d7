"""What the user's configuration says of names: metrics, aliases, panes, ranges."""

from __future__ import annotations

import difflib
from fnmatch import fnmatchcase

from rltui.batch import Problem
from rltui.config import Config
from rltui.metrics.catalogue import Catalogue
from rltui.metrics.frameworks.load import entry_of
from rltui.metrics.frameworks.model import Entry, Resolved
from rltui.metrics.frameworks.patterns import Matcher, wild_text
from rltui.metrics.frameworks.schema import Raw, entries
from rltui.metrics.glossary.load import metric_row
from rltui.metrics.glossary.model import Metric
from rltui.text import clean

_REWARD = ("reward.", "validation.reward.", "validation.return.")
_SPREAD = (".std", ".var", "_std", "gini", "fraction", "rate", "accuracy", "count", "coef")


def _is_reward(canonical: str | None) -> bool:
    """Whether a metric is on the scale of the reward: its mean and extremes, not its spread or a share."""
    return (
        canonical is not None
        and canonical.startswith(_REWARD)
        and not any(word in canonical for word in _SPREAD)
    )


class UserMetrics:
    """The user's own knowledge, ready for look-ups."""

    def __init__(self, config: Config, shipped: Catalogue) -> None:
        self._config = config
        self._shipped = shipped.metrics
        self._shown = config.files[0] if config.files else "configuration"
        self._problems: list[Problem] = []
        self._metrics: dict[str, Metric] = {}
        self.pane_titles = {pane.id: pane.title for pane in config.panes.values() if pane.title}
        self._panes = [(glob, pane.id) for pane in config.panes.values() for glob in pane.metrics]
        raws: dict[str, Raw] = {}
        for table in config.metrics:
            raws |= self._take_metric(dict(table))
        raws |= entries(dict(config.aliases), "aliases", self._fault) if config.aliases else {}
        self._entries: list[Entry] = []
        names = []
        for name, raw in raws.items():
            entry = entry_of(raw)
            if self.metric(entry.canonical) is None:
                near = difflib.get_close_matches(entry.canonical, [*self._metrics, *self._shipped], 3)
                hint = f"; nearest: {', '.join(near)}" if near else ""
                self._fault(f'aliases "{clean(name, 80)}" leads to no metric: {entry.canonical}{hint}')
                continue
            names.append(name)
            self._entries.append(entry)
        self._names = names
        self._no_ranges = not config.metrics_ranges and not config.environments
        self._matcher = Matcher(names) if names else None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with it, all at once."""
        return tuple(self._problems)

    def _fault(self, message: str) -> None:
        self._problems.append(Problem("error", "config", self._shown, message, len(self._problems)))

    def _take_metric(self, table: dict[str, object]) -> dict[str, Raw]:
        aliases = table.pop("aliases", [])
        pane = str(table.pop("pane", "other"))
        full = {"unit": "varies", "direction": "none", "meaning": table["title"], **table}
        full = {key: list(value) if isinstance(value, tuple) else value for key, value in full.items()}
        metric = metric_row(full, pane, 1 + len(self._metrics), self._shown, self._problems)
        if metric is None:
            return {}
        self._metrics[metric.id] = metric
        named = {str(name): metric.id for name in aliases} if isinstance(aliases, tuple) else {}
        return entries(named, f"metrics {metric.id} aliases", self._fault)

    def find(self, tag: str) -> Resolved | None:
        """What the user says a tag means."""
        if self._matcher is None:
            return None
        place, part = self._matcher.exact(tag), ""
        if place is None:
            found = self._matcher.wild(tag)
            if found is None:
                return None
            place, part = found.place, wild_text(found.pattern, found.wild)
        return Resolved(self._entries[place], self._names[place], part, False)

    def metric(self, canonical: str) -> Metric | None:
        """A metric of the user's making or of the glossary."""
        return self._metrics.get(canonical) or self._shipped.get(canonical)

    def pane_of(self, tag: str, canonical: str | None) -> str | None:
        """The pane that the user wants a metric in."""
        for glob, pane in self._panes:
            if glob in (tag, canonical) or fnmatchcase(tag, glob) or fnmatchcase(canonical or "", glob):
                return pane
        return None

    def range_of(self, tag: str, canonical: str | None, part: str = "") -> tuple[float, float] | None:
        """The declared range of a tag: by name, then by environment, then by canonical id."""
        if self._no_ranges:
            return self._metrics[canonical].range if canonical in self._metrics else None
        ranges = self._config.metrics_ranges
        if tag in ranges:
            return ranges[tag]
        words = {tag.rsplit("/", 1)[-1], canonical, *part.split(" ")}
        for name, environment in self._config.environments.items():
            if not self._within(name, tag):
                continue
            for metric, declared in environment.ranges.items():
                if metric in words or metric == tag or metric in tag.split("/"):
                    return declared
            low, high = environment.reward
            if low is not None and high is not None and low < high and _is_reward(canonical):
                return (low, high)
        if canonical is None:
            return None
        own = self._metrics.get(canonical)
        return ranges.get(canonical) or (own.range if own is not None else None)

    @staticmethod
    def _within(environment: str, tag: str) -> bool:
        """Whether a tag is of an environment: its name is a part of the tag, or it is `*`."""
        return environment == "*" or f"/{environment}/" in f"/{tag}/" or f"_{environment}_" in f"_{tag}_"
