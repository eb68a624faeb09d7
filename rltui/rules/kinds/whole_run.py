"""An outcome over the whole run, by shares of it: a gain that is lost, a level below the start, no gain.

The scale is the run's own, and the errors know of autocorrelation (`rltui.rules.series.run_means`), so the
same limits hold for 16 points and for two million, for means over batches and for returns of episodes.

Limits in standard errors are from simulation, not from logs: normal noise with a correlation of up to 0.4
between neighbouring ticks, flat or on learning curves of 1 to 4 deviations (straight, saturating, S-shaped),
of 20 to 500 ticks, judged at every moment of its growth. The largest fall that `gain_lost` sees there is
below 7 errors in 99 of 100 runs; `tests/rules/test_whole_run.py` repeats it.
"""

from __future__ import annotations

import numpy as np

from rltui.rules.kinds.verdict import Bools, Verdict, nowhere
from rltui.rules.model import Rule
from rltui.rules.series.robust_statistics import median
from rltui.rules.series.rolling_window import RollingWindow
from rltui.rules.series.run_means import RunMeans
from rltui.rules.series.ticks import Floats

SIGMAS = 7.0  # errors of a fall: one false alarm in a hundred runs, see above
REAL = 3.0  # errors of a gain that can be lost: it must not be noise itself, where the fall already is not
SURE = 2.0  # errors by which a gain may be larger than it looks: 98 of 100 are not
DIFFERENCE = float(np.sqrt(2.0))  # error of a difference of two means of one length
FEW = 8  # ticks of a window all of which must lie below the limit: a dip of three is none
YOUNG = 100  # ticks in which small ups and downs are exploration, and means of 100 episodes are one wave
BACK = 0.5  # share of the loss that must come back for it to be over
SMOOTH = 1  # place of the share whose mean tells whether an outcome came back: a twentieth of the run
START, FIRST = 10, 20  # parts of the run, of which the first is its start
LATER = 3  # place of the share whose means are compared with the start: a fifth of the run


