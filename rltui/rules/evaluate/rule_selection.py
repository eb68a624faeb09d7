"""Which rules judge which tag: found once for all runs whose names mean the same.

A run that logs what another logs needs nothing of this anew: a judge holds only the state of its rules.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from rltui.rules.load import Rulebook, rulebook
from rltui.rules.model import Rule
from rltui.rules.run_state.data_quality import hard_limits
from rltui.rules.run_state.step_time import CARRIERS, METRIC, TIMED
from rltui.rules.user_rules import own_rules


class RulePlan(NamedTuple):
    """How a tag is judged, in every run."""

    tag: str
    canonical: str | None
    held_out: bool
    scale: float
    offset: float
    bounds: tuple[float, float] | None  # what the metric can be
    limits: tuple[float, float] | None  # the same, with room for rounding
    beat: int  # which of four ticks this series is looked at
    rules: tuple[Rule, ...] = ()
    own: tuple[Rule, ...] = ()  # the user's own limits
    above: tuple[Rule, ...] = ()  # rules of quotients whose numerator it may be
    below: tuple[Rule, ...] = ()  # and whose denominator
    timed: bool = False  # the writer times its steps itself
    carries: bool = False  # its times are those of the updates


def beat_of(word: str) -> int:
    """0 to 3: a series' own beat, so that not all are looked at in the same tick."""
    return zlib.crc32(word.encode("utf-8", "replace")) & 3


class RuleSelection:
    """The rules by tag, for names of one framework and one configuration."""

    def __init__(self, names: Any, config: Any = None, book: Rulebook | None = None) -> None:
        """`names.name(tag)` tells canonical, held_out, scale and offset of a tag; see `metrics.Name`."""
        self.book = book if book is not None else rulebook()
        self._names = names
        self._own: Sequence[Any] = tuple(getattr(config, "thresholds", ()))
        self._framework: str | None = getattr(names, "label", None)
        self._by_metric: dict[str, list[Rule]] = {}
        self._per: dict[str, list[Rule]] = {}  # rules by the metric below the line
        for rule in self.book.rules.values():
            for metric in rule.metrics:
                self._by_metric.setdefault(metric, []).append(rule)
            if rule.per:
                self._per.setdefault(rule.per, []).append(rule)
        self.pace_rules = tuple(self._by_metric.get(METRIC, ()))
        self._plans: dict[str, RulePlan] = {}

    def of(self, tag: str) -> RulePlan:
        """How a tag is judged; the same tag gives the same object."""
        plan = self._plans.get(tag)
        if plan is None:
            plan = self._plans[tag] = self._make(tag)
        return plan

    def _make(self, tag: str) -> RulePlan:
        name = self._names.name(tag)
        canonical, held_out = name.canonical, name.held_out
        bounds = getattr(getattr(name, "metric", None), "bounds", None)
        limits = None if bounds is None else hard_limits(bounds)
        beat = beat_of(tag)
        own = tuple(own_rules(self._own, name)) if self._own else ()
        if canonical is None or not getattr(name, "main", True):
            return RulePlan(tag, canonical, held_out, name.scale, name.offset, bounds, limits, beat, own=own)
        comparable = getattr(name, "comparable", True)
        rules = [
            rule
            for rule in self._by_metric.get(canonical, ())
            if rule.applies.to(self._framework, tag, held_out, canonical, comparable)
        ]
        return RulePlan(
            tag, canonical, held_out, name.scale, name.offset, bounds, limits, beat,
            rules=tuple(rule for rule in rules if not rule.per),
            own=own,
            above=tuple(rule for rule in rules if rule.per),
            below=tuple(self._per.get(canonical, ())),
            timed=canonical in TIMED,
            carries=canonical in CARRIERS and not held_out,
        )  # fmt: skip
