"""Names shared by the runs of a session: the framework of a set of tags, their metrics, their rules.

Runs of one project log the same tags, for which all this is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from rltui.config import Config
from rltui.metrics.frameworks.recognise import FrameworkMatch, recognise
from rltui.metrics.resolve import MetricNames
from rltui.rules.rule_states.rule_selection import RuleSelection
from rltui.session.tag_index import TagIndex

MAX_REMEMBERED = 64  # sets of tags, those used last

K = TypeVar("K")
V = TypeVar("V")


class SharedNames:
    """Shared names under one configuration. They do not depend on a single run."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._recognised: dict[tuple[str | None, tuple[str, ...]], FrameworkMatch] = {}
        self._names: dict[str, MetricNames] = {}
        self._selections: dict[str, RuleSelection] = {}
        self._indexes: dict[tuple[str, tuple[str, ...]], TagIndex] = {}

    def recognise(self, tags: Iterable[str], run: str) -> FrameworkMatch:
        """The framework of a run with these tags, unless the configuration names it."""
        key = (self.config.framework_of(run), tuple(tags))
        return _remembered(self._recognised, key, lambda: recognise(key[1], override=key[0]))

    def tag_index(self, tags: Iterable[str], label: str) -> TagIndex:
        """The index of these tags in a run of this framework."""
        key = (label, tuple(tags))
        return _remembered(self._indexes, key, lambda: TagIndex(key[1], self.names(label)))

    def names(self, label: str) -> MetricNames:
        """The names of tags in a run of this framework (`trl-grpo`, `unknown`)."""
        found = self._names.get(label)
        if found is None:
            found = self._names[label] = MetricNames(label, self.config)
        return found

    def selection(self, label: str) -> RuleSelection:
        """The rules that apply to the tags of such a run."""
        found = self._selections.get(label)
        if found is None:
            found = self._selections[label] = RuleSelection(self.names(label), self.config)
        return found


def _remembered(known: dict[K, V], key: K, make: Callable[[], V]) -> V:
    """The value under a key, made if it is missing; the key used longest ago is dropped."""
    found = known.pop(key, None)
    if found is None:
        found = make()
    known[key] = found
    if len(known) > MAX_REMEMBERED:
        del known[next(iter(known))]
    return found
