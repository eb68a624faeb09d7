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

Where neighbours differ little and the differences are hardly correlated, none of them is enough: a running
mean over many episodes, as Stable-Baselines3 and others log, looks like a random walk until the run is many
times as long as what it is a mean of. For such series (`smoothness`) the variance depends on the length of a
window (`RunMeans.smooth_deviation`): second differences of means of 1, 2, 4, ... ticks, as far as the run
holds six of them, and beyond by the growth seen so far, which is at most that of a random walk.
"""

from __future__ import annotations

import math
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Floats, Ints, distinct, median
from rltui.rules.judged_series.robust_statistics import NORMAL
from rltui.rules.judged_series.ticks import Ticks
from rltui.rules.judged_series.unimodal_curve import unimodal

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
_EDGES = np.arange(BINS + 1)
KEPT = 0.6  # share of the squared differences of bins that are used, the smaller ones
# Mean of that share of squares of normal noise of variance one, the smaller ones: the chi-squared
# distribution of three degrees of freedom at that quantile of the one of one degree, over the share.
TRIMMED, HALF_TRIMMED = 0.2146, 0.1426
SECOND = 6.0  # variance of a second difference of noise of one
SCALES = (1, 2, 4, 8, 16, 32, 64)  # ticks of the means that the variance of a smooth series is read from
FEWEST_MEANS = 6  # means of a length that the run must hold
# Share of their squares that is used, the smaller ones; their mean, as above.
SPARED, SPARED_VARIANCE = 0.8, 0.4377
STEEPER = 1.0  # errors by which the growth of the variance may be larger than it looks
UNSURE = 0.6  # times that growth by which an error may be larger than it looks
# Correlation of neighbours up to which a series is not smooth, and from which it is.
ROUGH, SMOOTH_FROM = 0.5, 0.75
WEIGHTS = (-1, 1), (1, -2, 1)  # of neighbouring means in their first and second differences
SHORT = 20  # ticks up to which a climb and a fall cannot be told from a running mean, see `BINNED`
_SCALES_AT = np.rint(8 * 1.25 ** np.arange(20)).astype(np.int64)  # ticks at which the size of a jump is set

# Ticks of a window, each about a quarter more than the one before.
LENGTHS = np.array((4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192))
_LOGS = np.log2(LENGTHS)
MOST = 0.4  # share of the run that the newest window may be
# The newest ticks may be quieter than those before: returns vary less the less is earned. Their errors are
# smaller then, by no more than QUIETEST, because rare rewards that did not come are quiet, too, and by less
# of few ticks: the deviation of n normal values may be larger than it looks by some 2.5 / sqrt(n). With it
# alarms on flat and rising noise (rare, two-valued, lognormal, correlated) rise from 20 to 25 in 3600 runs.
QUIETEST, DOUBT = 0.5, 2.5
USUAL = 0.1  # share of the ticks that had a value before from which on its return is no quiet


class Pairs:
    """Newest windows, each beside one before it that is no shorter; p pairs that fit into so many ticks."""

    def __init__(self, ticks: int) -> None:
        now, before = np.triu_indices(len(LENGTHS))
        fits = (LENGTHS[now] + LENGTHS[before] <= ticks) & _is_newest(LENGTHS[now], ticks)
        self.now_at, self.before_at = now[fits], before[fits]  # (p,) of LENGTHS
        self.now, self.before = LENGTHS[self.now_at], LENGTHS[self.before_at]
        self.error = np.sqrt(1 / self.now + 1 / self.before)  # of a difference of their means
        # Times that a difference may be larger beside it where the newest ticks are as quiet as may count.
        self.most = self.error / np.sqrt(QUIETEST**2 / self.now + 1 / self.before)


def _is_newest(length: Ints, ticks: Ints | int) -> NDArray[np.bool_]:
    """Whether a window is short enough to be the newest one of a run."""
    found: NDArray[np.bool_] = (MOST * ticks >= length) | (LENGTHS[0] == length)
    return found


@cache
def _pairs_of(ticks: int) -> Pairs:
    return Pairs(ticks)


def pairs_within(ticks: int) -> Pairs:
    """All pairs that fit, and perhaps a few more: they are found once for about as many ticks."""
    return _pairs_of(int(_SCALES_AT[_SCALES_AT.searchsorted(ticks)]))


class RunMeans:
    """What means of a run's ticks are at k moments, and what they may err by."""

    def __init__(self, held: Ticks, moments: Ints, ticks: Ints) -> None:
        """`held` are the ticks, `moments` (k,) those of the rolling window that are judged."""
        self._held = held
        self._values = values = held.value[: ticks[-1]]
        self.moments = moments
        self.ticks = ticks  # (k,) ticks until then
        self.sums = sums_of(values)
        second = np.square(values[2:] - 2 * values[1:-1] + values[:-2]) / SECOND
        # (k,) the deviation is no smaller
        self.least: Floats = np.sqrt(np.add.accumulate(second)[ticks - 3] / (ticks - 2))
        self._deviation = np.full(len(ticks), np.nan)
        self._few = int(ticks.searchsorted(BINNED))  # moments that see too few ticks for bins
        self.pairs = pairs_within(int(ticks[-1]))
        self._falls: Floats | None = None
        self._smooth: dict[int, Floats] = {}
        self._squares: dict[int, Floats] = {}
        self._levels: dict[int, Floats] = {}
        self._changed: dict[int, Floats] = {}
        self._quiet: dict[int, tuple[Floats, Floats]] = {}
        self._around: dict[tuple[int, int], tuple[float, float]] = {}

    @cached_property
    def point_spread(self) -> Floats:
        """(k,) deviation of single points until each moment."""
        return self._held.point_spreads(self.ticks)

    @cached_property
    def most_point_spread(self) -> Floats:
        """(k,) what that is at most: jumps of the level are cut there."""
        return self._held.point_spread_of(self.least * (1 + 1e-9))

    @cached_property
    def floor(self) -> Floats:
        """(k,) what `deviation` is at least, in a third of its time: without what correlation adds."""
        return np.maximum(self.least, np.sqrt(self._binned)) if self._few < len(self.ticks) else self.least

    @cached_property
    def _binned(self) -> Floats:
        """(k,) variance by bins; zero where ticks are too few."""
        found = np.zeros(len(self.ticks))
        found[self._few :] = of_bins(self.sums, self.ticks[self._few :])
        return found

    def levels(self, wide: int) -> Floats:
        """(m,) the means of so many neighbouring ticks, by the first of them."""
        found = self._levels.get(wide)
        if found is None:
            found = self._levels[wide] = (self.sums[wide:] - self.sums[:-wide]) / wide
        return found

    def around_unimodal(self, row: int, top: int) -> tuple[float, float]:
        """How the ticks until a moment differ from the best curve that rises up to a tick and then falls.

        Their deviation from it, and how neighbours correlate there; NaN where nothing differs.
        """
        found = self._around.get((row, top))
        if found is None:
            values = self._values[: int(self.ticks[row])]
            residual = values - unimodal(values, top)
            square = float(np.mean(np.square(residual)))
            turns = float(np.mean(np.square(changes(residual))))
            like = 1 - turns / (2 * square) if square else math.nan
            found = self._around[row, top] = math.sqrt(square), like
        return found

    def mean(self, begin: Ints, end: Ints) -> Floats:
        """Means of the ticks between some positions; of the shape of both."""
        found: Floats = (self.sums[end] - self.sums[begin]) / (end - begin)
        return found

    def deviation(self, rows: Ints) -> Floats:
        """Root of the long-run variance at some of the moments: a mean of n ticks errs by it over root n."""
        unknown = rows[np.isnan(self._deviation[rows])]
        if len(unknown):
            variance = long_run_variance(self._values, self.ticks[unknown], self._binned[unknown])
            self._deviation[unknown] = np.maximum(np.sqrt(variance), self.least[unknown])
        return self._deviation[rows]

    def smooth_deviation(self, row: int) -> Floats:
        """(lengths,) the deviation at one of the moments for means of each of `LENGTHS`; larger if smooth."""
        found = self._smooth.get(row)
        if found is None:
            count, usual = int(self.ticks[row]), float(self.deviation(np.array((row,)))[0])
            known = min(max((count - SHORT) / (BINNED - SHORT), 0.0), 1.0)
            share = known and known * smoothness(self._values[:count])
            found = np.full(len(LENGTHS), usual)
            if share:
                scaled = np.sqrt(self._scaled_variances(count, float(self.least[row])))
                found *= np.maximum(scaled / usual, 1.0) ** share
            self._smooth[row] = found
        return found

    def _scaled_variances(self, count: int, least: float) -> Floats:
        """(lengths,) variance at each of `LENGTHS` such that over it is that of the mean of so many ticks.

        Means of a random walk grow more variable with their length, and differences of neighbouring means
        more so than second differences tell: `_of_walk` is what is known of both, and the growth that is seen
        is a share of its growth.
        """
        walk, ratio = _of_walk()
        found: list[float] = []
        for length in SCALES:
            if length > 1 and count < FEWEST_MEANS * length:
                break
            square = self._bends(length)[: (count - 3 * length) // max(length // 4, 1) + 1]
            usual = _smaller(square)
            if count >= 2 * FEWEST_MEANS * length:  # noise may grow with the level
                usual = max(usual, _smaller(square[len(square) // 2 :]))
            found.append(usual / (SECOND * length))
        curve = np.maximum(np.maximum.accumulate(np.array(found)), max(least * least, 1e-300))
        scales = len(curve)
        # What grows faster than a random walk is a course, not noise.
        curve = np.minimum(curve, curve[0] * walk[:scales] / walk[0])
        few = STEEPER / np.sqrt(count)
        if scales > 1:
            grown = np.log(curve[1:] / curve[:-1]) / np.log(walk[1:scales] / walk[: scales - 1])
            like = np.clip(np.concatenate((grown[:1], grown)), 0, 1)
            slope = float(np.clip(grown[-2:].mean() + few, 0, 1))
            unsure = max(slope, float(np.clip(grown.mean() + few, 0, 1)))
        else:
            like, slope, unsure = np.ones(1), 1.0, 1.0
        at = np.log2(SCALES[:scales])
        logs = np.interp(_LOGS, at, np.log2(curve * ratio[:scales] ** like))
        variance: Floats = (
            np.exp2(logs + 2 * slope * np.maximum(_LOGS - at[-1], 0)) * (1 + UNSURE * unsure) ** 2
        )
        return variance

    def _bends(self, length: int) -> Floats:
        """Squares of second differences of neighbouring sums of so many ticks, every quarter of them."""
        found = self._squares.get(length)
        if found is None:
            total = self.sums[length:] - self.sums[:-length]
            bend = total[2 * length :] - 2 * total[length:-length] + total[: -2 * length]
            found = self._squares[length] = np.square(bend[:: max(length // 4, 1)])
        return found

    def quiet(self, row: int) -> tuple[Floats, Floats]:
        """(pairs,) squares by which newest ticks are quieter than the run, and those before them louder."""
        found = self._quiet.get(row)
        if found is None:
            found = self._quiet[row] = self._quieter(row)
        return found

    def by_own_noise(self, row: int) -> Floats:
        """(pairs,) `falls` at a moment where the newest ticks count by their own noise."""
        pairs, (now, before) = self.pairs, self.quiet(row)
        found: Floats = self.falls()[row] * pairs.error / np.sqrt(now / pairs.now + before / pairs.before)
        return found

    def _quieter(self, row: int) -> tuple[Floats, Floats]:
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
        surely = now * np.square(1 + DOUBT / np.sqrt(pairs.now))
        if self._repeats_what_was_usual(end):
            surely[:] = 1.0
        return np.minimum(np.maximum(surely, QUIETEST**2), 1.0), np.maximum(before, 1.0)

    def _repeats_what_was_usual(self, end: int) -> bool:
        """Whether the last of so many ticks has a value that was usual before: 0 or 1 is quiet by chance."""
        like = self._values[:end] == self._values[end - 1]
        row = int(like[::-1].argmin()) if not like.all() else end
        return row > 1 and int(np.count_nonzero(like)) - row > USUAL * (end - row)

    def _changes(self, scale: int) -> Floats:
        """(n,) sums of squared differences before each position, cut by what is usual among so many ticks."""
        found = self._changed.get(scale)
        if found is None:
            change = changes(self._values)
            if usual := NORMAL * median(np.abs(change[(scale - 1) // 2 : scale - 1])):
                change = within(change, JUMP * usual)
            found = self._changed[scale] = sums_of(np.square(change))
        return found

    def significant(self, row: int, quiet: bool = False) -> Floats:
        """(pairs,) errors by which the newest ticks lie below those before; `quiet`: by their own noise."""
        square, pairs = np.square(self.smooth_deviation(row)), self.pairs
        now, before = self.quiet(row) if quiet else (np.ones(1), np.ones(1))
        error = square[pairs.now_at] * now / pairs.now + square[pairs.before_at] * before / pairs.before
        error = np.sqrt(error)
        found: Floats = self.falls()[row] * pairs.error / error
        return found

    def falls(self) -> Floats:
        """(k, pairs) how far the newest ticks lie below those before, by the error of a deviation of one."""
        if self._falls is None:
            pairs, ticks, sums = self.pairs, self.ticks[:, None], self.sums
            begin = np.where(_is_newest(LENGTHS, ticks), ticks - LENGTHS, 0)
            middle = sums[begin]
            newest = (sums[ticks] - middle) / LENGTHS
            before = begin[:, pairs.now_at] - pairs.before
            earlier = (middle[:, pairs.now_at] - sums[np.maximum(before, 0)]) / pairs.before
            fell = earlier - newest[:, pairs.now_at]
            self._falls = np.where(before >= 0, fell / pairs.error, -np.inf)
        return self._falls

    @cached_property
    def deepest(self) -> Floats:
        """(k,) the largest of `falls` at each moment."""
        found: Floats = np.maximum.reduce(self.falls(), axis=1)
        return found

    def newest(self, parts: int, fewest: int) -> tuple[Floats, Floats]:
        """(k,) the mean of the last of so many equal parts of the run, at least `fewest` ticks; its error."""
        length = np.maximum(self.ticks // parts, fewest)
        deviation = self.deviation(np.arange(len(self.ticks)))
        return self.mean(self.ticks - length, self.ticks), deviation / np.sqrt(length)


def sums_of(values: Floats) -> Floats:
    """(n + 1,) the sum of (n,) values before each position, and of all."""
    found = np.zeros(len(values) + 1)
    np.add.accumulate(values, out=found[1:])
    return found


def changes(values: Floats) -> Floats:
    """(..., n - 1) differences of neighbours among (..., n)."""
    found: Floats = values[..., 1:] - values[..., :-1]
    return found


def within(values: Floats, most: Floats | float) -> Floats:
    """The values, cut to plus and minus a number."""
    found: Floats = np.minimum(np.maximum(values, -most), most)
    return found


def long_run_variance(values: Floats, ticks: Ints, binned: Floats) -> Floats:
    """(k,) variance such that over n it is that of a mean of n ticks; of the first ticks[k] of a run.

    By correlation and by bins (`of_bins`), which count where there are enough ticks.
    """
    found = np.empty(len(ticks))
    few = int(ticks.searchsorted(BINNED))
    if few:
        squares, products, most = np.array([_of_few(values[:count]) for count in ticks[:few].tolist()]).T
        found[:few] = np.minimum(_fitted(squares, products, ticks[:few] - 1), most)
    if few < len(ticks):
        by_bins = binned[few:]
        found[few:] = np.minimum(np.maximum(_autoregressive(values, ticks[few:]), by_bins), BEYOND * by_bins)
    return found


def _of_few(values: Floats) -> tuple[float, float, float]:
    """What `_fitted` takes of few ticks, and the most that the variance of a steep climb may be.

    Most of them may be such a climb: so the median of eight differences is taken from each of them.
    """
    change = changes(values)
    second = np.square(changes(change)) / SECOND
    smaller = np.sort(second)[: len(change) // 2]
    for begin in range(0, len(change), STEEP):
        part = change[begin : begin + STEEP] if len(change) - begin >= 2 * STEEP else change[begin:]
        part -= median(part)
        if len(change) - begin < 2 * STEEP:
            break
    usual = NORMAL * median(np.abs(change))
    if usual:
        change = within(change, JUMP * usual)
    largest, other = _largest_two(change)
    change[largest] *= _share_of(abs(change.item(other)), abs(change.item(largest)))
    most = STEEPEST * float(smaller.mean()) / HALF_TRIMMED
    return float(change @ change), float(change[1:] @ change[:-1]), most


def _autoregressive(values: Floats, ticks: Ints) -> Floats:
    """(k,) the same of many ticks, by the later half of them."""
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
    scale, place, other, seen = -1, 0, 0, 0
    for k, (number, first, last) in enumerate(zip(row.tolist(), begin.tolist(), end.tolist(), strict=True)):
        if scale != number:
            steps, sizes = step[number].tolist(), np.abs(step[number]).tolist()
        # The largest two of a moment are mostly those of the moment before.
        if scale != number or min(place, other) < first or max(sizes[seen:last]) > sizes[other]:
            place, other = (first + each for each in _largest_two(step[number, first:last]))
        scale, seen, largest = number, last, steps[place]
        less = largest * (_share_of(sizes[other], sizes[place]) - 1)  # what it changes by
        square[k] += less * (2 * largest + less)
        product[k] += less * (sum(steps[max(place - 1, first) : min(place + 2, last)]) - largest)
    return _fitted(square, product, end - begin)


def _largest_two(change: Floats) -> tuple[int, int]:
    """Where the largest difference is, and the second largest; the same of one."""
    size = np.abs(change)
    first = int(size.argmax())
    size[first] = -1
    return first, int(size.argmax())


def _share_of(second: float, first: float) -> float:
    """The second largest difference as a share of the largest, which may be the fall itself.

    Of noise alone both are nearly the same.
    """
    return second / first if first else 1.0


def _fitted(square: Floats, product: Floats, count: Ints) -> Floats:
    """(k,) long-run variance by sums of squared differences and of products of neighbours among them."""
    like = 1 + 2 * product / square
    like = np.where(np.isfinite(like), like, 0.0)
    weight = count / (count + PRIOR_TICKS)
    kept = np.maximum(weight * like + (1 - weight) * PRIOR, like - SMOOTH / np.sqrt(count))
    kept = np.minimum(np.maximum(kept, 0.0), HIGHEST)
    found: Floats = square / count * (1 + kept) / (2 * np.square(1 - kept))
    return found


def of_bins(sums: Floats, ticks: Ints) -> Floats:
    """(k,) the same by batch means; `sums` (n + 1,) are those of the ticks before each position."""
    edge = ticks[:, None] * _EDGES // BINS
    mean = changes(sums[edge]) / (edge[:, 1:] - edge[:, :-1])
    squared = np.square(mean[:, 2:] - 2 * mean[:, 1:-1] + mean[:, :-2]) / SECOND
    kept = int(np.ceil(KEPT * (BINS - 2)))
    squared.sort(axis=1)
    found: Floats = np.add.reduce(squared[:, :kept], axis=1) / kept / TRIMMED * ticks / BINS
    return found


def smoothness(values: Floats) -> float:
    """0 where neighbours correlate little, to 1 where they differ as those of a running mean do."""
    change = changes(values)
    usual = NORMAL * median(np.abs(change))
    if not usual:  # most values repeat
        return 0.0
    change = within(change, JUMP * usual)
    square = float(change @ change)
    like = 1 + 2 * float(change[1:] @ change[:-1]) / square + STEEPER / math.sqrt(len(values))
    return min(max((like - ROUGH) / (SMOOTH_FROM - ROUGH), 0.0), 1.0)


@cache
def _of_walk() -> tuple[Floats, Floats]:
    """(scales,) the variance of a random walk by second differences of means; that by first ones, over it."""
    first: list[float] = []
    second: list[float] = []
    for length in SCALES:
        one = np.ones(length) / length
        step, bend = (np.cumsum(np.concatenate([part * one for part in parts])) for parts in WEIGHTS)
        first.append(float(step @ step) * length / 2)
        second.append(float(bend @ bend) * length / SECOND)
    return np.array(second), np.array(first) / np.array(second)


def _smaller(square: Floats) -> float:
    """The mean of normal noise's squares by the smaller ones."""
    kept = int(np.ceil(SPARED * len(square)))
    return float(np.sort(square)[:kept].mean()) / SPARED_VARIANCE
