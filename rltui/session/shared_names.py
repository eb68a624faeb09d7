"""What the runs of a session have in common: who writes such tags, what they mean, which rules judge them.

Runs of one project log the same tags. What is found out about them is found out once.
"""

from __future__ import annotations

from collections.abc import Iterable

from rltui.config import Config
from rltui.metrics import Names, Recognition, recognise
from rltui.rules.evaluate.rule_selection import Selection

KEPT = 64  # sets of tags whose writer is remembered, the newest


class Knowledge:
    """What is known under one configuration. Nothing in it is about a single run."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._recognised: dict[tuple[str | None, tuple[str, ...]], Recognition] = {}
        self._names: dict[str, Names] = {}
        self._selections: dict[str, Selection] = {}

    def recognise(self, tags: Iterable[str], run: str) -> Recognition:
        """Who wrote a run with these tags, if the configuration does not say it."""
        key = (self.config.framework_of(run), tuple(tags))
        found = self._recognised.pop(key, None)
        if found is None:
            found = recognise(key[1], override=key[0])
        self._recognised[key] = found
        if len(self._recognised) > KEPT:
            del self._recognised[next(iter(self._recognised))]
        return found

    def names(self, label: str) -> Names:
        """What tags mean in a run of this framework (`trl-grpo`, `unknown`)."""
        found = self._names.get(label)
        if found is None:
            found = self._names[label] = Names(label, self.config)
        return found

    def selection(self, label: str) -> Selection:
        """Which rules judge which tags of such a run."""
        found = self._selections.get(label)
        if found is None:
            found = self._selections[label] = Selection(self.names(label), self.config)
        return found
