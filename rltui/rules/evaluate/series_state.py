"""What a judge holds of one series: its ticks, and the state of each rule that looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from rltui.rules.evaluate.ratio import Ratio
from rltui.rules.evaluate.rolling_window import RollingWindow
from rltui.rules.evaluate.rule_selection import RulePlan
from rltui.rules.evaluate.rule_state import RuleState
from rltui.rules.evaluate.ticks import CAP, START, Floats, Ints, Ticks
from rltui.rules.model import Rule
from rltui.rules.run_state import data_quality
from rltui.rules.run_state.step_time import TIMED, StepTime
from rltui.rules.user_rules import UserRuleState

ALL, HALF = 32, 128  # ticks up to which rules look at every one, and at every second one
_DERIVED = " / "  # joins the tags of a quotient


class SeriesState:
    """A track and the rules that look at it."""

    __slots__ = ("beat", "held_out", "track", "watches")

    def __init__(self, track: Ticks, held_out: bool, beat: int, rules: Sequence[Rule]) -> None:
        self.track = track
        self.held_out = held_out
        self.beat = beat
        self.watches: list[RuleState] = [RuleState(rule, track) for rule in rules]

    def evaluate(self, track: Ticks, begun: int) -> None:
        """Let all rules look at the ticks from `begun` on."""
        if not self.watches:
            return
        at = self._moments(begun)
        if at is None:
            return
        window = RollingWindow(track, at)
        for watch in self.watches:
            watch.look(window)

    def _moments(self, begun: int) -> Ints | None:
        """The new ticks at which rules look. None before the start of the series is known."""
        end = self.track.n
        if self.track.serial == end:
            begun = max(begun, START - 1)
        if end - begun == 1:
            every = 1 if begun < ALL else 2 if begun < HALF else 4
            return None if (begun + self.beat) % every else np.array((begun,), np.int64)
        looked = _looked(self.beat)
        low, high = looked.searchsorted((begun, end)).tolist()
        return looked[low:high] if low < high else None

    def rewind(self, step: int) -> None:
        """Forget what is at or above a step, and look at what stays as if nothing else had ever come.

        What was over by then stays as it was told: it was judged when its ticks were finer.
        """
        changed = self.track.rewind(step)
        for watch in self.watches:
            watch.rewind(step)
        if changed:
            over = [watch.past for watch in self.watches]
            self.evaluate(self.track, 0)
            for watch, past in zip(self.watches, over, strict=True):
                watch.past = past


@cache
def _looked(beat: int) -> Ints:
    """The ticks at which rules look: all of the first 32, every second up to 128, then every fourth."""
    at = np.arange(CAP)
    found: Ints = at[(at < ALL) | ((at < HALF) & ((at + beat) % 2 == 0)) | ((at + beat) % 4 == 0)]
    return found


class Quotient(SeriesState):
    """One series divided by another, judged by one rule."""

    __slots__ = ("pairing", "parts")

    def __init__(self, rule: Rule, held_out: bool, beat: int) -> None:
        super().__init__(Ticks(rule.id, None), held_out, beat, (rule,))
        self.pairing = Ratio()
        self.parts: list[JudgedSeries | None] = [None, None]  # numerator, denominator

    def join(self, series: JudgedSeries, side: int) -> None:
        """Let a series be numerator (0) or denominator (1); the first of each counts."""
        if self.parts[side] is not None:
            return
        self.parts[side] = series
        series.quotients = (*series.quotients, (self, side))
        if side == 0:
            self.track.canonical = series.track.canonical
        self.track.tag = _DERIVED.join(part.track.tag for part in self.parts if part is not None)

    def feed(self, side: int, steps: Ints, values: Floats) -> None:
        """New points of one side."""
        at, value = self.pairing.feed(side, steps, values)
        self.track.feed(at, value, self.evaluate)

    def rewind_side(self, side: int, step: int) -> None:
        """Forget what is at or above a step of one side, and what came of it."""
        self.rewind(step)
        self.pairing.rewind(side, step)


class Paced(SeriesState):
    """Seconds per step, by the times of a series that every update writes."""

    __slots__ = ("pace",)

    def __init__(self, tag: str, beat: int, rules: Sequence[Rule]) -> None:
        super().__init__(Ticks(tag, TIMED[0]), False, beat, rules)
        self.pace = StepTime()

    def feed(self, steps: Ints, walls: Floats) -> None:
        """New points of the series, and when they were logged (seconds since 1970)."""
        at, seconds = self.pace.feed(steps, walls)
        self.track.feed(at, seconds, self.evaluate)

    def rewind(self, step: int) -> None:
        """Forget what is at or above a step."""
        super().rewind(step)
        self.pace.rewind()


class JudgedSeries(SeriesState):
    """One tag of the run."""

    __slots__ = ("impossible", "own", "paced", "plan", "quotients")

    def __init__(self, plan: RulePlan) -> None:
        super().__init__(Ticks(plan.tag, plan.canonical), plan.held_out, plan.beat, plan.rules)
        self.plan = plan
        self.own: Sequence[UserRuleState] = ()
        if plan.own:
            self.own = [UserRuleState(rule, self.track) for rule in plan.own]
            self.watches = [*self.own, *self.watches]
        self.quotients: tuple[tuple[Quotient, int], ...] = ()  # and the side that this series is
        self.impossible: data_quality.Impossible | None = None  # values outside what the metric can be
        self.paced: Paced | None = None  # its times as a series

    @property
    def bounds(self) -> tuple[float, float] | None:
        """What the metric can be."""
        return self.plan.bounds

    def feed(self, steps: Ints, values: Floats) -> None:
        """Take points in, as they were logged, in order of arrival."""
        plan = self.plan
        if plan.scale != 1.0 or plan.offset != 0.0:
            values = values * plan.scale + plan.offset
        if plan.limits is not None:
            self.impossible = data_quality.impossible(plan.limits, steps, values, self.impossible)
        self.track.feed(steps, values, self.evaluate)
        for own in self.own:
            own.feed(steps, values)
        for quotient, side in self.quotients:
            quotient.feed(side, steps, values)

    def rewind(self, step: int) -> None:
        """A restart: what was at or above the step comes again."""
        super().rewind(step)
        if self.impossible is not None and not self.impossible.rewind(step):
            self.impossible = None
        for quotient, side in self.quotients:
            quotient.rewind_side(side, step)
        if self.paced is not None:
            self.paced.rewind(step)
