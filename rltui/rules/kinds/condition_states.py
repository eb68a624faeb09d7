"""What a kind of condition says of m moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rltui.rules.series.rolling_window import RollingWindow
from rltui.rules.series.ticks import Floats, Ints

Bools = NDArray[np.bool_]


@dataclass(slots=True)
class ConditionStates:
    """All of shape (m,).

    `on`: the condition holds. `off`: it has clearly ceased; between the two nothing changes.
    """

    on: Bools
    off: Bools
    value: Floats
    limit: Floats
    began: Ints | None = None  # position of the tick at which it began; None: the moment itself
    upward: bool = True  # whether the bad side lies above the limit, for latched rules
    recovery: Floats | None = None  # level that the value must come back to; None: the limit and a margin
    surely: Floats | None = (
        None  # what the value is at least (at most, if upward), by its error; None: itself
    )
    beyond: Floats | None = None  # how far the value is on the bad side; None: as the value, or its negative
    before: Floats | None = None  # the level that is compared with; None: that of the ticks before it began


def first_of(window: RollingWindow, beyond: Bools, length: int) -> Ints:
    """(m,) position of the first tick of each row of `beyond` (m, length) that is true."""
    found: Ints = window.at - (length - 1) + beyond.argmax(axis=1)
    return np.maximum(found, 0)


def nowhere(idle: bool, on: Bools) -> bool:
    """Whether nobody asks for more: it holds at no moment, and none of its episodes is open."""
    return idle and not np.count_nonzero(on)
