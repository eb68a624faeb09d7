"""The kinds of conditions: `KINDS[name](rule, window, idle) -> ConditionStates | None`.

Their parameters are in `rltui.rules.kind_fields`.

`EXCLUDED[name](rule, window)`, of kinds that ask what a series carries along: whether the condition surely
holds at no moment. It asks for nothing that is carried, so that the kind itself can wait.

`idle`: the rule is neither pending nor firing on the series, so nobody asks whether its condition has
ceased. Most are, most of the time: then a kind gives None as soon as it knows that its condition holds at no
moment. None may also mean that it never can for this series. What a series carries along
(`RollingWindow.extremes`, `RollingWindow.loudest`) is asked before, because it must be asked every time.
Where numbers are not known yet they are NaN and compare as such: who calls a kind lets numpy ignore that.
"""

from __future__ import annotations

from collections.abc import Callable

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
from rltui.rules.kinds.condition_states import ConditionStates
from rltui.rules.model import Rule
from rltui.rules.series.rolling_window import RollingWindow

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

EXCLUDED: dict[str, Callable[[Rule, RollingWindow], bool]] = {
    "threshold": threshold.excluded,
    "collapse": collapse.excluded,
    "frozen": frozen.excluded,
    "constant": plateau.constant_excluded,
}

__all__ = ["EXCLUDED", "KINDS", "ConditionStates", "Kind"]
