"""An outcome over the whole run: a gain that is lost, a level below the start, no gain.

The scale is the run's own, and the errors know of autocorrelation (`means_with_errors`), so the same
limits hold for 12 points and for two million, for means over batches and for returns of episodes.

A fall is a change point: the mean of the newest ticks against the mean of those just before them, over
windows of many lengths on both sides (a generalised likelihood ratio, as in Lai 1995, Sequential changepoint
detection in quality control). Limits in standard errors are from simulation, not from logs: noise on curves
that are flat or rise by 1 to 4 deviations (straight, saturating, S-shaped), of 12 to 500 ticks, judged at
every moment of their growth. The largest fall that is seen there is below 5 errors in 99 of 100 runs where
neighbours correlate by up to 0.4 or the noise grows fivefold, and below 5.8 for a correlation of 0.6 and for
lognormal noise; `tests/rules/test_outcome_kinds.py` repeats it.

Series that are as smooth as running means have larger errors (`RunMeans.smooth_deviation`), too large where
the run has learnt something: a rise bends like noise that wanders far. So they are asked a second time. A
run that rises and then falls differs little from the best curve that does so (`unimodal`), and noise differs
from it by much of its own range. Counted in that residual a fall of flat noise looks too large, because the
curve follows noise in part; counted in the larger errors a fall after a rise looks too small. The geometric
mean of both multiples is below 12 in 99 of 100 flat runs of 40 to 300 ticks, judged at every moment of their
growth: random walks, autoregressions of 0.8 to 0.97, means of 20 to 100 points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from rltui.common.arrays import Bools, Floats, Ints, distinct, median
from rltui.metrics.glossary_files import glossary
from rltui.rules.judged_series.means_with_errors import BINNED, LENGTHS, MOST, RunMeans, changes, sums_of
from rltui.rules.judged_series.robust_statistics import one_of_them
from rltui.rules.judged_series.rolling_window import RollingWindow
from rltui.rules.kinds.condition_states import ConditionStates, at_start, nowhere
from rltui.rules.model import Rule

SIGMAS = 5.5  # errors of a fall: one false alarm in a hundred runs, see above
CLEAR = 12.0  # geometric mean of the multiples by which a fall of a smooth series is sure, see above
# Where neighbours around that curve correlate less than those of a running mean do, its climb and fall made
# it look like one: the plain errors hold, and the fall must only be so many deviations from the curve.
# Of fewer ticks the curve takes up too much of the noise to tell.
LIKE, FAR, LONG = 0.72, 6.0, 120
REAL = 3.0  # errors of a gain that can be lost: it must not be noise itself, where the fall already is not
SURE = 1.0  # errors by which a gain may be larger than it looks, being the largest of nine means already
# Errors of a fall by the noise of its two windows alone, which so few ticks tell less surely.
LOCAL = 4.0
FEW = 8  # ticks of a window all of which must lie on one side of the limit: a dip of three is none
FEW_VALUES = 3  # of single episodes that are won, lost or drawn
RISEN = 0.03  # share of a loss that must come back for it to be one that is made up for
NEIGHBOURS = math.sqrt(math.pi) / 2  # from mean differences of neighbours to the deviation of normal noise
BESIDE = 3  # ticks on each side of a step of the level
STEP, STEP_SURE = 0.25, 4.0  # share of a loss that such a step makes, and errors of it
CLIMB = 3  # steps up without one down: four ticks of noise do so once in 24 times
AT_ONCE = 0.8  # share of the fall that one step makes where a sum begins anew
YOUNG = 100  # ticks in which small ups and downs are exploration, and means of 100 episodes are one wave
BACK = 0.5  # share of the loss that must come back for it to be over
BACK_SURE = 3.0  # errors that the newest mean must lie above that level: no less sure than a gain
RECENT = 10  # parts of the run, of which the last tells whether an outcome came back
START, FIRST = 10, 20  # parts of the run, of which the first is its start
APART = 2  # parts of the run, of which one lies between what a smooth series was and what it is
OF_RANGE = 0.02  # share of all a metric can be: two of a hundred episodes or responses; one is chance
MORE_THAN_TWO = 2.5  # episodes or responses that a rate must lose
EPISODE = 5  # steps of an episode in which actions have consequences
FIFTH = 5  # parts of the run, of which each is compared with the start


def gain_lost(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The newest mean has lost a `fraction` of what the best one had gained, by `sigmas` errors.

    What was gained is counted from the lowest mean before the best, or from the first twentieth of the run. A
    policy that was never better than at its start has lost nothing: it may be exploring. Nor has one whose
    gain was less than `effect` deviations of single points, which `no_gain` would call none. With `own_noise`
    the newest ticks count by their own noise: for crashes only, as half of a gain is lost and comes back in
    runs that are well. So a loss may have to be there for `lasting` ticks, fewer the larger it is and half as
    many in a young run, without being made up for: where tasks become harder on purpose, what is lost at one
    step is learnt again.
    """
    means = window.run_means()
    if idle and means is None:
        return None
    found = _Fall(window, means)
    if means is not None:
        fell, sigmas = means.falls(), rule.number("sigmas", SIGMAS)
        quiet = bool(rule.number("own_noise", 0.0))
        deepest = (fell * means.pairs.most).max(axis=1) if quiet else means.deepest
        rows = np.flatnonzero(deepest > sigmas * means.least)
        rows = rows[deepest[rows] > sigmas * means.floor[rows]] if len(rows) else rows
        if idle and not len(rows):
            return None
        for row, error in zip(rows.tolist(), means.deviation(rows).tolist(), strict=True):
            beyond = near = fell[row] > sigmas * error
            if quiet and (fell[row] * means.pairs.most > sigmas * error).any():
                near = beyond | (means.by_own_noise(row) > sigmas * error)
            lost: dict[int, tuple[float, float]] = {}
            for length in distinct(means.pairs.now[near]).tolist():
                levels = _lost(rule, window, means, row, length, error)
                if levels is not None:
                    lost[length] = levels
            if lost:
                proved = _proved(window, means, row, lost, beyond, sigmas, quiet)
                lasting = rule.number("lasting", 0.0)
                any(found.add(row, length, *lost[length], lasting) for length in proved)
    return found.states(idle)


