"""Means over shares of a whole run, and what they may err by: evidence that grows with the run.

The error of a mean falls with the ticks that it is made of, whatever the interval of logging is. Windows of a
fortieth to two fifths of the run see both a fall within few ticks and one that hides in noise for long.

The variance of a tick is read from second differences of equal bins of the run (batch means: Flegal and Jones
2010, Batch means and spectral variance estimators in Markov chain Monte Carlo): they see no steady climb, and
of bins of several ticks they hold the correlation of ticks as well. The larger of two numbers of bins counts.
Of the squared differences only the smaller ones are used: steps of the level, which are what is looked for,
spoil the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from rltui.rules.series.ticks import Floats, Ints

FEWEST = 16  # ticks of a run that is judged
MANY = 40  # ticks from which on there are more bins
BINS = (40, 20)  # of many ticks
FEW_BINS = 16  # of fewer: of single ticks, so that a correlation is not seen
# It is taken as 0.5 then, as of a first-order autoregression: (1 + 0.5) / (1 - 0.5) is what it adds.
UNSEEN = 3.0
SHARES = (1 / 40, 1 / 20, 1 / 10, 1 / 5, 2 / 5)  # of the run, that windows have as their length
SHORTEST = 4  # ticks of a window
KEPT, FEW_KEPT = 0.6, 0.5  # share of the squared differences that are used, of many ticks and of fewer
# Mean of that share of squares of normal noise of variance one, the smaller ones: the chi-squared
# distribution of three degrees of freedom at that quantile of the one of one degree, over the share.
TRIMMED = {0.6: 0.2146, 0.5: 0.1426}
_ONE, _NONE = np.zeros(1, np.int64), np.zeros(0, np.int64)  # the one moment, or none
GROWTH = 1.025  # of a run from one moment that is judged to the next: an onset is known to 2.5 % of it
SECOND = 6.0  # variance of a second difference of noise of one


@dataclass(frozen=True, slots=True)
class RunMeans:
    """Windows of one share of the run at k moments, back from the last tick; neighbours share a half."""

    place: int  # of the share, among SHARES
    moments: Ints  # (k,) which moments of the rolling window
    length: Ints  # (k,) ticks of a window
    end: Ints  # (k, windows) position behind the last tick of each, newest first; 0 where there is none
    mean: Floats  # (k, windows), NaN where there is none
    error: Floats  # (k,) standard error of a mean

    @property
    def now(self) -> Floats:
        """(k,) the mean of the newest window."""
        found: Floats = self.mean[:, 0]
        return found

    @property
    def earlier(self) -> Floats:
        """(k, windows - 2) means of windows that share no tick with the newest one, newest first."""
        return self.mean[:, 2:]


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


def run_means(values: Floats, at: Ints) -> list[RunMeans]:
    """The windows of each share at the moments that are judged; `at` (m,) positions of their last ticks."""
    moments = judged_moments(at)
    if not len(moments):
        return []
    sums = np.concatenate((np.zeros(1), np.cumsum(values)))
    ticks = at[moments] + 1
    variance = np.maximum(tick_variance(sums, ticks), _least_variance(values, ticks))
    lengths = [np.round(share * ticks).astype(np.int64) for share in SHARES]
    found = []
    for place, length in enumerate(lengths):
        if place + 1 < len(lengths):
            # A length that is too short is judged as the shortest one, unless the next share is that anyway.
            used = (length >= SHORTEST) | (lengths[place + 1] > SHORTEST)
        else:
            used = np.ones(len(length), np.bool_)
        if used.any():
            chosen = np.maximum(length[used], SHORTEST)
            found.append(_windows(place, sums, moments[used], ticks[used], chosen, variance[used]))
    return found


def _windows(
    place: int, sums: Floats, moments: Ints, ticks: Ints, length: Ints, variance: Floats
) -> RunMeans:
    apart = (length + 1) // 2
    count = int(((ticks - length) // apart).max()) + 1
    end = ticks[:, None] - np.arange(count) * apart[:, None]
    there = end >= length[:, None]
    end = np.where(there, end, 0)
    begin = np.where(there, end - length[:, None], 0)
    mean = np.where(there, (sums[end] - sums[begin]) / length[:, None], np.nan)
    return RunMeans(place, moments, length, end, mean, np.sqrt(variance / length))


def tick_variance(sums: Floats, ticks: Ints) -> Floats:
    """(k,) variance of ticks such that over n it is that of a mean of n; of the first ticks[k] of a run.

    `sums` (n + 1,) are the sums of the ticks before each position.
    """
    found = np.empty(len(ticks))
    many = ticks >= MANY
    if many.any():
        found[many] = np.maximum.reduce([_of_bins(sums, ticks[many], bins, KEPT) for bins in BINS])
    if not many.all():
        found[~many] = UNSEEN * _of_bins(sums, ticks[~many], FEW_BINS, FEW_KEPT)
    return found


def _least_variance(values: Floats, ticks: Ints) -> Floats:
    """(k,) the same of single ticks as if they were uncorrelated, all of their second differences being used.

    Where values are few different ones (a game won or lost), most differences are zero.
    """
    squared = np.square(values[2:] - 2 * values[1:-1] + values[:-2]) / SECOND
    found: Floats = np.cumsum(squared)[ticks - 3] / (ticks - 2)
    return found


def _of_bins(sums: Floats, ticks: Ints, bins: int, share: float) -> Floats:
    edge = ticks[:, None] * np.arange(bins + 1) // bins
    mean = np.diff(sums[edge], axis=1) / np.diff(edge, axis=1)
    squared = np.square(mean[:, 2:] - 2 * mean[:, 1:-1] + mean[:, :-2]) / SECOND
    kept = int(np.ceil(share * (bins - 2)))
    smaller = np.sort(squared, axis=1)[:, :kept].mean(axis=1)
    found: Floats = smaller / TRIMMED[share] * ticks / bins
    return found
