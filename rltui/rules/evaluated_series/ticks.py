"""A series as at most 512 ticks, on which all rules are evaluated.

A tick is the median of `stride` consecutive finite points (the mean of two). The stride is 1 until there are
512 ticks; then neighbours are joined and the stride doubles. So a rule's window is a number of points in a
short run and a share of the run in a longer one: the rate of false alarms does not grow with the length of
the run, memory is bounded, and the number of evaluations grows with the logarithm of the number of points.
Ticks depend only on the order of the points, not on how these are divided into deliveries. They are never
minus zero, since the sign of a median of zeros would depend on the order of sorting.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Floats, Ints, median, median_of_sorted
from rltui.rules.evaluated_series.rewindable_counter import RewindableCounter

CAP = 512  # ticks; 0.2 % of a long run is exact enough for an onset
FEW = 16  # ticks that are allocated at first, since most of a thousand tags stay short
START = 3  # ticks of the level at the start: few, because a high learning rate ruins a run in five steps
NONFINITE_GAP = 20  # finite points after which a non-finite period is over
NONFINITE_KEPT = 20  # such periods stored before the newest one: the first, and the latest
FAR = 5.0  # times the median difference, 0.67 deviations of normal noise: more is a jump of the level
FEW_LEFT = 8  # joined ticks that a restart must leave; fewer are too coarse for a new start


Marks = dict[int, tuple[float, float]]  # highest and lowest level so far, by window

_NO_VALUES: Floats = np.empty(0)
_NO_STEPS: Ints = np.empty(0, np.int64)


class NonFinitePeriod(RewindableCounter):
    """A period with non-finite values.

    The note of each is its index among all points, the value, and the number of infinite ones so far.
    """

    __slots__ = ("after", "before")

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.before = before  # non-finite points before it
        self.after = after  # finite points before it

    @property
    def last_index(self) -> int:
        """Index of the last non-finite point among all points."""
        return int(self.note[0])

    @property
    def value(self) -> float:
        """The last non-finite value."""
        return self.note[1]

    @property
    def never_defined(self) -> bool:
        """Whether all points of the series up to its last one are NaN."""
        return self.count == self.last_index + 1 and not self.note[2]


class Ticks:
    """Ticks of one series, on the canonical scale. Most series of most runs are short: all is made lean."""

    __slots__ = (
        "_spread", "_steps", "_values", "canonical", "first", "last", "last_step", "marks", "n",
        "nonfinite", "nonfinite_before", "nonfinite_count", "nonzero_from", "notes_spread", "per",
        "points", "serial", "start", "stride", "tag", "value",
    )  # fmt: skip

    def __init__(self, tag: str, canonical: str | None, per: str = "") -> None:
        self.tag = tag
        self.per = per  # of a ratio: the tag of its denominator; `tag` is that of its numerator
        self.canonical = canonical
        self.stride = 1
        self.n = 0  # ticks held: the used length of the three arrays
        self.serial = 0  # ticks so far, including joined ones
        self.value: Floats = _NO_VALUES
        self.first: Ints = _NO_STEPS  # step of a tick's first point
        self.last: Ints = _NO_STEPS  # step of its last point; the same array while every point is a tick
        self.start: list[float] = []  # the first START ticks
        self.marks: Marks = {}
        self.points = 0  # all points, including non-finite ones
        self.last_step = 0
        self.nonzero_from: int | None = None  # step of the first finite value that was not exactly zero
        self.nonfinite: NonFinitePeriod | None = None
        self.nonfinite_before: list[NonFinitePeriod] = []
        self.nonfinite_count = 0
        self.notes_spread = True  # whether a rule uses `point_spreads`
        self._spread = math.nan  # of single points, computed when they are first joined
        self._steps: list[int] = []  # points not yet in a tick
        self._values: list[float] = []

    def feed(self, steps: Ints, values: Floats, evaluate: Callable[[int], None], late: int = 0) -> None:
        """Add points; `evaluate(a)` is called whenever ticks a..n-1 are new.

        late: so many points, modulo the stride, must follow those of a tick before it is made.
        """
        count = len(values)
        if count == 1 and math.isfinite(value := values.item(0)):
            self._add_one(steps.item(0), value, evaluate, late)
            return
        if not count:
            return
        low, high = float(np.minimum.reduce(values)), float(np.maximum.reduce(values))
        if math.isfinite(low) and math.isfinite(high):
            self.last_step = int(steps[-1])
        else:
            finite = np.isfinite(values)
            self._count_nonfinite(steps, values, finite)
            self.last_step = int(steps[-1]) if finite[-1] else max(self.last_step, self.last_nonfinite_step())
            steps, values = steps[finite], values[finite]
            if len(values):
                low, high = float(values.min()), float(values.max())
        self.points += count
        if len(values):
            if self.nonzero_from is None and (low or high):
                self.nonzero_from = int(steps[0 if values[0] else (values != 0).argmax()])
            self._add(steps, values, evaluate, late)

    def make_late(self, evaluate: Callable[[int], None]) -> None:
        """Make the ticks that are late; `evaluate` as above."""
        if len(self._values) >= self.stride:
            self._add(_NO_STEPS, _NO_VALUES, evaluate, 0)

    def _add(self, steps: Ints, values: Floats, evaluate: Callable[[int], None], late: int) -> None:
        """Add finite points."""
        if self._values:
            steps = np.concatenate((np.array(self._steps, np.int64), steps))
            values = np.concatenate((np.array(self._values), values))
        begin = 0
        while (count := min((len(values) - begin - late % self.stride) // self.stride, CAP - self.n)) > 0:
            begun, end = self.n, begin + count * self.stride
            self._make_ticks(steps[begin:end], values[begin:end])
            begin = end
            evaluate(begun)
            if self.n == CAP:
                self._join()
        self._steps, self._values = steps[begin:].tolist(), values[begin:].tolist()

    def rewind(self, step: int) -> bool:
        """Remove points at or above a step, which a resumed run writes again. False if there were none.

        Clears `marks`, so that rules must be evaluated at all ticks again.
        """
        stay = self.last[: self.n] < step
        below = [k for k, waiting in enumerate(self._steps) if waiting < step]
        if stay.all() and len(below) == len(self._steps) and self.last_nonfinite_step() < step:
            return False
        keep = int(np.count_nonzero(stay))
        if self.stride > 1 and keep < FEW_LEFT:
            keep, self.stride, self.serial, below = 0, 1, self.n, []
            self._spread = math.nan
        elif not stay[:keep].all():  # the points were not in order of step
            held = (
                (self.value, self.first) if self.last is self.first else (self.value, self.first, self.last)
            )
            for array in held:
                array[:keep] = array[: self.n][stay]
        self.serial -= self.n - keep
        self.n = keep
        self._steps = [self._steps[k] for k in below]
        self._values = [self._values[k] for k in below]
        self.start = self.start[:keep]
        self.marks = {}
        if self.nonzero_from is not None and self.nonzero_from >= step:
            self.nonzero_from = None
        self._rewind_nonfinite(step)
        return True

    def _rewind_nonfinite(self, step: int) -> None:
        """Remove non-finite points, and update the counts over all points."""
        periods = [*self.nonfinite_before, *([self.nonfinite] if self.nonfinite is not None else [])]
        while periods and not periods[-1].rewind(step):
            periods.pop()
        self.nonfinite = period = periods.pop() if periods else None
        self.nonfinite_before = periods
        self.nonfinite_count = 0 if period is None else period.before + period.count
        self.points = self.n * self.stride + len(self._steps) + self.nonfinite_count
        last_steps = [*self.last[self.n - 1 : self.n].tolist(), *self._steps[-1:]]
        if period is not None:
            self.points = max(self.points, period.last_index + 1)
            last_steps.append(period.last_step)
        self.last_step = max(last_steps, default=0)

    def unjoined(self) -> Ticks:
        """A copy that keeps the present ticks for rules when these are joined."""
        found = Ticks(self.tag, self.canonical, self.per)
        found.stride, found.n, found.serial, found.points = self.stride, self.n, self.serial, self.points
        found.value, found.first, found.last = self.value, self.first, self.last
        found.start, found.nonzero_from, found._spread = self.start, self.nonzero_from, self._spread
        return found

    @property
    def filled(self) -> slice:
        """The part of the arrays that holds ticks."""
        return slice(0, self.n)

    def level(self, window: int = 8, *, of_size: bool = False) -> float:
        """Median of the last ticks, or of their sizes; NaN without ticks."""
        last = self.value[max(0, self.n - window) : self.n]
        return median(np.abs(last) if of_size else last)

    def value_of(self, step: int) -> float:
        """The tick that a step lies in, or the last one before it; NaN before the first."""
        at = int(np.searchsorted(self.first[: self.n], step, "right")) - 1
        return float(self.value[at]) if at >= 0 else math.nan

    def level_at(self, step: int, window: int = 8) -> float:
        """Median of the last ticks that end at or before a step; NaN without ticks."""
        end = int(np.searchsorted(self.last[: self.n], step, "right"))
        return median(self.value[max(0, end - window) : end])

    def point_spreads(self, ends: Ints) -> Floats:
        """(k,) standard deviation of single points before each position, from second differences.

        The positions are ascending and at least 3. Differences are clipped to `FAR` times the median ones,
        since larger ones are jumps of the level. For joined points it is that of the first 512, or the one
        from which the deviation of ticks follows (that of a median of n points is 1.25 / sqrt(n) times that
        of the points), whichever is larger.
        """
        held, have = self.value[: ends[-1]], ends - 2
        bend = np.abs(held[2:] - 2 * held[1:-1] + held[:-2])
        size, usual = len(bend), _medians_until(bend, have)
        padded = np.concatenate((np.zeros(size), bend))
        rows = np.ndarray((size + 1, size), np.float64, padded, 0, (8, 8))[have]  # zeros, then differences
        np.minimum(rows, np.where(usual > 0, FAR * usual, np.inf)[:, None], out=rows)
        return self.point_spread_of(np.sqrt(np.einsum("ij,ij->i", rows, rows) / (6 * have)))

    def point_spread_of(self, spread: Floats) -> Floats:
        """(k,) standard deviation of single points, from that of ticks."""
        return (
            spread if self.stride == 1 else np.maximum(self._spread, spread * math.sqrt(self.stride) / 1.25)
        )

    def last_nonfinite_step(self) -> int:
        """The step of the latest non-finite value, or else the smallest integer."""
        return self.nonfinite.last_step if self.nonfinite is not None else -(1 << 63)

    def _add_one(self, step: int, value: float, evaluate: Callable[[int], None], late: int) -> None:
        """Add one finite point, the common case of a live run."""
        self.points += 1
        self.last_step = step
        if value and self.nonzero_from is None:
            self.nonzero_from = step
        if self.stride == 1:
            self._append(step, step, value)
        else:
            self._steps.append(step)
            self._values.append(value)
            stride = self.stride
            if len(self._values) < stride + late % stride:
                return
            if len(self._values) >= 2 * stride:
                self._add(_NO_STEPS, _NO_VALUES, evaluate, late)
                return
            self._append(self._steps[0], self._steps[stride - 1], median(self._values[:stride]))
            del self._steps[:stride], self._values[:stride]
        evaluate(self.n - 1)
        if self.n == CAP:
            self._join()

    def _append(self, first: int, last: int, value: float) -> None:
        """Add one tick."""
        if self.n == len(self.value):
            self._reserve(1)
        position, value = self.n, value + 0.0
        self.value[position] = value
        self.first[position] = first
        if self.last is not self.first:
            self.last[position] = last
        self.n += 1
        self.serial += 1
        if len(self.start) < START:
            self.start.append(value)

    def _make_ticks(self, steps: Ints, values: Floats) -> None:
        """Add the ticks of points, a multiple of the stride."""
        stride = self.stride
        count = len(values) // stride
        self._reserve(count)
        to = slice(self.n, self.n + count)
        if stride == 1:
            self.value[to] = values
            self.first[to] = steps
            if self.last is not self.first:
                self.last[to] = steps
        else:
            self.value[to] = median_of_sorted(np.sort(values.reshape(count, stride), axis=1))
            self.first[to], self.last[to] = steps[::stride], steps[stride - 1 :: stride]
        self.value[to] += 0.0
        self.n += count
        self.serial += count
        if len(self.start) < START:
            self.start += self.value[to][: START - len(self.start)].tolist()

    def _reserve(self, count: int) -> None:
        """Make room for `count` more ticks; the arrays double in length up to `CAP`."""
        have, held = len(self.value), self.n
        if held + count <= have:
            return
        room = min(max(2 * have, held + count, FEW), CAP)
        value, first = np.empty(room), np.empty(room, np.int64)
        value[:held], first[:held] = self.value[:held], self.first[:held]
        if self.last is not self.first:
            last = np.empty(room, np.int64)
            last[:held] = self.last[:held]
            self.last = last
        else:
            self.last = first
        self.value, self.first = value, first

    def _join(self) -> None:
        """Join every two ticks, in new arrays: copies made by `unjoined` do not change."""
        if self.stride == 1 and self.notes_spread:
            self._spread = float(self.point_spreads(np.array((CAP,)))[0])
        half = CAP // 2
        value, first, last = np.empty(CAP), np.empty(CAP, np.int64), np.empty(CAP, np.int64)
        value[:half] = (self.value[::2] + self.value[1::2]) / 2
        first[:half], last[:half] = self.first[::2], self.last[1::2]
        self.value, self.first, self.last = value, first, last
        self.n, self.stride = half, self.stride * 2

    @property
    def zeros(self) -> bool:
        """Whether every finite value is exactly zero."""
        return self.nonzero_from is None and (self.n > 0 or bool(self._values))

    def _count_nonfinite(self, steps: Ints, values: Floats, finite: NDArray[np.bool_]) -> None:
        where = np.flatnonzero(~finite)
        numbers = where + self.points
        for part in np.split(np.arange(len(where)), np.flatnonzero(np.diff(numbers) > NONFINITE_GAP) + 1):
            period, begin = self.nonfinite, int(numbers[part[0]])
            if period is None or begin - period.last_index > NONFINITE_GAP:
                if period is not None:
                    self.nonfinite_before.append(period)
                    if len(self.nonfinite_before) > NONFINITE_KEPT:
                        del self.nonfinite_before[1]
                period = NonFinitePeriod(self.nonfinite_count, begin - self.nonfinite_count)
                self.nonfinite = period
            infinite = np.cumsum(np.isinf(values[where[part]]), dtype=np.float64)
            if period.count:
                infinite += period.note[2]
            period.add(steps[where[part]], numbers[part], values[where[part]], infinite)
            self.nonfinite_count += len(part)


def _medians_until(values: Floats, ends: Ints) -> Floats:
    """(k,) median of the values before each position; the positions are ascending and at least 1.

    Each value is inserted once: of 512 values at 64 positions 0.35 ms, with a median of each part 0.65.
    """
    first, later = int(ends[0]), values.tolist()
    ranked: list[float] = np.sort(values[:first]).tolist()
    found = []
    for end in ends.tolist():
        for value in later[len(ranked) : end]:
            insort(ranked, value)
        found.append((ranked[(end - 1) // 2] + ranked[end // 2]) / 2)
    return np.array(found)


def widest(marks: Marks, other: Marks) -> Marks:
    """The highest and the lowest levels of both."""
    found = {**other, **marks}
    for key in marks.keys() & other.keys():
        (high, low), (higher, lower) = marks[key], other[key]
        found[key] = float(np.fmax(high, higher)), float(np.fmin(low, lower))
    return found
