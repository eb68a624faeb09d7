"""What the store answers with: points, a window cut in columns, and what is new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Bools, Floats, Ints
from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple

Axis = Literal["step", "wall"]
Reason = Literal["session-start", "rewind", "file"]
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


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A window of a series in `width` columns; column i covers [edges[i], edges[i+1]), the last its end too.

    low, high, mean and last speak of finite values and are NaN where a column has none; count is the number
    of finite values, nonfinite of the others. Where a bucket of old points is wider than a column, the
    columns that it covers repeat its low, high, mean and last with count 0: the points are in that stretch,
    and nobody knows where; the count stands once, in the column of its newest point.
    """

    edges: Floats  # (width + 1,)
    low: Floats  # (width,)
    high: Floats
    mean: Floats
    last: Floats
    count: Ints
    nonfinite: Ints


@dataclass(slots=True, eq=False)
class NewPoints:
    """New shown points of one tag, in order of arrival.

    rewound_to: a restart; forget what is at or above this step, then take the points.
    """

    tag: str
    points: Points
    rewound_to: int | None = None


class Attempt(NamedTuple):
    """A stretch of a training between two starts: a session start, a file, steps that went back."""

    first_step: int
    first_wall: float  # NaN unknown
    last_step: int
    reason: Reason
    path: str = ""  # the log it was read from, relative to LOGDIR
    replaced: int = 0  # earlier points that it replaced
    from_scratch: bool = False  # it began where the training had begun, and resumed nothing


@overload
def sensible(wall: float) -> bool: ...


@overload
def sensible(wall: Floats) -> Bools: ...


def sensible(wall: float | Floats) -> bool | Bools:
    """Whether a wall time can be meant, or each of several: after 1970, in seconds (milliseconds are not)."""
    return (wall > 0.0) & (wall < 1e11)
