"""A window of a single moment, in plain numbers: what a live run asks most.

For one row Python is faster than numpy where it is short, and numpy without a second axis where it is
long. To the bit the same as the window of many moments says of each of them.
"""

from __future__ import annotations

import math

import numpy as np

from rltui.rules.evaluate.robust_statistics import (
    NORMAL,
    TREND_PARTS,
    concordance_one,
    median_of,
    middle_of,
    trend_length_one,
)
from rltui.rules.evaluate.rolling_window import (
    BEFORE,
    BEFORE_MIN,
    BENDS,
    BENT,
    NEIGHBOURS,
    UNKNOWN,
    Key,
    RollingWindow,
    Span,
)
from rltui.rules.evaluate.ticks import Floats, Ints, Ticks


class SingleMoment(RollingWindow):
    """A track seen at one moment. What is never less or more is the number itself."""

    __slots__ = ("_lists",)

    def __init__(self, track: Ticks, at: Ints) -> None:
        super().__init__(track, at)
        self._lists: dict[int, list[float]] = {}

    def rows(self, length: int, skip: int = 0) -> Floats:
        """(1, length) the last `length` ticks after leaving out `skip`; NaN in front where there are none."""
        end = self.last + 1 - skip
        if end >= length:
            return self.track.value[end - length : end].reshape(1, -1)
        row: Floats = np.full((1, length), np.nan)
        if end > 0:
            row[0, length - end :] = self.track.value[:end]
        return row

    def row(self, length: int) -> list[float]:
        """The last `length` ticks, or as many as there are."""
        found = self._lists.get(length)
        if found is None:
            end = self.last + 1
            found = self._lists[length] = self.track.value[max(end - length, 0) : end].tolist()
        return found

    def _part(self, length: int, skip: int) -> Floats:
        """(n,) a view of up to `length` ticks before the last `skip`."""
        end = max(self.last + 1 - skip, 0)
        return self.track.value[max(end - length, 0) : end]

    def _keep(self, key: Key, value: float) -> Span:
        span = self._spans[key] = value, value
        return span

    def ticks(self, length: int) -> Span:
        """The lowest and the highest of the last `length` ticks."""
        key = ("ticks", length, 0)
        span = self._spans.get(key)
        if span is None:
            row = self.row(length)
            span = self._spans[key] = min(row), max(row)
        return span

    def levels(self, length: int) -> Span:
        """The level, twice."""
        key = ("level", length, 0)
        span = self._spans.get(key)
        if span is None:
            span = self._keep(key, median_of(self.row(length)) if self.last + 1 >= length else math.nan)
        return span

    def level(self, length: int) -> Floats:
        """(1,) the level."""
        return np.array(self.levels(length)[:1])

    def usuals(self, skip: int, length: int = BEFORE) -> Span:
        """The usual level, twice."""
        key = ("usual", length, skip)
        span = self._spans.get(key)
        if span is None:
            part = self._part(length, skip)
            span = self._keep(key, middle_of(part.copy()) if len(part) >= BEFORE_MIN else math.nan)
        return span

    def usual(self, skip: int, length: int = BEFORE) -> Floats:
        """(1,) the usual level."""
        return np.array(self.usuals(skip, length)[:1])

    def noise(self, skip: int, length: int = BEFORE) -> Floats:
        """(1,) robust standard deviation of the ticks that `usual` sees."""
        key = ("noise", length, skip)
        found = self._cache.get(key)
        if found is None:
            usual = self.usuals(skip, length)[0]
            value = NORMAL * middle_of(np.abs(self._part(length, skip) - usual)) if usual == usual else usual
            found = self._cache[key] = np.array((value,))
        return found

    def jitters(self, skip: int, length: int = BEFORE) -> Span:
        """Robust deviation between neighbours, twice."""
        key = ("jitter", length, skip)
        span = self._spans.get(key)
        if span is None:
            part = self._part(length, skip)
            value = NEIGHBOURS * middle_of(np.abs(part[1:] - part[:-1])) if len(part) > 1 else math.nan
            span = self._keep(key, value)
        return span

    def jitter(self, skip: int, length: int = BEFORE) -> Floats:
        """(1,) robust deviation between neighbours."""
        return np.array(self.jitters(skip, length)[:1])

    def loudest(self, skip: int) -> Floats:
        """(1,) largest jitter so far."""
        key = ("loudest", BEFORE, skip)
        span = self._spans.get(key)
        if span is None:
            mark = -1 - skip
            value = self.track.marks.get(mark, UNKNOWN)[0]
            if self.last + 1 - skip >= BEFORE_MIN:
                jitter = self.jitters(skip)[0]
                value = value if value >= jitter else jitter
            self.track.marks[mark] = value, math.nan
            span = self._keep(key, value)
        return np.array(span[:1])

    def bends(self) -> Span:
        """Robust deviation of second differences, twice."""
        key = ("bend", BENT, 0)
        span = self._spans.get(key)
        if span is None:
            part = self._part(BENT, 0)
            if len(part) > 2:
                value = NORMAL * middle_of(np.abs(part[2:] - 2 * part[1:-1] + part[:-2])) / BENDS
            else:
                value = math.nan
            span = self._keep(key, value)
        return span

    def bend(self) -> Floats:
        """(1,) robust deviation of second differences."""
        return np.array(self.bends()[:1])

    def spreads(self, length: int) -> Span:
        """Highest minus lowest, twice."""
        if self.last + 1 < length:
            return UNKNOWN
        low, high = self.ticks(length)
        return high - low, high - low

    def spread(self, length: int) -> Floats:
        """(1,) highest minus lowest."""
        return np.array(self.spreads(length)[:1])

    def _extremes(self, length: int) -> tuple[Span, Span]:
        key, other = ("best", length, 0), ("worst", length, 0)
        best = self._spans.get(key)
        if best is not None:
            return best, self._spans[other]
        marks = self.track.marks
        known = [*marks.get(length, UNKNOWN), self.start()[0], self.levels(length)[0]]
        known = [value for value in known if value == value]
        high, low = (max(known), min(known)) if known else UNKNOWN
        marks[length] = high, low
        return self._keep(key, high), self._keep(other, low)

    def bests(self, length: int) -> Span:
        """The highest level so far, twice; carried."""
        return self._extremes(length)[0]

    def worsts(self, length: int) -> Span:
        """The lowest level so far, twice; carried."""
        return self._extremes(length)[1]

    def extremes(self, length: int) -> tuple[Floats, Floats]:
        """(1,) the highest and the lowest level so far."""
        best, worst = self._extremes(length)
        return np.array(best[:1]), np.array(worst[:1])

    def _medians(self) -> tuple[list[list[float]], list[float]]:
        """The parts of the trend's window and their medians; none where there are too few ticks."""
        length = trend_length_one(self.last + 1)
        row, width = self.row(length), length // TREND_PARTS
        parts = [row[at : at + width] for at in range(0, length, width)] if length else []
        return parts, [median_of(part) for part in parts]

    def trends(self) -> Span:
        """Mann-Kendall z, twice."""
        key = ("trend", 0, 0)
        span = self._spans.get(key)
        if span is None:
            middle = self._medians()[1]
            value = change = math.nan
            if middle:
                value = concordance_one(middle)
                change = (middle[-3] + middle[-2] + middle[-1]) / 3 - (middle[0] + middle[1] + middle[2]) / 3
            self._keep(("change", 0, 0), change)
            span = self._keep(key, value)
        return span

    def trend(self) -> tuple[Floats, Floats]:
        """(1,) Mann-Kendall z, change over the window."""
        return np.array(self.trends()[:1]), np.array(self._spans["change", 0, 0][:1])

    def trend_noise(self) -> Floats:
        """(1,) robust noise within the window of the trend."""
        key = ("trend noise", 0, 0)
        found = self._cache.get(key)
        if found is None:
            parts, middle = self._medians()
            away = [abs(value - level) for part, level in zip(parts, middle, strict=True) for value in part]
            found = self._cache[key] = np.array((NORMAL * median_of(away),))
        return found
