"""The user's own thresholds as rules. They are judged at every point: a user means points, not a summary."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from rltui.rules.evaluate.rewindable_counter import RewindableCounter
from rltui.rules.evaluate.rule_state import KEPT, Episode, RuleState
from rltui.rules.evaluate.ticks import Floats, Ints, Ticks
from rltui.rules.messages import number
from rltui.rules.model import Applies, Rule

KIND = "own"  # of the rules made here
ROWS = 64  # rows of points on one side that are remembered, for a restart
LEAST_BACK = 3  # points within the limits until it is resolved, where `for` asks for fewer

_WORD = re.compile(r"[^a-z0-9]+")


class _Row(RewindableCounter):
    """Points in a row on one side of the limits; noted of each: its value."""

    __slots__ = ("beyond",)

    def __init__(self, beyond: bool) -> None:
        super().__init__()
        self.beyond = beyond


class UserRuleState(RuleState):
    """One threshold on one series: `for` points in a row beyond the limit fire, as many within it resolve.

    What is found depends only on the order of the points. Costs O(new points).
    """

    __slots__ = ("_high", "_low", "_rows")

    def __init__(self, rule: Rule, track: Ticks) -> None:
        super().__init__(rule, track)
        self._low = rule.numbers.get("below", -np.inf)
        self._high = rule.numbers.get("above", np.inf)
        self._rows: deque[_Row] = deque(maxlen=ROWS)  # the latest, the present one last

    def feed(self, steps: Ints, values: Floats) -> None:
        """Take points in, on the canonical scale. NaN says nothing about a limit; infinity does."""
        usable = ~np.isnan(values)
        if not usable.all():
            steps, values = steps[usable], values[usable]
        if not len(values):
            return
        beyond = (values > self._high) | (values < self._low)
        starts = np.concatenate(([0], np.flatnonzero(beyond[1:] != beyond[:-1]) + 1, [len(values)]))
        for k in range(len(starts) - 1):
            begin, end = int(starts[k]), int(starts[k + 1])
            self._take(bool(beyond[begin]), steps[begin:end], values[begin:end])

    def _take(self, beyond: bool, steps: Ints, values: Floats) -> None:
        """Points that are all on one side."""
        if not self._rows or self._rows[-1].beyond is not beyond:
            self._rows.append(_Row(beyond))
        row = self._rows[-1]
        before = row.count
        row.add(steps, values)
        needed = self.rule.hold if beyond else self.rule.keep
        if beyond:
            if self.episode is None and row.count >= needed:
                fired = int(steps[max(needed - before - 1, 0)])
                nan = np.nan
                self.episode = Episode(row.since_step, nan, nan, nan, 0, 0, firing=True, fired_step=fired)
            if self.episode is not None:
                self._say(self.episode, row)
        elif self.episode is not None and row.count >= needed:
            self.episode.resolved_step = int(steps[needed - before - 1])
            self.past = (*self.past[-(KEPT - 1) :], self.episode)
            self.episode = None

    def _say(self, episode: Episode, row: _Row) -> None:
        """The newest value beyond a limit, and which."""
        episode.value = row.note[0]
        episode.limit = self._high if episode.value > self._high else self._low

    def rewind(self, step: int) -> None:
        """Forget what is at or above a step; what fired before and was over only later goes on."""
        while self._rows and not self._rows[-1].rewind(step):
            self._rows.pop()
        known = [*self.past, *([self.episode] if self.episode is not None else [])]
        known = [each for each in known if each.fired_step < step]
        self.episode = None
        if known and (known[-1].resolved_step is None or known[-1].resolved_step >= step):
            self.episode = known.pop()
            self.episode.resolved_step = None
            for row in reversed(self._rows):
                if row.beyond:
                    self._say(self.episode, row)
                    break
        self.past = tuple(known)


def own_rules(thresholds: Sequence[Any], name: Any) -> list[Rule]:
    """The user's thresholds that concern a tag, with limits on the canonical scale.

    A threshold on a canonical id is on that scale already; one on a tag is as the log writes it.
    """
    found = []
    for place, entry in enumerate(thresholds):
        low, high = entry.below, entry.above
        if name.canonical is None or not matches(entry.metric, name.canonical):
            if not matches(entry.metric, name.tag):
                continue
            low, high = (None if limit is None else limit * name.scale + name.offset for limit in (low, high))
            if name.scale < 0:
                low, high = high, low
        found.append(_rule(entry, own_id(thresholds, place), name, low, high))
    return found


def matches(pattern: str, text: str) -> bool:
    """Whether a name fits; only `*` is special, for tags may hold brackets."""
    if "*" not in pattern:
        return pattern == text
    return fnmatchcase(text, pattern.replace("[", "[[]").replace("?", "[?]"))


def own_id(thresholds: Sequence[Any], place: int) -> str:
    """The id of an entry's rule; entries on one metric are told apart by their number."""
    slugs = [_WORD.sub("-", entry.metric.lower()).strip("-") or "rule" for entry in thresholds[: place + 1]]
    earlier = slugs[:-1].count(slugs[-1])
    return f"own-{slugs[-1]}" + (f"-{earlier + 1}" if earlier else "")


def condition(entry: Any) -> str:
    """`> 0.2`, `< 1 or > 5`, as the user wrote the limits."""
    return " or ".join(
        f"{word} {number(limit)}"
        for word, limit in (("<", entry.below), (">", entry.above))
        if limit is not None
    )


def _rule(entry: Any, name_of_rule: str, name: Any, low: float | None, high: float | None) -> Rule:
    said = condition(entry)
    held = f" for {entry.for_} points" if entry.for_ > 1 else ""
    limits = {"below": low, "above": high}
    return Rule(
        id=name_of_rule,
        metrics=(name.canonical or name.tag,),
        kind=KIND,
        severity=entry.severity,
        numbers={key: limit for key, limit in limits.items() if limit is not None},
        words={},
        title=entry.title or f"own limit: {said}",
        message=entry.message or f"{name.tag} is {{value}}, beyond your limit ({said}{held})",
        advice="A limit of your own configuration.",
        source=entry.where,
        pane=name.metric.pane if name.metric is not None else name.pane,
        hold=max(entry.for_, 1),
        keep=max(entry.for_, LEAST_BACK),
        applies=Applies(held_out=None),
    )
