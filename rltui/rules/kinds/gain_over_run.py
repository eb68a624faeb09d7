"""An outcome over the whole run: a gain that is lost, a level below the start, no gain.

Levels are compared with other levels of the run, and the errors include autocorrelation
(`means_with_errors`), so the same limits hold for 12 points and for two million, for means over batches and
for returns of episodes.

A fall is a change point: the mean of the newest ticks against the mean of those just before them, over
windows of many lengths on both sides (a generalised likelihood ratio, as in Lai 1995, Sequential changepoint
detection in quality control). Limits in standard errors are from simulations, not from logs: noise on curves
that are flat or rise by 1 to 4 deviations (straight, saturating, S-shaped), of 12 to 500 ticks, evaluated at
every moment of their growth. The largest fall is below 5 errors in 99 of 100 runs if neighbours correlate by
up to 0.4 or the noise grows fivefold, and below 5.8 for a correlation of 0.6 and for lognormal noise;
`tests/rules/test_gain_over_run.py` repeats the simulation.

Series that are as smooth as running means have larger errors (`RunMeans.smooth_deviation`). These are too
large if the run has learnt something, because a rise bends like slow noise, so there is a second test. A run
that rises and then falls differs little from the best curve that does so (`unimodal`), and noise differs from
it by much of its range. As a multiple of that residual, a fall of flat noise is too large, because the curve
follows the noise in part; as a multiple of the larger errors, a fall after a rise is too small. The geometric
mean of both multiples is below 12 in 99 of 100 flat runs of 40 to 300 ticks, evaluated at every moment of
their growth: random walks, autoregressions of 0.8 to 0.97, means of 20 to 100 points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from rltui.common.arrays import Bools, Floats, Ints, distinct, median
from rltui.metrics.glossary_files import SHARE, bounds_of, least_change_of
from rltui.rules.condition_states import ConditionStates, at_start, stays_idle
from rltui.rules.evaluated_series.change_point import (
    NEIGHBOURS,
    last_step_down,
    onset_of_fall,
    overlapping_windows,
)
from rltui.rules.evaluated_series.means_with_errors import (
    BINNED,
    LENGTHS,
    MAX_WINDOW_SHARE,
    START,
    RunMeans,
    changes,
    sums_of,
)
from rltui.rules.evaluated_series.robust_statistics import one_of_them
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.rule import Rule

SIGMAS = 5.5  # errors of a fall: one false alarm in a hundred runs, see above
CLEAR = 12.0  # geometric mean of the multiples for a fall of a smooth series, see above
# If neighbours around that curve correlate less than those of a running mean, the series only looked smooth
# because it rose and fell: the plain errors hold, and the fall need only be FAR deviations from the curve.
# With fewer than LONG ticks the curve follows too much of the noise for that.
MAX_CORRELATION, FAR, LONG = 0.72, 6.0, 120
# Nor does the curve follow slower noise whose waves are many: ticks times one minus the correlation. In
# 14,000 flat and saturating runs of correlated noise, random walks and running means (60 to 500 ticks, at 40
# moments of their growth) that raises the alarms from 6.4 to 7.0 %, and by 0.04 % for correlations up to 0.9.
# Of 1,300 runs that lose 40 to 90 % of a rise, 66 % are found instead of 59 %.
MIN_WAVES = 80.0
MIN_GAIN = 3.0  # errors of a gain that can be lost: fewer than of the fall, which is not noise already
GAIN_MARGIN = 1.0  # errors that are added to a gain, which is the largest of nine means already
LOCAL = 4.0  # errors of a fall by the noise of its two windows alone, which few ticks determine
FEW = 8  # ticks of a window all of which must be on one side of the limit: a dip of three does not count
FLOOR = 8.0  # times the range of the newest ticks that those before are above it
LEVEL, TWICE = 24, 2.0  # ticks before a fall at once, and times as far as the largest fall before them
FEW_VALUES = 3  # of single episodes that are won, lost or drawn
RECOVERING = 0.03  # share of a loss that must be recovered for it to count as temporary
CLIMB = 3  # steps up without one down: four ticks of noise do so once in 24 times
RESET_SHARE = 0.8  # of the fall, in one step, where a sum starts again at zero
YOUNG = 100  # ticks in which small changes are exploration, and means of 100 episodes are one wave
RECOVERY = 0.5  # share of the loss that must be recovered for it to be resolved
RECOVERY_ERRORS = 3.0  # by which the newest mean must be above that level: as sure as a gain
# Fewer points than PEAK above the limit are no level of a run of FORGOTTEN times as many: the first means of
# episodes are those of one or two. In a young run that is not known yet.
PEAK, FORGOTTEN = 10, 50
EXPLORING = 1.5  # times the gain: what falls by more is far below all that was before
UNLEARNT = 0.5  # share of the range of the run's means that a level is below the start
RECENT = 10  # parts of the run, of which the last gives the recovery
# Parts of the run, and ticks at least: where all of the last part are above a level, it is reached.
LATE, LATE_TICKS = 5, 20
FIRST = 20  # parts of the run, of which the first is its start
START_TICKS = 4  # of a start that is a smaller part, at least
APART = 2  # parts of the run, one of which is between the two levels of a smooth series
OF_RANGE = 0.02  # share of the range of a metric: two of a hundred episodes or responses; one is chance
MORE_THAN_TWO = 2.5  # episodes or responses that a rate must lose
EPISODE = 5  # steps of an episode in which actions have consequences


def gain_lost(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The newest mean has lost a `fraction` of what the best one had gained, by `SIGMAS` errors.

    The gain is counted from the lowest mean before the best, or from the first twentieth of the run. A
    policy that was never better than at its start has lost nothing: it may be exploring. Nor has one
    whose gain was less than `effect` deviations of single points, which is none for `no_gain`. With
    `own_noise` the errors of the newest ticks are from their own noise; for crashes only, since healthy
    runs lose half of a gain and recover. With `present` it is resolved as soon as less than the
    `fraction` is lost. With `lasting` the loss must last so many ticks, fewer the larger it is and half
    as many in a young run, without a recovery: if tasks become harder on purpose, a loss at one step is
    learnt again. With `explored` a young run of fewer ticks has not lost a gain if it fell by `EXPLORING`
    times as much: then it fell far below its start, as a policy that explores does.
    """
    means = window.run_means()
    if idle and means is None:
        return None
    found = _Fall(window, means)
    if means is not None:
        fell = means.falls()
        quiet = bool(rule.number("own_noise", 0.0))
        deepest = (fell * means.pairs.most).max(axis=1) if quiet else means.deepest
        rows = _perhaps_significant(deepest, means)
        if idle and not len(rows):
            return None
        for row, error in zip(rows.tolist(), means.deviation(rows).tolist(), strict=True):
            beyond = near = fell[row] > SIGMAS * error
            if quiet and (fell[row] * means.pairs.most > SIGMAS * error).any():
                near = beyond | (means.by_own_noise(row) > SIGMAS * error)
            lost: dict[int, tuple[float, float]] = {}
            for length in distinct(means.pairs.now[near]).tolist():
                levels = _lost(rule, window, means, row, length, error)
                if levels is not None:
                    lost[length] = levels
            added = False
            if lost:
                significant = _significant(window, means, row, lost, beyond, quiet)
                lasting = rule.number("lasting", 0.0)
                added = any(found.add(row, length, *lost[length], lasting) for length in significant)
            if quiet and not added and (length := fell_at_once(window.ticks.value[: int(means.ticks[row])])):
                levels = _lost(rule, window, means, row, length, float(means.least[row]))
                added = levels is not None and found.add(row, length, *levels)
    return found.states(idle, present=bool(rule.number("present", 0.0)))


