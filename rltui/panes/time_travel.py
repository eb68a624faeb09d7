"""The moment that boards show: now or an earlier step, and where it lies for tags with steps of their own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rltui.session.session import RunView
    from rltui.store import Series

NEVER = -(1 << 63)  # a step before all others: nothing was there yet, as far as anybody knows


def span_of(view: RunView) -> tuple[int, int]:
    """First and last step of the run; the last is what its tags agree on, not that of a lone other axis."""
    span, last = view.run.span, view.run.last_step
    return (0, 0) if span is None or last is None else (min(span[0], last), last)


def own_axis(series: Series, span: tuple[int, int]) -> bool:
    """Whether a tag counts something else than the run's steps (first and last), such as seconds or epochs.

    A tag that started late or fell silent does not: its steps lie within the run's. This is a fact of the
    run, whatever part of it and whatever moment is shown.
    """
    last = series.last_step
    if last is None:
        return False
    width = span[1] - span[0]
    return last < span[0] or (series.count > 2 and width > 0 and last > span[1] + width)


class ShownMoment:
    """Now, or an earlier step of a run."""

    def __init__(self, view: RunView, at_step: int | None) -> None:
        self.view = view
        self.at_step = at_step
        self.span = span_of(view)
        self._wall: float | None = None

    def of(self, series: Series) -> tuple[bool, int | None]:
        """Whether a series has steps of its own, and the moment on its axis; None is now."""
        alone = own_axis(series, self.span)
        if self.at_step is None or not alone:
            return alone, self.at_step
        points = series.recent()
        there = np.flatnonzero(points.wall_time <= self.wall)
        return True, int(points.step[there[-1]]) if len(there) else NEVER

    def knows(self, series: Series) -> bool:
        """Whether a series had begun by then."""
        if self.at_step is None:
            return True
        at_step, first = self.of(series)[1], series.first_step
        return first is None or at_step is None or first <= at_step

    @property
    def wall(self) -> float:
        """When the moment was, seconds since 1970; NaN when no tag remembers it."""
        if self._wall is None:
            self._wall = self._find_wall()
        return self._wall

    def _find_wall(self) -> float:
        at_step = self.at_step
        for series in self.view.run.series.values():
            last = series.last_step
            if at_step is None or last is None or last < at_step or series.exact_from > at_step:
                continue
            if own_axis(series, self.span):
                continue
            points = series.recent()
            end = int(np.searchsorted(points.step, at_step, "right"))
            if end and math.isfinite(wall := float(points.wall_time[end - 1])):
                return wall
        return math.nan
