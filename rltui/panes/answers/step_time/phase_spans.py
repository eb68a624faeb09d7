"""When each phase of a step ran, from its logged duration and the wall time of the step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.panes.answers.values.recent_values import STEP, RunValues
from rltui.rules.metric_roles import metric_roles

if TYPE_CHECKING:
    from rltui.session.run_view import RunView

COVERED = 0.85  # share of a step that known phases must make up, since the position of the rest is unknown
OVERLAP = 1.02  # phases that add up to more than so many steps run at the same time


@dataclass(frozen=True, slots=True, eq=False)
class PhaseSpans:
    """`begin` and `end` (n,), ascending, in seconds since 1970, of `phase` (n,), an index into `titles`."""

    titles: tuple[str, ...]
    begin: Floats
    end: Floats
    phase: Ints

    def at(self, times: Floats) -> Ints:
        """The phase at each of (m,) times; -1 if none is known."""
        if not len(self.begin):
            return np.full(len(times), -1)
        position = np.searchsorted(self.begin, times, "right") - 1
        inside = (position >= 0) & (times < self.end[np.maximum(position, 0)])
        return np.where(inside, self.phase[np.maximum(position, 0)], -1)


def phase_spans(run: RunValues) -> PhaseSpans | None:
    """The phases of recent steps on the axis of wall time.

    Phases are placed in the order in which trainers run them (`phase_order`), up to the wall time at which
    the step was logged. None if they overlap, make up too little of a step, or have no wall time.
    """
    steps = run.find(STEP)
    found = [
        (canonical, values)
        for canonical in metric_roles().phase_order
        if (values := run.find(canonical)) is not None
    ]
    if not found:
        return None
    axis = steps.step if steps is not None else found[0][1].step
    series = run.points(steps.tag if steps is not None else found[0][1].tag)
    if not len(series.step):
        return None
    position = np.maximum(np.searchsorted(series.step, axis, "right") - 1, 0)
    walls = np.where(series.step[position] == axis, series.wall_time[position], np.nan)
    seconds = np.array([values.at(axis) for _, values in found])
    seconds = _without_wholes(seconds, [canonical for canonical, _ in found])
    work = seconds.sum(axis=0)
    lengths = steps.value if steps is not None else work
    kept = np.isfinite(walls) & (lengths > 0) & (work <= OVERLAP * lengths) & (work >= COVERED * lengths)
    if kept.sum() < max(0.5 * len(axis), 2):
        return None
    ends = np.cumsum(seconds[:, kept], axis=0) + (walls - lengths)[kept]
    begins = ends - seconds[:, kept]
    numbers = np.repeat(np.arange(len(found))[:, None], int(kept.sum()), axis=1)
    order = np.argsort(begins, axis=None, kind="stable")
    begin, end, phase = begins.ravel()[order], ends.ravel()[order], numbers.ravel()[order]
    ran = end > begin
    titles = tuple(_title(run.view, values.tag) for _, values in found)
    return PhaseSpans(titles, begin[ran], end[ran], phase[ran])


def _without_wholes(seconds: Floats, canonical: list[str]) -> Floats:
    """The seconds of phases (p, n), with those of its parts subtracted from a phase that contains others."""
    out = seconds.copy()
    for whole, parts in answer_metrics().parts.items():
        if whole not in canonical:
            continue
        at = canonical.index(whole)
        inside = np.sum([seconds[canonical.index(part)] for part in parts if part in canonical], axis=0)
        out[at] = np.where(seconds[at] >= inside, seconds[at] - inside, seconds[at])
    return out


def _title(view: RunView, tag: str) -> str:
    name = view.names.name(tag)
    title = name.metric.title if name.metric is not None else name.title
    return title.removesuffix(" time")