def _perhaps_significant(fell: Floats, means: RunMeans) -> Ints:
    """The moments at which a fall may be of `SIGMAS` errors, by lower bounds of these."""
    rows = np.flatnonzero(fell > SIGMAS * means.least)
    return rows[fell[rows] > SIGMAS * means.floor[rows]] if len(rows) else rows


def fell_at_once(values: Floats) -> int:
    """The number of newest ticks that fell at once to a level at which they hardly vary; 0 if none.

    The level is below all ticks before, or below `LEVEL` of them and the fall is `TWICE` as large as any
    before: noise that wanders so far that it can get there does so by and by, and does not stay there, but
    varies by as much as before. The last of the ticks before may be on the way; the median of `FEW` before it
    must be far above. In 2,900 series of 60 to 400 ticks of fourteen kinds of noise on flat and rising curves
    (normal, heavy-tailed, sparse, of few values, growing, autoregressions up to 0.99, running means, random
    walks), looked at as they grow, there is no such fall; where a state lasts for tens of ticks, as of a
    switch, in one of twenty.
    """
    lowest = np.minimum.accumulate(values)
    highest = np.maximum.accumulate(values[::-1])  # of so many newest ticks and one
    for length in range(FEW, int(MAX_WINDOW_SHARE * len(values)) + 1):
        before, high = len(values) - length, float(highest[length - 1])
        if before <= FEW:
            return 0
        below_all = high < lowest[before - 1]
        if below_all or (before > LEVEL and high < float(values[before - 1 - LEVEL : before - 1].min())):
            apart = median(values[before - 1 - FEW : before - 1]) - high
            quiet = FLOOR * (high - float(values[before:].min())) < apart
            if quiet and (below_all or _is_largest_fall(values, before)):
                return length
            if below_all:
                return 0
    return 0


