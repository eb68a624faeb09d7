"""Means over parts of a whole run, and their standard errors.

The error of a mean falls with the number of its ticks, whatever the interval of logging is. Windows of four
ticks to two fifths of the run detect both a fall within few ticks and a slow one in much noise.

The error of a mean depends on the long-run variance of ticks: that of single ticks, times a factor for their
correlation. It is the largest of three estimates, because each is too small for some series:

- a first-order autoregression, fitted to differences of neighbours, which a slow climb does not affect: for
  correlation r the mean product of consecutive differences is -(1 - r) / 2 of their mean square. Jumps of the
  level, which are to be detected, are clipped to 3.5 of the usual differences. The correlation of few ticks
  is uncertain, so it is shrunk towards 0.4 as if that had been measured on 20 ticks. Of many ticks, only the
  later half is used, since noise may grow with the level. Ticks of several points are slower than the points
  are; that is taken into account (`_of_joined`).
- batch means of twenty bins (Flegal and Jones 2010, Batch means and spectral variance estimators in Markov
  chain Monte Carlo), from the smaller of their second differences: for long-range correlation.
- second differences of all ticks: with few distinct values (a game won or lost) most differences are zero,
  and the others look like jumps.

All are too small for series whose neighbours differ little and whose differences are hardly correlated: a
running mean over many episodes, as Stable-Baselines3 and others log, looks like a random walk until the run
is many times as long as its window. For such series (`smoothness`) the variance depends on the length of a
window (`RunMeans.smooth_deviation`): it is that of second differences of means of 1, 2, 4, ... ticks, while
the run contains six of them, and extrapolated beyond with at most the growth of a random walk.
"""

from __future__ import annotations

import math
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Floats, Ints, distinct, median
from rltui.rules.evaluated_series.kept_results import kept
from rltui.rules.evaluated_series.robust_statistics import NORMAL
from rltui.rules.evaluated_series.ticks import Ticks
from rltui.rules.evaluated_series.unimodal_curve import unimodal

JUMP = 3.5  # robust deviations that differences of neighbours are clipped to: more is a jump of the level
PRIOR, PRIOR_TICKS = 0.4, 20.0  # correlation of few ticks, and the number of ticks that it counts for
# Errors by which the correlation may be smaller than measured: enough for a mean over 100 episodes.
CORRELATION_ERRORS = 1.5
MAX_CORRELATION = 0.98  # a higher one is a trend
MAX_JOINED = 256  # points of a tick that its variance is computed for; with more of them it differs by 1 %
# The variance by correlation is at most so many times that by the smaller half of the second differences of
# few ticks, since the curvature of a steep climb looks like correlation. That of 0.68 has this factor.
MAX_STEEP_FACTOR = 20.0
SLOPE_DIFFERENCES = 8  # whose median is the slope, of fewer than BINNED ticks
MAX_BINS_FACTOR = 12.0  # of the variance by correlation to that by bins: uncertain for a correlation near 1
BINS, BINNED = 20, 40  # bins of the run, and ticks from which on they are used
_EDGES = np.arange(BINS + 1)
KEPT = 0.6  # share of the squared differences of bins that are used, the smaller ones
# Mean of the smaller squares of standard normal noise, for that share and for a half: the chi-squared
# distribution of three degrees of freedom at that quantile of the one of one degree, over the share.
TRIMMED, HALF_TRIMMED = 0.2146, 0.1426
SECOND = 6.0  # variance of a second difference of noise of one
SCALES = (1, 2, 4, 8, 16, 32, 64)  # ticks of the means for the variance of a smooth series
MIN_MEANS = 6  # of a length that the run must contain
# Share of their squares that is used, the smaller ones; their mean, as above.
SCALES_KEPT, SCALES_TRIMMED = 0.8, 0.4377
GROWTH_ERRORS = 1.0  # errors by which the growth of the variance may be larger than measured
GROWTH_MARGIN = 0.6  # times that growth, by which an error may be larger than measured
# Correlation of neighbours up to which a series is rough, and from which it is smooth.
ROUGH, SMOOTH = 0.5, 0.75
WEIGHTS = (-1, 1), (1, -2, 1)  # of neighbouring means in their first and second differences
SHORT = 20  # ticks up to which a rise and fall cannot be distinguished from a running mean; see BINNED
_SCALES_AT = np.rint(8 * 1.25 ** np.arange(20)).astype(np.int64)  # ticks at which the size of a jump is set

