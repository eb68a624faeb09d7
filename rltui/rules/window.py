"""What rules ask of a series at the moments when new ticks came: rolling levels, noise, trends.

All functions are vectorised over m moments and cached, because several rules ask the same. A level is
always a median over several ticks: no rule sees a single sample.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rltui.rules.robust import (
    NORMAL,
    TREND_LENGTHS,
    mann_kendall,
    mann_kendall_one,
    median_of,
    sorted_middle,
    trend_length,
    trend_length_one,
)
from rltui.rules.track import START, Floats, Ints, Track

BEFORE = 50  # ticks of the past that "usual" means
PAD = 128  # ticks that are nowhere in front of the first: rows and what they leave out are no longer
BEFORE_MIN = 8  # fewer say nothing about what is usual
_STEP = NORMAL / float(np.sqrt(2.0))  # likewise, from differences of neighbours
_PADDING = np.full(PAD, np.nan)


class Window:
    """A track seen at m moments; moment k sees the ticks up to position `at[k]` and none after."""

    __slots__ = ("_cache", "_padded", "at", "track")

    def __init__(self, track: Track, at: Ints) -> None:
        self.track = track
        self.at = at  # (m,) positions among the ticks held, from 0
        self._cache: dict[tuple[str, int, int], Floats] = {}
        self._padded: Floats | None = None

    def __len__(self) -> int:
        return len(self.at)

    def rows(self, length: int, skip: int = 0) -> Floats:
        """(m, length) the last `length` ticks after leaving out `skip`; NaN in front where there are none."""
        if len(self.at) == 1:
            end = int(self.at[0]) + 1 - skip
            if end >= length:
                return self.track.value[end - length : end].reshape(1, -1)
            row: Floats = np.full((1, length), np.nan)
            if end > 0:
                row[0, length - end :] = self.track.value[:end]
            return row
        every, begin = self._every(length), 1 - skip + PAD - length
        first, last = int(self.at[0]), int(self.at[-1])
        if last - first + 1 == len(self.at):  # every tick, as in a short run
            return every[first + begin : last + begin + 1].copy()
        return every[self.at + begin]

    def _every(self, length: int) -> Floats:
        """(any, length) a view of all rows of neighbours; row k ends before tick k - PAD + length."""
        padded = self._padded
        if padded is None:
            padded = self._padded = np.concatenate((_PADDING, self.track.value[: int(self.at[-1]) + 1]))
        return np.ndarray((len(padded) - length + 1, length), np.float64, padded, 0, (8, 8))

    def _last(self, length: int, skip: int) -> list[float]:
        """The ticks of the only moment, as numbers: for one row Python is faster than numpy."""
        end = max(int(self.at[0]) + 1 - skip, 0)
        part: list[float] = self.track.value[max(end - length, 0) : end].tolist()
        return part

    def _reach(self, length: int, skip: int) -> int:
        """Columns of such rows that hold a tick at any moment, at least one; those before are empty."""
        return min(length, max(int(self.at[-1]) + 1 - skip, 1))

    def _have(self, length: int, skip: int) -> Ints:
        """(m,) ticks in such rows; rises from moment to moment."""
        return np.minimum(np.maximum(self.at + (1 - skip), 0), length)

    def _median(self, name: str, length: int, skip: int, least: int) -> Floats:
        """(m,) medians of such rows; NaN where fewer than `least` ticks are there."""
        key = (name, length, skip)
        found = self._cache.get(key)
        if found is None:
            if len(self.at) == 1:
                part = self._last(length, skip)
                found = np.array([median_of(part) if len(part) >= least else np.nan])
            elif least == length:
                found = self._full_median(length, skip)
            else:
                have = self._have(length, skip)
                found = sorted_middle(self.rows(self._reach(length, skip), skip), have)
                if have[0] < least:
                    found[have < least] = np.nan
            self._cache[key] = found
        return found

    def _full_median(self, length: int, skip: int) -> Floats:
        """(m,) medians of such rows that are full; NaN of others."""
        table = self.rows(length, skip)
        table.sort(axis=1)
        found: Floats = (table[:, (length - 1) // 2] + table[:, length // 2]) / 2
        found[: int(self.at.searchsorted(length + skip - 1))] = np.nan
        return found

    def level(self, length: int) -> Floats:
        """(m,) median of the last `length` ticks; NaN until there are as many."""
        return self._median("level", length, 0, length)

    def usual(self, skip: int, length: int = BEFORE) -> Floats:
        """(m,) median of up to `length` ticks before the last `skip`; NaN where it would be a guess."""
        return self._median("usual", length, skip, BEFORE_MIN)

    def noise(self, skip: int, length: int = BEFORE) -> Floats:
        """(m,) robust standard deviation of the ticks that `usual` sees."""
        key = ("noise", length, skip)
        found = self._cache.get(key)
        if found is None:
            if len(self.at) == 1:
                usual = float(self.usual(skip, length)[0])
                found = np.array([NORMAL * median_of([abs(v - usual) for v in self._last(length, skip)])])
            else:
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
            if len(self.at) == 1:
                part = self._last(length, skip)
                found = np.array([_STEP * median_of([abs(b - a) for a, b in pairwise(part)])])
            else:
                rows = self.rows(max(self._reach(length, skip), 2), skip)
                away = np.abs(rows[:, 1:] - rows[:, :-1])
                found = _STEP * sorted_middle(away, self._have(length - 1, skip + 1))
            self._cache[key] = found
        return found

    def loudest(self, skip: int) -> Floats:
        """(m,) largest jitter so far: a calm end must not make an early stroke of luck look like a level.

        Carried by the track, as `extremes` is.
        """
        key = ("loudest", BEFORE, skip)
        found = self._cache.get(key)
        if found is None:
            mark = -1 - skip
            jitter = np.where(self.at + 1 - skip >= BEFORE_MIN, self.jitter(skip), np.nan)
            found = np.fmax.accumulate(np.fmax(jitter, self.track.marks.get(mark, (np.nan, np.nan))[0]))
            self.track.marks[mark] = (float(found[-1]), np.nan)
            self._cache[key] = found
        return found

    def spread(self, length: int) -> Floats:
        """(m,) highest minus lowest of the last `length` ticks; NaN until there are as many."""
        if len(self.at) == 1:
            part = self._last(length, 0)
            return np.array([max(part) - min(part) if len(part) == length else np.nan])
        rows = self.rows(length)
        found: Floats = rows.max(axis=1) - rows.min(axis=1)
        found[self.at + 1 < length] = np.nan
        return found

    def start(self) -> tuple[float, float, float]:
        """Median, lowest and highest of the first ticks. Rules are not asked before they are there."""
        start = self.track.start
        return (median_of(start), min(start), max(start)) if len(start) >= START else (np.nan,) * 3

    def extremes(self, length: int) -> tuple[Floats, Floats]:
        """(m,) highest and lowest level so far, the start included; NaN before the start is known.

        Carried by the track from window to window, so it must be asked of every window or of none.
        """
        key = ("best", length, 0)
        if key not in self._cache:
            before = self.track.marks.get(length, (np.nan, np.nan))
            start, level = self.start()[0], self.level(length)
            if len(self.at) == 1:
                now = float(level[0])
                top = max((value for value in (now, start, before[0]) if value == value), default=np.nan)
                bottom = min((value for value in (now, start, before[1]) if value == value), default=np.nan)
                best, worst = np.array([top]), np.array([bottom])
            else:
                best = np.fmax.accumulate(np.fmax(np.fmax(level, before[0]), start))
                worst = np.fmin.accumulate(np.fmin(np.fmin(level, before[1]), start))
            self.track.marks[length] = (float(best[-1]), float(worst[-1]))
            self._cache[key], self._cache[("worst", length, 0)] = best, worst
        return self._cache[key], self._cache[("worst", length, 0)]

    def trend(self) -> tuple[Floats, Floats, Floats]:
        """(m,) Mann–Kendall z, change over the window, robust noise within it.

        The window is the last fifth of the run, at least 24 ticks (two ticks to a part), at most 96. NaN
        where there are fewer.
        """
        key = ("trend", 0, 0)
        if key not in self._cache:
            z, change, noise = self._trend_one() if len(self.at) == 1 else self._trends()
            self._cache[key], self._cache[("trend", 1, 0)], self._cache[("trend", 2, 0)] = z, change, noise
        return self._cache[key], self._cache[("trend", 1, 0)], self._cache[("trend", 2, 0)]

    def _trends(self) -> tuple[Floats, Floats, Floats]:
        z, change, noise = (np.full(len(self), np.nan) for _ in range(3))
        for length in TREND_LENGTHS[1:]:
            chosen = trend_length(self.at + 1) == length
            if chosen.any():
                part = Window(self.track, self.at[chosen])
                z[chosen], change[chosen], noise[chosen] = mann_kendall(part.rows(length))
        return z, change, noise

    def _trend_one(self) -> tuple[Floats, Floats, Floats]:
        ticks = int(self.at[0]) + 1
        length = trend_length_one(ticks)
        if not length:
            return np.array([np.nan]), np.array([np.nan]), np.array([np.nan])
        return mann_kendall_one(self._last(length, 0))
