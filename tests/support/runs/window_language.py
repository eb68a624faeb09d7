"""Windows in short: the language of `fires` and `quiet` in rule files.

`0.1*20` is twenty times 0.1; `0.1~0.02*20` the same with noise of that deviation; `2..0.5*40` forty
values on a straight line; a bare number is itself; `nan` and `inf` are themselves. The noise is fixed.
"""

from __future__ import annotations

import math

import numpy as np

from rltui.common.arrays import Floats


def values(text: str) -> Floats:
    """The series that a text stands for. Raises ValueError for a text that is none."""
    parts: list[Floats] = []
    noise = np.random.default_rng(7)
    for word in text.split():
        body, _, count = word.partition("*")
        n = int(count) if count else 1
        body, _, width = body.partition("~")
        low, _, high = body.partition("..")
        line = (
            np.linspace(float(low), float(high or low), n)
            if math.isfinite(float(low))
            else np.full(n, float(low))
        )
        parts.append(line + (noise.normal(0, float(width), n) if width else 0))
    return np.concatenate(parts) if parts else np.empty(0)
