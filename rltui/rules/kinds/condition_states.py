"""What a kind of condition says of m moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rltui.arrays import Bools, Floats
from rltui.rules.series.rolling_window import RollingWindow


class ConditionStates(NamedTuple):
    """All of shape (m,).

    `on`: the condition holds. `off`: it has clearly ceased; between the two nothing changes.
    """

    on: Bools
    off: Bools
    value: Floats
    limit: Floats
    began: Callable[[int], int] | None = None  # of a moment: the tick at which it began; None: the moment's
    upward: bool = True  # whether the bad side lies above the limit, for latched rules
    recovery: Floats | None = None  # level that the value must come back to; None: the limit and a margin
    # What the value is at least (at most, if upward), by its error; None: itself.
    surely: Floats | None = None
    beyond: Floats | None = None  # how far the value is on the bad side; None: as the value, or its negative
    before: Floats | None = None  # the level that is compared with; None: that of the ticks before it began


def first_of(window: RollingWindow, beyond: Bools, length: int) -> Callable[[int], int]:
    """Of a moment: the first of its last `length` ticks that is true in its row of `beyond`."""
    return lambda k: max(int(window.at[k]) - length + 1 + int(beyond[k].argmax()), 0)


def first_seen(window: RollingWindow, length: int) -> Callable[[int], int]:
    """Of a moment: the first of its last `length` ticks."""
    return lambda k: max(int(window.at[k]) - length + 1, 0)


def at_start(_: int) -> int:
    """Of a moment: the first tick of the run."""
    return 0


def nowhere(idle: bool, on: Bools) -> bool:
    """Whether nobody asks for more: it holds at no moment, and none of its episodes is open."""
    return idle and not np.count_nonzero(on)
