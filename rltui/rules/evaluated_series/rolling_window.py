"""Rolling statistics of a series at the moments of new ticks: levels, noise, trends.

All functions are vectorised over m moments (one in a live run, hundreds when a log is read) and cached,
because several rules use the same. Levels are medians over several ticks, so no rule depends on one value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rltui.common.arrays import Floats, Ints, median, median_of_sorted
from rltui.rules.evaluated_series.evaluated_moments import Moments
from rltui.rules.evaluated_series.kept_results import kept
from rltui.rules.evaluated_series.means_with_errors import RunMeans
from rltui.rules.evaluated_series.robust_statistics import (
    BENDS,
    NORMAL,
    TREND_FROM,
    TREND_LENGTHS,
    TREND_PARTS,
    concordance,
    part_medians,
    rise,
)
from rltui.rules.evaluated_series.ticks import START, Ticks

BEFORE = 50  # earlier ticks for the usual level
PAD = 128  # NaN before the first tick; rows and the ticks that they skip are at most so long
BEFORE_MIN = 8  # fewest ticks for the usual level
BENT = 24  # ticks used by `bend`
NEIGHBOURS = NORMAL / float(np.sqrt(2.0))  # from differences of neighbours to the standard deviation
_PADDING = np.full(PAD, np.nan)


class Course:
    """The whole run in twelve parts, at k moments."""

    __slots__ = ("_z", "first", "last", "moments", "parts")

    def __init__(self, moments: Ints, parts: Floats) -> None:
        self.moments = moments  # (k,) of those of the rolling window
        self.parts = parts  # (k, 12) medians
        self.first = (parts[:, 0] + parts[:, 1]) / 2  # (k,) levels of the first sixth and of the last
        self.last = (parts[:, -2] + parts[:, -1]) / 2
        self._z: Floats | None = None

    @property
    def z(self) -> Floats:
        """(k,) Mann-Kendall z of the parts."""
        if self._z is None:
            self._z = concordance(self.parts)
        return self._z


class RollingWindow:
    """A series at m moments; moment k sees the ticks up to position `at[k]`."""

    __slots__ = (
        "_has_means", "_means", "_moments", "_padded", "at", "begin", "end", "every", "kept", "ticks",
    )  # fmt: skip

    def __init__(self, ticks: Ticks, moments: Moments) -> None:
        self.ticks = ticks
        self._moments = moments
        self.at, self.begin, self.end = moments.at, moments.begin, moments.end
        self.every = moments.every
        self.kept: dict[tuple[object, ...], Any] = {}
        self._padded: Floats | None = None
        self._has_means = False  # whether `_means` has been set
        self._means: RunMeans | None = None

    def __len__(self) -> int:
        return len(self.at)

    def rows(self, length: int, skip: int = 0) -> Floats:
        """(m, length) the `length` ticks before the last `skip`, preceded by NaN if there are fewer.

        Read-only: it may be a view of the ticks.
        """
        return self._rows(self.at, length, skip)

    def rows_at(self, chosen: Ints, length: int) -> Floats:
        """(k, length) the last `length` ticks at chosen moments, each of which sees as many."""
        held = self.ticks.value
        view: Floats = np.ndarray((max(self.end - length + 1, 0), length), np.float64, held, 0, (8, 8))
        return view[self.at[chosen] - (length - 1)]

    def _table(self, first: int, length: int, skip: int) -> Floats:
        """A copy of `rows` from the moment `first` on."""
        rows = self._rows(self.at[first:] if first else self.at, length, skip)
        return rows if rows.flags.owndata else rows.copy()

    def _rows(self, at: Ints, length: int, skip: int) -> Floats:
        """`rows` at consecutive moments."""
        begin = int(at[0]) + 1 - skip - length
        if begin >= 0 and self.every:
            return np.ndarray((len(at), length), np.float64, self.ticks.value, 8 * begin, (8, 8))
        padded = self._padded
        if padded is None:
            padded = self._padded = np.concatenate((_PADDING, self.ticks.value[: self.end]))
        view: Floats = np.ndarray((len(padded) - length + 1, length), np.float64, padded, 0, (8, 8))
        if self.every:
            return view[begin + PAD : begin + PAD + len(at)]
        return view[at + (1 - skip + PAD - length)]

    def _used_columns(self, length: int, skip: int) -> int:
        """Number of columns of such rows that contain a tick at any moment, at least one."""
        return min(length, max(self.end - skip, 1))

    @kept
    def range(self, length: int) -> tuple[float, float]:
        """Lowest and highest of all ticks that the moments see among their last `length`.

        Medians are within this range, from which most rules see that they hold at no moment.
        """
        held = self.recent(length)
        return float(held.min()), float(held.max())

    def recent(self, length: int) -> Floats:
        """All ticks that the moments see among their last `length`."""
        return self.ticks.value[max(self.begin + 1 - length, 0) : self.end]

    def bounds(self, length: int) -> tuple[float, float]:
        """Bounds of `extremes` at all moments, whether or not it has been computed for earlier windows."""
        held = self.range(self.end)
        carried = self.ticks.marks.get(length, held)
        return min(*held, *carried, *self.ticks.start), max(*held, *carried, *self.ticks.start)

    @kept
    def level(self, length: int) -> Floats:
        """(m,) median of the last `length` ticks; NaN with fewer."""
        if length == 1:
            return self.ticks.value[self.at]
        found, first = np.full(len(self.at), np.nan), self._moments.first(length)
        if first < len(self.at):
            table = self._table(first, length, 0)
            table.sort(axis=1)
            found[first:] = median_of_sorted(table)
        return found

    @kept
    def usual(self, skip: int, length: int = BEFORE) -> Floats:
        """(m,) median of up to `length` ticks before the last `skip`; NaN with fewer than `BEFORE_MIN`."""
        found, first = np.full(len(self.at), np.nan), self._moments.first(BEFORE_MIN + skip)
        if first < len(self.at) and length >= BEFORE_MIN:
            table = self._table(first, self._used_columns(length, skip), skip)
            found[first:] = _median_of_last(table, self._moments.have(length, skip)[first:])
        return found

    @kept
    def noise(self, skip: int) -> Floats:
        """(m,) robust standard deviation of the ticks of `usual`."""
        usual, first = self.usual(skip), self._moments.first(BEFORE_MIN + skip)
        found = np.full(len(self.at), np.nan)
        if first < len(self.at):
            away = self._table(first, self._used_columns(BEFORE, skip), skip)
            away -= usual[first:, None]
            np.abs(away, out=away)
            found[first:] = NORMAL * _median_of_last(away, self._moments.have(BEFORE, skip)[first:])
        return found

    @kept
    def jitter(self, skip: int) -> Floats:
        """(m,) robust deviation of the same from differences of neighbours, unaffected by trends."""
        rows = self.rows(max(self._used_columns(BEFORE, skip), 2), skip)
        away = np.abs(rows[:, 1:] - rows[:, :-1])
        return NEIGHBOURS * _median_of_last(away, self._moments.have(BEFORE - 1, skip + 1))

    @kept
    def loudest(self, skip: int) -> Floats:
        """(m,) largest jitter so far, so that early noise still counts when the series has become quiet.

        Carried from window to window, as `extremes` is.
        """
        mark = -1 - skip
        found = np.full(len(self), self.ticks.marks.get(mark, (np.nan, np.nan))[0])
        known = self._moments.first(BEFORE_MIN + skip)
        if known < len(self):
            found[known:] = np.fmax.accumulate(np.fmax(self.jitter(skip)[known:], found[0]))
        self.ticks.marks[mark] = (float(found[-1]), np.nan)
        return found

    @kept
    def bend(self) -> Floats:
        """(m,) robust deviation from second differences of recent ticks, unaffected by a steady climb."""
        rows = self.rows(BENT)
        away = np.abs(rows[:, 2:] - 2 * rows[:, 1:-1] + rows[:, :-2])
        return NORMAL * _median_of_last(away, np.clip(self.at - 1, 0, BENT - 2)) / BENDS

    @kept
    def spread(self, length: int) -> Floats:
        """(m,) highest minus lowest of the last `length` ticks; NaN with fewer."""
        found, first = np.full(len(self.at), np.nan), self._moments.first(length)
        if first < len(self.at):
            rows = self._rows(self.at[first:], length, 0)
            found[first:] = np.maximum.reduce(rows, axis=1) - np.minimum.reduce(rows, axis=1)
        return found

    @kept
    def start(self) -> tuple[float, float, float]:
        """Median, lowest and highest of the first ticks; NaN with too few."""
        start = self.ticks.start
        known = len(start) >= START
        return (median(start), min(start), max(start)) if known else (np.nan,) * 3

    @kept
    def extremes(self, length: int) -> tuple[Floats, Floats]:
        """(m,) highest and lowest level so far, including the start; NaN before the start is known.

        Carried in `Ticks.marks` from window to window, so it must be computed for every window or none.
        """
        start, level = self.start()[0], self.level(length)
        high, low = self.ticks.marks.get(length, (start, start))
        best, worst = np.fmax.accumulate(np.fmax(level, high)), np.fmin.accumulate(np.fmin(level, low))
        self.ticks.marks[length] = (float(best[-1]), float(worst[-1]))
        return best, worst

    def next_course(self) -> int:
        """The number of ticks at which the whole run may be evaluated again."""
        return self._moments.next_course

    @kept
    def course(self) -> Course:
        """The whole run, at the moments at which it is evaluated."""
        moments = self._moments.course
        parts = np.empty((len(moments), TREND_PARTS))
        for row, end in enumerate(self.at[moments].tolist()):
            parts[row] = median_of_sorted(np.sort(self._parts_of_run(end), axis=1))
        return Course(moments, parts)

    def course_noise(self, moment: int) -> float:
        """Robust deviation within the parts of the whole run, at one moment."""
        held = self._parts_of_run(int(self.at[moment]))
        return NORMAL * median(np.abs(held - median_of_sorted(np.sort(held, axis=1))[:, None]).ravel())

    def _parts_of_run(self, at: int) -> Floats:
        """(12, n) the ticks up to a position in equal parts, without the first few if necessary."""
        width = (at + 1) // TREND_PARTS
        held = self.ticks.value[at + 1 - width * TREND_PARTS : at + 1]
        return held.reshape(TREND_PARTS, width)

    def run_means(self) -> RunMeans | None:
        """Means over all ticks up to each moment; None if no moment sees enough."""
        if not self._has_means:
            self._has_means = True
            moments = self._moments.compared
            if len(moments):
                self._means = RunMeans(self.ticks, moments, self.at[moments] + 1)
        return self._means

    @kept
    def trend(self) -> Floats:
        """(m,) Mann-Kendall z over the window of the trend; NaN with too few ticks.

        The window is the last fifth of the run, at least 24 ticks (two per part), at most 96.
        """
        return self._of_trend(concordance)

    @kept
    def trend_change(self) -> Floats:
        """(m,) change over that window; NaN with too few ticks."""
        return self._of_trend(rise)

    def _of_trend(self, of: Callable[[Floats], Floats]) -> Floats:
        found = np.full(len(self.at), np.nan)
        for chosen, _, parts in self._trends():
            found[chosen] = of(parts)
        return found

    @kept
    def trend_noise(self) -> Floats:
        """(m,) robust deviation within the window of the trend."""
        found = np.full(len(self), np.nan)
        for chosen, rows, parts in self._trends():
            away = np.abs(rows.reshape(len(rows), TREND_PARTS, -1) - parts[:, :, None])
            found[chosen] = NORMAL * median_of_sorted(np.sort(away.reshape(len(rows), -1), axis=1))
        return found

    @kept
    def _trends(self) -> list[tuple[slice, Floats, Floats]]:
        """For each length of a trend: its moments, their rows, the medians of their parts."""
        found = []
        edges = [*self.at.searchsorted(TREND_FROM).tolist(), len(self)]
        for length, begin, end in zip(TREND_LENGTHS[1:], edges, edges[1:], strict=False):
            if begin < end:
                rows = self._rows(self.at[begin:end], length, 0)
                found.append((slice(begin, end), rows, part_medians(rows)))
        return found


def _median_of_last(table: Floats, have: Ints) -> Floats:
    """Median of the last `have[k]` values of each row k of (m, n); the values before are NaN; NaN for none.

    `have` is ascending. Sorts the table in place.
    """
    table.sort(axis=1)
    return median_of_sorted(table, have if have[0] < table.shape[1] else None)
