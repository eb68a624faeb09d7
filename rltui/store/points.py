"""Points of one tag as columns, and those that are new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Bools, Floats, Ints
from rltui.common.data_class import dataclass

LOWEST, HIGHEST = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)  # steps: no point gets there


@dataclass(slots=True, eq=False)  # made for every tag of every delivery: frozen ones take thrice as long
class Points:
    """Points of one tag, columns of length n: step int64, wall_time float64 (NaN unknown), value float64."""

    step: Ints
    wall_time: Floats
    value: Floats

    def __len__(self) -> int:
        return len(self.step)

    def take(self, index: slice | NDArray[np.integer] | Bools) -> Points:
        """The points at some indices; of a slice, views of these columns."""
        return Points(self.step[index], self.wall_time[index], self.value[index])

    def copy(self) -> Points:
        """The same in arrays of their own."""
        return Points(self.step.copy(), self.wall_time.copy(), self.value.copy())


NO_POINTS = Points(np.empty(0, np.int64), np.empty(0), np.empty(0))


def join(parts: Sequence[Points]) -> Points:
    """Points one after the other, in the order given."""
    parts = [part for part in parts if len(part)]
    if len(parts) < 2:
        return parts[0] if parts else NO_POINTS
    return Points(
        np.concatenate([part.step for part in parts]),
        np.concatenate([part.wall_time for part in parts]),
        np.concatenate([part.value for part in parts]),
    )


@dataclass(slots=True, eq=False)
class NewPoints:
    """New shown points of one tag, in order of arrival.

    rewound_to: a restart; forget what is at or above this step, then take the points.
    """

    tag: str
    points: Points
    rewound_to: int | None = None


@overload
def sensible(wall: float) -> bool: ...


@overload
def sensible(wall: Floats) -> Bools: ...


def sensible(wall: float | Floats) -> bool | Bools:
    """Whether a wall time can be meant, or each of several: after 1970, in seconds (milliseconds are not)."""
    return (wall > 0.0) & (wall < 1e11)
