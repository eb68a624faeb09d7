"""Points of one tag as columns, and those that are new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Bools, Floats, Ints

LOWEST, HIGHEST = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)  # steps that no point has


@dataclass(slots=True, eq=False)  # not frozen: made for every tag of every delivery, three times as fast
class Points:
    """Points of one tag, columns of length n: step int64, wall_time float64 (NaN unknown), value float64."""

    step: Ints
    wall_time: Floats
    value: Floats

    def __len__(self) -> int:
        return len(self.step)

    def take(self, index: slice | NDArray[np.integer] | Bools) -> Points:
        """The points at some indices; for a slice, views of these columns."""
        return Points(self.step[index], self.wall_time[index], self.value[index])

    def without(self, indices: NDArray[np.integer]) -> Points:
        """All points except those at some indices."""
        return self.take(np.delete(np.arange(len(self)), indices))

    def copy(self) -> Points:
        """A copy that shares no memory."""
        return Points(self.step.copy(), self.wall_time.copy(), self.value.copy())


NO_POINTS = Points(np.empty(0, np.int64), np.empty(0), np.empty(0))


def join(parts: Sequence[Points]) -> Points:
    """Concatenate points in the order given."""
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

    rewound_to: after a restart, the step from which earlier points are superseded by these.
    """

    tag: str
    points: Points
    rewound_to: int | None = None


@overload
def sensible(wall: float) -> bool: ...


@overload
def sensible(wall: Floats) -> Bools: ...


def sensible(wall: float | Floats) -> bool | Bools:
    """Whether a wall time is plausible, or each of several: after 1970, in seconds and not milliseconds."""
    return (wall > 0.0) & (wall < 1e11)
