"""The state of one threshold of the user's on one series, judged at every point."""

from __future__ import annotations

from collections import deque

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.rules.judged_series.rewindable_counter import RewindableCounter
from rltui.rules.judged_series.ticks import Ticks
from rltui.rules.model import Rule
from rltui.rules.rule_states.rule_state import KEPT, Episode

ROWS = 64  # rows of points on one side that are remembered, for a restart


class _Row(RewindableCounter):
    """Points in a row on one side of the limits; noted of each: its value."""

    __slots__ = ("beyond",)

    def __init__(self, beyond: bool) -> None:
        super().__init__()
        self.beyond = beyond


class UserRuleState:
    """One threshold on one series: `for` points in a row beyond the limit fire, as many within it resolve.

    What is found depends only on the order of the points. Costs O(new points).
    """

    __slots__ = ("_high", "_low", "_rows", "episode", "past", "rule", "ticks")

    def __init__(self, rule: Rule, ticks: Ticks) -> None:
        self.rule = rule
        self.ticks = ticks
        self.episode: Episode | None = None
        self.past: tuple[Episode, ...] = ()
        self._low = rule.number("below", -np.inf)
        self._high = rule.number("above", np.inf)
        self._rows: deque[_Row] = deque(maxlen=ROWS)  # the latest, the present one last

    def feed(self, steps: Ints, values: Floats) -> None:
        """Take points in, on the canonical scale. NaN says nothing about a limit; infinity does."""
        usable = ~np.isnan(values)
        if not usable.all():
            steps, values = steps[usable], values[usable]
        if not len(values):
            return
        beyond = (values > self._high) | (values < self._low)
        starts = np.concatenate(([0], np.flatnonzero(beyond[1:] != beyond[:-1]) + 1, [len(values)]))
        for k in range(len(starts) - 1):
            begin, end = int(starts[k]), int(starts[k + 1])
            self._take(bool(beyond[begin]), steps[begin:end], values[begin:end])

    def _take(self, beyond: bool, steps: Ints, values: Floats) -> None:
        """Points that are all on one side."""
        if not self._rows or self._rows[-1].beyond is not beyond:
            self._rows.append(_Row(beyond))
        row = self._rows[-1]
        before = row.count
        row.add(steps, values)
        needed = self.rule.for_ticks if beyond else self.rule.keep_firing_for
        if beyond:
            if self.episode is None and row.count >= needed:
                fired = int(steps[max(needed - before - 1, 0)])
                nan = np.nan
                self.episode = Episode(row.since_step, nan, nan, nan, 0, 0, firing=True, fired_step=fired)
            if self.episode is not None:
                self._note(self.episode, row)
        elif self.episode is not None and row.count >= needed:
            self.episode.resolved_step = int(steps[needed - before - 1])
            self.past = (*self.past[-(KEPT - 1) :], self.episode)
            self.episode = None

    def _note(self, episode: Episode, row: _Row) -> None:
        """The newest value beyond a limit, and which."""
        episode.value = row.note[0]
        episode.limit = self._high if episode.value > self._high else self._low

    def rewind(self, step: int) -> None:
        """Forget what is at or above a step; what fired before and was over only later goes on."""
        while self._rows and not self._rows[-1].rewind(step):
            self._rows.pop()
        known = [*self.past, *([self.episode] if self.episode is not None else [])]
        known = [each for each in known if each.fired_step < step]
        self.episode = None
        if known and (known[-1].resolved_step is None or known[-1].resolved_step >= step):
            self.episode = known.pop()
            self.episode.resolved_step = None
            for row in reversed(self._rows):
                if row.beyond:
                    self._note(self.episode, row)
                    break
        self.past = tuple(known)
