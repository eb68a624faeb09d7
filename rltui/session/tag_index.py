"""An index of the tags of a run: by pane, by canonical id, by distribution."""

from __future__ import annotations

from collections.abc import Iterable

from rltui.metrics.metric_name import MetricName
from rltui.metrics.resolve import MetricNames

Group = tuple[str, str, str, bool, bool]  # pane, group, what a wildcard matched, held out, computed
Quantity = tuple[str, bool, str, bool]  # canonical id, held out, what a wildcard matched, computed


def group_of(name: MetricName) -> Group:
    """The distribution that a tag is a statistic of, if its name has a group."""
    return (name.pane, name.group, name.part, name.held_out, name.computed)


def quantity_of(name: MetricName) -> Quantity:
    """What a tag measures, without its canonical id if that is not known."""
    return (name.canonical or "", name.held_out, name.part, name.computed)


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
            quantity = quantity_of(name)
            if name.canonical is not None and not (name.is_copy and quantity in self._quantities):
                self.canonical.setdefault(name.canonical, []).append(tag)
                self._quantities.setdefault(quantity, []).append(tag)
            if name.group:
                self._groups.setdefault(group_of(name), []).append(tag)
            if name.guessed:
                self.guessed.add(tag)

    def distribution_of(self, tag: str) -> list[str]:
        """The tags of the same distribution (mean, min, max, ...), itself among them."""
        return self._groups.get(group_of(self.names.name(tag)), [tag])

    def keys_of(self, canonical: Iterable[str]) -> tuple[str, ...]:
        """The keys under which the run writes metrics, without those that are missing."""
        return tuple(tags[0] for name in canonical if (tags := self.canonical.get(name)))

    def counterpart(self, tag: str, other: TagIndex) -> str | None:
        """The tag of another run that is the same metric: the same key, else the same quantity.

        A quantity that a run writes under several keys has no counterpart: it would be ambiguous.
        """
        if tag in other.tags:
            return tag
        key = quantity_of(self.names.name(tag))
        own, others = self._quantities.get(key, []), other._quantities.get(key, [])
        return others[0] if len(own) == len(others) == 1 else None

    def first_like(self, name: MetricName) -> str | None:
        """The first tag of the same quantity as a name of another run; None without one."""
        return next(iter(self._quantities.get(quantity_of(name), ())), None)
