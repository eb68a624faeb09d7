"""Rules, symptoms and joint conditions, as in the data files.

The states are those of Prometheus: a rule whose condition holds is pending; when it has held for `for` ticks
it fires; when it has not held for `keep_firing_for` ticks it is resolved. Ticks are points in a run of up to
512 points and a share of the run in a longer one (see `rltui.rules.evaluated_series.ticks`). Every command
loads all of them, so they are named tuples, which are made in a seventh of the time of frozen dataclasses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Literal

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Severity
from rltui.schema.fields import ListField, MapField, TextField

# Kinds without a function in `rltui.rules.kinds`, because missing and non-finite values make no ticks.
ENDED = "ended"  # compared with other series
HPARAM = "hparam"  # of the rules that settings make, see `joint_firings.hparam_firing`
NON_FINITE = "non-finite"  # see `rltui.rules.kinds.non_finite`
_COURSES = ("trend", "flat", "best", "above-start", "gained")  # kinds for the course of a series
_OF_SIZE = ("spike", "outlier", "flips")  # kinds that judge the size of values
LOGGED = "logged"  # a kind that holds from the first value on
RECORDING = "recording"  # severity of a rule that others refer to and that is never shown
UNLESS_LOGGED = MapField(ListField(TextField(), single=True))
# Metric -> those of which one is judged instead, if it is logged.
UnlessLogged = Annotated[Mapping[str, tuple[str, ...]], UNLESS_LOGGED]


class Applies(NamedTuple):
    """The series to which a rule applies. Empty fields do not restrict; names may contain `*`."""

    frameworks: tuple[str, ...] = ()
    frameworks_not: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tags_not: tuple[str, ...] = ()
    held_out: bool | None = False  # None: both training and held-out series
    comparable: bool | None = None  # True: only on the canonical scale; False: only sums and the like

    def to(
        self, framework: str | None, tag: str, held_out: bool, canonical: str, comparable: bool = True
    ) -> bool:
        """Whether the rule applies to a series."""
        if self.comparable is not None and self.comparable != comparable:
            return False
        if (
            self.held_out is not None
            and self.held_out != held_out
            and not canonical.startswith("validation.")
        ):
            return False
        if self.frameworks and not _any(framework or "", self.frameworks):
            return False
        if self.frameworks_not and _any(framework or "", self.frameworks_not):
            return False
        if self.tags and not _any(tag, self.tags):
            return False
        return not (self.tags_not and _any(tag, self.tags_not))


class Rule(NamedTuple):
    """One condition on one metric (or on a metric divided by another)."""

    id: str
    metrics: tuple[str, ...]  # canonical ids, and names of groups of them until all files are read
    kind: str
    severity: str  # info, warning, critical, or RECORDING
    numbers: Mapping[str, float] = MappingProxyType({})  # parameters of the kind
    words: Mapping[str, str] = MappingProxyType({})  # parameters with choices
    unless_logged: UnlessLogged = MappingProxyType({})
    title: str = ""
    message: str = ""
    advice: str = ""
    check_next: tuple[str, ...] = ()
    source: str = ""
    pane: str = ""
    per: str = ""  # canonical id that divides the metric, point by point
    for_ticks: int = 1  # `for`: ticks for which the condition must hold before the rule fires
    keep_firing_for: int = 4  # ticks for which it must not hold before the rule is resolved
    warmup: int = 0  # points before which it does not fire
    remark_for: float = 0.0  # share of the run so far for which its condition must hold to be no remark
    latch: bool = False  # compare with the limit at the onset until the value has recovered
    skip_zeros: bool = False  # values of exactly zero are not measurements and make no ticks
    applies: Applies = Applies()
    inhibited_by: tuple[str, ...] = ()  # ids of rules; it is not shown while one of them fires
    holds_while: tuple[str, ...] = ()  # ids of rules; a past period fires while a later one of theirs does
    # Ids of rules: it is only a remark while one of them fires, and what that one requires.
    info_when: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()  # ids of rules; it is shown only while one of them fires
    fires: tuple[str, ...] = ()  # series on which it must fire, for tests
    quiet: tuple[str, ...] = ()  # series on which it must not

    @property
    def shown(self) -> bool:
        """Whether it can become a finding of its own."""
        return self.severity != RECORDING

    @property
    def waits(self) -> bool:
        """Whether it is evaluated only on demand, since nothing is reported because of it alone."""
        return not (self.shown or self.holds_while or self.kind in (NON_FINITE, ENDED))

    @property
    def dates(self) -> bool:
        """Whether its onset is a meaningful step: that a score goes on rising, or is constant, has none."""
        return self.kind != "no-gain" and (self.shown or self.kind not in _COURSES)

    @property
    def fixed(self) -> bool:
        """Whether its limit is independent of earlier points: then it may be pending during the warmup."""
        return self.kind == "threshold" and not self.words.get("of")

    @property
    def of_size(self) -> bool:
        """Whether the size of values is judged, whatever their sign."""
        return self.kind in _OF_SIZE or self.words.get("sign") == "abs"

    def number(self, name: str, default: float) -> float:
        """A parameter of the kind."""
        return self.numbers.get(name, default)


class Group(NamedTuple):
    """A name for several rules, which stands for all of them in lists of rules of other entries."""

    id: str
    rules: tuple[str, ...]


class SharedMetrics(NamedTuple):
    """A name for several metrics, which stands for all of them in the metrics of rules."""

    id: str
    metrics: tuple[str, ...]
    unless_logged: UnlessLogged = MappingProxyType({})  # as of the rules


class Gap(NamedTuple):
    """A condition on the difference between a training metric and its held-out counterpart."""

    id: str
    train: str
    held_out: str
    above: float
    relative: bool = False  # as a share of the training level
    gained: bool = False  # as a share of the gain of the training level since the start


class Rescaling(NamedTuple):
    """A condition on a mean and a spread of rewards: both changed by the same factor at one step.

    With `negated` the factor is -1: the mean changed its sign.
    """

    id: str
    mean: str
    spread: tuple[tuple[str, ...], ...]  # alternatives: the deviation, or maximum and minimum
    negated: bool = False


class HParamCondition(NamedTuple):
    """A condition on a hyperparameter, under any of its names in frameworks.

    It is a cause of symptoms, and a remark of its own if it has a title.
    """

    id: str
    name: str
    message: str  # its consequence
    above: float = math.inf
    below: float = -math.inf
    exactly: float | None = None
    positive: bool = False  # zero and negative values mean that it is switched off
    of: str = ""  # name of another hyperparameter, as a share of which it is compared
    title: str = ""
    pane: str = "policy"
    source: str = ""

    def beyond(self, value: float) -> bool:
        """Whether the condition holds for a value, or for a share of `of`."""
        if self.positive and value <= 0:
            return False
        return value > self.above or value < self.below or value == self.exactly


class AtResume(NamedTuple):
    """A condition on the level of a metric after a step at which the training was resumed, and before it."""

    id: str
    metric: tuple[str, ...]  # canonical ids, of which the first one that is logged counts
    lost: float = math.inf  # share of the gain since the start, of an outcome
    below: float = -math.inf  # share of the level before
    least: float = 0.0  # of the level before


class KnownReturn(NamedTuple):
    """A condition on the returns of a run (`MetricRoles`) beside those that are known of the environment.

    It must hold for all of them that are logged. Levels are shares of the way from the return of random
    actions to that of agents that learn.
    """

    id: str
    message: str
    below: float = 0.0  # level that the return has never reached
    size: float | None = None  # at most such a share of the size of the return of random actions
    above: float | None = None  # or the newest level is at least that
    mirrored: bool = False  # or all returns are possible only with the other sign
    experience: float = 0.0  # after a share of the steps by which agents learn


class FollowsOutcome(NamedTuple):
    """A condition on a loss of values that has grown: with the square of the returns, as their errors do."""

    id: str
    rule: str  # that fires on the loss
    outcome: tuple[str, ...]  # canonical ids, of which the first one that is logged counts
    margin: float  # times as much as the square that the loss may have grown


class Symptom(NamedTuple):
    """Rules with one common cause, reported in one sentence."""

    id: str
    severity: Severity
    title: str
    message: str
    all: tuple[tuple[str, ...], ...]  # groups of rules; one of each must fire
    or_all: tuple[tuple[str, ...], ...] = ()  # or one of each of these groups
    explains: tuple[str, ...] = ()  # ids of findings that it explains, `*` allowed
    repeated_by: tuple[str, ...] = ()  # ids of symptoms that tell the same fact better; it stands below them
    failures: tuple[str, ...] = ()  # ids of failures in consoles that it leads to
    none: tuple[str, ...] = ()  # none of these may fire
    info_when: tuple[str, ...] = ()  # it is only a remark while one of these fires
    info_message: str = ""  # the message of that remark, if it is another one
    advice: str = ""
    check_next: tuple[str, ...] = ()
    pane: str = "overview"
    source: str = ""
    together: float = 0.0  # onsets must lie within this share of the run; 0: any
    leads: float = 0.0  # share of the run by which the first group, the cause, may begin after the others
    begins_last: bool = False  # begins with the last of its groups: the others alone are harmless
    # The value of the first group in the message: the newest one, that at its onset, or that at the onset of
    # the first of the other groups. A cause goes on changing after its effect.
    value_at: Literal["end", "onset", "effect"] = "end"
    run_over: bool = False  # only of whole runs that are over, and left out where a warning says the cause

    def covers(self, rule: str) -> bool:
        """Whether it explains the finding of a rule."""
        return _any(rule, self.explains)


@lru_cache(maxsize=16384)  # the same names are matched at every step
def _any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(_matches(name, pattern) for pattern in patterns)


def _matches(name: str, pattern: str) -> bool:
    """As `fnmatchcase` for `*`, which compiles an expression in 0.1 ms; most names differ in head or tail."""
    head, star, rest = pattern.partition("*")
    if not star:
        return name == pattern
    return name.startswith(head) and name.endswith(rest.rpartition("*")[2]) and fnmatchcase(name, pattern)
