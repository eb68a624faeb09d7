"""Names shared by the runs of a session: the framework of a set of tags, their metrics, their rules.

Runs of one project log the same tags, for which all this is computed once.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from rltui.config import Config
from rltui.metrics.frameworks.recognise import FrameworkMatch, recognise
from rltui.metrics.resolve import MetricNames
from rltui.rules.rule_states.rule_selection import RuleSelection
from rltui.session.tag_index import TagIndex

MAX_REMEMBERED = 64  # sets of tags, those used last


class SharedNames:
    """Shared names under one configuration. They do not depend on a single run."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._names = cache(lambda label: MetricNames(label, config))
        self._selections = cache(lambda label: RuleSelection(self.names(label), config))
        self._recognised = lru_cache(MAX_REMEMBERED)(recognise)
        self._indexes = lru_cache(MAX_REMEMBERED)(lambda tags, label: TagIndex(tags, self.names(label)))

    def recognise(self, tags: Iterable[str], run: str) -> FrameworkMatch:
        """The framework of a run with these tags, unless the configuration names it."""
        return self._recognised(tuple(tags), self.config.framework_of(run))

    def tag_index(self, tags: Iterable[str], label: str) -> TagIndex:
        """The index of these tags in a run of this framework."""
        return self._indexes(tuple(tags), label)

    def names(self, label: str) -> MetricNames:
        """The names of tags in a run of this framework (`trl-grpo`, `unknown`)."""
        return self._names(label)

    def selection(self, label: str) -> RuleSelection:
        """The rules that apply to the tags of such a run."""
        return self._selections(label)
