"""The state of one rule on one series: idle, pending, firing, resolved."""

from __future__ import annotations

import math

import numpy as np

from rltui.common.arrays import median
from rltui.common.data_class import dataclass
from rltui.rules.judged_series.rolling_window import RollingWindow
from rltui.rules.judged_series.ticks import Marks, Ticks
from rltui.rules.kinds import IDLE_RANGES, KINDS, ConditionStates, IdleRange, carries
from rltui.rules.model import Rule

Unseen = tuple[int, Marks]  # the first tick, what was carried along before it

KEPT = 20  # resolved episodes remembered for one rule on one series


@dataclass(slots=True)
class Episode:
    """One time that a condition held."""

    since_step: int
    value: float
    limit: float
    before: float  # the usual level when it began; NaN where unknown
    begun: int  # serial number of the tick at which it became pending
    seen: int  # serial number of the last tick at which it held
    recovery: float = np.nan  # of a latched rule: the level that is back to normal
    worst: float = np.nan  # the value farthest beyond the limit
    beyond: float = np.nan  # how far that is, as its kind counts
    worst_step: int = 0
    firing: bool = False
    resolved_step: int | None = None
    fired_step: int = 0  # of the point that made it fire, where single points are judged


class RuleState:
    """One rule on one series, from moment to moment."""

    __slots__ = (
        "_idle_range_of", "asked", "carries", "episode", "idle_range", "kind", "past", "recording", "rule",
        "ticks", "waiting",
    )  # fmt: skip

    def __init__(self, rule: Rule, ticks: Ticks, *, recording: bool = False) -> None:
        self.rule = rule
        self.recording = recording
        self.kind = KINDS.get(rule.kind)  # None: what it is about is counted by the ticks themselves
        self.carries = carries(rule)
        self._idle_range_of = IDLE_RANGES.get(rule.kind)
        self.idle_range: IdleRange | None = None  # it is not evaluated until a tick lies outside
        self.ticks = ticks
        self.episode: Episode | None = None
        self.past: tuple[Episode, ...] = ()
        # The first tick that it has not seen, and what the ticks carried along before it; None: it saw all.
        self.waiting: Unseen | None = None
        self.asked = False  # whether somebody asked for it, being a recording, since it was evaluated

    def find_idle_range(self, window: RollingWindow) -> IdleRange | None:
        """Where it surely holds at no moment and none is open: the range in which that stays so."""
        if self.episode is not None or self._idle_range_of is None:
            return None
        return self._idle_range_of(self.rule, window)

    def evaluate(self, window: RollingWindow) -> None:
        """Evaluate the rule at the window's moments."""
        self.asked = False
        if self.kind is not None:
            states = self.kind(self.rule, window, self.episode is None)
            if states is not None:
                self.advance(states, window)

    def advance(self, states: ConditionStates, window: RollingWindow) -> None:
        """Take the states on the window's moments into the state."""
        on: list[bool] = states.on.tolist()
        early = self.rule.warmup // self.ticks.stride  # ticks whose points make no rule fire
        if early and not self.rule.fixed:
            on = [holds and at >= early for holds, at in zip(on, window.at.tolist(), strict=True)]
        if self.episode is None and not any(on):
            return
        begin = 0
        while begin < len(on):
            end = _end(on, begin)
            if on[begin]:
                self._hold(states, window, begin, end - 1)
            elif self.episode is not None:
                self._cease(self.episode, states, window, range(begin, end))
            begin = end

    def _hold(self, states: ConditionStates, window: RollingWindow, first: int, last: int) -> None:
        """It holds from one moment to another, and at all between."""
        ticks, rule, episode, serial = self.ticks, self.rule, self.episode, self._serial(window, last)
        if episode is None:
            began = int(window.at[first]) if states.began is None else states.began(first)
            usual = median(ticks.value[max(0, began - 10) : began]) if began else np.nan
            if states.before is not None:
                usual = float(states.before[first])
            limit, begun = float(states.limit[first]), self._serial(window, first)
            episode = self.episode = Episode(int(ticks.first[began]), np.nan, limit, usual, begun, begun)
        episode.value, episode.seen = float(states.value[last]), serial
        beyond = states.beyond
        if beyond is None:
            beyond = states.value if states.upward else -states.value
        worst = first + int(beyond[first : last + 1].argmax())
        if math.isnan(episode.beyond) or beyond[worst] > episode.beyond:
            episode.beyond, episode.worst = float(beyond[worst]), float(states.value[worst])
            episode.worst_step = int(ticks.last[int(window.at[worst])])
        if states.recovery is not None:
            back = states.recovery[first : last + 1]  # the level farthest from the bad side counts
            episode.recovery = float(
                np.fmin(back.min(), episode.recovery)
                if states.upward
                else np.fmax(back.max(), episode.recovery)
            )
        if not rule.latch:
            episode.limit = float(states.limit[last])
        if serial - episode.begun + 1 >= rule.for_ticks and window.at[last] >= rule.warmup // ticks.stride:
            episode.firing = True

    def _cease(
        self, episode: Episode, states: ConditionStates, window: RollingWindow, moments: range
    ) -> None:
        """It does not hold at some moments: it is over, or goes on until it has clearly ceased for long."""
        for k in moments:
            value, serial = float(states.value[k]), self._serial(window, k)
            if states.recovery is not None and math.isnan(value):
                continue  # a moment that is not judged
            surely = value if states.surely is None else float(states.surely[k])
            if not self._released(episode, states, k, surely):
                if episode.firing:
                    episode.seen = serial
                    if not math.isnan(value):
                        episode.value = value
            elif not episode.firing:
                self.episode = None
                return
            elif serial - episode.seen >= self.rule.keep_firing_for:
                episode.resolved_step = int(self.ticks.last[int(window.at[k])])
                self.past = (*self.past[-(KEPT - 1) :], episode)
                self.episode = None
                return

    def _serial(self, window: RollingWindow, k: int) -> int:
        """Number of a moment's tick among all ever made, from 1."""
        return int(window.at[k]) + self.ticks.serial - self.ticks.n + 1

    def _released(self, episode: Episode, states: ConditionStates, k: int, value: float) -> bool:
        if not self.rule.latch or not episode.firing:
            return bool(states.off[k]) or not episode.firing
        if self.rule.number("recurring", 0.0):
            return bool(states.off[k])
        if not math.isnan(episode.recovery):
            return value > episode.recovery if not states.upward else value < episode.recovery
        margin = self.rule.number("release", 0.4 if self.rule.kind == "spike" else 0.2) * abs(episode.limit)
        if states.upward:
            return value < episode.limit - margin
        return value > episode.limit + margin

    def rewind(self, step: int) -> None:
        """Forget what was not over before a step: what began before is found again in the ticks that stay."""
        self.episode = None
        self.past = tuple(
            each for each in self.past if each.resolved_step is not None and each.resolved_step < step
        )


def _end(on: list[bool], begin: int) -> int:
    """Where the stretch of like moments that begins at one of them ends."""
    try:
        return on.index(not on[begin], begin)
    except ValueError:
        return len(on)
