"""A level that moves to another plateau: compared with what was usual just before, beyond the noise."""

from __future__ import annotations

import numpy as np

from rltui.rules.kinds.verdict import Verdict, first_of
from rltui.rules.model import Rule
from rltui.rules.window import Window


def judge(rule: Rule, window: Window) -> Verdict:
    """Recent level against `times` the usual level, up or down."""
    length = int(rule.number("window", 8))
    times, release = rule.number("times", 1.5), rule.number("release", 0.2)
    level, usual = window.level(length), window.usual(length)
    noise = np.maximum(window.noise(length), rule.number("floor", 0.05) * np.abs(usual))
    far = np.abs(level - usual) > rule.number("sigmas", 4) * noise
    rows = window.rows(length)
    with np.errstate(invalid="ignore", divide="ignore"):
        if rule.words.get("direction", "up") == "up":
            limit = np.maximum(times * usual, rule.number("least", -np.inf))
            on, beyond = far & (level > limit), rows > limit[:, None]
            return Verdict(on, level < limit * (1 - release), level, limit, first_of(window, beyond, length))
        # Below zero there is no share of what is usual.
        limit = np.where(usual > rule.number("least", 0.0), usual / times, np.nan)
        on, beyond = far & (level < limit), rows < limit[:, None]
        return Verdict(
            on, level > limit * (1 + release), level, limit, first_of(window, beyond, length), upward=False
        )
