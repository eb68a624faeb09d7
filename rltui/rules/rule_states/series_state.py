"""The state of one series: its ticks, and the states of the rules on it."""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.rules.evaluated_series.carried_values import CarriedValues
from rltui.rules.evaluated_series.evaluated_moments import Moments, moments_between
from rltui.rules.evaluated_series.impossible_values import ImpossibleValues, impossible_values
from rltui.rules.evaluated_series.ratio import Ratio, Waiting
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.evaluated_series.step_seconds import StepSeconds
from rltui.rules.evaluated_series.ticks import CAP, START, Ticks, widest
from rltui.rules.kinds import OF_WHOLE_RUNS, POINTS_COMPARED, IdleRange
from rltui.rules.metric_roles import metric_roles
from rltui.rules.rule import Rule
from rltui.rules.rule_states.rule_selection import Rules, TagRules, moment_offset_of
from rltui.rules.rule_states.rule_state import RuleState, Unseen
from rltui.rules.rule_states.user_rule_state import UserRuleState

PIECE = 128  # ticks at which a rule of whole runs catches up in one step: 0.4 instead of 1.0 ms for all 512


class RuledTicks:
    """Ticks and the states of the rules on them.

    Not all rules are evaluated at all ticks:

    - Most rules hold at no moment of most runs, and have a range of ticks in which that does not change
      (`IdleRange`). Such rules rest: a new tick is compared with the common range of all of them.
    - Recording rules, which are no findings, wait until they are asked for. In a run in which nothing fires
      that depends on them, they never are.
    - Rules are left out while another metric is judged instead (`unless_logged`). If it no longer is, since
      its points were superseded, all rules are evaluated again at the ticks that are held.

    When ticks are joined, a copy of them is kept for rules that wait, until the rule is asked for, is
    evaluated, or catches up: the evaluator lets one rule do so per step, so that all have before the next
    time that ticks are joined. Resting rules do so only if they use values carried from window to window.
    """

    __slots__ = (
        "_active", "_idle_range", "_logged", "_moment_offset", "_replaceable", "_resting", "_unjoined",
        "behind", "held_out", "recording_rules", "shown", "ticks",
    )  # fmt: skip

    def __init__(
        self,
        ticks: Ticks,
        held_out: bool,
        moment_offset: int,
        rules: Rules,
        logged: Set[str] = frozenset(),
    ) -> None:
        """`logged`: metrics that are judged instead of others; call `leave_out` after it has changed."""
        self.ticks = ticks
        self.held_out = held_out
        self._moment_offset = moment_offset
        self.shown = [RuleState(rule, ticks) for rule in rules.shown]
        self.recording_rules = [RuleState(rule, ticks, is_recording=True) for rule in rules.recording_rules]
        ticks.notes_spread = any(
            rule.kind in POINTS_COMPARED for rule in (*rules.shown, *rules.recording_rules)
        )
        # Rules that have not been evaluated at all ticks before the last join.
        self.behind: dict[RuleState, Unseen] = {}
        self._unjoined = ticks
        self._logged = logged
        self._replaceable = [
            (state, instead)
            for state in (*self.shown, *self.recording_rules)
            if (instead := state.rule.unless_logged.get(ticks.canonical or ""))
        ]
        for state, instead in self._replaceable:
            state.left_out = not logged.isdisjoint(instead)
        self._activate()

    def _activate(self) -> None:
        """Evaluate all rules at the next moment."""
        # Rules that are evaluated at each moment, and recording rules that have not begun to wait.
        self._active = [
            state
            for state in (*self.shown, *self.recording_rules)
            if state.kind is not None and not state.left_out
        ]
        for state in self._active:
            state.idle_range = None
        self._resting: list[RuleState] = []
        self._idle_range = IdleRange()  # common range of the resting rules

    def feed(self, steps: Ints, values: Floats, late: int = 0) -> bool:
        """Add points on the canonical scale, in order of arrival. Returns whether findings may have changed.

        They change only with new ticks, or with any point if there are non-finite ones. `late`: see
        `Ticks.feed`.
        """
        made = self.ticks.serial
        self.ticks.feed(steps, values, self._evaluate, late)
        return self.ticks.serial != made or self.ticks.nonfinite_count > 0

    def replace(self, steps: Ints, values: Floats, late: int) -> None:
        """Judge these points instead of all so far; as `feed`."""
        self.rewind(np.iinfo(np.int64).min)
        self.ticks.points = 0
        self.feed(steps, values, late)

    def make_late_ticks(self) -> bool:
        """Make the ticks that are late; returns as `feed`."""
        made = self.ticks.serial
        self.ticks.make_late(self._evaluate)
        return self.ticks.serial != made

    def leave_out(self) -> None:
        """Forget the rules for which another metric is judged now, and evaluate those that count again."""
        again = False
        for state, instead in self._replaceable:
            before, state.left_out = state.left_out, not self._logged.isdisjoint(instead)
            again |= before and not state.left_out
            if state.left_out and not before:
                self.behind.pop(state, None)
                state.reset()
        if not self.behind:
            self._unjoined = self.ticks
        self._active = [state for state in self._active if not state.left_out]
        resting, self._resting, self._idle_range = self._resting, [], IdleRange()
        for state in resting:
            if state.idle_range is not None:
                self._add_resting(state, state.idle_range)
        if again:
            self._evaluate_all_missed()
            self._activate()
            self.ticks.marks = {}
            self._evaluate_again(self.ticks.last_step + 1)

    def ask(self, state: RuleState) -> None:
        """Evaluate a recording rule on demand. It is also evaluated at the next ticks, then waits again."""
        if state in self.behind or (state.waiting is not None and state.idle_range is None):
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                self._catch_up(state)
        state.asked = state.idle_range is None

    def evaluate_missed(self, state: RuleState) -> None:
        """Evaluate a rule at the ticks at which it was not evaluated."""
        self._evaluate_joined(state)
        if state.waiting is None:
            return
        unseen, state.waiting = state.waiting, None
        self._evaluate_at(state, self.ticks, unseen, self.ticks.n)
        if state.idle_range is None:
            self._active.append(state)

    def evaluate_next_missed(self) -> None:
        """The same for the first rule that is behind; one of whole runs takes long: at some of its ticks."""
        state = next(iter(self.behind))
        self._evaluate_joined(state, PIECE if state.rule.kind in OF_WHOLE_RUNS else CAP)

    def _evaluate_joined(self, state: RuleState, most: int = CAP) -> None:
        """Evaluate a rule at the first ticks before the last join at which it was not evaluated."""
        if (unseen := self.behind.get(state)) is None:
            return
        joined, held = self._unjoined, self.ticks
        state.ticks = joined
        end = min(unseen[0] + most, joined.n)
        self._evaluate_at(state, joined, unseen, end)
        state.ticks = held
        if end < joined.n:  # rules of whole runs carry no marks
            self.behind[state] = end, unseen[1]
            return
        del self.behind[state]
        held.marks = widest(held.marks, joined.marks)
        if state.waiting is not None:
            begun, marks = state.waiting
            state.waiting = begun, widest(marks, joined.marks)
        if not self.behind:
            self._unjoined = held

    def _evaluate_at(self, state: RuleState, ticks: Ticks, unseen: Unseen, end: int) -> None:
        """Evaluate a rule at the moments among some ticks up to `end` at which it was not evaluated."""
        begun, before = unseen
        carried, ticks.marks = ticks.marks, dict(before)
        if (moments := self._moments(ticks, begun, end)) is not None:
            window = RollingWindow(ticks, moments)
            if state.carries or state.find_idle_range(window) is None:
                state.evaluate(window)
        ticks.marks = widest(carried, ticks.marks)

    def _catch_up(self, state: RuleState) -> None:
        """Let a waiting rule rest, or evaluate it at the ticks at which it was not evaluated."""
        self._evaluate_joined(state)
        if state.waiting is None:
            return
        moments = self._moments(self.ticks, state.waiting[0], self.ticks.n)
        if moments is None or not self._rest(state, RollingWindow(self.ticks, moments), state.waiting):
            self.evaluate_missed(state)

    def _rest(self, state: RuleState, window: RollingWindow, unseen: Unseen) -> bool:
        """Let a rule rest if it may; `unseen`: the ticks at which it is not evaluated then."""
        idle_range = state.find_idle_range(window)
        if idle_range is None or (window.end < self.ticks.n and not self._within(idle_range, window.end)):
            return False
        state.asked = False
        state.waiting = unseen if state.carries else None
        self._add_resting(state, idle_range)
        return True

    def _add_resting(self, state: RuleState, idle_range: IdleRange) -> None:
        state.idle_range = idle_range
        self._resting.append(state)
        self._idle_range = self._idle_range.within(idle_range)

    def _wake(self, begun: int) -> None:
        """End the rest of rules whose range the ticks from `begun` on leave."""
        resting, self._resting, self._idle_range = self._resting, [], IdleRange()
        for state in resting:
            idle_range, state.idle_range = state.idle_range, None
            if idle_range is not None and self._within(idle_range, begun):
                self._add_resting(state, idle_range)
            elif not state.is_recording:
                self._active.append(state)
            elif state.waiting is None:
                state.waiting = begun, {}

    def _within(self, limits: IdleRange, begun: int) -> bool:
        """Whether the ticks from a position on are within a range."""
        held = self.ticks
        if held.n - begun == 1:
            lowest = highest = held.value.item(begun)
        else:
            values = held.value[begun : held.n]
            lowest, highest = float(np.minimum.reduce(values)), float(np.maximum.reduce(values))
        return limits.lowest <= lowest and highest <= limits.highest and held.n < limits.until

    def _evaluate_all_missed(self) -> None:
        for state in (*self.shown, *self.recording_rules):
            self.evaluate_missed(state)

    def _evaluate(self, begun: int) -> None:
        """Evaluate the rules at the ticks from `begun` on."""
        if not self.shown and not self.recording_rules:
            return
        if self._resting and not self._within(self._idle_range, begun):
            self._wake(begun)
        if self._active and (moments := self._moments(self.ticks, begun, self.ticks.n)) is not None:
            self._evaluate_active(RollingWindow(self.ticks, moments), begun)
        if self.ticks.n == CAP:
            self._keep_unjoined()

    def _keep_unjoined(self) -> None:
        """Keep the present ticks for waiting rules, before they are joined."""
        while self.behind:
            self.evaluate_next_missed()
        for state in (*self.shown, *self.recording_rules):
            if state.waiting is not None:
                self.behind[state], state.waiting = state.waiting, None
        if self.behind:
            self._unjoined = self.ticks.unjoined()
        self._activate()

    def _evaluate_active(self, window: RollingWindow, begun: int) -> None:
        """Evaluate the active rules, or let them rest or wait."""
        active, self._active = self._active, []
        if self.behind:
            for state in active:
                if state.asked or not state.is_recording:
                    self._evaluate_joined(state)
        unseen, joins = (begun, dict(self.ticks.marks)), self.ticks.n == CAP
        for state in active:
            # Recording rules do not begin to wait just before ticks are joined: that would need a copy.
            if state.is_recording and not state.asked and (state.waiting is not None or not joins):
                state.waiting = state.waiting or unseen
            elif state.waiting is not None:
                self._catch_up(state)
            elif not self._rest(state, window, unseen):
                state.evaluate(window)
                self._active.append(state)

    def _moments(self, ticks: Ticks, begun: int, end: int) -> Moments | None:
        """The moments among some ticks, of `begun` to `end`. None before the start of the series is known."""
        if ticks.serial == ticks.n:
            begun = max(begun, START - 1)
        return moments_between(begun, end, self._moment_offset)

    def rewind(self, step: int) -> None:
        """Remove points at or above a step, and evaluate all rules again on the others.

        Past periods before the step are kept as they were, since their ticks may have been finer.
        """
        self._evaluate_all_missed()
        self._activate()
        if self.ticks.rewind(step):  # a ratio is rewound once for each of its sides
            self._evaluate_again(step)

    def _evaluate_again(self, step: int) -> None:
        """Evaluate all rules again at the ticks that are held, all of which are below a step."""
        states = (*self.shown, *self.recording_rules)
        for state in states:
            state.rewind(step)
        pasts = [state.past for state in states]
        self._evaluate(0)
        self._evaluate_all_missed()
        self._activate()
        for state, past in zip(states, pasts, strict=True):
            state.past = past


