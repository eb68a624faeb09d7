"""What an evaluator holds of one series: its ticks, and the state of each rule on it."""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.rules.judged_series.impossible_values import ImpossibleValues, impossible_values
from rltui.rules.judged_series.judged_moments import Moments, moments_between
from rltui.rules.judged_series.ratio import Ratio, ratio_tag
from rltui.rules.judged_series.rolling_window import RollingWindow
from rltui.rules.judged_series.step_seconds import StepSeconds
from rltui.rules.judged_series.ticks import CAP, START, Ticks, widest
from rltui.rules.kinds import POINTS_COMPARED, IdleRange
from rltui.rules.model import Rule
from rltui.rules.rule_states.rule_selection import RulePlan, Rules
from rltui.rules.rule_states.rule_state import RuleState, Unseen
from rltui.rules.rule_states.user_rule_state import UserRuleState
from rltui.rules.special_metrics import special_metrics


class RuledTicks:
    """Ticks and the states of the rules on them.

    Most rules hold at no moment of most runs, and their condition tells between which limits new ticks change
    nothing (`IdleRange`). Such rules rest: a tick is compared with the limits of all of them together.
    Recordings, rules that are no findings, wait until somebody asks for them: in a run in which nothing fires
    that they would explain or excuse, nobody does. Both wait at most until ticks are joined. What a rule that
    waits has not seen then is kept as it was, until the rule is asked for, is evaluated, or has its turn: an
    evaluator lets one rule see it at each step, before ticks are joined again. One that rests sees it only if
    it carries something along.
    """

    __slots__ = (
        "_active", "_idle_range", "_resting", "_unjoined", "held_out", "recordings", "shown", "stagger",
        "ticks", "unsettled",
    )  # fmt: skip

    def __init__(self, ticks: Ticks, held_out: bool, stagger: int, rules: Rules) -> None:
        self.ticks = ticks
        self.held_out = held_out
        self.stagger, ticks.delay = stagger % 4, stagger // 4
        self.shown = [RuleState(rule, ticks) for rule in rules.shown]
        self.recordings = [RuleState(rule, ticks, recording=True) for rule in rules.recordings]
        ticks.notes_spread = any(rule.kind in POINTS_COMPARED for rule in (*rules.shown, *rules.recordings))
        # Rules that have not seen all ticks as they were before the last join, and since when they have not.
        self.unsettled: dict[RuleState, Unseen] = {}
        self._unjoined = ticks
        self._activate()

    def _activate(self) -> None:
        """Let all be evaluated at the next moment."""
        # Those that are evaluated at each moment. Recordings that wait are not among them.
        self._active = [state for state in (*self.shown, *self.recordings) if state.kind is not None]
        for state in self._active:
            state.idle_range = None
        self._resting: list[RuleState] = []
        self._idle_range = IdleRange()  # of all that rest

    def feed(self, steps: Ints, values: Floats) -> bool:
        """Take points in, on the canonical scale, in order of arrival; whether what fires may have changed.

        It changes with ticks alone, and with single points where some are not finite.
        """
        made = self.ticks.serial
        self.ticks.feed(steps, values, self._evaluate)
        return self.ticks.serial != made or self.ticks.nonfinite_count > 0

    def ask(self, state: RuleState) -> None:
        """Evaluate a recording that somebody asks for. It sees the next ticks with the others, then waits."""
        if state in self.unsettled or (state.waiting is not None and state.idle_range is None):
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                self._see(state)
        state.asked = state.idle_range is None

    def settle(self, state: RuleState) -> None:
        """Evaluate a rule at the ticks that it has not seen."""
        self._settle_joined(state)
        if state.waiting is None:
            return
        unseen, state.waiting = state.waiting, None
        self._evaluate_at(state, self.ticks, unseen)
        if state.idle_range is None:
            self._active.append(state)

    def settle_next(self) -> None:
        """Let the first rule that has not seen all of the ticks that were joined see them."""
        self._settle_joined(next(iter(self.unsettled)))

    def _settle_joined(self, state: RuleState) -> None:
        """Evaluate a rule at what it has not seen of the ticks that were joined."""
        if (unseen := self.unsettled.pop(state, None)) is None:
            return
        joined, held = self._unjoined, self.ticks
        state.ticks = joined
        self._evaluate_at(state, joined, unseen)
        state.ticks = held
        held.marks = widest(held.marks, joined.marks)
        if state.waiting is not None:
            begun, marks = state.waiting
            state.waiting = begun, widest(marks, joined.marks)
        if not self.unsettled:
            self._unjoined = held

    def _evaluate_at(self, state: RuleState, ticks: Ticks, unseen: Unseen) -> None:
        """Evaluate a rule at the moments among some ticks that it has not seen."""
        begun, before = unseen
        carried, ticks.marks = ticks.marks, dict(before)
        if (moments := self._moments(ticks, begun)) is not None:
            window = RollingWindow(ticks, moments)
            if state.carries or state.find_idle_range(window) is None:
                state.evaluate(window)
        ticks.marks = widest(carried, ticks.marks)

    def _see(self, state: RuleState) -> None:
        """Let a rule that waited see what it has not seen, or rest."""
        self._settle_joined(state)
        if state.waiting is None:
            return
        moments = self._moments(self.ticks, state.waiting[0])
        if moments is None or not self._rest(state, RollingWindow(self.ticks, moments), state.waiting):
            self.settle(state)

    def _rest(self, state: RuleState, window: RollingWindow, unseen: Unseen) -> bool:
        """Let a rule rest if it may; `unseen`: what it waits for then."""
        idle_range = state.find_idle_range(window)
        if idle_range is None or (window.end < self.ticks.n and not self._within(idle_range, window.end)):
            return False
        state.asked = False
        state.waiting = unseen if state.carries else None
        self._add(state, idle_range)
        return True

    def _add(self, state: RuleState, idle_range: IdleRange) -> None:
        """One more that rests."""
        state.idle_range = idle_range
        self._resting.append(state)
        self._idle_range = self._idle_range.within(idle_range)

    def _wake(self, begun: int) -> None:
        """Let rules no longer rest whose range the ticks from `begun` on leave."""
        if self._within(self._idle_range, begun):
            return
        resting, self._resting, self._idle_range = self._resting, [], IdleRange()
        for state in resting:
            idle_range, state.idle_range = state.idle_range, None
            if idle_range is not None and self._within(idle_range, begun):
                self._add(state, idle_range)
            elif not state.recording:
                self._active.append(state)
            elif state.waiting is None:
                state.waiting = begun, {}

    def _within(self, limits: IdleRange, begun: int) -> bool:
        """Whether the ticks from a position on lie within a range."""
        held = self.ticks
        if held.n - begun == 1:
            lowest = highest = held.value.item(begun)
        else:
            values = held.value[begun : held.n]
            lowest, highest = float(np.minimum.reduce(values)), float(np.maximum.reduce(values))
        return limits.lowest <= lowest and highest <= limits.highest and held.n < limits.until

    def _settle_all(self) -> None:
        for state in (*self.shown, *self.recordings):
            self.settle(state)

    def _evaluate(self, begun: int) -> None:
        """Evaluate the rules at the ticks from `begun` on."""
        if not self.shown and not self.recordings:
            return
        if self._resting:
            self._wake(begun)
        if self._active and (moments := self._moments(self.ticks, begun)) is not None:
            self._see_all(RollingWindow(self.ticks, moments), begun)
        if self.ticks.n == CAP:
            self._keep_unjoined()

    def _keep_unjoined(self) -> None:
        """These ticks are about to be joined: keep them for rules that wait."""
        while self.unsettled:
            self.settle_next()
        for state in (*self.shown, *self.recordings):
            if state.waiting is not None:
                self.unsettled[state], state.waiting = state.waiting, None
        if self.unsettled:
            self._unjoined = self.ticks.unjoined()
        self._activate()

    def _see_all(self, window: RollingWindow, begun: int) -> None:
        """Evaluate all that neither rest nor wait."""
        active, self._active = self._active, []
        if self.unsettled:
            for state in active:
                if state.asked or not state.recording:
                    self._settle_joined(state)
        unseen, joins = (begun, dict(self.ticks.marks)), self.ticks.n == CAP
        for state in active:
            # One that does not wait yet when ticks are about to be joined would have to keep them.
            if state.recording and not state.asked and (state.waiting is not None or not joins):
                state.waiting = state.waiting or unseen
            elif state.waiting is not None:
                self._see(state)
            elif not self._rest(state, window, unseen):
                state.evaluate(window)
                self._active.append(state)

    def _moments(self, ticks: Ticks, begun: int) -> Moments | None:
        """Those among some ticks from `begun` on. None before the start of the series is known."""
        if ticks.serial == ticks.n:
            begun = max(begun, START - 1)
        return moments_between(begun, ticks.n, self.stagger)

    def rewind(self, step: int) -> None:
        """Forget what is at or above a step, and evaluate what stays as if nothing else had ever come.

        What was over by then stays as it was told: it was judged when its ticks were finer.
        """
        self._settle_all()
        self._activate()
        if not self.ticks.rewind(step):  # a ratio goes back once for each of its sides
            return
        states = (*self.shown, *self.recordings)
        for state in states:
            state.rewind(step)
        over = [state.past for state in states]
        self._evaluate(0)
        self._settle_all()
        self._activate()
        for state, past in zip(states, over, strict=True):
            state.past = past


