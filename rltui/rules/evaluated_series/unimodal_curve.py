"""Unimodal regression: the least-squares curve that rises up to a given position and falls after it.

Pool adjacent violators (Barlow, Bartholomew, Bremner and Brunk 1972, Statistical inference under order
restrictions): neighbours in the wrong order are replaced by their mean until none are left.
"""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import Floats


def unimodal(values: Floats, top: int) -> Floats:
    """(n,) the curve of n values: nondecreasing before the position `top`, nonincreasing from it on."""
    return np.concatenate((_nondecreasing(values[:top]), _nondecreasing(values[top:][::-1])[::-1]))


def _nondecreasing(values: Floats) -> Floats:
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
