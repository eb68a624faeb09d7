"""A run as it was at an earlier step: its points, its findings, the last step of each tag.

For `--at-step` and for the keys that go back in time. Tags with an axis of their own (seconds, epochs) are
shown as of the wall time at which the run was at that step. The last step of the run, and any beyond it, is
now: all that was logged is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from weakref import WeakKeyDictionary

import numpy as np

from rltui.common.arrays import Floats
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.logs.batch import Text
from rltui.metrics.resolve import MetricNames
from rltui.rules.evaluated_series.ended_series import Silence
from rltui.rules.evaluator import Evaluator
from rltui.rules.finding import Finding
from rltui.rules.rule_states.rule_selection import RuleSelection
from rltui.run_context.hparams.hparams import HParam
from rltui.store.histograms import HistogramSeries
from rltui.store.points import HIGHEST, NewPoints, Points
from rltui.store.run import Run
from rltui.store.series import Series

MAX_POINTS = 150_000  # to evaluate again: about a tenth of a second
MIN_COUNTED = 9  # points of a tag that counts something of its own; fewer may be those of a warm-up
FEW_COUNTED = 3  # points that are enough if they are spread over the time of the run, up to its end
SMALL_PART = 20  # of a run's steps, or of their interval: two columns of a chart of 40, too few for a curve
LATE_INTERVALS = 2  # between points of a tag, since the last one of which it has not stopped
BEFORE_ALL_STEPS = -(1 << 63)  # nothing was logged by then, as far as is known
Logged = Series | HistogramSeries  # what was logged under a tag
_LAST_STEPS: WeakKeyDictionary[Run, tuple[int, int]] = WeakKeyDictionary()  # see `RunAtStep._last_step`


def span_of(run: Run) -> tuple[int, int]:
    """First and last step of a run, without the steps of tags with an axis of their own."""
    span, last = run.span, run.last_step
    return (0, 0) if span is None or last is None else (min(span[0], last), last)


def _beyond(series: Logged, span: tuple[int, int]) -> bool:
    """Whether a tag counts beyond the run's steps (first and last), or below them: seconds, epochs."""
    last = series.last_step
    if last is None:
        return False
    width = span[1] - span[0]
    return last < span[0] or (series.count > 2 and width > 0 and last > span[1] + width)


class RunAtStep:
    """A run as of a step; None is now, and so is any step that the run or the part that was read ends at.

    early: the same run without points above the step, if there is one: it has older points exactly.
    """

    def __init__(self, run: Run, step: int | None, early: Run | None = None) -> None:
        self.run = run
        self.span = span_of(run)
        self._step = step
        self._early = run if early is None else early
        self._wall_time: float | None = None
        self._interval: float | None = None
        self.at_step = None if step is None or self._is_end(step) else step  # None: now

    def _is_end(self, step: int) -> bool:
        """Whether nothing that counts the run's steps is beyond a step, in the part that was read."""
        if self.run.read_until is not None and step >= self.run.read_until:
            return True
        return step >= self.span[1] and step >= self._last_step()

    def _last_step(self) -> int:
        """The highest step of the tags that count the run's steps; found once for each version of the run.

        It reads every tag, and each frame of a run that is paused at its end asks for it several times.
        """
        known = _LAST_STEPS.get(self.run)
        if known is None or known[0] != self.run.version:
            last = self.span[1]
            for series in self.run.series.values():
                end = series.last_step
                if end is not None and end > last and not self.has_own_axis(series):
                    last = end
            known = _LAST_STEPS[self.run] = self.run.version, last
        return known[1]

    def step_of(self, series: Logged) -> tuple[bool, int | None]:
        """Whether a series has an axis of its own, and the step shown on its axis; None is now."""
        own_axis = self.has_own_axis(series)
        if self.at_step is None or not own_axis or not self.by_wall_time(series):
            return own_axis, self.at_step
        steps, walls = series.step_walls()
        known = np.flatnonzero(walls <= self.wall_time)
        return True, int(steps[known[-1]]) if len(known) else BEFORE_ALL_STEPS

    def by_wall_time(self, series: Logged) -> bool:
        """Whether its points up to the step are those up to the wall time, and not up to the same number.

        A tag whose steps lie among those of the run is taken by them where the wall time is not known.
        """
        if not self.has_own_axis(series):
            return False
        return not math.isnan(self.wall_time) or _beyond(series, self.span)

    def points_of(self, series: Logged) -> Points:
        """The exact recent points of a series up to the step shown, in step order."""
        points = series.recent()
        return points.take(slice(int(np.searchsorted(points.step, self._limit(series), "right"))))

    def last_step_of(self, series: Logged) -> int | None:
        """The last step of a series up to the step shown, on its own axis; None without points."""
        last = series.last_step
        return None if last is None else min(last, self._limit(series))

    def _limit(self, series: Logged) -> int:
        """The step shown of a series, on its own axis."""
        if self.at_step is None:
            return HIGHEST
        at_step = self.step_of(series)[1]
        return HIGHEST if at_step is None else at_step

    def has_own_axis(self, series: Logged) -> bool:
        """Whether a tag counts something other than the run's steps: seconds, epochs, updates.

        The steps of a tag that started late or stopped early lie within those of the run, at intervals like
        those of others. Points that are all near the start, and much closer to each other than those of any
        tag that goes on, count updates in a run of environment steps, if the count goes on as long as the
        run does; that of a warm-up has stopped, and without wall times the two look alike. The result does
        not depend on the step or the part of the run that is shown.
        """
        first, last, low = series.first_step, series.last_step, self.span[0]
        if first is None or last is None:
            return False
        if _beyond(series, self.span):
            return True
        if series.count < FEW_COUNTED or (last - low) * SMALL_PART > self.span[1] - low:
            return False
        if (last - first) / (series.count - 1) * SMALL_PART >= self._interval_of_steps():
            return False
        return self._goes_on(series)

    def _goes_on(self, series: Logged) -> bool:
        """Whether the last point of a tag is as late as the run's; false if wall times are unknown."""
        wall = series.recent().wall_time
        wall = wall[np.isfinite(wall)]
        passed = self.run.last_wall - self.run.first_wall
        if len(wall) < FEW_COUNTED or not passed > 0:
            return False
        written, late = float(wall[-1] - wall[0]), passed / SMALL_PART
        if len(wall) >= MIN_COUNTED:
            late = max(LATE_INTERVALS * written / (len(wall) - 1), late)
        elif 2 * written < passed:
            return False
        return self.run.last_wall - series.last_wall <= late

    def _interval_of_steps(self) -> float:
        """The smallest mean distance of points, of tags that reach the second half of the run's steps."""
        if self._interval is None:
            middle = sum(self.span) / 2
            spans = [(one.first_step, one.last_step, one.count) for one in self.run.series.values()]
            self._interval = min(
                (
                    (last - first) / (count - 1)
                    for first, last, count in spans
                    if first is not None and last is not None and count > 1 and middle < last <= self.span[1]
                ),
                default=0.0,
            )
        return self._interval

    def has(self, series: Logged) -> bool:
        """Whether a series had begun by then."""
        if self.at_step is None:
            return True
        at_step, first = self.step_of(series)[1], series.first_step
        return first is None or at_step is None or first <= at_step

    @property
    def wall_time(self) -> float:
        """When the run was at the step, seconds since 1970; NaN unknown, -inf before all of its points.

        Where only means of old points are held, the time of the last one that is known. The time of the last
        point where all ended before the step.
        """
        if self._wall_time is None:
            self._wall_time = self._find_wall_time()
        return self._wall_time

    def _find_wall_time(self) -> float:
        step, ended, begun = self._step, math.nan, False
        for tag, series in self.run.series.items():
            last, early = series.last_step, self._early.series.get(tag)
            if step is None or last is None or early is None or self.has_own_axis(series):
                continue
            first = series.first_step
            begun |= first is not None and first <= step
            if last < step:
                ended = float(np.fmax(ended, series.last_wall))
                continue
            steps, walls = early.step_walls()
            end = int(np.searchsorted(steps, step, "right"))
            if end and math.isfinite(wall := float(walls[end - 1])):
                return wall
        return ended if begun else -math.inf


