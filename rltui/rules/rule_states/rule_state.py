"""The state of one rule on one series: idle, pending, firing, resolved."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rltui.common.arrays import median
from rltui.common.problem import SEVERITIES
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.evaluated_series.ticks import Marks, Ticks
from rltui.rules.kinds import IDLE_RANGES, KINDS, ConditionStates, IdleRange, carries
from rltui.rules.rule import Rule

Unseen = tuple[int, Marks]  # first tick at which a rule was not evaluated, and the marks before it

KEPT = 20  # resolved periods stored for one rule on one series
# A period that begins within so many ticks of the one before (a tenth of the most that are held, so that
# little of the run is between them) is the same fault again: it is resolved after so many times the ticks
# that it was away.
SOON, LONGER = 50, 2


@dataclass(slots=True)
class ActivePeriod:
    """One period in which a condition holds."""

    since_step: int
    value: float
    limit: float
    before: float  # the usual level at the onset, as the rule compares it; NaN if unknown
    begun: int  # serial number of the tick at which it became pending
    seen: int  # serial number of the last tick at which it held
    preceding: float = np.nan  # the level of the ten ticks before the onset
    recovery: float = np.nan  # of a latched rule: the level at which it is resolved
    until: float = math.inf  # number of points of the run from which on it is resolved
    worst: float = np.nan  # the value farthest beyond the limit
    beyond: float = np.nan  # how bad that is, see `ConditionStates.beyond`
    worst_step: int = 0
    upward: bool = True  # whether high values are bad
    opening: float = np.nan  # the value with which it began, while `value` is the newest one
    held_from: int = 0  # step of the first tick at which the condition held
    held_until: int = 0  # likewise of the last one; of a latched rule, at which its value had not recovered
    firing: bool = False
    resolved_step: int | None = None
    fired_step: int = 0  # of the point at which a user's rule fired


class RuleState:
    """One rule on one series."""

    __slots__ = (
        "_idle_range_of", "asked", "carries", "idle_range", "is_recording", "kind", "left_out", "past",
        "period", "rule", "ticks", "waiting",
    )  # fmt: skip

    def __init__(self, rule: Rule, ticks: Ticks, *, is_recording: bool = False) -> None:
        self.rule = rule
        self.is_recording = is_recording
        self.kind = KINDS.get(rule.kind)  # None: evaluated from counts of the ticks, without a window
        self.carries = carries(rule)
        self._idle_range_of = IDLE_RANGES.get(rule.kind)
        self.ticks = ticks
        self.left_out = False  # another metric is judged instead
        self.reset()

    def reset(self) -> None:
        """Return to the state before the first tick."""
        self.idle_range: IdleRange | None = None  # not evaluated until a tick is outside of it
        self.period: ActivePeriod | None = None
        self.past: tuple[ActivePeriod, ...] = ()
        self.waiting: Unseen | None = None  # None: it was evaluated at all ticks
        self.asked = False  # whether a recording rule was asked for since it was evaluated

    def find_idle_range(self, window: RollingWindow) -> IdleRange | None:
        """The range of new ticks in which the rule stays idle; None if it is not, or may not."""
        if self.period is not None or self._idle_range_of is None:
            return None
        return self._idle_range_of(self.rule, window)

    def evaluate(self, window: RollingWindow) -> None:
        """Evaluate the rule at the window's moments."""
        self.asked = False
        if self.kind is not None:
            states = self.kind(self.rule, window, self.period is None)
            if states is not None:
                self.advance(states, window)

    def advance(self, states: ConditionStates, window: RollingWindow) -> None:
        """Update the state with the states of the condition at the window's moments."""
        on: list[bool] = states.on.tolist()
        early = self.rule.warmup // self.ticks.stride  # ticks of the warmup
        if early and not self.rule.fixed:
            on = [holds and at >= early for holds, at in zip(on, window.at.tolist(), strict=True)]
        if self.period is None and not any(on):
            return
        begin = 0
        while begin < len(on):
            end = _end(on, begin)
            if on[begin]:
                self._hold(states, window, begin, end - 1)
            elif self.period is not None:
                self._cease(self.period, states, window, range(begin, end))
            begin = end

    def _hold(self, states: ConditionStates, window: RollingWindow, first: int, last: int) -> None:
        """Update for moments from `first` to `last`, at all of which the condition holds."""
        ticks, rule, period, serial = self.ticks, self.rule, self.period, self._serial(window, last)
        if period is None:
            began = int(window.at[first]) if states.began is None else states.began(first)
            earlier = ticks.value[max(0, began - 10) : began]
            preceding = median(np.abs(earlier) if rule.of_size else earlier) if began else np.nan
            usual = preceding if states.before is None else float(states.before[first])
            limit, begun = float(states.limit[first]), self._serial(window, first)
            period = self.period = ActivePeriod(int(ticks.first[began]), np.nan, limit, usual, begun, begun)
            period.preceding = preceding
            period.held_from = int(ticks.last[int(window.at[first])])
            period.upward = states.upward
            # A tick of several points may begin before the onset: then that after it, if it is farther away.
            values = ticks.value[began : began + (1 if ticks.stride == 1 else 2)]
            period.opening = float(values.max() if states.upward else values.min())
        period.value, period.seen = float(states.value[last]), serial
        period.held_until = int(ticks.last[int(window.at[last])])
        beyond = states.beyond
        if beyond is None:
            beyond = states.value if states.upward else -states.value
        worst = first + int(beyond[first : last + 1].argmax())
        if math.isnan(period.beyond) or beyond[worst] > period.beyond:
            period.beyond, period.worst = float(beyond[worst]), float(states.value[worst])
            period.worst_step = int(ticks.last[int(window.at[worst])])
        if states.recovery is not None:
            levels = states.recovery[first : last + 1]  # the one farthest from the limit counts
            period.recovery = float(
                np.fmin(levels.min(), period.recovery)
                if states.upward
                else np.fmax(levels.max(), period.recovery)
            )
        if states.until is not None:
            period.until = float(states.until[last])
        self._compare(period, states, last)
        if serial - period.begun + 1 >= rule.for_ticks and window.at[last] >= rule.warmup // ticks.stride:
            period.firing = True

    def _compare(self, period: ActivePeriod, states: ConditionStates, k: int) -> None:
        """Update what the value is compared with, unless the rule is about a change that has been seen.

        A limit that follows from a level of the onset, which is told, stays with it.
        """
        if self.rule.latch or not (states.before is None or states.before is states.limit):
            return
        period.limit = float(states.limit[k])
        if states.before is states.limit:  # of the start, which is a part of the run, as the run goes on
            period.before = period.limit

    def _cease(
        self, period: ActivePeriod, states: ConditionStates, window: RollingWindow, moments: range
    ) -> None:
        """Update for moments at which the condition does not hold; resolve the period if it lasts."""
        for k in moments:
            value, serial = float(states.value[k]), self._serial(window, k)
            if states.recovery is not None and math.isnan(value):
                continue  # not evaluated at this moment
            surely = value if states.surely is None else float(states.surely[k])
            if not self._released(period, states, window, k, surely):
                if period.firing:
                    period.seen = serial
                    if not math.isnan(value):
                        period.value = value
                        self._compare(period, states, k)
                    if self.rule.latch and _is_unrecovered(period, value, states.upward):
                        period.held_until = int(self.ticks.last[int(window.at[k])])
            elif not period.firing:
                self.period = None
                return
            elif serial - period.seen >= self._pause(period):
                period.resolved_step = int(self.ticks.last[int(window.at[k])])
                self.past = (*self.past[-(KEPT - 1) :], period)
                self.period = None
                return

    def _pause(self, period: ActivePeriod) -> int:
        """Ticks for which the condition must not hold before a period is resolved.

        What came back soon after it had been resolved must stay away for twice as long as it was away before:
        an alarm that comes and goes is read as several faults.
        """
        least = self.rule.keep_firing_for
        if not self.past or self.rule.severity not in SEVERITIES[1:]:
            return least
        away = period.begun - self.past[-1].seen
        return max(least, LONGER * away) if away <= SOON else least

    def _serial(self, window: RollingWindow, k: int) -> int:
        """Number of a moment's tick among all ticks so far, including joined ones, from 1."""
        return int(window.at[k]) + self.ticks.serial - self.ticks.n + 1

    def _released(
        self, period: ActivePeriod, states: ConditionStates, window: RollingWindow, k: int, value: float
    ) -> bool:
        """Whether the condition has clearly ceased at a moment, beyond the hysteresis."""
        if not self.rule.latch or not period.firing:
            return bool(states.off[k]) or not period.firing
        if self.rule.number("recurring", 0.0):
            return bool(states.off[k])
        if (int(window.at[k]) + 1) * self.ticks.stride >= period.until:
            return True
        if not math.isnan(period.recovery):
            return value > period.recovery if not states.upward else value < period.recovery
        margin = self.rule.number("release", 0.4 if self.rule.kind == "spike" else 0.2) * abs(period.limit)
        if states.upward:
            return value < period.limit - margin
        return value > period.limit + margin

    def rewind(self, step: int) -> None:
        """Remove periods not resolved before a step; those that began earlier are found again."""
        self.period = None
        self.past = tuple(
            each for each in self.past if each.resolved_step is not None and each.resolved_step < step
        )


def _is_unrecovered(period: ActivePeriod, value: float, upward: bool) -> bool:
    """Whether the value of a latched rule is on the bad side of the level of a recovery, or of the limit.

    A change point is found again only while the newest ticks differ from those before them; the loss lasts
    longer than that.
    """
    level = period.limit if math.isnan(period.recovery) else period.recovery
    return value > level if upward else value < level


def _end(on: list[bool], begin: int) -> int:
    """End of the run of equal values that begins at a position."""
    try:
        return on.index(not on[begin], begin)
    except ValueError:
        return len(on)