# Ticks of a window, each about a quarter more than the one before.
LENGTHS = np.array((4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192))
_LOGS = np.log2(LENGTHS)
MAX_WINDOW_SHARE = 0.4  # share of the run that the newest window may be
# The newest ticks may vary less than those before, since low returns vary less. Their errors are smaller
# then, by at most QUIETEST, because missing rare rewards do not vary either, and by less for few ticks: the
# deviation of n normal values may be larger than measured by some 2.5 / sqrt(n). This raises the alarms on
# flat and rising noise (rare, two-valued, lognormal, correlated) from 20 to 25 in 3600 runs.
QUIETEST, QUIET_ERRORS = 0.5, 2.5
START = 10  # parts of the run, of which the first is its start
FIFTH = 5  # parts of the run, each of which is compared with the start
USUAL = 0.1  # share of the earlier ticks with a value, from which on its repetition is not quiet


class Pairs:
    """Newest windows, each with an earlier one that is no shorter; p pairs that fit into so many ticks."""

    def __init__(self, ticks: int) -> None:
        now, before = np.triu_indices(len(LENGTHS))
        fits = (LENGTHS[now] + LENGTHS[before] <= ticks) & _is_newest(LENGTHS[now], ticks)
        self.now_at, self.before_at = now[fits], before[fits]  # (p,) of LENGTHS
        self.now, self.before = LENGTHS[self.now_at], LENGTHS[self.before_at]
        self.error = np.sqrt(1 / self.now + 1 / self.before)  # of a difference of their means
        # Most that a fall grows by, in errors, if the newest ticks are as quiet as counts.
        self.most = self.error / np.sqrt(QUIETEST**2 / self.now + 1 / self.before)


def _is_newest(length: Ints, ticks: Ints | int) -> NDArray[np.bool_]:
    """Whether a window is short enough to be the newest one of a run."""
    found: NDArray[np.bool_] = (MAX_WINDOW_SHARE * ticks >= length) | (LENGTHS[0] == length)
    return found


@cache
def _pairs_of(ticks: int) -> Pairs:
    return Pairs(ticks)


def pairs_within(ticks: int) -> Pairs:
    """All pairs that fit, and perhaps a few more, since they are cached for ranges of ticks."""
    return _pairs_of(int(_SCALES_AT[_SCALES_AT.searchsorted(ticks)]))


