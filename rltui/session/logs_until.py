"""Logs as they were when their runs were at a step: deliveries without what was logged after it.

Only all points of a run tell which of its tags count something other than its steps, and when it was at the
step. So the logs are read twice: first for that, then for the points that were there.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import numpy as np

from rltui.common.arrays import Bools
from rltui.common.named_tuple import NamedTuple
from rltui.logs.batch import Batch, Histogram, Text
from rltui.logs.delivery import Delivery
from rltui.session.time_travel import Logged, RunAtStep
from rltui.store.points import HIGHEST
from rltui.store.run import Run
from rltui.store.store import UNFOCUSED_SLOTS, UNFOCUSED_WINDOW, Store


class _Moment(NamedTuple):
    """When a run was at a step, and its tags that count something else and are cut by that time."""

    step: int
    wall_time: float = math.nan
    own_axes: frozenset[str] = frozenset()

    def had(self, one: Text | Histogram) -> bool:
        """Whether a text or a histogram was there by then."""
        return one.wall_time <= self.wall_time if one.tag in self.own_axes else one.step <= self.step

    def counts_else(self, batch: Batch) -> Bools:
        """Which points of a batch are of tags that count something else."""
        if not self.own_axes:
            return np.zeros(len(batch), np.bool_)
        return np.array([tag in self.own_axes for tag in batch.tags], np.bool_)[batch.tag]


class LogsUntil:
    """The logs of runs up to a step; all of a run that ends by then.

    deliveries: all that will be cut, once before. next_steps: by run, the first step that was left out.
    """

    def __init__(
        self, deliveries: Iterable[Delivery], step: int, progress: Callable[[Delivery], None] | None = None
    ) -> None:
        self.step = step
        self.next_steps: dict[str, int] = {}
        whole, early = (Store(UNFOCUSED_WINDOW, UNFOCUSED_SLOTS) for _ in range(2))
        by_count = _Moment(step)
        for delivery in deliveries:
            if delivery.source.run:
                whole.apply(delivery)
                early.apply(delivery._replace(batch=_cut(delivery.batch, by_count)))
            if progress is not None:
                progress(delivery)
        self._moments = {name: _moment(run, early.runs[name], step) for name, run in whole.runs.items()}

    def cut(self, delivery: Delivery) -> Delivery:
        """A delivery without what was logged after its run was at the step."""
        name, batch = delivery.source.run, delivery.batch
        moment = self._moments.get(name, _Moment(self.step))  # of a run that has just begun, by its counts
        if moment is None:
            return delivery
        later = batch.step[(batch.step > self.step) & ~moment.counts_else(batch)]
        if len(later):
            self.next_steps[name] = min(int(later.min()), self.next_steps.get(name, HIGHEST))
        return delivery._replace(batch=_cut(batch, moment))


def _moment(run: Run, early: Run, step: int) -> _Moment | None:
    """The moment at which a run was at a step; None for now. early: the run up to that step."""
    as_of = RunAtStep(run, step, early)
    if as_of.at_step is None:
        return None
    logged: Iterator[tuple[str, Logged]] = chain(run.series.items(), run.histograms.items())
    own_axes = frozenset(tag for tag, series in logged if as_of.by_wall_time(series))
    return _Moment(step, as_of.wall_time, own_axes)


def _cut(batch: Batch, moment: _Moment) -> Batch:
    """A batch without points, starts, texts and histograms after a moment."""
    own = moment.counts_else(batch)
    kept = batch.where(np.where(own, batch.wall_time <= moment.wall_time, batch.step <= moment.step))
    return dataclasses.replace(
        kept,
        starts=tuple(start for start in kept.starts if start.step <= moment.step),
        texts=tuple(filter(moment.had, kept.texts)),
        histograms=tuple(filter(moment.had, kept.histograms)),
    )
