"""A series that repeats one value exactly after it has moved: measured anew, real quantities differ."""

from __future__ import annotations

import numpy as np

from rltui.rules.kinds.verdict import Verdict, nowhere
from rltui.rules.model import Rule
from rltui.rules.series.rolling_window import RollingWindow


def judge(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """The last `window` ticks are equal, and the series was not always so."""
    length = int(rule.number("window", 30))
    best, worst = window.extremes(1)
    spread, level = window.spread(length), window.level(1)
    on = (spread == 0) & (best > worst)
    if nowhere(idle, on):
        return None
    began = np.maximum(window.at - length + 1, 0)
    return Verdict(on, spread > 0, level, np.zeros(len(window)), began)
