"""The state of one of the user's thresholds on one series, evaluated at every point."""

from __future__ import annotations

from collections import deque

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.rules.evaluated_series.rewindable_counter import RewindableCounter
from rltui.rules.evaluated_series.ticks import Ticks
from rltui.rules.rule import Rule
from rltui.rules.rule_states.rule_state import KEPT, ActivePeriod

STREAKS = 256  # newest ones that are stored, for restarts; each stores at most as many points


class _Streak(RewindableCounter):
    """Consecutive points on one side of the limits; the note of each is its value."""

    __slots__ = ("beyond",)

    def __init__(self, beyond: bool) -> None:
        super().__init__()
        self.beyond = beyond


class UserRuleState:
    """One threshold on one series: fires after `for` consecutive points beyond the limit.

    It is resolved after `keep_firing_for` points within it. Costs O(new points).
    """

    __slots__ = ("_high", "_low", "_streaks", "past", "period", "rule", "ticks")

    def __init__(self, rule: Rule, ticks: Ticks) -> None:
        self.rule = rule
        self.ticks = ticks
        self.period: ActivePeriod | None = None
        self.past: tuple[ActivePeriod, ...] = ()
        self._low = rule.number("below", -np.inf)
        self._high = rule.number("above", np.inf)
        self._streaks: deque[_Streak] = deque(maxlen=STREAKS)  # the present one last

    def feed(self, steps: Ints, values: Floats) -> None:
        """Add points on the canonical scale. NaN is ignored; infinity is not."""
        usable = ~np.isnan(values)
        if not usable.all():
            steps, values = steps[usable], values[usable]
        if not len(values):
            return
        beyond = (values > self._high) | (values < self._low)
        starts = np.concatenate(([0], np.flatnonzero(beyond[1:] != beyond[:-1]) + 1, [len(values)]))
        for k in range(len(starts) - 1):
            begin, end = int(starts[k]), int(starts[k + 1])
            self._add(bool(beyond[begin]), steps[begin:end], values[begin:end])

    def _add(self, beyond: bool, steps: Ints, values: Floats) -> None:
        """Add points that are all on one side."""
        if not self._streaks or self._streaks[-1].beyond is not beyond:
            self._streaks.append(_Streak(beyond))
        streak = self._streaks[-1]
        before = streak.count
        streak.add(steps, values)
        needed = self.rule.for_ticks if beyond else self.rule.keep_firing_for
        if beyond:
            if self.period is None and streak.count >= needed:
                fired = int(steps[max(needed - before - 1, 0)])
                nan = np.nan
                self.period = ActivePeriod(
                    streak.since_step, nan, nan, nan, 0, 0, firing=True, fired_step=fired
                )
            if self.period is not None:
                self._set_value(self.period, streak)
        elif self.period is not None and streak.count >= needed:
            self.period.resolved_step = int(steps[needed - before - 1])
            self.past = (*self.past[-(KEPT - 1) :], self.period)
            self.period = None

    def _set_value(self, period: ActivePeriod, streak: _Streak) -> None:
        """Set the newest value, and the limit that it is beyond."""
        period.value = streak.note[0]
        period.limit = self._high if period.value > self._high else self._low

    def rewind(self, step: int) -> None:
        """Remove points at or above a step; a period resolved after it fires again."""
        while self._streaks and not self._streaks[-1].rewind(step):
            self._streaks.pop()
        known = [*self.past, *([self.period] if self.period is not None else [])]
        known = [each for each in known if each.fired_step < step]
        self.period = None
        if known and (known[-1].resolved_step is None or known[-1].resolved_step >= step):
            self.period = known.pop()
            self.period.resolved_step = None
            for streak in reversed(self._streaks):
                if streak.beyond:
                    self._set_value(self.period, streak)
                    break
        self.past = tuple(known)
