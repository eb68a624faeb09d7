"""One judged series, held as at most 512 ticks: what all rules look at.

A tick is the median of `stride` consecutive finite points (the mean of two). The stride is 1 until 512
ticks are there; then neighbours are joined and the stride doubles. So a rule's window is a number of
points in a short run and a share of the run in a long one: the rate of false alarms does not grow with
the length of a run, memory is bounded, and a million points cost no more rounds than twelve joinings.
Ticks depend only on the order of the points, never on the pieces in which they came.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

CAP = 512  # ticks; 0.2 % of a long run is fine enough to say when something began
FEW = 16  # ticks that there is room for at first: of a thousand tags most stay short
PAD = 128  # empty ticks in front, so that every window is inside the arrays
START = 3  # ticks that make the first level: few, because a hot learning rate wrecks a run in five steps
BAD_GAP = 20  # finite points after which a non-finite episode is over

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def median(values: NDArray[Any]) -> float:
    """Median of (n,) values; NaN when there are none or one is NaN.

    As numpy's, which imports masked arrays at its first call: 10 ms and 2 MB that nobody here needs.
    """
    if not len(values):
        return math.nan
    row = np.sort(values)
    if row[-1] != row[-1]:
        return math.nan
    return (float(row[(len(row) - 1) // 2]) + float(row[len(row) // 2])) / 2


@dataclass(slots=True)
class BadEpisode:
    """A spell of non-finite values."""

    since_step: int
    last_step: int
    last_index: int  # number of the last non-finite point, counted over all points
    count: int
    value: float  # the last non-finite value
    after: int = 0  # finite points before it


class Track:
    """Ticks of one series, on the canonical scale."""

    def __init__(self, tag: str, canonical: str | None) -> None:
        self.tag = tag
        self.canonical = canonical
        self.stride = 1
        self.n = 0  # ticks held
        self.serial = 0  # ticks ever made
        self.value: Floats = np.full(PAD + FEW, np.nan)
        self.low: Floats = np.full(PAD + FEW, np.nan)
        self.high: Floats = np.full(PAD + FEW, np.nan)
        self.first: Ints = np.zeros(PAD + FEW, np.int64)  # steps of a tick's first and last point
        self.last: Ints = np.zeros(PAD + FEW, np.int64)
        self.start: list[float] = []  # the first START ticks
        self.marks: dict[int, tuple[float, float]] = {}  # highest and lowest level so far, by window
        self.points = 0  # all points, non-finite ones too
        self.last_step = 0
        self.last_point = float("nan")
        self.zeros = True  # every finite value was exactly zero
        self.constant = True  # every finite value was the same
        self.lowest = float("inf")
        self.highest = float("-inf")
        self.bad: BadEpisode | None = None
        self.bad_before: list[BadEpisode] = []
        self.bad_count = 0
        self._steps: list[int] = []  # points not yet in a tick
        self._values: list[float] = []

    def feed(self, steps: Ints, values: Floats, evaluate: Callable[[Track, int], None]) -> None:
        """Take points in; `evaluate(track, a)` is called whenever ticks a..n-1 are new."""
        if not len(values):
            return
        if len(values) == 1 and math.isfinite(value := float(values[0])):
            self._take_one(int(steps[0]), value, evaluate)
            return
        finite = np.isfinite(values)
        if not finite.all():
            self._note_bad(steps, values, finite)
            steps, values = steps[finite], values[finite]
        self.points += len(finite)
        self.last_step = int(steps[-1]) if finite[-1] else max(self.last_step, int(self.bad_step()))
        if not len(values):
            return
        self._note_range(values)
        at = 0
        while at < len(values):
            room = (CAP - self.n) * self.stride - len(self._values)
            piece = slice(at, at + room)
            at += room
            begun = self.n
            if self._values:
                early = np.array(self._steps, np.int64), np.array(self._values)
                self._make_ticks(
                    np.concatenate((early[0], steps[piece])), np.concatenate((early[1], values[piece]))
                )
            else:
                self._make_ticks(steps[piece], values[piece])
            if self.n > begun:
                evaluate(self, begun)
            if self.n == CAP:
                self._join()

    def rewind(self, step: int) -> None:
        """Forget what is at or above a step: a resumed run writes it again."""
        keep = int(np.searchsorted(self.last[PAD : PAD + self.n], step, "left"))
        for array in (self.value, self.low, self.high):
            array[PAD + keep : PAD + self.n] = np.nan
        self.serial -= self.n - keep
        self.n = keep
        below = [k for k, waiting in enumerate(self._steps) if waiting < step]
        self._steps = [self._steps[k] for k in below]
        self._values = [self._values[k] for k in below]
        if keep == 0:
            self.start = []
        if self.bad is not None and self.bad.since_step >= step:
            self.bad = None
        self.last_step = min(self.last_step, step - 1)

    @property
    def filled(self) -> slice:
        """The part of the arrays that holds ticks."""
        return slice(PAD, PAD + self.n)

    def level(self, window: int = 8) -> float:
        """Median of the last ticks; NaN when there are none."""
        part = self.value[PAD + max(0, self.n - window) : PAD + self.n]
        return median(part)

    def level_at(self, step: int, window: int = 8) -> float:
        """Median of the last ticks that ended at or before a step; NaN when there are none."""
        end = int(np.searchsorted(self.last[self.filled], step, "right"))
        part = self.value[PAD + max(0, end - window) : PAD + end]
        return median(part)

    def bad_step(self) -> int:
        """The step of the latest non-finite value, or the smallest integer."""
        return self.bad.last_step if self.bad is not None else -(1 << 63)

    def _take_one(self, step: int, value: float, evaluate: Callable[[Track, int], None]) -> None:
        """One finite point: the common case of a live run."""
        self.points += 1
        self.last_step, self.last_point = step, value
        self.lowest, self.highest = min(self.lowest, value), max(self.highest, value)
        self.constant = self.lowest == self.highest
        self.zeros = self.constant and value == 0.0
        if self.stride == 1:
            self._append_one(step, value)
        else:
            self._steps.append(step)
            self._values.append(value)
            if len(self._values) < self.stride:
                return
            self._make_one()
        evaluate(self, self.n - 1)
        if self.n == CAP:
            self._join()

    def _append_one(self, step: int, value: float) -> None:
        self._have_room(1)
        place = PAD + self.n
        self.value[place] = self.low[place] = self.high[place] = value
        self.first[place] = self.last[place] = step
        self.n += 1
        self.serial += 1
        if len(self.start) < START:
            self.start.append(value)

    def _make_one(self) -> None:
        """One tick of the points that wait, which are `stride`: plain numbers are faster than arrays here."""
        place, ranked = PAD + self.n, sorted(self._values)
        count = len(ranked)
        self.value[place] = (ranked[(count - 1) // 2] + ranked[count // 2]) / 2
        self.low[place], self.high[place] = ranked[0], ranked[-1]
        self.first[place], self.last[place] = self._steps[0], self._steps[-1]
        self._steps, self._values = [], []
        self.n += 1
        self.serial += 1
        if len(self.start) < START:
            self.start.append(float(self.value[place]))

    def _make_ticks(self, steps: Ints, values: Floats) -> None:
        count, stride = len(values) // self.stride, self.stride
        whole = count * stride
        self._steps, self._values = steps[whole:].tolist(), values[whole:].tolist()
        if not count:
            return
        self._have_room(count)
        to = slice(PAD + self.n, PAD + self.n + count)
        if stride == 1:
            self.value[to] = self.low[to] = self.high[to] = values[:whole]
            self.first[to] = self.last[to] = steps[:whole]
        else:
            table = np.sort(values[:whole].reshape(count, stride), axis=1)
            self.value[to] = (table[:, (stride - 1) // 2] + table[:, stride // 2]) / 2
            self.low[to], self.high[to] = table[:, 0], table[:, -1]
            self.first[to], self.last[to] = steps[:whole:stride], steps[stride - 1 : whole : stride]
        self.n += count
        self.serial += count
        missing = START - len(self.start)
        if missing > 0:
            self.start += self.value[to][:missing].tolist()

    def _have_room(self, count: int) -> None:
        """Let the arrays hold `count` more ticks; they double until they hold all."""
        have = len(self.value) - PAD
        if self.n + count <= have:
            return
        more = min(max(2 * have, self.n + count), CAP) - have
        empty, zeros = np.full(more, np.nan), np.zeros(more, np.int64)
        self.value, self.low, self.high = (
            np.concatenate((array, empty)) for array in (self.value, self.low, self.high)
        )
        self.first, self.last = (np.concatenate((array, zeros)) for array in (self.first, self.last))

    def _join(self) -> None:
        """Make one tick of every two: half as many, twice as long."""
        half, to = CAP // 2, slice(PAD, PAD + CAP // 2)
        pairs = slice(PAD, PAD + CAP)
        self.value[to] = self.value[pairs].reshape(half, 2).mean(axis=1)
        self.low[to] = self.low[pairs].reshape(half, 2).min(axis=1)
        self.high[to] = self.high[pairs].reshape(half, 2).max(axis=1)
        self.first[to] = self.first[PAD : PAD + CAP : 2]
        self.last[to] = self.last[PAD + 1 : PAD + CAP : 2]
        for array in (self.value, self.low, self.high):
            array[PAD + half :] = np.nan
        self.n, self.stride = half, self.stride * 2

    def _note_range(self, values: Floats) -> None:
        low, high = float(values.min()), float(values.max())
        self.lowest, self.highest = min(self.lowest, low), max(self.highest, high)
        self.last_point = float(values[-1])
        self.constant = self.lowest == self.highest
        self.zeros = self.constant and self.lowest == 0.0

    def _note_bad(self, steps: Ints, values: Floats, finite: NDArray[np.bool_]) -> None:
        where = np.flatnonzero(~finite)
        bad_before = self.bad_count
        self.bad_count += len(where)
        numbers = where + self.points
        for part in np.split(where, np.flatnonzero(np.diff(numbers) > BAD_GAP) + 1):
            begin, end = int(part[0]), int(part[-1])
            bad = self.bad
            if bad is None or begin + self.points - bad.last_index > BAD_GAP:
                if bad is not None:
                    self.bad_before.append(bad)
                number = bad_before + int(np.searchsorted(where, begin))  # non-finite points before this one
                self.bad = bad = BadEpisode(int(steps[begin]), 0, 0, 0, 0.0, begin + self.points - number)
            bad.last_step, bad.last_index = int(steps[end]), end + self.points
            bad.count += len(part)
            bad.value = float(values[end])
