"""What a kind of condition says of m moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rltui.rules.evaluate.rolling_window import RollingWindow, Span
from rltui.rules.evaluate.ticks import Floats, Ints

Bools = NDArray[np.bool_]


@dataclass(slots=True)
class Verdict:
    """All of shape (m,), lists where numpy is the longer way: one moment, or the same at all.

    `on`: the condition holds. `off`: it has clearly ceased; between the two nothing changes.
    """

    on: Bools | list[bool]
    off: Bools | list[bool]
    value: Floats | list[float]
    limit: Floats | list[float]
    began: Ints | list[int] | None = None  # position of the tick at which it began; None: the moment itself
    upward: bool = True  # whether the bad side lies above the limit, for latched rules


def first_of(window: RollingWindow, beyond: Bools, length: int) -> Ints:
    """(m,) position of the first tick of each row of `beyond` (m, length) that is true."""
    found: Ints = window.at - (length - 1) + beyond.argmax(axis=1)
    return np.maximum(found, 0)


def sizes(span: Span) -> Span:
    """The smallest and the largest size of numbers between two."""
    low, high = span
    large = max(abs(low), abs(high))
    return (0.0 if low <= 0.0 <= high else min(abs(low), abs(high))), large
