"""The kinds of conditions: `KINDS[name](rule, window, idle) -> ConditionStates | None`.

Their parameters are in `rltui.rules.kind_fields`.

`IDLE_RANGES[name](rule, window)`, of most kinds: the range that new ticks must leave before the condition may
hold, where it surely holds at no moment of the window; None where nothing is sure. It asks for nothing that
is carried along, so that the kind itself can wait, and is asked first: kinds do not test the same again.

`idle`: the rule is neither pending nor firing on the series, so nobody asks whether its condition has
ceased. Most are, most of the time: then a kind gives None as soon as it knows that its condition holds at no
moment. None may also mean that it never can for this series. What a series carries along
(`RollingWindow.extremes`, `RollingWindow.loudest`) is asked before, because it must be asked every time.
Where numbers are not known yet they are NaN and compare as such: who calls a kind lets numpy ignore that.
"""

from __future__ import annotations

from collections.abc import Callable

from rltui.rules.judged_series.rolling_window import RollingWindow
from rltui.rules.kinds import (
    collapse,
    course,
    drop,
    flips,
    frozen,
    outcome,
    outlier,
    peaked,
    plateau,
    shift,
    spike,
    threshold,
    trend,
)
from rltui.rules.kinds.condition_states import ConditionStates, IdleRange
from rltui.rules.model import Rule

Kind = Callable[[Rule, RollingWindow, bool], ConditionStates | None]

KINDS: dict[str, Kind] = {
    "threshold": threshold.judge,
    "spike": spike.judge,
    "shift": shift.judge,
    "trend": trend.judge,
    "collapse": collapse.judge,
    "drop": drop.judge,
    "flips": flips.judge,
    "frozen": frozen.judge,
    "first": threshold.first,
    "logged": threshold.logged,
    "constant": plateau.constant,
    "was-constant": plateau.was_constant,
    "flat": plateau.flat,
    "best": plateau.best,
    "gained": plateau.gained,
    "course": course.judge,
    "peaked": peaked.judge,
    "outlier": outlier.judge,
    "gain-lost": outcome.gain_lost,
    "below-start": outcome.below_start,
    "no-gain": outcome.no_gain,
}

IDLE_RANGES: dict[str, Callable[[Rule, RollingWindow], IdleRange | None]] = {
    "threshold": threshold.idle_range,
    "spike": spike.idle_range,
    "shift": shift.idle_range,
    "trend": trend.idle_range,
    "collapse": collapse.idle_range,
    "flips": flips.idle_range,
    "frozen": frozen.idle_range,
    "first": threshold.first_idle_range,
    "constant": plateau.constant_idle_range,
    "was-constant": plateau.was_constant_idle_range,
    "course": course.idle_range,
    "outlier": outlier.idle_range,
}

# Kinds that ask for levels so far, which must see all moments; thresholds may.
_CARRY = {"collapse", "drop", "frozen", "flat", "best", "gained"}


# Kinds that compare a gain with the deviation of single points, which is noted before these are joined.
POINTS_COMPARED = {"gain-lost", "no-gain"}


def carries(rule: Rule) -> bool:
    """Whether it asks for what a series carries along, and must see every moment."""
    return rule.kind in _CARRY or rule.words.get("of") in threshold.CARRIED


__all__ = ["IDLE_RANGES", "KINDS", "POINTS_COMPARED", "ConditionStates", "IdleRange", "Kind", "carries"]
