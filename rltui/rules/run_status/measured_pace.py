"""The pace of a run, and the silence that counts as a stall: from its own intervals, not fixed minutes."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from rltui.common.arrays import Floats, median, quantile
from rltui.metrics.glossary_files import glossary
from rltui.metrics.metric_name import MetricName
from rltui.metrics.resolve import MetricNames
from rltui.rules.metric_roles import metric_roles
from rltui.rules.run_status.liveness import RunPace
from rltui.rules.run_status.log_file_problems import all_gone
from rltui.rules.run_status.planned_steps import planned
from rltui.store.run import Run
from rltui.store.series import Series

# A run is stalled after the longest of these.
STALLED_SECONDS = 300.0  # writers buffer up to two minutes
STALLED_GAPS = 10.0  # usual gaps
STALLED_PAUSES = 3.0  # longest pauses so far (evaluation, checkpoint)
# It is taken as ended after the longer of these.
ENDED_GAPS = 100.0
ENDED_SECONDS = 3600.0
WRITTEN_AT_ONCE = 60.0  # seconds in which the files of a copy are written: a replay takes longer
COPIED_SECONDS = 2.0  # the same where points have no times: a run may write for some seconds and hang
# Share of the planned steps that may be missing at the end of a complete training: many programs round down
# to updates. CleanRL runs `total_timesteps // batch_size`, 98.3 % of 1e6 steps for a batch of 65,536.
ROUNDED_SHARE = 0.02
RECENT_STEPS = 200  # of the present attempt, from which the pace is taken


def measured_pace(run: Run, total: int | None = None, nearby: Iterable[int] = ()) -> RunPace:
    """The timing of a run. total: planned steps, in place of what the log gives.

    nearby: planned steps according to files beside the log, used if the log gives none.
    """
    last = run.last_step
    steps, walls = _pairs(run)
    # Programs that collect whole rollouts end at the first one that reaches their planned steps.
    advance = _advance(steps)
    passed = math.inf if last is None else last - advance
    total = total or planned(run, advance) or next((n for n in nearby if n >= passed), None)
    progress = None
    if total and last is not None and total > 0:
        progress = min(max(last / total, 0.0), 1.0)
    gap, longest, pace = _cadence(steps, walls)
    done = run.exit_code is not None or finished(run) or (progress is not None and progress >= 1.0)
    stalled_after = max(STALLED_SECONDS, STALLED_GAPS * (gap or 0.0), STALLED_PAUSES * (longest or 0.0))
    ended_after = max(ENDED_SECONDS, ENDED_GAPS * (gap or 0.0), 2 * stalled_after)
    complete = False
    if total and last is not None:
        if total - last <= advance:  # many count from zero to one before the end
            ended_after = stalled_after  # the rest is less than one interval of logging: no point is missing
        complete = total - last <= max(advance, ROUNDED_SHARE * total)
    return RunPace(
        last_wall=_last_wall(run),
        done=done,
        gone=not done and all_gone(run),
        stalled_after=stalled_after,
        ended_after=ended_after,
        gap=gap,
        pace=pace if pace is not None and math.isfinite(pace) else None,
        last_step=last,
        total=total,
        progress=progress,
        exit_code=run.exit_code or 0,
        complete=complete,
        file_written=max(_file_times(run), default=None),
        copied=_is_copied(run, ended_after),
        dated=math.isfinite(run.last_written),
        made_at_once=_made_at_once(run, COPIED_SECONDS),
    )


def _is_copied(run: Run, ended_after: float) -> bool:
    """Whether its log files were created `ended_after` seconds after its last point, and written at once.

    The run had been silent for that long then, so that it is over if nobody writes to the copy. A log that is
    mirrored as a new file again and again is no copy before that.
    """
    return _made_at_once(run, WRITTEN_AT_ONCE) and all(
        each > run.last_wall + ended_after for each in _creation_times(run)
    )


def _made_at_once(run: Run, within: float) -> bool:
    """Whether its log files whose creation time is known were written last `within` seconds of that."""
    written, created = max(_file_times(run), default=math.nan), _creation_times(run)
    return bool(created) and all(abs(written - each) <= within for each in created)


def _creation_times(run: Run) -> list[float]:
    """Those that are known, in seconds since 1970."""
    return [source.created for source in run.sources.values() if source.created]


def _last_wall(run: Run) -> float | None:
    wall = run.last_written
    if math.isfinite(wall):
        return float(wall)
    return max(_file_times(run), default=None)


def _file_times(run: Run) -> list[float]:
    """When its files were last written, in seconds since 1970."""
    return [s.modified for s in run.sources.values() if math.isfinite(s.modified) and s.modified > 0]


def _pairs(run: Run) -> tuple[Floats, Floats]:
    """Recent steps and their wall times, both ascending, without the time between two attempts."""
    table = run.step_walls
    steps, walls = table[:, 0], table[:, 1].copy()
    back = np.flatnonzero((np.diff(steps) < 0) | (np.diff(walls) < 0))
    if len(back):  # after a jump of the clock only later points give the pace
        steps, walls = steps[back[-1] + 1 :], walls[back[-1] + 1 :]
    for attempt in run.attempts[1:]:
        first = int(steps.searchsorted(attempt.first_step))
        if 1 < first < len(steps):  # the interrupted step counts as long as the one before
            walls[first:] -= walls[first] - walls[first - 1] - (walls[first - 1] - walls[first - 2])
    return steps[-RECENT_STEPS:], walls[-RECENT_STEPS:]


def _cadence(steps: Floats, walls: Floats) -> tuple[float | None, float | None, float | None]:
    """Median gap, longest usual pause, and seconds per step including pauses."""
    if len(walls) < 3:
        return None, None, None
    forward = np.diff(steps) > 0
    gaps = np.diff(walls)[forward]
    if not len(gaps):
        return None, None, None
    gap = median(gaps)
    longest = quantile(gaps, 0.98)
    advance = np.diff(steps)[forward]
    # A node suspended for a night must not distort the pace; evaluation pauses must count.
    bounded = np.minimum(gaps, max(50 * gap, 4 * longest))
    return gap, longest, float(bounded.sum() / advance.sum())


def steps_between_points(run: Run) -> float:
    """Median number of steps from one recent point to the next; 0 where unknown."""
    return _advance(_pairs(run)[0])


def _advance(steps: Floats) -> float:
    """Median number of steps from one point to the next; 0 where unknown."""
    forward = np.diff(steps)
    return median(forward[forward > 0]) if (forward > 0).any() else 0.0


def finished(run: Run) -> bool:
    """Whether the summary that a trainer writes at the end is there, and no later step."""
    last = [run.series[tag].last_step for tag in metric_roles().final_tags if tag in run.series]
    return any(step is not None and (run.last_step is None or step >= run.last_step) for step in last)


def quiet(run: Run, names: MetricNames | None) -> str:
    """The silent part of a stalled run: the file that stopped before the others, or a missing phase.

    names: tell which tags are times of phases.
    """
    # A file of an earlier attempt has no part in this stall, nor has one that the process left empty.
    start = run.attempts[-1].first_wall if run.attempts else run.first_wall
    files = [
        s for s in run.sources.values() if s.duplicate_of is None and not s.gone and not s.modified < start
    ]
    if len(files) > 1:
        first = min(files, key=lambda s: s.modified)
        if first.modified < max(s.modified for s in files) - STALLED_SECONDS:
            return f"{first.path} stopped first"
    return "" if names is None else _phase(run, names)


def _phase(run: Run, names: MetricNames) -> str:
    """The first phase whose time is missing at the last step; else the longest phase of that step.

    Times of phases are written when the phase ends, so the run hangs in the missing one. Only phases that
    were timed at nearly every step count, and not times of single samples or ranks.
    """
    phases = [
        series for tag, series in run.series.items() if series.count >= 5 and _is_phase(names.name(tag))
    ]
    if not phases:
        return ""
    most, newest = max(series.count for series in phases), max(_last(series) for series in phases)
    usual = [series for series in phases if series.count >= 0.9 * most]
    missing = [series for series in usual if _last(series) < newest]
    if missing and len(missing) < len(usual):
        first = min(missing, key=lambda series: float(series.last_wall))
        return f"{first.tag} is missing for step {newest:,}"
    longest = max(usual, key=lambda series: float(series.last_value))
    title = names.name(longest.tag).title.removesuffix(" time").removesuffix(" phase")
    return f"between steps; the longest phase is {title.lower()}"


def _is_phase(name: MetricName) -> bool:
    """Whether a metric is the time of a phase of a step, not of the slowest of many or of a whole step."""
    metric = glossary().metrics.get(name.canonical or "")
    if metric is None or metric.id in metric_roles().whole_steps:
        return False
    return bool(metric.within) and name.statistic in ("", "mean") and not name.held_out


def _last(series: Series) -> int:
    return series.last_step or 0
