"""What rules ask of a series at the moments when new ticks came: rolling levels, noise, trends.

All functions are vectorised over m moments and cached, because several rules ask the same. A level is
always a median over several ticks: no rule sees a single sample. The plural of a word (`levels`) is two
plain numbers between which it lies at all moments, NaN left out, found without working it out where that
is shorter: from them most rules tell at once that they hold nowhere. For a single moment there is
`rltui.rules.moment`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rltui.rules.evaluate.robust_statistics import (
    NORMAL,
    TREND_FROM,
    TREND_LENGTHS,
    TREND_PARTS,
    concordance,
    median_of,
    medians,
    middle,
    part_medians,
    rise,
    sorted_middle,
)
from rltui.rules.evaluate.ticks import START, Floats, Ints, Ticks

BEFORE = 50  # ticks of the past that "usual" means
PAD = 128  # ticks that are nowhere in front of the first: rows and what they leave out are no longer
BEFORE_MIN = 8  # fewer say nothing about what is usual
BENT = 24  # ticks that `bend` sees
NEIGHBOURS = NORMAL / float(np.sqrt(2.0))  # likewise, from differences of neighbours
BENDS = float(np.sqrt(6.0))  # deviation of a second difference of noise of one
_PADDING = np.full(PAD, np.nan)

UNKNOWN = (math.nan, math.nan)

Span = tuple[float, float]  # the lowest and the highest
Key = tuple[str, int, int]


class RollingWindow:
    """A track seen at m moments; moment k sees the ticks up to position `at[k]` and none after."""

    __slots__ = ("_cache", "_padded", "_parts", "_spans", "_start", "_whole", "at", "last", "track")

    def __init__(self, track: Ticks, at: Ints) -> None:
        self.track = track
        self.at = at  # (m,) positions among the ticks held, from 0
        self.last = int(at[-1])  # the last of them
        self._cache: dict[Key, Floats] = {}
        self._spans: dict[Key, Span] = {}
        self._padded: Floats | None = None
        self._whole: RollingWindow | None = None
        self._parts: list[tuple[slice, Floats, Floats]] | None = None
        self._start: tuple[float, float, float] | None = None

    def __len__(self) -> int:
        return len(self.at)

    def rows(self, length: int, skip: int = 0) -> Floats:
        """(m, length) the last `length` ticks after leaving out `skip`; NaN in front where there are none."""
        return self._rows(self.at, length, skip)

    def _rows(self, at: Ints, length: int, skip: int) -> Floats:
        """The same at some of the moments, a copy."""
        padded = self._padded
        if padded is None:
            padded = self._padded = np.concatenate((_PADDING, self.track.value[: self.last + 1]))
        every: Floats = np.ndarray((len(padded) - length + 1, length), np.float64, padded, 0, (8, 8))
        begin = 1 - skip + PAD - length  # row k of all ends before tick k - PAD + length
        first, last = int(at[0]), int(at[-1])
        if last - first + 1 == len(at):  # every tick, as in a short run
            return every[first + begin : last + begin + 1].copy()
        return every[at + begin]

    def _reach(self, length: int, skip: int) -> int:
        """Columns of such rows that hold a tick at any moment, at least one; those before are empty."""
        return min(length, max(self.last + 1 - skip, 1))

    def _have(self, length: int, skip: int) -> Ints:
        """(m,) ticks in such rows; rises from moment to moment."""
        return np.minimum(np.maximum(self.at + (1 - skip), 0), length)

    def _earlier(
        self, word: Callable[[RollingWindow, int, int], Floats], skip: int, length: int
    ) -> Floats | None:
        """A word of the moments `skip` ticks before: for a young run it is worked out once, at every tick.

        None where the moments leave out ticks.
        """
        if len(self) <= self.last + 1 - START or not skip:
            return None
        whole = self._whole
        if whole is None:
            whole = self._whole = RollingWindow(self.track, np.arange(self.last + 1))
        found = word(whole, 0, length)
        first, end = int(self.at[0]) - skip, max(self.last + 1 - skip, 0)
        if first >= 0:
            return found[first:end]
        return np.concatenate((_PADDING[:-first], found[:end]))[: len(self)]

    def _span(self, key: Key, found: Floats) -> Span:
        """Lowest and highest of (m,) numbers, NaN left out."""
        span = self._spans.get(key)
        if span is None:
            span = self._spans[key] = float(np.fmin.reduce(found)), float(np.fmax.reduce(found))
        return span

    def ticks(self, length: int) -> Span:
        """No tick among the last `length` of any moment lies outside these two."""
        begin = max(int(self.at[0]) + 1 - length, 0)
        key = ("ticks", begin, 0)
        span = self._spans.get(key)
        if span is None:
            held = self.track.value[begin : self.last + 1]
            span = self._spans[key] = float(np.minimum.reduce(held)), float(np.maximum.reduce(held))
        return span

    def level(self, length: int) -> Floats:
        """(m,) median of the last `length` ticks; NaN until there are as many."""
        key = ("level", length, 0)
        found = self._cache.get(key)
        if found is None:
            if self.last + 1 < length:
                found = np.full(len(self), np.nan)
            elif length == 1:
                found = self.track.value[self.at]
            else:
                table = self.rows(length)
                table.sort(axis=1)
                found = (table[:, (length - 1) // 2] + table[:, length // 2]) / 2
                found[: int(self.at.searchsorted(length - 1))] = np.nan
            self._cache[key] = found
        return found

    def levels(self, length: int) -> Span:
        """No level lies outside these; NaN where there is none."""
        return self.ticks(length) if self.last + 1 >= length else UNKNOWN

    def usual(self, skip: int, length: int = BEFORE) -> Floats:
        """(m,) median of up to `length` ticks before the last `skip`; NaN where it would be a guess."""
        key = ("usual", length, skip)
        found = self._cache.get(key)
        if found is None:
            if self.last + 1 - skip < BEFORE_MIN:
                found = np.full(len(self), np.nan)
            elif (found := self._earlier(RollingWindow.usual, skip, length)) is None:
                have = self._have(length, skip)
                found = sorted_middle(self.rows(self._reach(length, skip), skip), have)
                if have[0] < BEFORE_MIN:
                    found[have < BEFORE_MIN] = np.nan
            self._cache[key] = found
        return found

    def usuals(self, skip: int) -> Span:
        """No usual level lies outside these; NaN where there is none."""
        return self.ticks(BEFORE + skip) if self.last + 1 - skip >= BEFORE_MIN else UNKNOWN

    def noise(self, skip: int, length: int = BEFORE) -> Floats:
        """(m,) robust standard deviation of the ticks that `usual` sees."""
        key = ("noise", length, skip)
        found = self._cache.get(key)
        if found is None:
            found = self._earlier(RollingWindow.noise, skip, length)
            if found is None:
                rows = self.rows(self._reach(length, skip), skip)
                away = np.abs(rows - self.usual(skip, length)[:, None])
                found = NORMAL * sorted_middle(away, self._have(length, skip))
            self._cache[key] = found
        return found

    def jitter(self, skip: int, length: int = BEFORE) -> Floats:
        """(m,) robust deviation between neighbours before the last `skip`: a trend does not swell it."""
        key = ("jitter", length, skip)
        found = self._cache.get(key)
        if found is None:
            found = self._earlier(RollingWindow.jitter, skip, length)
            if found is None:
                rows = self.rows(max(self._reach(length, skip), 2), skip)
                away = np.abs(rows[:, 1:] - rows[:, :-1])
                found = NEIGHBOURS * sorted_middle(away, self._have(length - 1, skip + 1))
            self._cache[key] = found
        return found

    def jitters(self, skip: int) -> Span:
        """Lowest and highest jitter."""
        return self._span(("jitter", BEFORE, skip), self.jitter(skip))

    def loudest(self, skip: int) -> Floats:
        """(m,) largest jitter so far: a calm end must not make an early stroke of luck look like a level.

        Carried by the track, as `extremes` is.
        """
        key = ("loudest", BEFORE, skip)
        found = self._cache.get(key)
        if found is None:
            mark = -1 - skip
            found = np.full(len(self), self.track.marks.get(mark, UNKNOWN)[0])
            known = int(self.at.searchsorted(BEFORE_MIN + skip - 1))
            if known < len(self):
                found[known:] = np.fmax.accumulate(np.fmax(self.jitter(skip)[known:], found[0]))
            self.track.marks[mark] = (float(found[-1]), np.nan)
            self._cache[key] = found
        return found

    def bend(self) -> Floats:
        """(m,) robust deviation of second differences of recent ticks: a steady climb is no noise."""
        key = ("bend", BENT, 0)
        found = self._cache.get(key)
        if found is None:
            rows = self.rows(BENT)
            away = np.abs(rows[:, 2:] - 2 * rows[:, 1:-1] + rows[:, :-2])
            have = np.clip(self.at - 1, 0, BENT - 2)
            found = self._cache[key] = NORMAL * middle(np.sort(away, axis=1), have) / BENDS
        return found

    def bends(self) -> Span:
        """Lowest and highest bend."""
        return self._span(("bend", BENT, 0), self.bend())

    def spread(self, length: int) -> Floats:
        """(m,) highest minus lowest of the last `length` ticks; NaN until there are as many."""
        key = ("spread", length, 0)
        found = self._cache.get(key)
        if found is None:
            rows = self.rows(length)
            found = rows.max(axis=1) - rows.min(axis=1)
            found[self.at + 1 < length] = np.nan
            self._cache[key] = found
        return found

    def spreads(self, length: int) -> Span:
        """No spread lies outside these: it is at least that of two neighbours. NaN where there is none."""
        if self.last + 1 < length:
            return UNKNOWN
        begin = max(int(self.at[0]) + 1 - length, 0)
        key = ("spread", begin, -1)
        span = self._spans.get(key)
        if span is None:
            held = self.track.value[begin : self.last + 1]
            low, high = self.ticks(length)
            closest = float(np.minimum.reduce(np.abs(held[1:] - held[:-1]))) if length > 1 else 0.0
            span = self._spans[key] = closest, high - low
        return span

    def start(self) -> tuple[float, float, float]:
        """Median, lowest and highest of the first ticks. Rules are not asked before they are there."""
        found = self._start
        if found is None:
            start = self.track.start
            found = (median_of(start), min(start), max(start)) if len(start) >= START else (math.nan,) * 3
            self._start = found
        return found

    def extremes(self, length: int) -> tuple[Floats, Floats]:
        """(m,) highest and lowest level so far, the start included; NaN before the start is known.

        Carried by the track from window to window, so it must be asked of every window or of none.
        """
        key, other = ("best", length, 0), ("worst", length, 0)
        if key not in self._cache:
            start, level = self.start()[0], self.level(length)
            high, low = self.track.marks.get(length, (start, start))
            best = np.fmax.accumulate(np.fmax(level, np.fmax(high, start)))
            worst = np.fmin.accumulate(np.fmin(level, np.fmin(low, start)))
            self.track.marks[length] = (float(best[-1]), float(worst[-1]))
            self._cache[key], self._cache[other] = best, worst
        return self._cache[key], self._cache[other]

    def bests(self, length: int) -> Span:
        """Lowest and highest of the highest levels so far; carried as `extremes` is."""
        best = self.extremes(length)[0]
        return float(best[0]), float(best[-1])

    def worsts(self, length: int) -> Span:
        """Lowest and highest of the lowest levels so far; carried as `extremes` is."""
        worst = self.extremes(length)[1]
        return float(worst[-1]), float(worst[0])

    def trend(self) -> tuple[Floats, Floats]:
        """(m,) Mann-Kendall z, change over the window.

        The window is the last fifth of the run, at least 24 ticks (two ticks to a part), at most 96. NaN
        where there are fewer.
        """
        key, other = ("trend", 0, 0), ("change", 0, 0)
        if key not in self._cache:
            z, change = np.full(len(self), np.nan), np.full(len(self), np.nan)
            for chosen, _, parts in self._trends():
                z[chosen], change[chosen] = concordance(parts), rise(parts)
            self._cache[key], self._cache[other] = z, change
        return self._cache[key], self._cache[other]

    def trends(self) -> Span:
        """Lowest and highest z."""
        return self._span(("trend", 0, 0), self.trend()[0])

    def trend_noise(self) -> Floats:
        """(m,) robust noise within the window of the trend."""
        key = ("trend noise", 0, 0)
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = np.full(len(self), np.nan)
            for chosen, rows, parts in self._trends():
                away = np.abs(rows.reshape(len(rows), TREND_PARTS, -1) - parts[:, :, None])
                found[chosen] = NORMAL * medians(away.reshape(len(rows), -1))
        return found

    def _trends(self) -> list[tuple[slice, Floats, Floats]]:
        """For each length of a trend: the moments that it is read at, their rows, medians of their parts."""
        if self._parts is None:
            self._parts = []
            edges = [*self.at.searchsorted(TREND_FROM).tolist(), len(self)]
            for length, begin, end in zip(TREND_LENGTHS[1:], edges, edges[1:], strict=False):
                if begin < end:
                    rows = self._rows(self.at[begin:end], length, 0)
                    self._parts.append((slice(begin, end), rows, part_medians(rows)))
        return self._parts