class RatioState:
    """The ratio of two series, for one rule. Until both have begun, the one that has keeps its points."""

    __slots__ = ("_held_out", "_joined", "_logged", "_moment_offset", "_parts", "rule", "ruled")

    def __init__(self, rule: Rule, held_out: bool, logged: Set[str]) -> None:
        """`logged`: as for `RuledTicks`."""
        self.rule = rule
        self.ruled: RuledTicks | None = None  # None until both sides have points, which most never have
        self._logged = logged
        self._held_out, self._moment_offset = held_out, moment_offset_of(rule.id)
        self._joined = Ratio()
        self._parts: list[SeriesState | None] = [None, None]  # numerator, denominator

    def join(self, series: SeriesState, side: int) -> None:
        """Make a series the numerator (0) or the denominator (1); only the first of each counts."""
        if self._parts[side] is not None:
            return
        self._parts[side] = series
        other = self._parts[1 - side]
        if other is None:
            series.unpaired.append(self)
            return
        self._joined.feed(1 - side, *other.waiting.all())
        other.unpaired.remove(self)
        if not other.unpaired:
            other.waiting = Waiting()
        other.ratios = (*other.ratios, (self, 1 - side))
        series.ratios = (*series.ratios, (self, side))

    def feed(self, side: int, steps: Ints, values: Floats, late: int) -> bool:
        """Add points of one side; as `RuledTicks.feed`."""
        steps, values = self._joined.feed(side, steps, values)
        if not len(steps):
            return False
        if self.ruled is None:
            above, below = self._parts
            assert above is not None and below is not None
            ticks = Ticks(above.tag_rules.tag, above.tag_rules.canonical, below.tag_rules.tag)
            rules = Rules.of((self.rule,))
            self.ruled = RuledTicks(ticks, self._held_out, self._moment_offset, rules, self._logged)
        return self.ruled.feed(steps, values, late)

    def rewind(self, side: int, step: int) -> None:
        """Remove points of one side at or above a step, and their ratios."""
        if self.ruled is not None:
            self.ruled.rewind(step)
        self._joined.rewind(side, step)


