"""A quantity that jumps from one side of zero to the other with every step."""

from __future__ import annotations

import numpy as np

from rltui.rules.evaluate.robust_statistics import medians
from rltui.rules.evaluate.rolling_window import RollingWindow
from rltui.rules.kinds.verdict import Verdict
from rltui.rules.model import Rule


def judge(rule: Rule, window: RollingWindow, idle: bool) -> Verdict | None:
    """Share of neighbours with opposite signs, of values whose size is at least `least`."""
    length = int(rule.number("window", 24))
    least, share = rule.number("least", 0.0), rule.number("share", 0.9)
    low, high = window.ticks(length)
    if idle and (window.last + 1 < length or low >= 0 or high <= 0):
        return None
    rows = window.rows(length)
    flips = (rows[:, 1:] * rows[:, :-1] < 0).sum(axis=1) / max(length - 1, 1)
    size = medians(np.abs(rows))
    enough = window.at + 1 >= length
    on = enough & (flips >= share) & (size >= least)
    off = enough & ((flips < share - 0.2) | (size < 0.5 * least))
    return Verdict(on, off, size, np.full(len(window), least), np.maximum(window.at - length + 1, 0))
