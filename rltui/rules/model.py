"""The words of the rules: a rule, a symptom, as the data files write them.

The words are Prometheus': a condition that holds makes a rule pending; when it has held for `for` ticks
it fires; when it has not held for `keep_firing_for` ticks it is resolved. Ticks are points in a run of
up to 512 points and a share of the run in a longer one (see `rltui.rules.judged_series.ticks`). All are named
tuples, which are made in a seventh of the time that frozen classes take: every command loads them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Severity

ENDED = "ended"  # the kind that is judged beside other series: a value that does not come makes no tick
NON_FINITE = "non-finite"  # the kind that is judged from what ticks count: a non-finite value makes none
_COURSES = ("trend", "flat", "best", "gained")  # kinds that say how a series goes
RECORDING = "recording"  # of a rule that symptoms and other rules refer to, never shown by itself


class Applies(NamedTuple):
    """Where a rule holds. Empty fields do not restrict. Names may hold `*`."""

    frameworks: tuple[str, ...] = ()
    frameworks_not: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tags_not: tuple[str, ...] = ()
    held_out: bool | None = False  # None: both training and held-out series
    comparable: bool | None = None  # True: the canonical scale only; False: sums and the like only

    def to(
        self, framework: str | None, tag: str, held_out: bool, canonical: str, comparable: bool = True
    ) -> bool:
        """Whether a series is judged by the rule."""
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
    metrics: tuple[str, ...]  # canonical ids
    kind: str
    severity: str  # info, warning, critical, or RECORDING
    numbers: Mapping[str, float]  # what the kind needs
    words: Mapping[str, str]  # likewise, for choices
    unless_logged: Mapping[str, str]  # metric -> the one that is judged in its place
    title: str = ""
    message: str = ""
    advice: str = ""
    check_next: tuple[str, ...] = ()
    source: str = ""
    pane: str = ""
    per: str = ""  # canonical id that divides the metric, point by point
    for_ticks: int = 1  # `for`: ticks that the condition must hold until the rule fires
    keep_firing_for: int = 4  # ticks that it must have ceased until the rule is resolved
    warmup: int = 0  # points before which it does not fire
    latch: bool = False  # compare with the limit as it was at the onset, until the value comes back
    skip_zeros: bool = False  # values of exactly zero are no measurements and make no ticks
    applies: Applies = Applies()
    inhibited_by: tuple[str, ...] = ()  # ids of rules, none of which may fire for it to be shown
    holds_while: tuple[str, ...] = ()  # ids of rules: an episode that is over counts while a later one fires
    info_when: tuple[str, ...] = ()  # ids of rules that make it a remark while they fire
    requires: tuple[str, ...] = ()  # ids of rules, one of which must fire for it to be shown
    fires: tuple[str, ...] = ()  # windows that must fire, which tests read
    quiet: tuple[str, ...] = ()

    @property
    def shown(self) -> bool:
        """Whether it can become a finding of its own."""
        return self.severity != RECORDING

    @property
    def waits(self) -> bool:
        """Whether it is evaluated only when somebody asks: nothing is said because of it alone."""
        return not (self.shown or self.holds_while or self.kind in (NON_FINITE, ENDED))

    @property
    def dates(self) -> bool:
        """Whether it began at a step: that a score goes on rising, or stands still, has no beginning."""
        return self.kind != "no-gain" and (self.shown or self.kind not in _COURSES)

    @property
    def fixed(self) -> bool:
        """Whether its limit does not depend on the run's past: then it may be pending while it warms up."""
        return self.kind == "threshold" and not self.words.get("of")

    def number(self, name: str, default: float) -> float:
        """One of its numbers."""
        return self.numbers.get(name, default)


class Gap(NamedTuple):
    """A condition on the difference between a training metric and its held-out twin."""

    id: str
    train: str
    held_out: str
    above: float
    relative: bool = False  # as a share of the training level
    gained: bool = False  # as a share of what the training level has gained since the start


class Rescaling(NamedTuple):
    """A condition on a mean and a spread of rewards: both changed by one factor, at one step.

    With `negated` the factor is -1: the mean changed its sign.
    """

    id: str
    mean: str
    spread: tuple[tuple[str, ...], ...]  # each their deviation, or their maximum and minimum
    negated: bool = False


class Setting(NamedTuple):
    """A condition on a hyperparameter, under any of the names that frameworks give it."""

    id: str
    name: str
    message: str  # what follows from it
    above: float = math.inf
    below: float = -math.inf


class Symptom(NamedTuple):
    """Rules that together mean one thing, said in one sentence."""

    id: str
    severity: Severity
    title: str
    message: str
    all: tuple[tuple[str, ...], ...]  # every group must have one that fires
    or_all: tuple[tuple[str, ...], ...] = ()  # or every one of these
    explains: tuple[str, ...] = ()  # ids of findings that are gathered below it, `*` allowed
    none: tuple[str, ...] = ()  # none of these may fire
    advice: str = ""
    check_next: tuple[str, ...] = ()
    pane: str = "overview"
    source: str = ""
    together: float = 0.0  # onsets must lie within this share of the run; 0: no matter
    leads: float = 0.0  # share of the run by which the first group may begin after what it brings about
    begins_last: bool = False  # with the last of its groups: one that was there for long was no fault alone

    def covers(self, rule: str) -> bool:
        """Whether a finding belongs below it."""
        return _any(rule, self.explains)


@lru_cache(maxsize=16384)  # rules and symptoms ask the same of the same findings at every step
def _any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
