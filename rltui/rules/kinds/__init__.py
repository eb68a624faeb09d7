"""The kinds of conditions, one small module each: `KINDS[name](rule, window, idle) -> Verdict | None`.

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
    outlier,
    peaked,
    plateau,
    shift,
    spike,
    threshold,
    trend_test,
    whole_run,
)
from rltui.rules.kinds.verdict import Verdict
from rltui.rules.model import Rule
from rltui.rules.series.rolling_window import RollingWindow

Kind = Callable[[Rule, RollingWindow, bool], Verdict | None]

KINDS: dict[str, Kind] = {
    "threshold": threshold.judge,
    "spike": spike.judge,
    "shift": shift.judge,
    "trend": trend_test.judge,
    "collapse": collapse.judge,
    "drop": drop.judge,
    "flips": flips.judge,
    "frozen": frozen.judge,
    "first": threshold.first,
    "logged": threshold.logged,
    "constant": plateau.constant,
    "flat": plateau.flat,
    "best": plateau.best,
    "gained": plateau.gained,
    "course": course.judge,
    "peaked": peaked.judge,
    "outlier": outlier.judge,
    "gain-lost": whole_run.gain_lost,
    "below-start": whole_run.below_start,
    "no-gain": whole_run.no_gain,
}

NUMBERS: dict[str, tuple[str, ...]] = {
    "threshold": (
        "above",
        "below",
        "near",
        "within",
        "window",
        "share",
        "release",
        "least",
        "nonzero",
    ),
    "spike": ("times", "window", "sigmas", "recurring", "floor", "least", "release", "recent"),
    "shift": ("times", "window", "sigmas", "release", "floor", "least"),
    "trend": ("z", "noises", "relative", "absolute"),
    "collapse": ("fraction", "window", "release", "least", "arrival", "quick"),
    "drop": ("fraction", "window", "sigmas", "release", "least", "young"),
    "flips": ("window", "least", "share"),
    "frozen": ("window", "within"),
    "first": ("above", "below", "usual", "multiple_of", "within"),
    "constant": ("window", "within", "above"),
    "logged": (),
    "flat": ("window", "sigmas"),
    "best": ("fraction", "window", "sigmas"),
    "gained": ("fraction", "window", "sigmas"),
    "course": ("z", "relative", "noises", "absolute"),
    "peaked": ("fraction", "sigmas", "least"),
    "outlier": ("times", "sigmas", "least"),
    "gain-lost": ("fraction", "sigmas", "least", "young"),
    "below-start": ("fraction", "sigmas", "least", "young"),
    "no-gain": ("effect", "points", "steps"),
    "non-finite": ("after", "least"),
}
WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "threshold": {
        "of": ("", "start", "start-high", "start-low", "usual", "best", "lowest"),
        "sign": ("", "abs"),
    },
    "trend": {"direction": ("up", "down", "flat")},
    "course": {"direction": ("up", "down", "both", "flat")},
    "shift": {"direction": ("up", "down", "both")},
    "spike": {"direction": ("up", "both")},
    "frozen": {"at": ("", "lowest")},
    "drop": {"from": ("best", "worst")},
}

__all__ = ["KINDS", "NUMBERS", "WORDS", "Kind", "Verdict"]
