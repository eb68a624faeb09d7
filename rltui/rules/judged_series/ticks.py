"""One judged series, held as at most 512 ticks: what all rules look at.

A tick is the median of `stride` consecutive finite points (the mean of two). The stride is 1 until 512
ticks are there; then neighbours are joined and the stride doubles. So a rule's window is a number of
points in a short run and a share of the run in a longer one: the rate of false alarms does not grow with
the length of a run, memory is bounded, and a million points cost no more rounds than twelve joinings.
Ticks depend only on the order of the points, never on the pieces in which they came. None is minus zero:
which of two zeros a median is would depend on how they were sorted.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Floats, Ints, median
from rltui.rules.judged_series.rewindable_counter import RewindableCounter

CAP = 512  # ticks; 0.2 % of a long run is fine enough to say when something began
FEW = 16  # ticks that there is room for at first: of a thousand tags most stay short
START = 3  # ticks that make the first level: few, because a hot learning rate wrecks a run in five steps
NONFINITE_GAP = 20  # finite points after which a non-finite episode is over
NONFINITE_KEPT = 20  # such episodes remembered before the newest one: the first, and the latest
FAR = 5.0  # times the usual difference that is a jump of the level: for normal noise the usual is 0.67 of one
FEW_LEFT = 8  # joined ticks that a restart must leave: fewer are no past, and too coarse for a new beginning


Marks = dict[int, tuple[float, float]]  # highest and lowest level so far, by window

_NO_VALUES: Floats = np.empty(0)
_NO_STEPS: Ints = np.empty(0, np.int64)


class NonFiniteEpisode(RewindableCounter):
    """A spell of non-finite values; noted of each: its number, counted over all points, and itself."""

    __slots__ = ("after", "before")

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.before = before  # non-finite points before it
        self.after = after  # finite points before it

    @property
    def last_index(self) -> int:
        """Number of the last non-finite point, counted over all points."""
        return int(self.note[0])

    @property
    def value(self) -> float:
        """The last non-finite value."""
        return self.note[1]


class Ticks:
    """Ticks of one series, on the canonical scale. Most series of most runs are short: all is made lean."""

    __slots__ = (
        "_spread",
        "_steps",
        "_values",
        "canonical",
        "delay",
        "first",
        "last",
        "last_step",
        "marks",
        "n",
        "nonfinite",
        "nonfinite_before",
        "nonfinite_count",
        "nonzero_from",
        "notes_spread",
        "points",
        "serial",
        "start",
        "stride",
        "tag",
        "value",
    )  # fmt: skip

    def __init__(self, tag: str, canonical: str | None) -> None:
        self.tag = tag
        self.canonical = canonical
        self.stride = 1
        self.n = 0  # ticks held: so many of the three arrays count
        self.serial = 0  # ticks ever made
        self.value: Floats = _NO_VALUES
        self.first: Ints = _NO_STEPS  # steps of a tick's first and last point
        self.last: Ints = _NO_STEPS  # the same array while every point is a tick
        self.start: list[float] = []  # the first START ticks
        self.marks: Marks = {}
        self.points = 0  # all points, non-finite ones too
        self.last_step = 0
        self.nonzero_from: int | None = None  # step of the first finite value that was not exactly zero
        self.nonfinite: NonFiniteEpisode | None = None
        self.nonfinite_before: list[NonFiniteEpisode] = []
        self.nonfinite_count = 0
        self.notes_spread = True  # whether a rule may ask for `point_spreads`
        # Points, of which fewer than a tick holds count, by which ticks of several points come later: not all
        # series of a run end a tick at the same step then.
        self.delay = 0
        self._spread = math.nan  # of single points, noted when they are first joined
        self._steps: list[int] = []  # points not yet in a tick
        self._values: list[float] = []

    def feed(self, steps: Ints, values: Floats, evaluate: Callable[[int], None]) -> None:
        """Take points in; `evaluate(a)` is called whenever ticks a..n-1 are new."""
        count = len(values)
        if count == 1 and math.isfinite(value := float(values[0])):
            self._take_one(int(steps[0]), value, evaluate)
            return
        if not count:
            return
        low, high = float(np.minimum.reduce(values)), float(np.maximum.reduce(values))
        if math.isfinite(low) and math.isfinite(high):
            self.last_step = int(steps[-1])
        else:
            finite = np.isfinite(values)
            self._note_nonfinite(steps, values, finite)
            self.last_step = int(steps[-1]) if finite[-1] else max(self.last_step, self.last_nonfinite_step())
            steps, values = steps[finite], values[finite]
            if len(values):
                low, high = float(values.min()), float(values.max())
        self.points += count
        if len(values):
            if self.nonzero_from is None and (low or high):
                self.nonzero_from = int(steps[0 if values[0] else (values != 0).argmax()])
            self._take(steps, values, evaluate)

    def _take(self, steps: Ints, values: Floats, evaluate: Callable[[int], None]) -> None:
        """Finite points."""
        if self._values:
            steps = np.concatenate((np.array(self._steps, np.int64), steps))
            values = np.concatenate((np.array(self._values), values))
        begin = 0
        while (count := min((len(values) - begin - self._late) // self.stride, CAP - self.n)) > 0:
            begun, end = self.n, begin + count * self.stride
            self._make_ticks(steps[begin:end], values[begin:end])
            begin = end
            evaluate(begun)
            if self.n == CAP:
                self._join()
        self._steps, self._values = steps[begin:].tolist(), values[begin:].tolist()

    @property
    def _late(self) -> int:
        """Points that must follow a tick of several points before it is made."""
        return self.delay & (self.stride - 1)

    def rewind(self, step: int) -> bool:
        """Forget what is at or above a step: a resumed run writes it again. False: there was nothing.

        What rules carried along, `marks`, is forgotten whole: let them look at all ticks again.
        """
        stay = self.last[: self.n] < step
        below = [k for k, waiting in enumerate(self._steps) if waiting < step]
        if stay.all() and len(below) == len(self._steps) and self.last_nonfinite_step() < step:
            return False
        keep = int(np.count_nonzero(stay))
        if self.stride > 1 and keep < FEW_LEFT:
            keep, self.stride, self.serial, below = 0, 1, self.n, []
            self._spread = math.nan
        elif not stay[:keep].all():  # the points were not in order
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
        """The same for non-finite points, and what is counted over all points."""
        spells = [*self.nonfinite_before, *([self.nonfinite] if self.nonfinite is not None else [])]
        while spells and not spells[-1].rewind(step):
            spells.pop()
        self.nonfinite = bad = spells.pop() if spells else None
        self.nonfinite_before = spells
        self.nonfinite_count = 0 if bad is None else bad.before + bad.count
        self.points = self.n * self.stride + len(self._steps) + self.nonfinite_count
        reached = [*self.last[self.n - 1 : self.n].tolist(), *self._steps[-1:]]
        if bad is not None:
            self.points = max(self.points, bad.last_index + 1)
            reached.append(bad.last_step)
        self.last_step = max(reached, default=0)

    def unjoined(self) -> Ticks:
        """What rules see of these ticks, as they are before they are joined."""
        found = Ticks(self.tag, self.canonical)
        found.stride, found.n, found.serial, found.points = self.stride, self.n, self.serial, self.points
        found.value, found.first, found.last = self.value, self.first, self.last
        found.start, found.nonzero_from, found._spread = self.start, self.nonzero_from, self._spread
        return found

    @property
    def filled(self) -> slice:
        """The part of the arrays that holds ticks."""
        return slice(0, self.n)

    def level(self, window: int = 8) -> float:
        """Median of the last ticks; NaN when there are none."""
        return median(self.value[max(0, self.n - window) : self.n])

    def level_at(self, step: int, window: int = 8) -> float:
        """Median of the last ticks that ended at or before a step; NaN when there are none."""
        end = int(np.searchsorted(self.last[: self.n], step, "right"))
        return median(self.value[max(0, end - window) : end])

    def point_spreads(self, ends: Ints) -> Floats:
        """(k,) standard deviation of single points before each position, from second differences.

        The positions rise and are 3 at least. Differences beyond `FAR` of the usual ones are jumps of the
        level and cut. Where points are joined it is that of the first 512, or what makes medians vary as the
        ticks do (they vary by 1.25 / sqrt(n) of the deviation of n points), whichever is larger.
        """
        held, have = self.value[: ends[-1]], ends - 2
        bend = np.abs(held[2:] - 2 * held[1:-1] + held[:-2])
        size, usual = len(bend), _medians_until(bend, have)
        padded = np.concatenate((np.zeros(size), bend))
        rows = np.ndarray((size + 1, size), np.float64, padded, 0, (8, 8))[have]  # zeros, then what it sees
        np.minimum(rows, np.where(usual > 0, FAR * usual, np.inf)[:, None], out=rows)
        return self.point_spread_of(np.sqrt(np.einsum("ij,ij->i", rows, rows) / (6 * have)))

    def point_spread_of(self, spread: Floats) -> Floats:
        """(k,) standard deviation of single points by that of ticks."""
        return (
            spread if self.stride == 1 else np.maximum(self._spread, spread * math.sqrt(self.stride) / 1.25)
        )

    def last_nonfinite_step(self) -> int:
        """The step of the latest non-finite value, or the smallest integer."""
        return self.nonfinite.last_step if self.nonfinite is not None else -(1 << 63)

    def _take_one(self, step: int, value: float, evaluate: Callable[[int], None]) -> None:
        """One finite point: the common case of a live run."""
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
            if len(self._values) < stride + self._late:
                return
            ranked = sorted(self._values[:stride])  # plain numbers are faster than arrays here
            middle = (ranked[(stride - 1) // 2] + ranked[stride // 2]) / 2
            self._append(self._steps[0], self._steps[stride - 1], middle)
            del self._steps[:stride], self._values[:stride]
        evaluate(self.n - 1)
        if self.n == CAP:
            self._join()

    def _append(self, first: int, last: int, value: float) -> None:
        """One tick."""
        self._have_room(1)
        place, value = self.n, value + 0.0
        self.value[place] = value
        self.first[place], self.last[place] = first, last
        self.n += 1
        self.serial += 1
        if len(self.start) < START:
            self.start.append(value)

    def _make_ticks(self, steps: Ints, values: Floats) -> None:
        """Ticks of points that fill them."""
        stride = self.stride
        count = len(values) // stride
        self._have_room(count)
        to = slice(self.n, self.n + count)
        if stride == 1:
            self.value[to] = values
            self.first[to] = steps
            if self.last is not self.first:
                self.last[to] = steps
        else:
            table = np.sort(values.reshape(count, stride), axis=1)
            self.value[to] = (table[:, (stride - 1) // 2] + table[:, stride // 2]) / 2
            self.first[to], self.last[to] = steps[::stride], steps[stride - 1 :: stride]
        self.value[to] += 0.0
        self.n += count
        self.serial += count
        if len(self.start) < START:
            self.start += self.value[to][: START - len(self.start)].tolist()

    def _have_room(self, count: int) -> None:
        """Let the arrays hold `count` more ticks; they double until they hold all."""
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
        """Make one tick of every two: half as many, twice as long. `unjoined` ones stay as they are."""
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

    def _note_nonfinite(self, steps: Ints, values: Floats, finite: NDArray[np.bool_]) -> None:
        where = np.flatnonzero(~finite)
        numbers = where + self.points
        for part in np.split(np.arange(len(where)), np.flatnonzero(np.diff(numbers) > NONFINITE_GAP) + 1):
            bad, begin = self.nonfinite, int(numbers[part[0]])
            if bad is None or begin - bad.last_index > NONFINITE_GAP:
                if bad is not None:
                    self.nonfinite_before.append(bad)
                    if len(self.nonfinite_before) > NONFINITE_KEPT:
                        del self.nonfinite_before[1]
                self.nonfinite = bad = NonFiniteEpisode(self.nonfinite_count, begin - self.nonfinite_count)
            bad.add(steps[where[part]], numbers[part], values[where[part]])
            self.nonfinite_count += len(part)


def _medians_until(values: Floats, ends: Ints) -> Floats:
    """(k,) median of the values before each position; the positions rise and are 1 at least.

    Each value is put into its place once: a tenth of the time of sorting what each position sees.
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
    """The highest and the lowest of both."""
    found = {**other, **marks}
    for key in marks.keys() & other.keys():
        (high, low), (higher, lower) = marks[key], other[key]
        found[key] = float(np.fmax(high, higher)), float(np.fmin(low, lower))
    return found
