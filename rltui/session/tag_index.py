"""An index of the tags of a run: by pane, by canonical id, by distribution."""

from __future__ import annotations

from collections.abc import Iterable

from rltui.metrics.metric_name import MetricName
from rltui.metrics.resolve import MetricNames

Group = tuple[str, str, str, bool, bool]  # pane, group, what a wildcard matched, held out, computed
Quantity = tuple[str, bool, str, bool]  # canonical id, held out, what a wildcard matched, computed


class TagIndex:
    """Tags in their order, computed ones and copies last. `guessed`: those whose pane is a guess.

    A copy of a series at other steps is of its metric only where the run does not have the series itself.
    """

    def __init__(self, tags: Iterable[str], names: MetricNames) -> None:
        self.names = names
        self.tags = dict.fromkeys(tags)
        self.panes: dict[str, list[str]] = {}
        self.canonical: dict[str, list[str]] = {}
        self.guessed: set[str] = set()
        self._groups: dict[Group, list[str]] = {}
        self._quantities: dict[Quantity, list[str]] = {}
        for tag in sorted(self.tags, key=lambda each: (names.name(each).computed, names.name(each).is_copy)):
            name = names.name(tag)
            self.panes.setdefault(name.pane, []).append(tag)
            quantity = (name.canonical or "", name.held_out, name.part, name.computed)
            if name.canonical is not None and not (name.is_copy and quantity in self._quantities):
                self.canonical.setdefault(name.canonical, []).append(tag)
                self._quantities.setdefault(quantity, []).append(tag)
            if name.group:
                group = (name.pane, name.group, name.part, name.held_out, name.computed)
                self._groups.setdefault(group, []).append(tag)
            if name.guessed:
                self.guessed.add(tag)

    def distribution_of(self, tag: str) -> list[str]:
        """The tags of the same distribution (mean, min, max, ...), itself among them."""
        name = self.names.name(tag)
        key = (name.pane, name.group, name.part, name.held_out, name.computed)
        return self._groups.get(key, [tag])

    def keys_of(self, canonical: Iterable[str]) -> tuple[str, ...]:
        """The keys under which the run writes metrics, without those that are missing."""
        return tuple(tags[0] for name in canonical if (tags := self.canonical.get(name)))

    def counterpart(self, tag: str, other: TagIndex) -> str | None:
        """The tag of another run that is the same metric: the same key, else the same quantity.

        A quantity that a run writes under several keys has no counterpart: it would be ambiguous.
        """
        if tag in other.tags:
            return tag
        name = self.names.name(tag)
        if name.canonical is None:
            return None
        key = (name.canonical, name.held_out, name.part, name.computed)
        own, others = self._quantities.get(key, []), other._quantities.get(key, [])
        return others[0] if len(own) == len(others) == 1 else None

    def first_like(self, name: MetricName) -> str | None:
        """The first tag of the same quantity as a name of another run; None without one."""
        if name.canonical is None:
            return None
        key = (name.canonical, name.held_out, name.part, name.computed)
        return next(iter(self._quantities.get(key, ())), None)