def _lost(
    rule: Rule, window: RollingWindow, means: RunMeans, row: int, length: int, error: float
) -> tuple[float, float] | None:
    """The level before a fall and the limit below which it is a loss; None where little had been gained."""
    ticks, sums = int(means.ticks[row]), means.sums
    end, wide = ticks - length, max(length, ticks // FIRST)
    if wide > end:
        return None
    levels = means.levels(wide)
    place = int(levels[: end - wide + 1].argmax())  # of the ticks before the newest ones
    top = float(levels[place])
    first = max(ticks // FIRST, 2)
    lowest = float(levels[: place - wide + 1].min()) if place >= wide else math.inf
    start = float(sums[first]) / first if place >= first else math.inf  # it came before
    if not (
        top - start > REAL * error * math.sqrt(1 / wide + 1 / first)
        or top - lowest > REAL * error * math.sqrt(2 / wide)
    ):
        return None
    lowest = min(lowest, start)
    limit = top - rule.number("fraction", 0.5) * (top - lowest)
    now = float(sums[ticks] - sums[end]) / length
    size = max(abs(top), abs(lowest))
    if not (now < limit and _large(rule, window, ticks, top - now, size)):
        return None
    if not _was_there(window.ticks.value[:ticks], place, wide, limit):
        return None
    effect = rule.number("effect", 0.0)
    return None if effect and top - lowest < effect * means.point_spread[row] else (top, limit)


def _proved(
    window: RollingWindow,
    means: RunMeans,
    row: int,
    lengths: Iterable[int],
    beyond: Bools,
    sigmas: float,
    quiet: bool,
) -> Iterator[int]:
    """The lengths of newest windows, of those given, whose falls are sure; `beyond`: by the plain errors."""
    now, significant = means.pairs.now, means.significant(row, quiet)
    sure = significant > sigmas
    for length in lengths:
        if sure[now == length].any() and _beyond_local(window, means, row, length, significant):
            yield length
    multiple = float(significant.max())
    if multiple <= 0 or means.ticks[row] < BINNED:
        return
    for length in lengths:
        if (beyond & ~sure)[now == length].any() and _clear(means, row, length, multiple):
            yield length


def _beyond_local(window: RollingWindow, means: RunMeans, row: int, length: int, significant: Floats) -> bool:
    """Whether a fall is large beside the noise of its own two windows, by differences of neighbours.

    Returns often differ many times as much once a policy begins to earn: a run that was quiet before tells
    little of that. The largest difference is left out, which may be the fall itself.
    """
    ticks, sums = int(means.ticks[row]), means.sums
    pairs = means.pairs
    before = int(pairs.before[np.where(pairs.now == length, significant, -np.inf).argmax()])
    begin, middle = ticks - length - before, ticks - length
    step = np.abs(np.diff(window.ticks.value[begin:ticks]))
    square = max(float(step @ step) - float(step.max()) ** 2, 0.0) / (2 * (len(step) - 1))
    fall = (float(sums[middle]) - float(sums[begin])) / before - (
        float(sums[ticks]) - float(sums[middle])
    ) / length
    return bool(fall > LOCAL * np.sqrt(square * (1 / length + 1 / before)))


def _clear(means: RunMeans, row: int, length: int, multiple: float) -> bool:
    """Whether a run rose and fell so clearly that a fall of too small a `multiple` of errors is sure."""
    ticks = int(means.ticks[row])
    end, wide = ticks - length, max(length, ticks // FIRST)
    levels = means.levels(wide)
    place = int(levels[: end - wide + 1].argmax())
    deviation, like = means.around_unimodal(row, place + wide // 2)
    if not deviation:
        return True
    now = float(means.sums[ticks] - means.sums[end]) / length
    fall = (float(levels[place]) - now) / deviation
    return fall * multiple > CLEAR**2 or (ticks >= LONG and like < LIKE and fall > FAR)


def below_start(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """The newest mean of a twentieth of the run or more is below its first tenth by `sigmas` errors.

    By a `fraction` of the range of the run's means, too. Nothing better came between: see `gain_lost`.
    """
    means = window.run_means()
    if idle and means is None:
        return None
    found = _Fall(window, means)
    if means is not None:
        ticks = means.ticks[:, None]
        first = np.maximum(ticks // START, 2)
        start = means.sums[first] / first
        found.start = start[:, 0]
        begin = np.maximum(ticks - LENGTHS, 0)
        now = (means.sums[ticks] - means.sums[begin]) / LENGTHS
        fell = (start - now) / np.sqrt(1 / LENGTHS + 1 / first)
        fell[(ticks // FIRST > LENGTHS) | ((MOST * ticks < LENGTHS) & (LENGTHS[0] < LENGTHS))] = -np.inf
        sigmas = rule.number("sigmas", SIGMAS)
        deepest = np.maximum.reduce(fell, axis=1)
        rows = np.flatnonzero(deepest > sigmas * means.least)
        rows = rows[deepest[rows] > sigmas * means.floor[rows]] if len(rows) else rows
        if idle and not len(rows):
            return None
        for row, error in zip(rows.tolist(), means.deviation(rows).tolist(), strict=True):
            if not fell[row].max() > sigmas * error:
                continue
            count = int(means.ticks[row])
            parts = means.mean(*_parts(count, max(count // START, 2)))
            before = float(start[row, 0])
            limit = before - rule.number("fraction", 0.5) * (max(parts.max(), before) - parts.min())
            lost = np.flatnonzero((fell[row] > sigmas * error) & (now[row] < limit)).tolist()
            if lost and _surely(window.ticks.value[: int(first[row, 0])], limit, np.greater):
                apart = min(int(LENGTHS.searchsorted(count // APART)), len(LENGTHS) - 1)
                smooth = float(means.smooth_deviation(row)[apart])
                any(
                    fell[row, place] > sigmas * smooth
                    and _large(rule, window, count, before - level, max(abs(before), abs(level)))
                    and found.add(row, int(LENGTHS[place]), before, limit)
                    for place, level in zip(lost, now[row, lost].tolist(), strict=True)
                )
    return found.states(idle)


def no_gain(rule: Rule, window: RollingWindow, idle: bool) -> ConditionStates | None:
    """A gain of `effect` deviations of single points is ruled out: no fifth of the run is so far above it.

    The start is the first tenth. An error is added to the gain, so what too few points could not show is
    not called missing. The deviation of points is a guess where they are joined (`Ticks.point_spreads`).
    Cohen (1988) calls 0.2 deviations a small, 0.5 a medium and 0.8 a large effect. Where episodes differ
    much, a gain can be small beside that and yet be sure: what was gained by `REAL` errors is not nothing.
    With `within` a gain of less than that share of the start's size is none, however sure it is, and of a
    rate one that never was above a fiftieth. With `steps` so many must have passed since training began, or
    as many points as `episodes`, unless a point is a step or two: then its episodes are single decisions,
    or the counter counts points, and how much experience they are is not known.
    """
    means = window.run_means()
    if idle and (means is None or window.ticks.points < rule.number("points", 60)):
        return None
    m = len(window)
    on, off = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    value, limit = np.full(m, np.nan), np.full(m, np.nan)
    if means is not None:
        ticks = means.ticks
        first, wide = np.maximum(ticks // START, 2), np.maximum(ticks // FIFTH, 1)
        start = means.sums[first] / first
        ends = ticks[:, None] - np.arange(2 * FIFTH - 1) * ((wide + 1) // 2)[:, None]
        ends = np.maximum(ends, wide[:, None])
        best = means.mean(ends - wide[:, None], ends).max(axis=1)
        gain = best - start
        enough = ticks * window.ticks.stride >= rule.number("points", 60)
        if "steps" in rule.numbers or "episodes" in rule.numbers:
            held = window.ticks
            trained, points = held.last[ticks - 1] - held.first[0], ticks * held.stride
            many = (points >= rule.number("episodes", math.inf)) & (trained >= EPISODE * points)
            enough &= (trained >= rule.number("steps", math.inf)) | many
            enough &= held.first[0] < trained / START
        rows = enough.nonzero()[0]
        if idle and not len(rows):
            return None
        little = _little(rule, window, start[rows], best[rows])
        effect, few = rule.number("effect", 0.5), np.sqrt(1 / wide[rows] + 1 / first[rows])
        if idle:
            most = np.maximum(effect * means.most_point_spread[rows], little)
            if nowhere(idle, gain[rows] + np.where(little > 0, 0.0, SURE) * means.least[rows] * few < most):
                return None
        error = means.deviation(rows) * few
        unsure = (gain[rows] < REAL * error) | (gain[rows] < little)
        if nowhere(idle, unsure):
            return None
        largest = np.maximum(effect * means.point_spread[rows], little)
        surely = np.where(little > 0, 0.0, SURE) * error  # a share of the start needs no test of noise
        on[means.moments[rows]] = (gain[rows] + surely < largest) & unsure
        proved = np.maximum(np.minimum(largest, REAL * error), little)
        off[means.moments[rows]] = gain[rows] - SURE * error > proved
        value[means.moments] = means.mean(ticks - wide, ticks)
        limit[means.moments] = start
    if nowhere(idle, on):
        return None
    return ConditionStates(on, off, value, limit, at_start, before=limit)


def _little(rule: Rule, window: RollingWindow, start: Floats, best: Floats) -> Floats:
    """(k,) gains below which nothing was gained, whatever the noise; 0 where any may count."""
    within = rule.number("within", 0.0)
    metric = glossary().metrics.get(window.ticks.canonical or "")
    if not within or metric is None:
        return np.zeros(len(start))
    if metric.bounds == (0.0, 1.0):
        return np.where(best < OF_RANGE, OF_RANGE, 0.0)
    found: Floats = within * np.abs(start)
    return found


def _large(rule: Rule, window: RollingWindow, ticks: int, loss: float, size: float) -> bool:
    """Whether a loss is more than a share of the size of what is lost: `young`, later `least` of it.

    And of what the metric can be, where the glossary says: a success rate that was 0.7 % has lost little. Of
    a rate over few episodes, whose least value tells how many they are, more than two must be lost; so of a
    return that is mostly zero, which counts rare successes.
    """
    share = rule.number("young", 0.3) if ticks < YOUNG else rule.number("least", 0.1)
    metric = glossary().metrics.get(window.ticks.canonical or "")
    low, high = (metric.bounds if metric is not None else None) or (0.0, math.inf)
    if loss <= share * size:
        return False
    values = window.ticks.value[:ticks]
    if math.isinf(high - low):
        sparse = median(values) == 0 == values.min()
        return not sparse or loss > MORE_THAN_TWO * one_of_them(values)
    return loss > max(OF_RANGE * (high - low), MORE_THAN_TWO * one_of_them(values))


def _surely(values: Floats, limit: float, beyond: np.ufunc) -> bool:
    """Whether few ticks all lie on one side of a limit, or the median of more: one outlier makes a mean."""
    return bool(beyond(values, limit).all() if len(values) < FEW else beyond(median(values), limit))


def _was_there(values: Floats, begin: int, wide: int, limit: float) -> bool:
    """Whether the best ticks make a level: one high score, or two rare successes, are none."""
    best = values[begin : begin + wide]
    if len(distinct(values)) <= FEW_VALUES:
        return int(np.count_nonzero(best > limit)) >= FEW
    return _surely(best, limit, np.greater)


def _begins_anew(values: Floats, length: int, before: float, limit: float) -> bool:
    """Whether the newest ticks only climb but for one fall: a sum logged within episodes, at the next one.

    Such a sum falls at once: ticks that took several steps to fall from the level `before` climb anew.
    """
    change = np.diff(values[-length:])
    lowest = int(change.argmin())
    after = change[lowest + 1 :] if change[lowest] <= 0 else change
    if len(after) < CLIMB or not (after > 0).all() or int(np.count_nonzero(change > 0)) < len(change) - 1:
        return False
    above = np.flatnonzero(values[:-length] > limit)
    since = values[int(above[-1]) if len(above) else 0 :]
    return -float(np.diff(since).min()) > AT_ONCE * (before - float(since.min()))


def _parts(ticks: int, length: int) -> tuple[Ints, Ints]:
    """Where windows of a length begin and end, back from the last tick; neighbours share a half."""
    end = np.arange(ticks, length - 1, -((length + 1) // 2))
    return end - length, end


def _last_step_down(values: Floats, began: int, loss: float) -> int:
    """The last tick since `began` before which a good part of a loss came at once; 0 where it did nowhere.

    It is told from the means of few ticks on both sides, beyond their noise. Where tasks change or join, the
    level falls so; a policy gets worse by and by.
    """
    first = max(began - BESIDE, 0)
    if len(values) - first < 2 * BESIDE:
        return 0
    sums = sums_of(values[first:])
    means = (sums[BESIDE:] - sums[:-BESIDE]) / BESIDE
    noise = NEIGHBOURS * float(np.abs(changes(values[first:])).mean()) * math.sqrt(2 / BESIDE)
    step = means[:-BESIDE] - means[BESIDE:]
    large = np.flatnonzero(step > max(STEP * loss, STEP_SURE * noise))
    if not len(large):
        return 0
    near = max(int(large[-1]) - BESIDE + 1, 0)  # ticks beside a step see a part of it
    return first + BESIDE + near + int(step[near : int(large[-1]) + 1].argmax())


def _passes(fallen: Floats, before: float, lasting: float) -> bool:
    """Whether ticks below a level are too few, or rise: their later half lies above the earlier one.

    By more than the error of the difference, from neighbours, and by a share of what was lost.
    """
    half = len(fallen) // 2
    if 2 * half < lasting:
        return True
    low, high = float(fallen[:half].mean()), float(fallen[-half:].mean())
    noise = NEIGHBOURS * float(np.abs(changes(fallen)).mean())
    return high - low > max(noise * math.sqrt(2 / half), RISEN * (before - low))


class _Fall:
    """What is said of the moments of a window: the fall, if there is one, or the mean of the newest ticks."""

    def __init__(self, window: RollingWindow, means: RunMeans | None) -> None:
        self._window = window
        self._means = means
        # By moment: the newest mean, the limit, the level before, that of a recovery, where it began.
        self._falls: dict[int, tuple[float, float, float, float, int]] = {}
        self.start: Floats | None = None  # (k,) where it fell from: it is known better the longer the run is

    def add(self, row: int, length: int, before: float, limit: float, lasting: float = 0.0) -> bool:
        """A moment's newest ticks below a limit: taken when it is not only their mean that lies below.

        With `lasting` also where so many ticks lie there, fewer the more is lost, and do not rise.
        """
        assert self._means is not None
        moment, ticks = int(self._means.moments[row]), int(self._means.ticks[row])
        values = self._window.ticks.value[:ticks]
        newest = values[ticks - length :]
        if not _surely(newest, limit, np.less) or _begins_anew(values, length, before, limit):
            return False
        now = float(newest.mean())
        began = _began(values, length, limit)
        if lasting:
            step = _last_step_down(values, began, before - now)
            least = lasting if step else lasting * (before - limit) / (before - now)
            if _passes(values[max(step, began) :], before, least if ticks >= YOUNG else least / 2):
                return False
        # Half of the way down, whatever share the rule asks for: noise passes a limit near the best level
        # before the fall does, and a slow fall passes a deep one late.
        began = _began(values, length, (before + now) / 2)
        self._falls[moment] = now, limit, before, now + BACK * (before - now), began
        return True

    def states(self, idle: bool) -> ConditionStates | None:
        """All moments together."""
        if idle and not self._falls:
            return None
        m = len(self._window)
        on, off = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
        value, limit, before, recovery, surely = np.full((5, m), np.nan)
        if self._means is not None:
            moments = self._means.moments
            now, error = self._means.newest(RECENT, int(LENGTHS[0]))
            surely[moments] = now - BACK_SURE * error
            value[moments] = now
            if self.start is not None:
                surely[moments[now >= self.start]] = math.inf
        for moment, fall in self._falls.items():
            on[moment] = True
            value[moment], limit[moment], before[moment], recovery[moment], _ = fall
        return ConditionStates(
            on, off, value, limit, lambda k: self._falls[k][-1],
            upward=False, recovery=recovery, surely=surely, before=before,
        )  # fmt: skip


def _began(values: Floats, length: int, limit: float) -> int:
    """Position of the first tick of a fall: of those below a limit in a row, at its change point.

    The change lies within or behind the last window of a length whose mean is not below the limit. Its point
    is that of least squares, because noise takes single ticks below the limit long before a step.
    """
    begin, end = _parts(len(values), length)
    sums = sums_of(values)
    above = np.flatnonzero((sums[end] - sums[begin])[1:] >= limit * length)
    first = int(begin[above[0] + 1]) if len(above) else 0
    rest = values[first : first + 2 * length]
    before = np.arange(1, len(rest))
    part = sums[first : first + len(rest) + 1] - sums[first]
    contrast = part[1:-1] / before - (part[-1] - part[1:-1]) / (len(rest) - before)
    weight = np.sqrt(before * (len(rest) - before))
    if not len(above) or not len(before) or (contrast * weight).max() <= 0:
        low = np.flatnonzero(rest < limit)
        return first + int(low[0]) if len(low) else len(values) - 1
    found = first + 1 + int((contrast * weight).argmax())
    while found > first and values[found - 1] < limit:
        found -= 1
    return found
