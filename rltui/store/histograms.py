"""The logged histograms of a run as quantiles by step, in bounded memory."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.logs.batch import QUANTILES, Histogram
from rltui.store.points import Points

KEPT = 256  # histograms of one tag, 88 bytes each
MAX_TAGS = 1024


class HistogramSeries:
    """The histograms of one tag by step.

    count: how many were logged. stride: of older ones about every `stride`-th is kept.
    """

    def __init__(self) -> None:
        self.stride = 1
        self.count = 0
        self._kept: list[tuple[Histogram, int]] = []  # by step, each with a unique number

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def first_step(self) -> int | None:
        """The lowest step."""
        return self._kept[0][0].step if self._kept else None

    @property
    def last_step(self) -> int | None:
        """The highest step."""
        return self._kept[-1][0].step if self._kept else None

    @property
    def last_wall(self) -> float:
        """Wall time of the last histogram; NaN unknown."""
        return self._kept[-1][0].wall_time if self._kept else math.nan

    @property
    def step(self) -> Ints:
        """(n,) rising steps."""
        return np.array([one.step for one, _ in self._kept], np.int64)

    def recent(self) -> Points:
        """Their medians as points, in step order."""
        return Points(*self.step_walls(), self.quantiles[:, QUANTILES.index(0.5)])

    def step_walls(self) -> tuple[Ints, Floats]:
        """(n,) steps that rise, and wall times."""
        return self.step, np.array([one.wall_time for one, _ in self._kept], np.float64)

    @property
    def quantiles(self) -> Floats:
        """(n, 7): a row per step, a column per entry of `rltui.logs.batch.QUANTILES`."""
        return np.array([one.quantiles for one, _ in self._kept], np.float64).reshape(-1, len(QUANTILES))

    def add(self, new: Histogram) -> None:
        """Add one. It supersedes those at its step and above that were written before it, as in a restart.

        Only steps and wall times are used, so the order in which logs are read does not matter. Without a
        wall time, the one that is added later counts as written later.
        """
        kept = self._kept
        before = bisect_right(kept, new.step, key=_step)
        if before and kept[before - 1][0].wall_time > new.wall_time:
            return
        later = [entry for entry in kept[before:] if entry[0].wall_time >= new.wall_time]
        kept[bisect_left(kept, new.step, key=_step) :] = [(new, self.count), *later]
        self.count += 1
        if len(kept) > KEPT:
            self.stride *= 2
            self._kept = [entry for entry in kept if entry[1] % self.stride == 0 or entry is kept[-1]]


class Histograms(dict[str, HistogramSeries]):
    """The histograms of a run by tag, of the first `MAX_TAGS` tags."""

    def add(self, histograms: Iterable[Histogram]) -> None:
        """Add histograms in the order of their log."""
        for histogram in histograms:
            if histogram.tag in self or len(self) < MAX_TAGS:
                self.setdefault(histogram.tag, HistogramSeries()).add(histogram)


def _step(entry: tuple[Histogram, int]) -> int:
    return entry[0].step
