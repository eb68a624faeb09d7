"""The result of a kind of condition: whether it holds at each of m moments."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np

from rltui.common.arrays import Bools, Floats
from rltui.common.named_tuple import NamedTuple
from rltui.rules.evaluated_series.rolling_window import RollingWindow


class ConditionStates(NamedTuple):
    """All arrays of shape (m,).

    `on`: the condition holds. `off`: it clearly does not. Where neither is true, the state does not change.
    """

    on: Bools
    off: Bools
    value: Floats
    limit: Floats
    began: Callable[[int], int] | None = None  # moment -> tick of the onset; None: the tick of the moment
    upward: bool = True  # whether values above the limit are bad, for latched rules
    recovery: Floats | None = None  # level that the value must come back to; None: the limit and a margin
    surely: Floats | None = None  # lower (if upward: upper) confidence bound of the value; None: the value
    beyond: Floats | None = None  # how bad the value is; None: the value, or its negative
    before: Floats | None = None  # level that it is compared with; None: that of the ticks before the onset
    until: Floats | None = None  # number of points of the run from which on it is resolved; None: no number


class IdleRange(NamedTuple):
    """While new ticks are within this range, a condition that holds at no moment so far holds at none.

    Valid until ticks are joined, or removed by a restart.
    """

    lowest: float = -math.inf  # of the new ticks
    highest: float = math.inf
    until: int = sys.maxsize  # number of ticks held, at which the range ends

    def within(self, other: IdleRange) -> IdleRange:
        """The intersection with another range."""
        return IdleRange(
            max(self.lowest, other.lowest), min(self.highest, other.highest), min(self.until, other.until)
        )


def within_times(lowest: float, highest: float, times: float) -> IdleRange | None:
    """A range around positive ticks whose highest is at most `times` its lowest; None without one."""
    if not (lowest > 0 and times > 1 and highest < times * lowest):
        return None
    low = min(math.sqrt(lowest) * math.sqrt(highest / times), lowest)
    high = times * low * (1 - ROUNDING)
    return IdleRange(low, high) if high >= highest else None


ROUNDING = 1e-12  # relative error of products and quotients of the same numbers


def first_in(window: RollingWindow, beyond: Bools, length: int) -> Callable[[int], int]:
    """Onset of a moment: the first of its last `length` ticks that is true in its row of `beyond`."""
    return lambda k: max(int(window.at[k]) - length + 1 + int(beyond[k].argmax()), 0)


def first_tick(window: RollingWindow, length: int) -> Callable[[int], int]:
    """Onset of a moment: the first of its last `length` ticks."""
    return lambda k: max(int(window.at[k]) - length + 1, 0)


def at_start(_: int) -> int:
    """Onset of a moment: the first tick of the run."""
    return 0


def stays_idle(idle: bool, on: Bools) -> bool:
    """Whether the result may be None: the rule is idle, and its condition holds at no moment."""
    return idle and not np.count_nonzero(on)
