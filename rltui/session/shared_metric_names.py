"""What the runs of a session have in common: who writes such tags, what they mean, which rules apply to them.

Runs of one project log the same tags. What is found out about them is found out once.
"""

from __future__ import annotations

from collections.abc import Iterable

from rltui.config import Config
from rltui.metrics import FrameworkMatch, MetricNames, recognise
from rltui.rules.evaluate.rule_selection import RuleSelection

KEPT = 64  # sets of tags whose writer is remembered, the newest


class SharedNames:
    """What is known under one configuration. Nothing in it is about a single run."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._recognised: dict[tuple[str | None, tuple[str, ...]], FrameworkMatch] = {}
        self._names: dict[str, MetricNames] = {}
        self._selections: dict[str, RuleSelection] = {}

    def recognise(self, tags: Iterable[str], run: str) -> FrameworkMatch:
        """Who wrote a run with these tags, if the configuration does not say it."""
        key = (self.config.framework_of(run), tuple(tags))
        found = self._recognised.pop(key, None)
        if found is None:
            found = recognise(key[1], override=key[0])
        self._recognised[key] = found
        if len(self._recognised) > KEPT:
            del self._recognised[next(iter(self._recognised))]
        return found

    def names(self, label: str) -> MetricNames:
        """What tags mean in a run of this framework (`trl-grpo`, `unknown`)."""
        found = self._names.get(label)
        if found is None:
            found = self._names[label] = MetricNames(label, self.config)
        return found

    def selection(self, label: str) -> RuleSelection:
        """Which rules apply to which tags of such a run."""
        found = self._selections.get(label)
        if found is None:
            found = self._selections[label] = RuleSelection(self.names(label), self.config)
        return found