def gain_lost(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """The newest mean has lost a `fraction` of what the best one had gained, by `sigmas` errors.

    What was gained is counted from the lowest mean before the best, or from the first twentieth of the run. A
    policy that was never better than at its start has lost nothing: it may be exploring.
    """
    if idle and not window.run_means():
        return None
    found = _Fall(window)
    for means in window.run_means():
        earlier = means.earlier
        fell = np.fmax.reduce(earlier, axis=1, initial=-np.inf) - means.now
        if idle and not (fell > rule.number("sigmas", SIGMAS) * DIFFERENCE * means.error).any():
            continue  # most of the time
        known = ~np.isnan(earlier)
        best = np.where(known, earlier, -np.inf).argmax(axis=1)
        rows = np.arange(len(best))
        top = earlier[rows, best]
        older = np.where(known & (np.arange(earlier.shape[1]) > best[:, None]), earlier, np.inf)
        lowest, now = older.min(axis=1), means.now
        first, start = window.first_mean(means, FIRST)
        start = np.where(means.end[rows, best + 2] - means.length >= first, start, np.inf)  # it came before
        error = DIFFERENCE * means.error
        real = top - start > REAL * means.error * np.sqrt(1 + means.length / first)
        real |= top - lowest > REAL * error
        lowest = np.fmin(lowest, start)
        limit = top - rule.number("fraction", 0.5) * (top - lowest)
        holds = real & (now < limit) & (top - now > rule.number("sigmas", SIGMAS) * error)
        holds &= _large(rule, means, top - now, np.fmax(np.abs(top), np.abs(lowest)))
        found.add(means, holds, (top, limit))
    return found.verdict(idle)


def below_start(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """The newest mean of a tenth of the run or more is below its first tenth by `sigmas` errors.

    By a `fraction` of the range of the run's means, too. Nothing better came between: see `gain_lost`.
    """
    if idle and not window.run_means():
        return None
    found = _Fall(window)
    for means in window.run_means():
        if means.place < LATER - 1:
            found.add(means, np.zeros(len(means.moments), np.bool_), None)
            continue
        first, start = window.first_mean(means, START)
        now = means.now
        error = means.error * np.sqrt(1 + means.length / first)
        lowest, highest = np.nanmin(means.mean, axis=1), np.nanmax(means.mean, axis=1)
        limit = start - rule.number("fraction", 0.5) * (np.fmax(highest, start) - lowest)
        holds = (now < limit) & (start - now > rule.number("sigmas", SIGMAS) * error)
        holds &= _large(rule, means, start - now, np.fmax(np.abs(start), np.abs(now)))
        found.add(means, holds, (start, limit))
    return found.verdict(idle)


def no_gain(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """A gain of `effect` deviations of single points is ruled out: no fifth of the run is so far above it.

    The start is the first tenth. Two errors are added to the gain, so what too few points could not show is
    not called missing. The deviation of points is a guess where they are joined (`Ticks.point_spread`). Cohen
    (1988) calls 0.2 deviations a small, 0.5 a medium and 0.8 a large effect.
    """
    if idle and not window.run_means():
        return None
    m = len(window)
    on, off = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    value, limit = np.full(m, np.nan), np.full(m, np.nan)
    for means in window.run_means():
        if means.place != LATER:
            continue
        first, start = window.first_mean(means, START)
        gain = np.nanmax(means.mean, axis=1) - start
        error = means.error * np.sqrt(1 + means.length / first)
        ticks = window.at[means.moments] + 1
        points = ticks * window.ticks.stride
        largest = rule.number("effect", 0.5) * window.ticks.point_spread(ticks)
        enough = points >= rule.number("points", 60)
        if "steps" in rule.numbers:
            held = window.ticks
            trained = held.last[window.at[means.moments]] - held.first[0]
            enough &= (trained >= rule.number("steps", 0.0)) & (held.first[0] < trained / START)
        on[means.moments] = enough & (gain + SURE * error < largest)
        off[means.moments] = gain - SURE * error > largest  # a gain that is proved
        value[means.moments], limit[means.moments] = means.now, start
    if nowhere(idle, on):
        return None
    return Verdict(on, off, value, limit, np.zeros(m, np.int64), before=limit)


def _large(rule: Rule, means: RunMeans, loss: Floats, size: Floats) -> Bools:
    """Whether a loss is more than a share of the size of what is lost: `young`, later `least` of it."""
    young = means.end[:, 0] < YOUNG
    found: Bools = loss > np.where(young, rule.number("young", 0.3), rule.number("least", 0.1)) * size
    return found


class _Fall:
    """What is said of the moments of a window: of the shares of the run that hold, the shortest one."""

    def __init__(self, window: RollingWindow) -> None:
        m = len(window)
        self._window = window
        self._on = np.zeros(m, np.bool_)
        self._off = np.zeros(m, np.bool_)
        self._value, self._limit, self._before, self._recovery = (np.full(m, np.nan) for _ in range(4))
        self._began = np.zeros(m, np.int64)

    def add(self, means: RunMeans, holds: Bools, levels: tuple[Floats, Floats] | None) -> None:
        """One share of the run. `levels`: (k,) the level before, and the limit."""
        told = self._value[means.moments]
        later = ~self._on[means.moments] & (np.isnan(told) | (means.place <= SMOOTH))
        self._value[means.moments[later]] = means.now[later]
        if levels is None:
            return
        before, limit = levels
        for k in np.flatnonzero(holds).tolist():
            moment = int(means.moments[k])
            if self._on[moment] or not self._below(means, k, float(limit[k])):
                continue
            self._on[moment] = True
            self._value[moment], self._limit[moment] = means.now[k], limit[k]
            self._before[moment] = before[k]
            self._recovery[moment] = means.now[k] + BACK * (before[k] - means.now[k])
            self._began[moment] = _began(self._window.ticks.value, means, k, float(limit[k]))

    def _below(self, means: RunMeans, k: int, limit: float) -> bool:
        """Whether it is not only the mean of the newest window that lies below: one outlier makes a mean."""
        end, length = int(means.end[k, 0]), int(means.length[k])
        newest = self._window.ticks.value[end - length : end]
        return bool(newest.max() < limit) if length < FEW else median(newest) < limit

    def verdict(self, idle: bool) -> Verdict | None:
        """All shares together."""
        if nowhere(idle, self._on):
            return None
        return Verdict(
            self._on, self._off, self._value, self._limit, self._began, upward=False,
            recovery=self._recovery, before=self._before,
        )  # fmt: skip


def _began(values: Floats, means: RunMeans, k: int, limit: float) -> int:
    """Position of the first tick below the limit behind which the mean stays below it.

    It lies within or behind the last window whose mean is not below the limit.
    """
    above = np.flatnonzero(means.mean[k, 1:] >= limit)
    end = int(means.end[k, 0])
    begin = int(means.end[k, above[0] + 1] - means.length[k]) if len(above) else 0
    rest = values[begin:end]
    mean = np.cumsum(rest[::-1])[::-1] / np.arange(len(rest), 0, -1)
    below = np.flatnonzero((rest < limit) & (mean < limit))
    return begin + int(below[0]) if len(below) else end - 1
