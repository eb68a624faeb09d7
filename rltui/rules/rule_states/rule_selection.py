"""Which rules apply to which tag. Shared by all runs of one framework; evaluators only hold states."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain

from rltui.common.named_tuple import NamedTuple
from rltui.config import Config
from rltui.metrics.resolve import MetricNames
from rltui.rules.evaluated_series.impossible_values import hard_limits
from rltui.rules.metric_roles import STEP_TIME, metric_roles
from rltui.rules.rule import Rule
from rltui.rules.rulebook import Rulebook, rulebook
from rltui.rules.user_rules import user_rules


class Rules(NamedTuple):
    """Rules on one series: those that are always evaluated, and recording rules, evaluated on demand."""

    shown: tuple[Rule, ...] = ()
    recording_rules: tuple[Rule, ...] = ()

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> Rules:
        """Divide rules into the two groups."""
        found = tuple(rules)
        return cls(
            tuple(rule for rule in found if not rule.waits), tuple(rule for rule in found if rule.waits)
        )


class TagRules(NamedTuple):
    """The rules on a tag, and its conversion to the canonical scale; the same in every run."""

    tag: str
    canonical: str | None
    held_out: bool
    scale: float
    offset: float
    bounds: tuple[float, float] | None  # of the metric
    limits: tuple[float, float] | None  # the same with a margin for rounding
    moment_offset: int  # at which of every four ticks rules are evaluated, see `moments_between`
    rules: Rules = Rules()
    nonzero_rules: Rules | None = None  # those that skip zeros
    user_rules: tuple[Rule, ...] = ()
    numerator_of: tuple[Rule, ...] = ()  # rules on ratios whose numerator the series may be
    denominator_of: tuple[Rule, ...] = ()
    is_step_time: bool = False  # whether it is the time of a step
    marks_steps: bool = False  # whether its wall times are those of the updates
    is_copy: bool = False  # of another series, perhaps over an axis of its own


def moment_offset_of(word: str) -> int:
    """0 to 3, from a hash of the word, so that not all series are evaluated at the same step."""
    return zlib.crc32(word.encode("utf-8", "replace")) & 3


class RuleSelection:
    """The rules by tag, for names of one framework and one configuration."""

    def __init__(
        self, names: MetricNames, config: Config | None = None, book: Rulebook | None = None
    ) -> None:
        self._given = book
        self._names = names
        self._thresholds = config.thresholds if config is not None else ()
        self._by_tag: dict[str, TagRules] = {}

    @cached_property
    def book(self) -> Rulebook:
        """The rules, loaded when first used, so that the first frame takes 13 ms less."""
        return self._given if self._given is not None else rulebook()

    @cached_property
    def _by_metric(self) -> Mapping[str, Sequence[Rule]]:
        found: dict[str, list[Rule]] = {}
        for rule in self.book.rules.values():
            for metric in rule.metrics:
                found.setdefault(metric, []).append(rule)
        return found

    def is_judged_instead(self, tag_rules: TagRules) -> bool:
        """Whether a series may be judged instead of another: of training, or what evaluations measure."""
        canonical = tag_rules.canonical or ""
        return canonical in self._instead and (not tag_rules.held_out or canonical.startswith("validation."))

    @cached_property
    def _instead(self) -> frozenset[str]:
        """The metrics that are judged instead of others."""
        return frozenset(
            metric
            for rule in self.book.rules.values()
            for metric in chain.from_iterable(rule.unless_logged.values())
        )

    @cached_property
    def _by_denominator(self) -> Mapping[str, Sequence[Rule]]:
        found: dict[str, list[Rule]] = {}
        for rule in self.book.rules.values():
            if rule.per:
                found.setdefault(rule.per, []).append(rule)
        return found

    @cached_property
    def step_time_rules(self) -> Rules:
        """Rules on the time of a step, which may be derived from the wall times of points."""
        return Rules.of(self._by_metric.get(STEP_TIME, ()))

    def of(self, tag: str) -> TagRules:
        """The rules of a tag; the same object for the same tag."""
        tag_rules = self._by_tag.get(tag)
        if tag_rules is None:
            tag_rules = self._by_tag[tag] = self._make(tag)
        return tag_rules

    def _make(self, tag: str) -> TagRules:
        name = self._names.name(tag)
        # A copy has no part in any rule: what it says is judged where it was first written.
        canonical, held_out = None if name.is_copy else name.canonical, name.held_out
        bounds = name.metric.bounds if name.metric is not None else None
        tag_rules = TagRules(
            tag,
            canonical,
            held_out,
            name.scale,
            name.offset,
            bounds,
            None if bounds is None else hard_limits(bounds),
            moment_offset_of(tag),
            user_rules=tuple(user_rules(self._thresholds, name)),
            is_copy=name.is_copy,
        )
        if canonical is None or not name.main:
            return tag_rules
        rules = [
            rule
            for rule in self._by_metric.get(canonical, ())
            if rule.applies.to(self._names.label, tag, held_out, canonical, name.comparable)
        ]
        nonzero = [rule for rule in rules if not rule.per and rule.skip_zeros]
        return tag_rules._replace(
            rules=Rules.of(rule for rule in rules if not rule.per and not rule.skip_zeros),
            nonzero_rules=Rules.of(nonzero) if nonzero else None,
            numerator_of=tuple(rule for rule in rules if rule.per),
            denominator_of=tuple(self._by_denominator.get(canonical, ())),
            is_step_time=canonical in metric_roles().step_times,
            marks_steps=canonical in metric_roles().logged_at_updates and not held_out,
        )
