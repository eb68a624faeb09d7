"""What a kind of condition says of m moments."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np

from rltui.common.arrays import Bools, Floats
from rltui.common.named_tuple import NamedTuple
from rltui.rules.judged_series.rolling_window import RollingWindow


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


class IdleRange(NamedTuple):
    """What new ticks must be for a condition to hold at none of them, as at none that were seen.

    It is found for the ticks held: it ends when these are joined or taken back.
    """

    lowest: float = -math.inf  # of the new ticks
    highest: float = math.inf
    until: int = sys.maxsize  # fewer ticks than these are held

    def within(self, other: IdleRange) -> IdleRange:
        """What is within both."""
        return IdleRange(
            max(self.lowest, other.lowest), min(self.highest, other.highest), min(self.until, other.until)
        )


def within_times(lowest: float, highest: float, times: float) -> IdleRange | None:
    """A range around positive ticks whose highest is no more than `times` its lowest, if there is one."""
    if not (lowest > 0 and times > 1 and highest < times * lowest):
        return None
    low = min(math.sqrt(lowest) * math.sqrt(highest / times), lowest)
    high = times * low * (1 - ROUNDING)
    return IdleRange(low, high) if high >= highest else None


ROUNDING = 1e-12  # that products and quotients of the same numbers may differ by, as a share


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