class RatioState:
    """One series divided by another, judged by one rule."""

    __slots__ = ("_held_out", "_joined", "_parts", "_stagger", "rule", "ruled")

    def __init__(self, rule: Rule, held_out: bool, stagger: int) -> None:
        self.rule = rule
        self.ruled: RuledTicks | None = None  # None until both sides have points: most never have
        self._held_out, self._stagger = held_out, stagger
        self._joined = Ratio()
        self._parts: list[RulePlan | None] = [None, None]  # numerator, denominator

    def join(self, series: SeriesState, side: int) -> None:
        """Let a series be numerator (0) or denominator (1); the first of each counts."""
        if self._parts[side] is None:
            self._parts[side] = series.plan
            series.ratios = (*series.ratios, (self, side))

    def feed(self, side: int, steps: Ints, values: Floats) -> bool:
        """New points of one side; as `RuledTicks.feed`."""
        steps, values = self._joined.feed(side, steps, values)
        return len(steps) > 0 and self._judged().feed(steps, values)

    def _judged(self) -> RuledTicks:
        if self.ruled is None:
            above, below = self._parts
            assert above is not None and below is not None
            ticks = Ticks(ratio_tag(above.tag, below.tag), above.canonical)
            self.ruled = RuledTicks(ticks, self._held_out, self._stagger, Rules.of((self.rule,)))
        return self.ruled

    def rewind(self, side: int, step: int) -> None:
        """Forget what is at or above a step of one side, and what came of it."""
        if self.ruled is not None:
            self.ruled.rewind(step)
        self._joined.rewind(side, step)


