"""The curve that rises to a place and falls from there, nearest to a series in its squares.

Pool adjacent violators (Barlow, Bartholomew, Bremner and Brunk 1972, Statistical inference under order
restrictions): neighbours that are in the wrong order get their mean, as often as needed.
"""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import Floats


def unimodal(values: Floats, top: int) -> Floats:
    """(n,) the curve of n values that does not fall before the position `top`, and does not rise from it."""
    return np.concatenate((_rising(values[:top]), _rising(values[top:][::-1])[::-1]))


def _rising(values: Floats) -> Floats:
    """(n,) the nearest curve that does not fall."""
    levels: list[float] = []
    counts: list[int] = []
    for value in values.tolist():
        level, count = value, 1
        while levels and levels[-1] > level:
            before = counts.pop()
            level = (levels.pop() * before + level * count) / (before + count)
            count += before
        levels.append(level)
        counts.append(count)
    found: Floats = np.repeat(np.array(levels, np.float64), np.array(counts, np.int64))
    return found