class PastFindings(NamedTuple):
    """The findings at a step. Unless `whole` they are remembered ones, without values."""

    findings: tuple[Finding, ...]
    history: tuple[Finding, ...] = ()
    diagnostics: tuple[Problem, ...] = ()
    whole: bool = False


class _EarlyRun(NamedTuple):
    """What an evaluator reads of a run, as of a step."""

    name: str
    step_walls: Floats
    resumes: tuple[int, ...]
    hparams: Mapping[str, object]
    hparams_texts: Mapping[str, Mapping[str, Text]]
    silence: Silence  # as of now: a tag that was written later had not ended


def reevaluated(
    run: Run, names: MetricNames, selection: RuleSelection, step: int, nearby_hparams: Mapping[str, HParam]
) -> PastFindings | None:
    """The findings of all points up to a step. None if the store does not hold all of them exactly.

    nearby_hparams: hyperparameters in files beside the logs, as of `Evaluator.set_nearby_hparams`.
    """
    known = [series for series in run.series.values() if series.count]
    if sum(series.count for series in known) > MAX_POINTS:
        return None
    as_of = RunAtStep(run, step)
    fresh = []
    for series in known:
        first = series.first_step
        if first is None or not as_of.has(series):
            continue
        if series.exact_from > first:
            return None
        fresh.append(NewPoints(series.tag, as_of.points_of(series)))
    walls = run.step_walls[run.step_walls[:, 0] <= step]
    resumes = tuple(each for each in run.resumes if each <= step)
    early = _EarlyRun(run.name, walls, resumes, run.hparams, run.hparams_texts, run.silence)
    evaluator = Evaluator(early, names, selection=selection)
    evaluator.set_nearby_hparams(nearby_hparams)
    evaluator.feed(fresh, catch_up=False)
    return current_findings(evaluator)


def current_findings(evaluator: Evaluator) -> PastFindings:
    """The findings of an evaluator for all points that it was given."""
    return PastFindings(
        tuple(evaluator.findings()), tuple(evaluator.history()), tuple(evaluator.diagnostics()), True
    )


def remembered_findings(findings: Iterable[Finding], history: Iterable[Finding], step: int) -> PastFindings:
    """The findings, firing or resolved now, that were firing at a step; without values, which are of now."""
    begun = [one for one in (*findings, *history) if one.since_step <= step]
    resolved = [one for one in begun if one.resolved_step is not None and one.resolved_step <= step]
    firing = [one for one in begun if one.resolved_step is None or one.resolved_step > step]
    return PastFindings(
        tuple(_without_values(one)._replace(state="firing", resolved_step=None) for one in firing),
        tuple(_without_values(one) for one in resolved),
    )


def _without_values(finding: Finding) -> Finding:
    message = finding.message if finding.symptom or not finding.title else finding.title
    return finding._replace(value=None, message=message, evidence=())
