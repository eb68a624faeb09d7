"""A batch: the points of one log in file order, with its texts, histograms, session starts and problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem


@dataclass(frozen=True, slots=True)
class SessionStart:
    """A restart that the writer declared: earlier points at or above `step` are superseded."""

    index: int  # number of points of the batch before it
    step: int


class Text(NamedTuple):
    """A text or hparams record, or a fact about the run (`total-steps`, `exit-code`)."""

    tag: str
    step: int
    wall_time: float
    kind: Literal["text", "hparams", "total-steps", "exit-code"]
    body: str  # hparams: JSON object; total-steps, exit-code: decimal integer, empty: the run is active again


QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)  # of a histogram; the ends are its minimum and maximum


@dataclass(frozen=True, slots=True)
class Histogram:
    """One logged histogram, as the `QUANTILES` of its values."""

    tag: str
    step: int
    wall_time: float
    quantiles: tuple[float, ...]  # one per entry of QUANTILES
    count: float  # number of values


_NO_U32 = np.empty(0, np.uint32)
_NO_I64 = np.empty(0, np.int64)
_NO_F64 = np.empty(0, np.float64)
_NO_BOOL = np.empty(0, np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Points of one log in file order, as columns of length n.

    tags: the log's table of tags, cleaned; it only grows, so indices remain valid.
    tag: (n,) uint32 index into `tags`.  step: (n,) int64.
    wall_time: (n,) float64, seconds since 1970, NaN where the log has none.
    value: (n,) float64.  single: (n,) bool, true where the value was a float32 on disk.
    """

    tags: Sequence[str] = ()
    tag: NDArray[np.uint32] = field(default_factory=lambda: _NO_U32)
    step: NDArray[np.int64] = field(default_factory=lambda: _NO_I64)
    wall_time: NDArray[np.float64] = field(default_factory=lambda: _NO_F64)
    value: NDArray[np.float64] = field(default_factory=lambda: _NO_F64)
    single: NDArray[np.bool_] = field(default_factory=lambda: _NO_BOOL)
    starts: tuple[SessionStart, ...] = ()
    texts: tuple[Text, ...] = ()
    problems: tuple[Problem, ...] = ()
    histograms: tuple[Histogram, ...] = ()
    written: Sequence[str] = ()  # the tags as in the file, if `tags` were renamed
    step_key: str = ""  # the name of what `step` counts, where the log has one

    @classmethod
    def of_doubles(
        cls,
        tags: Sequence[str],
        tag: ArrayLike,
        step: ArrayLike,
        wall_time: ArrayLike,
        value: ArrayLike,
        *,
        texts: Sequence[Text] = (),
        problems: Sequence[Problem] = (),
        histograms: Sequence[Histogram] = (),
        step_key: str = "",
    ) -> Batch:
        """A batch of columns of any type, all of whose values were float64 on disk."""
        numbers = np.asarray(tag, np.uint32)
        return cls(
            tags=tags,
            tag=numbers,
            step=np.asarray(step, np.int64),
            wall_time=np.asarray(wall_time, np.float64),
            value=np.asarray(value, np.float64),
            single=np.zeros(len(numbers), np.bool_),
            texts=tuple(texts),
            problems=tuple(problems),
            histograms=tuple(histograms),
            step_key=step_key,
        )

    def __len__(self) -> int:
        return len(self.tag)

    def __bool__(self) -> bool:
        """Whether it is not empty."""
        return bool(len(self.tag) or self.starts or self.texts or self.problems or self.histograms)

    def points(self) -> Batch:
        """The batch with points only."""
        return Batch(self.tags, self.tag, self.step, self.wall_time, self.value, self.single)

    def where(self, keep: NDArray[np.bool_]) -> Batch:
        """The batch with only the points for which `keep`, (n,), is true, and starts moved accordingly."""
        if keep.all():
            return self
        before = np.concatenate([[0], np.cumsum(keep)])  # kept points before each point
        return replace(
            self,
            tag=self.tag[keep],
            step=self.step[keep],
            wall_time=self.wall_time[keep],
            value=self.value[keep],
            single=self.single[keep],
            starts=tuple(SessionStart(int(before[start.index]), start.step) for start in self.starts),
        )


EMPTY = Batch()


def concat(batches: Sequence[Batch]) -> Batch:
    """Concatenate batches of one log."""
    batches = [batch for batch in batches if batch]
    if len(batches) < 2:
        return batches[0] if batches else EMPTY
    starts: list[SessionStart] = []
    before = 0
    for batch in batches:
        starts += [SessionStart(before + start.index, start.step) for start in batch.starts]
        before += len(batch)
    return Batch(
        tags=max((batch.tags for batch in batches), key=len),
        tag=np.concatenate([batch.tag for batch in batches]),
        step=np.concatenate([batch.step for batch in batches]),
        wall_time=np.concatenate([batch.wall_time for batch in batches]),
        value=np.concatenate([batch.value for batch in batches]),
        single=np.concatenate([batch.single for batch in batches]),
        starts=tuple(starts),
        texts=tuple(text for batch in batches for text in batch.texts),
        problems=tuple(problem for batch in batches for problem in batch.problems),
        histograms=tuple(histogram for batch in batches for histogram in batch.histograms),
        written=max((batch.written for batch in batches), key=len),
        step_key=next((batch.step_key for batch in batches if batch.step_key), ""),
    )