class StepTimeState:
    """Seconds per step, by the times of a series that every update writes."""

    __slots__ = ("_step_time", "ruled")

    def __init__(self, tag: str, stagger: int, rules: Rules) -> None:
        self.ruled = RuledTicks(Ticks(tag, special_metrics().step_times[0]), False, stagger, rules)
        self._step_time = StepSeconds()

    def feed(self, steps: Ints, walls: Floats) -> bool:
        """New points of the series, and when they were logged (seconds since 1970); as `RuledTicks.feed`."""
        return self.ruled.feed(*self._step_time.feed(steps, walls))

    def rewind(self, step: int) -> None:
        """Forget what is at or above a step."""
        self.ruled.rewind(step)
        self._step_time.rewind()


class SeriesState:
    """One tag of the run."""

    __slots__ = ("impossible", "nonzero", "plan", "ratios", "ruled", "step_time", "user_states")

    def __init__(self, plan: RulePlan) -> None:
        self.plan = plan
        self.ruled = RuledTicks(Ticks(plan.tag, plan.canonical), plan.held_out, plan.stagger, plan.rules)
        self.nonzero: RuledTicks | None = None  # the same without zeros, for rules that skip them
        if plan.nonzero_rules is not None:
            ticks = Ticks(plan.tag, plan.canonical)
            self.nonzero = RuledTicks(ticks, plan.held_out, plan.stagger, plan.nonzero_rules)
        self.user_states = tuple(UserRuleState(rule, self.ruled.ticks) for rule in plan.user_rules)
        self.ratios: tuple[tuple[RatioState, int], ...] = ()  # and the side that this series is
        self.impossible: ImpossibleValues | None = None  # values outside what the metric can be
        self.step_time: StepTimeState | None = None  # its times as a series

    @property
    def ticks(self) -> Ticks:
        """Its points, gathered."""
        return self.ruled.ticks

    def feed(self, steps: Ints, values: Floats) -> bool:
        """Take points in, as they were logged, in order of arrival; as `RuledTicks.feed`."""
        plan = self.plan
        if plan.scale != 1.0 or plan.offset != 0.0:
            values = values * plan.scale + plan.offset
        if plan.limits is not None:
            self.impossible = impossible_values(plan.limits, steps, values, self.impossible)
        changed = self.ruled.feed(steps, values) or len(self.user_states) > 0
        if self.nonzero is not None:
            there = values != 0
            changed |= self.nonzero.feed(*((steps, values) if there.all() else (steps[there], values[there])))
        for state in self.user_states:
            state.feed(steps, values)
        for ratio, side in self.ratios:
            changed |= ratio.feed(side, steps, values)
        return changed

    def rewind(self, step: int) -> None:
        """A restart: what was at or above the step comes again."""
        self.ruled.rewind(step)
        if self.nonzero is not None:
            self.nonzero.rewind(step)
        for state in self.user_states:
            state.rewind(step)
        if self.impossible is not None and not self.impossible.rewind(step):
            self.impossible = None
        for ratio, side in self.ratios:
            ratio.rewind(side, step)
        if self.step_time is not None:
            self.step_time.rewind(step)