class StepTimeState:
    """Seconds per step, from the wall times of a series that is written at every update."""

    __slots__ = ("_step_time", "ruled")

    def __init__(self, tag: str, moment_offset: int, rules: Rules) -> None:
        self.ruled = RuledTicks(Ticks(tag, metric_roles().step_times[0]), False, moment_offset, rules)
        self._step_time = StepSeconds()

    def feed(self, steps: Ints, walls: Floats, late: int) -> bool:
        """Add steps of the series with their wall times (seconds since 1970); as `RuledTicks.feed`."""
        return self.ruled.feed(*self._step_time.feed(steps, walls), late)

    def rewind(self, step: int) -> None:
        """Remove points at or above a step."""
        self.ruled.rewind(step)
        self._step_time.rewind()


class SeriesState:
    """The states of all rules on one tag of a run."""

    __slots__ = (
        "carried", "impossible", "nonzero", "number", "ratios", "ruled", "step_time", "tag_rules", "unpaired",
        "user_states", "waiting",
    )  # fmt: skip

    def __init__(self, tag_rules: TagRules, number: int, logged: Set[str] = frozenset()) -> None:
        """`logged`: as for `RuledTicks`."""
        self.tag_rules = tag_rules
        self.number = number  # of the series in its run
        self.ruled = RuledTicks(
            Ticks(tag_rules.tag, tag_rules.canonical),
            tag_rules.held_out,
            tag_rules.moment_offset,
            tag_rules.rules,
            logged,
        )
        self.nonzero: RuledTicks | None = None  # without zeros, for rules that skip them
        if tag_rules.nonzero_rules is not None:
            ticks = Ticks(tag_rules.tag, tag_rules.canonical)
            self.nonzero = RuledTicks(
                ticks, tag_rules.held_out, tag_rules.moment_offset, tag_rules.nonzero_rules, logged
            )
        # Of an outcome, until it is known that values are not repeated.
        self.carried = CarriedValues() if tag_rules.canonical in metric_roles().outcomes else None
        self.user_states = tuple(UserRuleState(rule, self.ruled.ticks) for rule in tag_rules.user_rules)
        self.ratios: tuple[tuple[RatioState, int], ...] = ()  # with the side of this series
        self.unpaired: list[RatioState] = []  # those whose other series has not begun
        self.waiting = Waiting()  # points for these
        self.impossible: ImpossibleValues | None = None  # values outside the bounds of the metric
        self.step_time: StepTimeState | None = None  # from its wall times

    @property
    def ticks(self) -> Ticks:
        """Its ticks, including zeros."""
        return self.ruled.ticks

    def feed(self, steps: Ints, values: Floats, late: int) -> bool:
        """Add points on the scale of the log, in order of arrival; as `RuledTicks.feed`."""
        tag_rules = self.tag_rules
        if tag_rules.scale != 1.0 or tag_rules.offset != 0.0:
            values = values * tag_rules.scale + tag_rules.offset
        if tag_rules.limits is not None:
            self.impossible = impossible_values(tag_rules.limits, steps, values, self.impossible)
        changed = self._judge(steps, values, late) or len(self.user_states) > 0
        if self.nonzero is not None:
            kept = values != 0
            changed |= self.nonzero.feed(steps[kept], values[kept], late)
        for state in self.user_states:
            state.feed(steps, values)
        if self.unpaired:
            self.waiting.add(steps, values)
        for ratio, side in self.ratios:
            changed |= ratio.feed(side, steps, values, late)
        return changed

    def _judge(self, steps: Ints, values: Floats, late: int) -> bool:
        """Evaluate the rules on points, without those that only repeat a measurement."""
        if self.carried is None:
            return self.ruled.feed(steps, values, late)
        found = self.carried.found
        steps, values = self.carried.measured(steps, values)
        if self.carried.found and not found:
            self.ruled.replace(steps, values, late)
            return True
        if self.carried.decided and not found:
            self.carried = None
        return self.ruled.feed(steps, values, late)

    def rewind(self, step: int) -> None:
        """Remove points at or above a step, which a restart supersedes."""
        self.ruled.rewind(step)
        if self.carried is not None and self.carried.found:
            self.carried.restart()
        else:
            self.carried = None  # superseded points cannot show that values are repeated
        if self.nonzero is not None:
            self.nonzero.rewind(step)
        for state in self.user_states:
            state.rewind(step)
        if self.impossible is not None and not self.impossible.rewind(step):
            self.impossible = None
        self.waiting.rewind(step)
        for ratio, side in self.ratios:
            ratio.rewind(side, step)
        if self.step_time is not None:
            self.step_time.rewind(step)