def _is_largest_fall(values: Floats, before: int) -> bool:
    """Whether the mean of `FEW` ticks fell `TWICE` as far after the first `before` ticks as ever in these."""
    sums = sums_of(values)
    means = (sums[FEW:] - sums[:-FEW]) / FEW
    fall = float(means[before - 1 - FEW]) - float(means[before])
    earlier = means[: before - 2 * FEW] - means[FEW : before - FEW]
    return fall > TWICE * float(earlier.max(initial=0.0))


def _lost(
    rule: Rule, window: RollingWindow, means: RunMeans, row: int, length: int, error: float
) -> tuple[float, float] | None:
    """The level before a fall and the limit below which it is a loss; None if little had been gained."""
    ticks, sums = int(means.ticks[row]), means.sums
    end, wide = ticks - length, max(length, ticks // FIRST)
    if wide > end:
        return None
    levels = means.levels(wide)
    position = int(levels[: end - wide + 1].argmax())  # of the ticks before the newest ones
    top = float(levels[position])
    first = max(ticks // FIRST, 2)
    lowest = float(levels[: position - wide + 1].min()) if position >= wide else math.inf
    start = float(sums[first]) / first if position >= first else math.inf  # only if before the best
    if not (
        top - start > MIN_GAIN * error * math.sqrt(1 / wide + 1 / first)
        or top - lowest > MIN_GAIN * error * math.sqrt(2 / wide)
    ):
        return None
    lowest = min(lowest, start)
    limit = top - rule.number("fraction", 0.5) * (top - lowest)
    now = float(sums[ticks] - sums[end]) / length
    size = max(abs(top), abs(lowest))
    if not (now < limit and _large(rule, window, ticks, top - now, size)):
        return None
    if not _is_level(window.ticks.value[:ticks], position, wide, limit):
        return None
    if ticks < rule.number("explored", 0.0) and top - now > EXPLORING * (top - lowest):
        return None
    effect = rule.number("effect", 0.0)
    return None if effect and top - lowest < effect * means.point_spread[row] else (top, limit)


def _significant(
    window: RollingWindow,
    means: RunMeans,
    row: int,
    lengths: Iterable[int],
    beyond: Bools,
    quiet: bool,
) -> Iterator[int]:
    """The lengths of newest windows, of those given, whose falls are significant.

    `beyond`: (pairs,) whether they are so by the plain errors.
    """
    now, errors = means.pairs.now, means.errors(row, quiet)
    sure = errors > SIGMAS
    for length in lengths:
        if sure[now == length].any() and _exceeds_local_noise(window, means, row, length, errors):
            yield length
    multiple = float(errors.max())
    if multiple <= 0 or means.ticks[row] < BINNED:
        return
    for length in lengths:
        if (beyond & ~sure)[now == length].any() and _is_clear(means, row, length, multiple):
            yield length


def _exceeds_local_noise(
    window: RollingWindow, means: RunMeans, row: int, length: int, errors: Floats
) -> bool:
    """Whether a fall is large compared with the noise of its own two windows, by differences of neighbours.

    Returns often vary many times as much once a policy begins to earn, which the earlier noise of the run
    does not show. The largest difference is left out, since it may be the fall itself.
    """
    ticks, sums = int(means.ticks[row]), means.sums
    pairs = means.pairs
    before = int(pairs.before[np.where(pairs.now == length, errors, -np.inf).argmax()])
    begin, middle = ticks - length - before, ticks - length
    step = np.abs(np.diff(window.ticks.value[begin:ticks]))
    square = max(float(step @ step) - float(step.max()) ** 2, 0.0) / (2 * (len(step) - 1))
    fall = (float(sums[middle]) - float(sums[begin])) / before - (
        float(sums[ticks]) - float(sums[middle])
    ) / length
    return bool(fall > LOCAL * np.sqrt(square * (1 / length + 1 / before)))


def _is_clear(means: RunMeans, row: int, length: int, multiple: float) -> bool:
    """Whether a fall by a small `multiple` of errors is significant because the run clearly rose before."""
    ticks = int(means.ticks[row])
    end, wide = ticks - length, max(length, ticks // FIRST)
    levels = means.levels(wide)
    position = int(levels[: end - wide + 1].argmax())
    deviation, correlation = means.around_unimodal(row, position + wide // 2)
    if not deviation:
        return True
    now = float(means.sums[ticks] - means.sums[end]) / length
    fall = (float(levels[position]) - now) / deviation
    known = ticks * (1 - correlation) >= MIN_WAVES or (ticks >= LONG and correlation < MAX_CORRELATION)
    return fall * multiple > CLEAR**2 or (known and fall > FAR)


def below_start(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The newest mean of a twentieth of the run or more is below its first tenth by `SIGMAS` errors.

    It is also below by half of the range of the run's means. If the run was better in between, that
    is a case for `gain_lost`. With `lasting` it has been below for so many ticks, and is not rising;
    with `steps` or `episodes` there must be so much experience.
    """
    means = window.run_means()
    if idle and means is None:
        return None
    found, lasting = _Fall(window, means), rule.number("lasting", 0.0)
    if means is not None:
        experienced = _is_experienced(rule, window, means.ticks)
        if stays_idle(idle, experienced):
            return None
        ticks = means.ticks[:, None]
        first = np.maximum(ticks // START, 2)
        start = means.sums[first] / first
        found.start = start[:, 0]
        begin = np.maximum(ticks - LENGTHS, 0)
        now = (means.sums[ticks] - means.sums[begin]) / LENGTHS
        fell = (start - now) / np.sqrt(1 / LENGTHS + 1 / first)
        fell[
            (ticks // FIRST > LENGTHS) | ((MAX_WINDOW_SHARE * ticks < LENGTHS) & (LENGTHS[0] < LENGTHS))
        ] = -np.inf
        fell[~experienced] = -np.inf
        deepest = np.maximum.reduce(fell, axis=1)
        rows = _perhaps_significant(deepest, means)
        if idle and not len(rows):
            return None
        for row, error in zip(rows.tolist(), means.deviation(rows).tolist(), strict=True):
            if not fell[row].max() > SIGMAS * error:
                continue
            count = int(means.ticks[row])
            parts = means.mean(*overlapping_windows(count, max(count // START, 2)))
            before = float(start[row, 0])
            limit = before - UNLEARNT * (max(parts.max(), before) - parts.min())
            lost = np.flatnonzero((fell[row] > SIGMAS * error) & (now[row] < limit)).tolist()
            if lost and _surely(window.ticks.value[: int(first[row, 0])], limit, np.greater):
                apart = min(int(LENGTHS.searchsorted(count // APART)), len(LENGTHS) - 1)
                smooth = float(means.smooth_deviation(row)[apart])
                any(
                    fell[row, position] > SIGMAS * smooth
                    and _large(rule, window, count, before - level, max(abs(before), abs(level)))
                    and found.add(row, int(LENGTHS[position]), before, limit, lasting)
                    for position, level in zip(lost, now[row, lost].tolist(), strict=True)
                )
    return found.states(idle)


def no_gain(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """A gain of `effect` deviations of single points is ruled out: no fifth of the run is so far above it.

    The start is the first tenth. An error is added to the gain, so a gain that too few points could not show
    does not count as missing. The deviation of joined points is an estimate (`Ticks.point_spreads`). Cohen
    (1988) calls 0.2 deviations a small, 0.5 a medium and 0.8 a large effect. If episodes vary much, a
    smaller gain can still be significant: one of `MIN_GAIN` errors counts. With `within` a gain below that
    share of the start's size does not count even if it is significant; nor does one of a rate that never
    exceeded a fiftieth. With `steps` or `episodes` there must be so much experience (`_is_experienced`). With
    `newest` only the newest fifth counts, so a gain that was lost is none.
    """
    means = window.run_means()
    if idle and (means is None or window.ticks.points < rule.number("points", 60)):
        return None
    m = len(window)
    on, off = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    value, limit = np.full(m, np.nan), np.full(m, np.nan)
    if means is not None:
        ticks = means.ticks
        enough = ticks * window.ticks.stride >= rule.number("points", 60)
        enough &= _is_experienced(rule, window, ticks)
        rows = enough.nonzero()[0]
        if idle and not len(rows):
            return None
        first, wide, start, best = means.start_and_best
        if rule.number("newest", 0.0):
            best = means.mean(ticks - wide, ticks)
        gain = best - start
        little = _little(rule, window, start[rows], best[rows])
        effect, few = rule.number("effect", 0.5), np.sqrt(1 / wide[rows] + 1 / first[rows])
        margin = np.where(little > 0, 0.0, GAIN_MARGIN)  # a share of the start needs no test of noise
        if idle:
            most = np.maximum(effect * means.most_point_spread[rows], little)
            if stays_idle(idle, gain[rows] + margin * means.least[rows] * few < most):
                return None
        error = means.deviation(rows) * few
        insignificant = (gain[rows] < MIN_GAIN * error) | (gain[rows] < little)
        if stays_idle(idle, insignificant):
            return None
        largest = np.maximum(effect * means.least_point_spread, little)
        if not (insignificant & (gain[rows] + margin * error < largest)).all():
            largest = np.maximum(effect * means.point_spread[rows], little)
        on[means.moments[rows]] = (gain[rows] + margin * error < largest) & insignificant
        enough_gain = np.maximum(np.minimum(largest, MIN_GAIN * error), little)
        off[means.moments[rows]] = gain[rows] - GAIN_MARGIN * error > enough_gain
        value[means.moments] = means.mean(ticks - wide, ticks)
        limit[means.moments] = start
    if stays_idle(idle, on):
        return None
    return ConditionStates(on, off, value, limit, at_start, before=limit)


def _is_experienced(rule: Rule, window: RollingWindow, ticks: Ints) -> Bools:
    """(k,) whether `steps` have passed since the training began, or as many points as `episodes`.

    Unless a point is a step or two: then episodes are single decisions, or the counter counts points, and the
    amount of experience is unknown. True if the rule asks for neither.
    """
    if "steps" not in rule.numbers and "episodes" not in rule.numbers:
        return np.ones(len(ticks), np.bool_)
    held = window.ticks
    trained, points = held.last[ticks - 1] - held.first[0], ticks * held.stride
    many = (points >= rule.number("episodes", math.inf)) & (trained >= EPISODE * points)
    found: Bools = ((trained >= rule.number("steps", math.inf)) | many) & (held.first[0] < trained / START)
    return found


def gained(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """Some fifth of the run is above its first tenth by `MIN_GAIN` errors and a share `within` of its size.

    The opposite of `no_gain`: a gain that is lost again has been one, unless only the `newest` fifth counts.
    With `parts` the start is one of so many parts of the run, for a gain that was quick, and with `errors`
    the gain is of so many: few ticks at the start may be lower by chance.
    """
    means = window.run_means()
    m = len(window)
    on, off = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    value, limit = np.full(m, np.nan), np.full(m, np.nan)
    if means is not None:
        first, wide, start, best = means.start_and_best
        if "parts" in rule.numbers:
            first = np.maximum(means.ticks // int(rule.number("parts", START)), START_TICKS)
            start = means.mean(np.zeros_like(first), first)
        newest = bool(rule.number("newest", 0.0))
        if newest:
            best = means.mean(means.ticks - wide, means.ticks)
        gain, few = best - start, np.sqrt(1 / wide + 1 / first)
        found = (gain >= _little(rule, window, start, best)) & (gain > MIN_GAIN * (means.floor * few))
        if stays_idle(idle, found):
            return None
        rows = np.arange(len(gain)) if newest else found.nonzero()[0]
        error = np.full(len(gain), np.inf)
        error[rows] = means.deviation(rows) * few[rows]
        found &= gain > rule.number("errors", MIN_GAIN) * error
        # A wave of the newest fifth does not end it.
        on[means.moments], off[means.moments] = found, gain < GAIN_MARGIN * error if newest else ~found
        value[means.moments], limit[means.moments] = best, start
    if stays_idle(idle, on):
        return None
    return ConditionStates(on, off, value, limit, at_start, before=limit)


def _little(rule: Rule, window: RollingWindow, start: Floats, best: Floats) -> Floats:
    """(k,) gains that are too small whatever the noise; 0 if any may count."""
    within = rule.number("within", 0.0)
    if not within:
        return np.zeros(len(start))
    if bounds_of(window.ticks.canonical) == SHARE:
        return np.where(best < OF_RANGE, OF_RANGE, 0.0)
    found: Floats = within * np.abs(start)
    return found


def _large(rule: Rule, window: RollingWindow, ticks: int, loss: float, size: float) -> bool:
    """Whether a loss is more than a share of the size of the level: `young`, later `least` of it.

    Or more than the least change that counts, where the glossary gives one, as of a rating. Also of the
    range of the metric, if the glossary gives one: a success rate of 0.7 % cannot lose much. Of
    a rate over few episodes, whose number follows from its least value, more than two must be lost; likewise
    of a return that is mostly zero, which counts rare successes.
    """
    least_change = least_change_of(window.ticks.canonical)
    if least_change is not None:
        return loss > least_change
    share = rule.number("young", 0.3) if ticks < YOUNG else rule.number("least", 0.1)
    low, high = bounds_of(window.ticks.canonical) or (0.0, math.inf)
    if loss <= share * size:
        return False
    values = window.ticks.value[:ticks]
    if math.isinf(high - low):
        sparse = median(values) == 0 == values.min()
        return not sparse or loss > MORE_THAN_TWO * one_of_them(values)
    return loss > max(OF_RANGE * (high - low), MORE_THAN_TWO * one_of_them(values))


def _surely(values: Floats, limit: float, beyond: np.ufunc) -> bool:
    """Whether a few ticks are all beyond a limit, or the median of more: one outlier can shift a mean."""
    return bool(beyond(values, limit).all() if len(values) < FEW else beyond(median(values), limit))


def _is_level(values: Floats, begin: int, wide: int, limit: float) -> bool:
    """Whether the best ticks are a level, not one high score or two rare successes."""
    best = values[begin : begin + wide]
    if len(distinct(values)) <= FEW_VALUES:
        return int(np.count_nonzero(best > limit)) >= FEW
    return _surely(best, limit, np.greater)


def _is_reset_sum(values: Floats, length: int, before: float, limit: float) -> bool:
    """Whether the newest ticks rise except for one fall: a sum logged within episodes, at the next one.

    Such a sum falls in one step; ticks that took several to fall from the level `before` are learning again.
    """
    change = np.diff(values[-length:])
    lowest = int(change.argmin())
    after = change[lowest + 1 :] if change[lowest] <= 0 else change
    if len(after) < CLIMB or not (after > 0).all() or int(np.count_nonzero(change > 0)) < len(change) - 1:
        return False
    above = np.flatnonzero(values[:-length] > limit)
    since = values[int(above[-1]) if len(above) else 0 :]
    return -float(np.diff(since).min()) > RESET_SHARE * (before - float(since.min()))


def _is_temporary(fallen: Floats, before: float, lasting: float) -> bool:
    """Whether ticks below a level are too few, or rise: their later half is above the earlier one.

    By more than the error of the difference, from neighbours, and by a share of the loss.
    """
    half = len(fallen) // 2
    if 2 * half < lasting:
        return True
    low, high = float(fallen[:half].mean()), float(fallen[-half:].mean())
    noise = NEIGHBOURS * float(np.abs(changes(fallen)).mean())
    return high - low > max(noise * math.sqrt(2 / half), RECOVERING * (before - low))


class _Fall:
    """Collects the falls at the moments of a window, and returns their states."""

    def __init__(self, window: RollingWindow, means: RunMeans | None) -> None:
        self._window = window
        self._means = means
        # By moment: the newest mean, the limit, the level before, that of a recovery, the number of points
        # from which on it is resolved, the onset.
        self._falls: dict[int, tuple[float, float, float, float, float, int]] = {}
        self.start: Floats | None = None  # (k,) a level that ends the fall, more exact in a longer run

    def add(self, row: int, length: int, before: float, limit: float, lasting: float = 0.0) -> bool:
        """Add the fall of a moment's newest ticks below a limit, if it is not only their mean that is below.

        With `lasting` so many ticks must be there, fewer the larger the loss, and must not rise.
        """
        assert self._means is not None
        moment, ticks = int(self._means.moments[row]), int(self._means.ticks[row])
        values = self._window.ticks.value[:ticks]
        newest = values[ticks - length :]
        if not _surely(newest, limit, np.less) or _is_reset_sum(values, length, before, limit):
            return False
        now = float(newest.mean())
        began = onset_of_fall(values, length, limit)
        if lasting:
            step = last_step_down(values, began, before - now)
            least = lasting if step else lasting * (before - limit) / (before - now)
            if _is_temporary(values[max(step, began) :], before, least if ticks >= YOUNG else least / 2):
                return False
        stride = self._window.ticks.stride
        above = int(np.count_nonzero(values[: len(values) - length] > limit)) * stride
        until = FORGOTTEN * above if above < PEAK else math.inf
        # The onset is at half of the loss, whatever the fraction of the rule: noise crosses a limit near the
        # best level before the fall does, and a slow fall crosses a low one late.
        began = onset_of_fall(values, length, (before + now) / 2)
        self._falls[moment] = now, limit, before, now + RECOVERY * (before - now), until, began
        return True

    def _lowest_of_late(self, ticks: Ints) -> Floats:
        """(k,) the lowest tick of the last fifth of the run at some moments; NaN if these are few.

        Errors of series as smooth as running means are so large that a bound of the mean may never reach what
        the series has not fallen below for long.
        """
        values = self._window.ticks.value
        found = np.full(len(ticks), np.nan)
        for row, count in enumerate(ticks.tolist()):
            if count >= LATE * LATE_TICKS:
                found[row] = values[count - count // LATE : count].min()
        return found

    def states(self, idle: bool, *, present: bool = False) -> ConditionStates | None:
        """The states of all moments. `present`: resolved above the limit of the fall, whatever the errors."""
        if idle and not self._falls:
            return None
        m = len(self._window)
        on, off = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
        value, limit, before, recovery, surely, until = np.full((6, m), np.nan)
        if self._means is not None:
            moments = self._means.moments
            now, error = self._means.newest(RECENT, int(LENGTHS[0]))
            surely[moments] = now - RECOVERY_ERRORS * error
            surely[moments] = np.fmax(surely[moments], self._lowest_of_late(self._means.ticks))
            value[moments] = now
            if self.start is not None:
                surely[moments[now >= self.start]] = math.inf
        for moment, fall in self._falls.items():
            on[moment] = True
            value[moment], limit[moment], before[moment], recovery[moment], until[moment], _ = fall
        if present:
            recovery, surely = limit.copy(), value
        return ConditionStates(
            on, off, value, limit, lambda k: self._falls[k][-1],
            upward=False, recovery=recovery, surely=surely, before=before,
            until=until,
        )  # fmt: skip