class RunMeans:
    """Means of a run's ticks at k moments, and their errors."""

    def __init__(self, held: Ticks, moments: Ints, ticks: Ints) -> None:
        """`held` are the ticks, `moments` (k,) indices into those of the rolling window."""
        self._held = held
        self._values = values = held.value[: ticks[-1]]
        self.moments = moments
        self.ticks = ticks  # (k,) number of ticks at that moment
        self.sums = sums_of(values)
        second = np.square(values[2:] - 2 * values[1:-1] + values[:-2]) / SECOND
        # (k,) lower bound of the deviation
        self.least: Floats = np.sqrt(np.add.accumulate(second)[ticks - 3] / (ticks - 2))
        self._deviation = np.full(len(ticks), np.nan)
        self._few = int(ticks.searchsorted(BINNED))  # moments with too few ticks for bins
        self.pairs = pairs_within(int(ticks[-1]))
        self.kept: dict[tuple[object, ...], Any] = {}

    @cached_property
    def point_spread(self) -> Floats:
        """(k,) deviation of single points until each moment."""
        return self._held.point_spreads(self.ticks)

    @cached_property
    def most_point_spread(self) -> Floats:
        """(k,) an upper bound of that, without clipping jumps of the level."""
        return self._held.point_spread_of(self.least * (1 + 1e-9))

    @property
    def least_point_spread(self) -> Floats:
        """A lower bound of that at every moment, (1,)."""
        return self._held.point_spread_of(np.zeros(1))

    @cached_property
    def floor(self) -> Floats:
        """(k,) a lower bound of `deviation` in a third of its time, without the correlation."""
        return np.maximum(self.least, np.sqrt(self._binned)) if self._few < len(self.ticks) else self.least

    @cached_property
    def _binned(self) -> Floats:
        """(k,) variance by bins; zero with too few ticks."""
        found = np.zeros(len(self.ticks))
        found[self._few :] = of_bins(self.sums, self.ticks[self._few :])
        return found

    @cached_property
    def start_and_best(self) -> tuple[Ints, Ints, Floats, Floats]:
        """(k,) ticks of the first tenth and of a fifth, the mean of that tenth, the best mean of a fifth."""
        ticks = self.ticks
        first, wide = np.maximum(ticks // START, 2), np.maximum(ticks // FIFTH, 1)
        ends = ticks[:, None] - np.arange(2 * FIFTH - 1) * ((wide + 1) // 2)[:, None]
        ends = np.maximum(ends, wide[:, None])
        return first, wide, self.sums[first] / first, self.mean(ends - wide[:, None], ends).max(axis=1)

    @kept
    def levels(self, wide: int) -> Floats:
        """(m,) the means of `wide` consecutive ticks, by the first of them."""
        found: Floats = (self.sums[wide:] - self.sums[:-wide]) / wide
        return found

    @kept
    def around_unimodal(self, row: int, top: int) -> tuple[float, float]:
        """Residuals of the ticks at a moment from the best curve that rises up to a tick and then falls.

        Their deviation, and the correlation of neighbours; NaN without residuals.
        """
        values = self._values[: int(self.ticks[row])]
        residual = values - unimodal(values, top)
        square = float(np.mean(np.square(residual)))
        turns = float(np.mean(np.square(changes(residual))))
        return math.sqrt(square), 1 - turns / (2 * square) if square else math.nan

    def mean(self, begin: Ints, end: Ints) -> Floats:
        """Means of the ticks between positions, of the same shape."""
        found: Floats = (self.sums[end] - self.sums[begin]) / (end - begin)
        return found

    def deviation(self, rows: Ints) -> Floats:
        """Root of the long-run variance at some moments; over root n, the error of a mean of n ticks."""
        unknown = rows[np.isnan(self._deviation[rows])]
        if len(unknown):
            variance = long_run_variance(
                self._values, self.ticks[unknown], self._binned[unknown], self._held.stride
            )
            self._deviation[unknown] = np.maximum(np.sqrt(variance), self.least[unknown])
        return self._deviation[rows]

    @kept
    def smooth_deviation(self, row: int) -> Floats:
        """(lengths,) the deviation at one moment for means of each of `LENGTHS`; larger if smooth."""
        count, usual = int(self.ticks[row]), float(self.deviation(np.array((row,)))[0])
        share = min(max((count - SHORT) / (BINNED - SHORT), 0.0), 1.0)
        share = share and share * smoothness(self._values[:count])
        found = np.full(len(LENGTHS), usual)
        if share:
            scaled = np.sqrt(self._scaled_variances(count, float(self.least[row])))
            found *= np.maximum(scaled / usual, 1.0) ** share
        return found

    def _scaled_variances(self, count: int, least: float) -> Floats:
        """(lengths,) long-run variance for each of `LENGTHS`; over it, that of the mean of so many ticks.

        The variance of means of a random walk grows with their length, and that of first differences of
        neighbouring means more than that of second differences: `_walk_variances` gives both. The growth of a
        series is measured as a share of that of a walk.
        """
        walk, ratio = _walk_variances()
        found: list[float] = []
        for length in SCALES:
            if length > 1 and count < MIN_MEANS * length:
                break
            square = self._squared_bends(length)[: (count - 3 * length) // max(length // 4, 1) + 1]
            usual = _trimmed_mean(square)
            if count >= 2 * MIN_MEANS * length:  # noise may grow with the level
                usual = max(usual, _trimmed_mean(square[len(square) // 2 :]))
            found.append(usual / (SECOND * length))
        curve = np.maximum(np.maximum.accumulate(np.array(found)), max(least * least, 1e-300))
        scales = len(curve)
        # Faster growth than that of a random walk is a trend, not noise.
        curve = np.minimum(curve, curve[0] * walk[:scales] / walk[0])
        error = GROWTH_ERRORS / np.sqrt(count)
        if scales > 1:
            grown = np.log(curve[1:] / curve[:-1]) / np.log(walk[1:scales] / walk[: scales - 1])
            share = np.clip(np.concatenate((grown[:1], grown)), 0, 1)
            slope = float(np.clip(grown[-2:].mean() + error, 0, 1))
            growth = max(slope, float(np.clip(grown.mean() + error, 0, 1)))
        else:
            share, slope, growth = np.ones(1), 1.0, 1.0
        at = np.log2(SCALES[:scales])
        logs = np.interp(_LOGS, at, np.log2(curve * ratio[:scales] ** share))
        beyond = np.maximum(_LOGS - at[-1], 0)
        variance: Floats = np.exp2(logs + 2 * slope * beyond) * (1 + GROWTH_MARGIN * growth) ** 2
        return variance

    @kept
    def _squared_bends(self, length: int) -> Floats:
        """Squared second differences of neighbouring sums of so many ticks, at every quarter of a length."""
        total = self.sums[length:] - self.sums[:-length]
        bend = total[2 * length :] - 2 * total[length:-length] + total[: -2 * length]
        return np.square(bend[:: max(length // 4, 1)])

    def by_own_noise(self, row: int) -> Floats:
        """(pairs,) `falls` at a moment, with errors of the newest ticks from their own noise."""
        pairs, (now, before) = self.pairs, self.quiet(row)
        found: Floats = self.falls()[row] * pairs.error / np.sqrt(now / pairs.now + before / pairs.before)
        return found

    @kept
    def quiet(self, row: int) -> tuple[Floats, Floats]:
        """(pairs,) variance relative to the run: of newest ticks, at most 1; of those before, at least 1."""
        pairs, end = self.pairs, int(self.ticks[row])
        squares = self._changes(int(_SCALES_AT[_SCALES_AT.searchsorted(end, "right") - 1]))
        half = end // 2
        level = (squares[end - 1] - squares[half]) / (end - 1 - half)
        if not level:
            same = np.ones(len(pairs.now))
            return same, same
        middle = np.maximum(end - pairs.now, 1)
        begin = np.maximum(middle - pairs.before, 0)
        now = (squares[end - 1] - squares[middle]) / np.maximum(end - 1 - middle, 1) / level
        before = (squares[middle - 1] - squares[begin]) / np.maximum(middle - 1 - begin, 1) / level
        upper = now * np.square(1 + QUIET_ERRORS / np.sqrt(pairs.now))
        if self._repeats_usual_value(end):
            upper[:] = 1.0
        return np.minimum(np.maximum(upper, QUIETEST**2), 1.0), np.maximum(before, 1.0)

    def _repeats_usual_value(self, end: int) -> bool:
        """Whether the last ticks repeat a value that was usual before: values of 0 or 1 do so by chance."""
        same = self._values[:end] == self._values[end - 1]
        row = int(same[::-1].argmin()) if not same.all() else end
        return row > 1 and int(np.count_nonzero(same)) - row > USUAL * (end - row)

    @kept
    def _changes(self, scale: int) -> Floats:
        """(n,) sums of squared differences before each position, clipped by those among so many ticks."""
        change = changes(self._values)
        if usual := NORMAL * median(np.abs(change[(scale - 1) // 2 : scale - 1])):
            change = within(change, JUMP * usual)
        return sums_of(np.square(change))

    def errors(self, row: int, quiet: bool = False) -> Floats:
        """(pairs,) errors by which the newest ticks are below those before; `quiet`: by their own noise."""
        square, pairs = np.square(self.smooth_deviation(row)), self.pairs
        now, before = self.quiet(row) if quiet else (np.ones(1), np.ones(1))
        error = square[pairs.now_at] * now / pairs.now + square[pairs.before_at] * before / pairs.before
        error = np.sqrt(error)
        found: Floats = self.falls()[row] * pairs.error / error
        return found

    @kept
    def falls(self) -> Floats:
        """(k, pairs) how far the newest ticks are below those before, over the error for a deviation of 1."""
        pairs, ticks, sums = self.pairs, self.ticks[:, None], self.sums
        begin = np.where(_is_newest(LENGTHS, ticks), ticks - LENGTHS, 0)
        middle = sums[begin]
        newest = (sums[ticks] - middle) / LENGTHS
        before = begin[:, pairs.now_at] - pairs.before
        earlier = (middle[:, pairs.now_at] - sums[np.maximum(before, 0)]) / pairs.before
        fell = earlier - newest[:, pairs.now_at]
        return np.where(before >= 0, fell / pairs.error, -np.inf)

    @cached_property
    def deepest(self) -> Floats:
        """(k,) the largest of `falls` at each moment."""
        found: Floats = np.maximum.reduce(self.falls(), axis=1)
        return found

    def newest(self, parts: int, fewest: int) -> tuple[Floats, Floats]:
        """(k,) the mean of the last of equal parts of the run, of at least `fewest` ticks; its error."""
        length = np.maximum(self.ticks // parts, fewest)
        deviation = self.deviation(np.arange(len(self.ticks)))
        return self.mean(self.ticks - length, self.ticks), deviation / np.sqrt(length)


def sums_of(values: Floats) -> Floats:
    """(n + 1,) sums of the (n,) values before each position, and of all."""
    found = np.zeros(len(values) + 1)
    np.add.accumulate(values, out=found[1:])
    return found


def changes(values: Floats) -> Floats:
    """(..., n - 1) differences of neighbours in (..., n)."""
    found: Floats = values[..., 1:] - values[..., :-1]
    return found


def within(values: Floats, most: Floats | float) -> Floats:
    """The values, clipped to plus and minus a number: 64 of them in 1.5 us, with `np.clip` in 2.6."""
    found: Floats = np.minimum(np.maximum(values, -most), most)
    return found


def long_run_variance(values: Floats, ticks: Ints, binned: Floats, stride: int = 1) -> Floats:
    """(k,) long-run variance of the first ticks[k] of a run: over n it is that of a mean of n ticks.

    By correlation, and with enough ticks by bins (`binned`, see `of_bins`). A tick joins `stride` points.
    """
    found = np.empty(len(ticks))
    few = int(ticks.searchsorted(BINNED))
    if few:
        squares, products, most = np.array([_of_few(values[:count]) for count in ticks[:few].tolist()]).T
        found[:few] = np.minimum(_fitted(squares, products, ticks[:few] - 1), most)
    if few < len(ticks):
        by_bins, fitted = binned[few:], _autoregressive(values, ticks[few:], stride)
        found[few:] = np.minimum(np.maximum(fitted, by_bins), MAX_BINS_FACTOR * by_bins)
    return found


def _of_few(values: Floats) -> tuple[float, float, float]:
    """Arguments of `_fitted` for few ticks, and an upper bound of the variance for a steep climb.

    Most of the ticks may be such a climb, so the median of eight differences is subtracted from each of them.
    """
    change, part_length = changes(values), SLOPE_DIFFERENCES
    second = np.square(changes(change)) / SECOND
    smaller = np.sort(second)[: len(change) // 2]
    for begin in range(0, len(change), part_length):
        is_last = len(change) - begin < 2 * part_length
        part = change[begin:] if is_last else change[begin : begin + part_length]
        part -= median(part)
        if is_last:
            break
    usual = NORMAL * median(np.abs(change))
    if usual:
        change = within(change, JUMP * usual)
    largest, other = _largest_two(change)
    change[largest] *= _ratio(abs(change.item(other)), abs(change.item(largest)))
    most = MAX_STEEP_FACTOR * float(smaller.mean()) / HALF_TRIMMED
    return float(change @ change), float(change[1:] @ change[:-1]), most


def _autoregressive(values: Floats, ticks: Ints, stride: int) -> Floats:
    """(k,) `_fitted` for many ticks, from the later half of them."""
    change = changes(values)
    scales = _SCALES_AT.searchsorted(ticks, "right") - 1
    used = distinct(scales)
    usual = np.array([median(np.abs(change[(scale - 1) // 2 : scale - 1])) for scale in _SCALES_AT[used]])
    cut = np.where(usual > 0, JUMP * NORMAL * usual, np.inf)[:, None]
    step = within(change, cut)  # (scales, n - 1)
    squares, products = np.zeros((2, len(used), len(change) + 1))  # sums of them before each position
    np.add.accumulate(np.square(step), axis=1, out=squares[:, 1:])
    np.add.accumulate(step[:, 1:] * step[:, :-1], axis=1, out=products[:, 2:])
    row, end = used.searchsorted(scales), ticks - 1
    begin = end // 2
    square = squares[row, end] - squares[row, begin]
    product = products[row, end] - products[row, begin + 1]
    scale, position, other, seen = -1, 0, 0, 0
    for k, (number, first, last) in enumerate(zip(row.tolist(), begin.tolist(), end.tolist(), strict=True)):
        if scale != number:
            steps, sizes = step[number].tolist(), np.abs(step[number]).tolist()
        # Mostly the largest two of the moment before.
        if scale != number or min(position, other) < first or max(sizes[seen:last]) > sizes[other]:
            position, other = (first + each for each in _largest_two(step[number, first:last]))
        scale, seen, largest = number, last, steps[position]
        reduction = largest * (_ratio(sizes[other], sizes[position]) - 1)
        square[k] += reduction * (2 * largest + reduction)
        product[k] += reduction * (sum(steps[max(position - 1, first) : min(position + 2, last)]) - largest)
    return _fitted(square, product, end - begin, stride)


def _largest_two(change: Floats) -> tuple[int, int]:
    """Positions of the largest and the second largest difference; of a single one, twice the same."""
    size = np.abs(change)
    first = int(size.argmax())
    size[first] = -1
    return first, int(size.argmax())


def _ratio(second: float, first: float) -> float:
    """The second largest difference over the largest, which may be the fall; near 1 for noise."""
    return second / first if first else 1.0


def _fitted(square: Floats, product: Floats, count: Ints, stride: int = 1) -> Floats:
    """(k,) long-run variance from the sums of squared differences and of products of consecutive ones."""
    measured = 1 + 2 * product / square
    measured = np.where(np.isfinite(measured), measured, 0.0)
    weight = count / (count + PRIOR_TICKS)
    shrunk = weight * measured + (1 - weight) * PRIOR
    used = np.maximum(shrunk, measured - CORRELATION_ERRORS / np.sqrt(count))
    used = np.maximum(used, 0.0)
    if stride > 1:
        apparent, logs = _of_joined(min(stride, MAX_JOINED))
        return np.asarray(square / count * np.exp(np.interp(used, apparent, logs)), np.float64)
    used = np.minimum(used, MAX_CORRELATION)
    found: Floats = square / count * (1 + used) / (2 * np.square(1 - used))
    return found


@cache
def _of_joined(stride: int) -> tuple[Floats, Floats]:
    """Apparent correlations of means of `stride` points; the logarithm of the variance ratio of each.

    (m,) 1 + 2 q, where q is the mean product of consecutive differences over their mean square; (m,) the
    logarithm of the long-run variance over that mean square. Differences of neighbouring means of a slow
    series correlate positively, up to 1/4 (Working 1960, Note on the correlation of first differences of
    averages in a random chain), where those of its points do not. So 1 + 2 q is not the correlation of
    neighbours but more, and it is 1 for correlations far below 1.
    The covariances are those of an autoregression of single points.
    """
    keep = np.linspace(0, MAX_CORRELATION, 200)  # of neighbouring points, and of points so far apart
    keep = np.sort(np.concatenate((keep, keep ** (1 / stride))))[:, None]
    lags = np.arange(1, stride)
    powers = np.power(keep, np.arange(stride))
    sums = powers.sum(axis=1) ** 2  # of the covariances of two ticks
    same = stride + 2 * ((stride - lags) * powers[:, 1:]).sum(axis=1)
    keep = keep[:, 0]
    next_one, second = keep * sums, keep ** (stride + 1) * sums
    square = 2 * (same - next_one)
    apparent = 1 + 2 * (2 * next_one - same - second) / square
    return apparent, np.log(stride * (1 + keep) / (1 - keep) / square)


def of_bins(sums: Floats, ticks: Ints) -> Floats:
    """(k,) long-run variance by batch means; `sums` (n + 1,) are those of the ticks before each position."""
    edge = ticks[:, None] * _EDGES // BINS
    mean = changes(sums[edge]) / (edge[:, 1:] - edge[:, :-1])
    squared = np.square(mean[:, 2:] - 2 * mean[:, 1:-1] + mean[:, :-2]) / SECOND
    kept = int(np.ceil(KEPT * (BINS - 2)))
    squared.sort(axis=1)
    found: Floats = np.add.reduce(squared[:, :kept], axis=1) / kept / TRIMMED * ticks / BINS
    return found


def smoothness(values: Floats) -> float:
    """From 0, if neighbours correlate little, to 1, if they correlate as those of a running mean."""
    change = changes(values)
    usual = NORMAL * median(np.abs(change))
    if not 0 < usual < math.inf:  # most values repeat, or differ by more than a float holds
        return 0.0
    change = within(change, JUMP * usual) / usual  # the square of a tiny one would be zero
    square = float(change @ change)
    correlation = 1 + 2 * float(change[1:] @ change[:-1]) / square + GROWTH_ERRORS / math.sqrt(len(values))
    return min(max((correlation - ROUGH) / (SMOOTH - ROUGH), 0.0), 1.0)


@cache
def _walk_variances() -> tuple[Floats, Floats]:
    """(scales,) variance of a random walk by second differences of means; that by first ones, over it."""
    first: list[float] = []
    second: list[float] = []
    for length in SCALES:
        mean = np.ones(length) / length
        step, bend = (np.cumsum(np.concatenate([part * mean for part in parts])) for parts in WEIGHTS)
        first.append(float(step @ step) * length / 2)
        second.append(float(bend @ bend) * length / SECOND)
    return np.array(second), np.array(first) / np.array(second)


def _trimmed_mean(square: Floats) -> float:
    """The mean of squares of normal noise, estimated from the smaller ones."""
    kept = int(np.ceil(SCALES_KEPT * len(square)))
    return float(np.sort(square)[:kept].mean()) / SCALES_TRIMMED
