"""What a metric did over its whole run: where it began, where it was best, and where it is."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rltui.common.arrays import Floats, median
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_step
from rltui.panes.answers.recent_values import RunValues

PARTS = 20  # equal stretches of steps that a run is cut into, at most
ENDS = 2  # stretches that the start and the end are the mean of: a tenth of the run each, at least
OPENING = 3  # parts of the first tenth that tell whether the run began elsewhere and left at once
LEAST = 10  # stretches with points from which on a start is told from an end
BEYOND = 3.0  # times the noise of a mean of a stretch: a larger distance is a change
STEADY = 0.1  # times the level: smaller noise than that hides no change worth a word


class SinceStart(NamedTuple):
    """Means of the first and of the last tenth of a run's steps, in canonical units.

    start: of the first steps alone where the run went farther within its first tenth than after it.
    highest: the highest mean of a twentieth behind the first tenth; highest_step: where that begins,
    rounded to the length of one.
    noise: the standard deviation of a mean of a twentieth, from the differences of neighbours, which a slow
    change does not widen.
    """

    start: float
    end: float
    highest: float
    highest_step: int
    noise: float

    @property
    def moved(self) -> bool:
        """Whether the end is farther from the start than noise explains."""
        return abs(self.end - self.start) > BEYOND * self.noise

    @property
    def steady(self) -> bool:
        """Whether it stayed where it was, and noise would not hide that it did not."""
        return not self.moved and BEYOND * self.noise <= STEADY * max(abs(self.start), abs(self.end))

    @property
    def fallen(self) -> bool:
        """Whether the end is below the highest mean by more than noise and a tenth of what was gained."""
        gap, gained = self.highest - self.end, self.highest - self.start
        return gap > max(BEYOND * self.noise, 0.1 * gained, 0.0)

    def words(self, now: float, text: Callable[[float], str], *, more_is_better: bool = False) -> str:
        """`up from 12.3 at the start`; `steady`; empty where noise hides what it does.

        now: the value that is said before these words; where outliers carried the mean of the end to the
        other side of the start than it, nothing is said. text: how values are written. more_is_better: `below
        its best of 890 around step 410,000`, where it fell since.
        """
        if more_is_better and self.fallen and self.highest > self.start + BEYOND * self.noise:
            best = f"below its best of {text(self.highest)} around step {format_step(self.highest_step)}"
            return f"{best} ({text(self.start)} at the start)"
        if not self.moved:
            return "steady" if self.steady else ""
        if (now > self.start) != (self.end > self.start) or text(now) == text(self.start):
            return ""
        return f"{'up' if now > self.start else 'down'} from {text(self.start)} at the start"


def since_start(run: RunValues, tag: str) -> SinceStart | None:
    """What a tag did up to a step; None with too few points, or all of them at one step."""
    series, name = run.view.run.series[tag], run.name(tag)
    first, last = series.first_step, series.last_step
    if first is None or last is None:
        return None
    last = last if run.at_step is None else min(last, run.at_step)
    parts = min(PARTS, last - first + 1)
    if parts < LEAST:
        return None
    cut = series.columns(float(first), math.nextafter(last + 1.0, -math.inf), parts)
    known = cut.count > 0
    if int(known.sum()) < LEAST:
        return None
    scale, offset = (name.scale, name.offset) if name.comparable else (1.0, 0.0)
    mean = cut.mean * scale + offset
    there = mean[known]
    noise = _noise(there)
    at = int(known.nonzero()[0][ENDS + int(np.argmax(there[ENDS:]))])
    width = (last + 1 - first) / parts
    digits = -max(int(math.log10(width)), 0)
    start, end = float(np.mean(there[:ENDS])), float(np.mean(there[-ENDS:]))
    early = series.columns(float(first), first + ENDS * width, parts).mean * scale + offset
    early = early[np.isfinite(early)]
    opening = median(early[:OPENING])
    left = abs(opening - start)
    if left > max(BEYOND * noise, BEYOND * _noise(early), STEADY * abs(start), abs(end - start)):
        start = opening
    return SinceStart(start, end, float(mean[at]), round(int(cut.edges[at]), digits), noise)


def _noise(means: Floats) -> float:
    """The standard deviation of (n,) means, from the differences of neighbours; 0 for a single one."""
    return median(np.abs(np.diff(means))) / (0.6745 * math.sqrt(2)) if len(means) > 1 else 0.0
