"""Data quality: problems of the numbers themselves, reported separately from the training."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from rltui.common.arrays import Floats, median
from rltui.common.display_text import clean, count_of
from rltui.common.problem import Problem
from rltui.draw.numbers import format_short, format_step
from rltui.metrics.glossary_files import glossary
from rltui.metrics.metric_name import LEAST_PERCENT
from rltui.rules.evaluated_series.ended_series import Silence, ended
from rltui.rules.kinds.non_finite import is_undefined
from rltui.rules.metric_roles import metric_roles
from rltui.rules.rule_states.series_state import SeriesState

CLOCK_SLACK = 5.0  # seconds by which the clocks of two machines may differ
PLACEHOLDER_POINTS = 5  # of one value, from which it is taken as a placeholder
GAP_STEPS = 20.0  # usual distances between steps


def diagnostics(
    run: str, step_walls: Floats, series: Mapping[str, SeriesState], silence: Silence
) -> list[Problem]:
    """Problems of a run's numbers: those of each tag, then those of the run.

    `step_walls`: (n, 2) recent steps and their wall times. `silence`: as of `ended_series`.
    """
    where = clean(run)
    found: list[Problem] = []
    for tag, each in series.items():
        found += _of_tag(where, tag, each)
    found += _vanished(where, series, silence)
    found += _of_run(where, step_walls)
    return found


def _of_tag(where: str, tag: str, each: SeriesState) -> list[Problem]:
    ticks, canonical = each.ticks, each.tag_rules.canonical or ""
    found = []
    if (
        ticks.nonfinite_count == ticks.points
        and ticks.points >= PLACEHOLDER_POINTS
        and ticks.nonfinite is not None
        and is_undefined(ticks, ticks.nonfinite)
    ):
        message = f"{tag}: always NaN, taken as not defined for this training"
        return [Problem("info", "not-reported", where, message)]
    if ticks.nonfinite_count and not canonical.startswith(metric_roles().logged_once):
        periods = [*ticks.nonfinite_before, *([ticks.nonfinite] if ticks.nonfinite else [])]
        first = f", the first at step {format_step(periods[0].since_step)}" if periods else ""
        message = f"{tag}: not finite at {count_of(ticks.nonfinite_count, 'point')}{first}"
        found.append(Problem("warning", "non-finite", where, message, count=ticks.nonfinite_count))
    odd = each.impossible
    if odd is not None and each.tag_rules.bounds is not None:
        low, high = each.tag_rules.bounds
        least = LEAST_PERCENT if _may_be_no_share(canonical) else high
        if (low, high) == (0.0, 1.0) and least <= odd.worst <= 100.0 and 2 * odd.count > ticks.points:
            most = format_short(odd.worst)
            message = f"{tag}: up to {most}, in percent where others write shares; shown as written"
            return [*found, Problem("info", "percent", where, message, count=odd.count)]
        message = (
            f"{tag}: {_outside(low, high)} at {count_of(odd.count, 'point')}, the first at step "
            f"{format_step(odd.since_step)}, the farthest {format_short(odd.worst)}; "
            "suspect the metric before the training"
        )
        found.append(Problem("warning", "impossible-value", where, message, count=odd.count))
    if (
        ticks.zeros
        and ticks.points >= PLACEHOLDER_POINTS
        and canonical.startswith(metric_roles().zero_if_unknown)
    ):
        message = f"{tag}: always exactly 0, taken as not reported"
        found.append(Problem("info", "not-reported", where, message))
    return found


def _may_be_no_share(canonical: str) -> bool:
    """Whether trainers log something else under the name of a share, which has that other title then."""
    metric = glossary().metrics.get(canonical)
    return metric is not None and bool(metric.beyond)


def _vanished(where: str, series: Mapping[str, SeriesState], silence: Silence) -> list[Problem]:
    return [
        Problem(
            "info",
            "vanished",
            where,
            f"{ticks.tag}: not written any more since step {format_step(ticks.last_step)}",
        )
        for ticks in ended((each.ticks for each in series.values() if not each.tag_rules.is_copy), silence)
    ]


def _of_run(where: str, table: Floats) -> list[Problem]:
    """Jumps of the clock and gaps among the recent steps."""
    if len(table) < 10:
        return []
    table = table[np.isfinite(table).all(axis=1)]
    steps, walls = np.diff(table[:, 0]), np.diff(table[:, 1])
    found = []
    back = np.flatnonzero((walls < -CLOCK_SLACK) & (steps > 0))
    if len(back):
        at, by = int(table[back[0] + 1, 0]), -float(walls[back[0]])
        message = (
            f"the clock went back by {by:.0f} s at step {format_step(at)}; times and pace are uncertain there"
        )
        found.append(Problem("info", "clock-jump", where, message, count=len(back)))
    usual = median(steps[steps > 0]) if (steps > 0).any() else 0.0
    holes = np.flatnonzero(steps > GAP_STEPS * usual)
    if usual and len(holes):
        begin, end = int(table[holes[0], 0]), int(table[holes[0] + 1, 0])
        between = f"between steps {format_step(begin)} and {format_step(end)}"
        message = f"nothing is logged {between} (usual distance {usual:g})"
        found.append(Problem("info", "gap", where, message, count=len(holes)))
    return found


def _outside(low: float, high: float) -> str:
    """`above 1`, `outside 0..1`: where values beyond some bounds are."""
    if math.isinf(low):
        return f"above {high:g}"
    return f"below {low:g}" if math.isinf(high) else f"outside {low:g}..{high:g}"
