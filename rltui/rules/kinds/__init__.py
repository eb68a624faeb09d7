"""The kinds of conditions: `KINDS[name](rule, window, idle) -> ConditionStates | None`.

Their parameters are listed in `rltui.rules.kind_fields`.

`IDLE_RANGES[name](rule, window)`, of most kinds, is called first: if the condition certainly holds at no
moment of the window, it returns the range that new ticks must leave before it may hold; else None. It does
not use values carried from window to window, so that the rule need not be evaluated at every moment.

`idle`: the rule is neither pending nor firing on the series, as most are most of the time. Then a kind
returns None as soon as it knows that its condition holds at no moment, without computing when it is resolved.
Values carried from window to window (`RollingWindow.extremes`, `RollingWindow.loudest`) are computed before
that, since they must see every window. Unknown numbers are NaN; callers ignore numpy's warnings about them.
"""

from __future__ import annotations

from collections.abc import Callable

from rltui.rules.condition_states import ConditionStates, IdleRange
from rltui.rules.evaluated_series.rolling_window import RollingWindow
from rltui.rules.kinds import (
    collapse,
    drop,
    flips,
    frozen,
    gain_over_run,
    peaked,
    plateau,
    rate_fall,
    recent_trend,
    shift,
    spike,
    threshold,
    whole_run_trend,
)
from rltui.rules.rule import Rule

Kind = Callable[[Rule, RollingWindow, bool], ConditionStates | None]

KINDS: dict[str, Kind] = {
    "threshold": threshold.evaluate,
    "spike": spike.evaluate,
    "shift": shift.evaluate,
    "trend": recent_trend.evaluate,
    "collapse": collapse.evaluate,
    "drop": drop.evaluate,
    "flips": flips.evaluate,
    "frozen": frozen.evaluate,
    "first": threshold.first,
    "logged": threshold.logged,
    "constant": plateau.constant,
    "was-constant": plateau.was_constant,
    "flat": plateau.flat,
    "best": plateau.best,
    "above-start": plateau.above_start,
    "course": whole_run_trend.evaluate,
    "peaked": peaked.evaluate,
    "outlier": spike.outlier,
    "gain-lost": gain_over_run.gain_lost,
    "below-start": gain_over_run.below_start,
    "no-gain": gain_over_run.no_gain,
    "gained": gain_over_run.gained,
    "rate-fall": rate_fall.evaluate,
}

IDLE_RANGES: dict[str, Callable[[Rule, RollingWindow], IdleRange | None]] = {
    "threshold": threshold.idle_range,
    "spike": spike.idle_range,
    "shift": shift.idle_range,
    "trend": recent_trend.idle_range,
    "collapse": collapse.idle_range,
    "flips": flips.idle_range,
    "frozen": frozen.idle_range,
    "first": threshold.first_idle_range,
    "constant": plateau.constant_idle_range,
    "was-constant": plateau.was_constant_idle_range,
    "course": whole_run_trend.idle_range,
    "outlier": spike.outlier_idle_range,
}

# Kinds that use extreme levels of all earlier moments; thresholds may.
_CARRY = {"collapse", "drop", "frozen", "flat", "best", "above-start"}
# Kinds that compare a gain with the deviation of single points, which is computed before these are joined.
POINTS_COMPARED = {"gain-lost", "no-gain"}
# Kinds that compare means of whole runs, which takes ten times as long as others.
OF_WHOLE_RUNS = {"gain-lost", "below-start", "no-gain", "gained"}


def carries(rule: Rule) -> bool:
    """Whether it uses values carried from window to window, so that it must be evaluated at every moment."""
    return rule.kind in _CARRY or rule.words.get("of") in threshold.CARRIED


__all__ = [
    "IDLE_RANGES",
    "KINDS",
    "OF_WHOLE_RUNS",
    "POINTS_COMPARED",
    "ConditionStates",
    "IdleRange",
    "Kind",
    "carries",
]
