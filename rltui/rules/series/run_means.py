"""Means over parts of a whole run, and what they may err by: evidence that grows with the run.

The error of a mean falls with the ticks that it is made of, whatever the interval of logging is. Windows of
four ticks to two fifths of the run see both a fall within few ticks and one that hides in noise for long.

What matters for the error of a mean is the long-run variance of ticks: that of single ones, times what their
correlation adds. It is the largest of three estimates, because each is too small for some series:

- a first-order autoregression, fitted to differences of neighbours, which see no slow climb: for correlation
  r the mean product of differences that follow each other is -(1 - r) / 2 of their mean square. Jumps of the
  level, which are what is looked for, are cut to 3.5 of the usual differences. Of few ticks the correlation
  is known badly, so it is drawn towards 0.4 as if that had been seen in 20 ticks. Of many, the later half is
  asked: noise may grow with the level.
- batch means of twenty bins (Flegal and Jones 2010, Batch means and spectral variance estimators in Markov
  chain Monte Carlo), by the smaller ones of their second differences: for correlation that reaches far.
- second differences of all ticks: where values are few different ones (a game won or lost), most differences
  are zero, and those that are not look like jumps.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from rltui.distinct import distinct
from rltui.rules.series.robust_statistics import NORMAL, median
from rltui.rules.series.ticks import Floats, Ints

FEWEST = 8  # ticks of a run that is judged
GROWTH = 1.01  # of a run from one moment that is judged to the next: an onset is known to 1 % of it
JUMP = 3.5  # robust deviations that a difference of neighbours is cut to: more is a jump of the level
PRIOR, PRIOR_TICKS = 0.4, 20.0  # correlation that few ticks are taken to have, and how much that counts
# Errors by which the correlation may be smaller than it looks: a mean over 100 episodes is seen as such.
SMOOTH = 1.5
HIGHEST = 0.98  # correlation: a higher one is a trend
# Times the variance by second differences of few ticks, the smaller half of them, that the one by correlation
# may be: bends of a steep climb look like correlation. A correlation of 0.68 adds as much.
STEEPEST = 20.0
STEEP = 8  # differences whose median is the slope, of fewer than BINNED ticks
BEYOND = 12.0  # times the variance by bins that the one by correlation may be: near one it is a wild guess
BINS, BINNED = 20, 40  # bins of the run, and ticks from which on there are as many
KEPT = 0.6  # share of the squared differences of bins that are used, the smaller ones
# Mean of that share of squares of normal noise of variance one, the smaller ones: the chi-squared
# distribution of three degrees of freedom at that quantile of the one of one degree, over the share.
TRIMMED, HALF_TRIMMED = 0.2146, 0.1426
SECOND = 6.0  # variance of a second difference of noise of one
_SCALES_AT = np.rint(8 * 1.25 ** np.arange(20)).astype(np.int64)  # ticks at which the size of a jump is set
_ONE, _NONE = np.zeros(1, np.int64), np.zeros(0, np.int64)  # the one moment, or none


# Ticks of a window, each about a quarter more than the one before.
LENGTHS = np.array((4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192))
MOST = 0.4  # share of the run that the newest window may be
# Every newest window beside one before it that is no shorter, and what a difference of their means errs by.
NOW, BEFORE = (LENGTHS[index] for index in np.triu_indices(len(LENGTHS)))
_ERRORS = np.sqrt(1 / NOW + 1 / BEFORE)


class RunMeans:
    """What means of a run's ticks are at k moments, and what they may err by."""

    __slots__ = ("_deviation", "_falls", "_values", "least", "moments", "sums", "ticks")

    def __init__(self, values: Floats, moments: Ints, ticks: Ints) -> None:
        """`values` (n,) are the ticks, `moments` (k,) those of the rolling window that are judged."""
        self._values = values
        self.moments = moments
        self.ticks = ticks  # (k,) ticks until then
        self.sums = np.concatenate((np.zeros(1), np.cumsum(values)))  # (n + 1,) before each position
        second = np.square(values[2:] - 2 * values[1:-1] + values[:-2]) / SECOND
        self.least: Floats = np.sqrt(
            np.cumsum(second)[ticks - 3] / (ticks - 2)
        )  # the deviation is no smaller
        self._deviation = np.full(len(ticks), np.nan)
        self._falls: Floats | None = None

    def mean(self, begin: Ints, end: Ints) -> Floats:
        """Means of the ticks between some positions; of the shape of both."""
        found: Floats = (self.sums[end] - self.sums[begin]) / (end - begin)
        return found

    def deviation(self, rows: Ints) -> Floats:
        """Root of the long-run variance at some of the moments: a mean of n ticks errs by it over root n."""
        unknown = rows[np.isnan(self._deviation[rows])]
        if len(unknown):
            variance = long_run_variance(self._values, self.sums, self.ticks[unknown])
            self._deviation[unknown] = np.maximum(np.sqrt(variance), self.least[unknown])
        return self._deviation[rows]

    def falls(self) -> Floats:
        """(k, pairs) how far the newest ticks lie below those before, by the error of a deviation of one."""
        if self._falls is None:
            begin = self.ticks[:, None] - NOW
            before = begin - BEFORE
            there = (before >= 0) & ((MOST * self.ticks[:, None] >= NOW) | (LENGTHS[0] == NOW))
            sums, until = self.sums, self.sums[self.ticks][:, None]
            middle = sums[np.maximum(begin, 0)]
            fell = (middle - sums[np.maximum(before, 0)]) / BEFORE - (until - middle) / NOW
            self._falls = np.where(there, fell / _ERRORS, -np.inf)
        return self._falls

    def newest(self, parts: int, fewest: int) -> tuple[Floats, Floats]:
        """(k,) the mean of the last of so many equal parts of the run, at least `fewest` ticks; its error."""
        length = np.maximum(self.ticks // parts, fewest)
        deviation = self.deviation(np.arange(len(self.ticks)))
        return self.mean(self.ticks - length, self.ticks), deviation / np.sqrt(length)


def judged_moments(at: Ints) -> Ints:
    """Which of the moments, by the positions of their last ticks, see enough ticks, and enough new ones."""
    if len(at) == 1:  # a live run
        return _ONE if _is_judged(int(at[0])) else _NONE
    ticks = at + 1
    every = np.where(at < 32, 1, np.where(at < 128, 2, 4))  # ticks between two moments: see `SeriesState`
    scale = np.log(GROWTH)
    with np.errstate(divide="ignore"):
        new = np.floor(np.log(ticks) / scale) > np.floor(np.log(np.maximum(ticks - every, 1)) / scale)
    found: Ints = np.flatnonzero((ticks >= FEWEST) & new)
    return found


@cache
def _is_judged(at: int) -> bool:
    """The same of one moment."""
    return bool(len(judged_moments(np.array((at, at)))))


def long_run_variance(values: Floats, sums: Floats, ticks: Ints) -> Floats:
    """(k,) variance such that over n it is that of a mean of n ticks; of the first ticks[k] of a run.

    By correlation and by bins; `sums` (n + 1,) are the sums of the ticks before each position.
    """
    found = np.empty(len(ticks))
    few = int(ticks.searchsorted(BINNED))
    for row, count in enumerate(ticks[:few].tolist()):
        held = values[:count]
        second = np.square(held[2:] - 2 * held[1:-1] + held[:-2]) / SECOND
        smaller = np.sort(second)[: (count - 1) // 2]
        found[row] = min(_of_few(held), STEEPEST * float(smaller.mean()) / HALF_TRIMMED)
    found[few:] = _autoregressive(values, ticks[few:])
    if ticks[-1] >= BINNED:
        many = ticks >= BINNED
        binned = _of_bins(sums, ticks[many])
        found[many] = np.clip(found[many], binned, BEYOND * binned)
    return found


def _of_few(values: Floats) -> float:
    """The same by a first-order autoregression, of few ticks, most of which may be a steep climb.

    So the median of eight differences is taken from each of them.
    """
    change = np.diff(values)
    for begin in range(0, len(change), STEEP):
        part = change[begin : begin + STEEP] if len(change) - begin >= 2 * STEEP else change[begin:]
        part -= median(part)
        if len(change) - begin < 2 * STEEP:
            break
    usual = NORMAL * median(np.abs(change))
    if usual:
        change = np.clip(change, -JUMP * usual, JUMP * usual)
    square, product = float(change @ change), float(change[1:] @ change[:-1])
    return float(_fitted(np.array((square,)), np.array((product,)), np.array((len(change),)))[0])


def _autoregressive(values: Floats, ticks: Ints) -> Floats:
    """(k,) the same of many ticks, by the later half of them."""
    found = np.empty(len(ticks))
    change = np.diff(values)
    scales = _SCALES_AT[_SCALES_AT.searchsorted(ticks, "right") - 1]
    for scale in distinct(scales).tolist():
        chosen = scales == scale
        ends = ticks[chosen] - 1
        begins = ends // 2
        usual = NORMAL * median(np.abs(change[(scale - 1) // 2 : scale - 1]))
        step = change[int(begins[0]) : int(ends[-1])]
        if usual:
            step = np.clip(step, -JUMP * usual, JUMP * usual)
        squares, products = np.zeros((2, len(step) + 1))  # sums of them before each position
        np.cumsum(np.square(step), out=squares[1:])
        np.cumsum(step[1:] * step[:-1], out=products[2:])
        begin, end = begins - begins[0], ends - begins[0]
        found[chosen] = _fitted(
            squares[end] - squares[begin], products[end] - products[begin + 1], ends - begins
        )
    return found


def _fitted(square: Floats, product: Floats, count: Ints) -> Floats:
    """(k,) long-run variance by sums of squared differences and of products of neighbours among them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        like = 1 + 2 * product / square
    like = np.where(np.isfinite(like), like, 0.0)
    weight = count / (count + PRIOR_TICKS)
    kept = np.maximum(weight * like + (1 - weight) * PRIOR, like - SMOOTH / np.sqrt(count))
    kept = np.clip(kept, 0.0, HIGHEST)
    found: Floats = square / count * (1 + kept) / (2 * np.square(1 - kept))
    return found


def _of_bins(sums: Floats, ticks: Ints) -> Floats:
    """(k,) the same by batch means."""
    edge = ticks[:, None] * np.arange(BINS + 1) // BINS
    mean = np.diff(sums[edge], axis=1) / np.diff(edge, axis=1)
    squared = np.square(mean[:, 2:] - 2 * mean[:, 1:-1] + mean[:, :-2]) / SECOND
    kept = int(np.ceil(KEPT * (BINS - 2)))
    smaller = np.sort(squared, axis=1)[:, :kept].mean(axis=1)
    found: Floats = smaller / TRIMMED * ticks / BINS
    return found
