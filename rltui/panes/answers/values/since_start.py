"""How a metric changed over a whole run: its level at the start, at its best, and at the end."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rltui.common.arrays import Floats, median
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_short, format_step
from rltui.panes.answers.values.recent_values import RunValues

PARTS = 20  # equal intervals of steps that a run is divided into, at most
ENDS = 2  # intervals that the start and the end are the mean of: at least a tenth of the run each
OPENING = 3  # parts of the first tenth, whose median shows whether the level changed within it
MIN_PARTS = 10  # intervals with points, from which start and end are compared
BEYOND_NOISE = 3.0  # times the noise of a mean of an interval: a larger distance is a change
NEAR = 0.2  # times the level: a larger distance is not called no change, even within noise
SAME = 0.005  # times the level: a smaller change is none to a reader, however little noise there is
TOO_FEW = "with too few points to tell a trend"  # what is said of an outcome
STEADY = 0.1  # times the level: smaller noise hides no relevant change


class SinceStart(NamedTuple):
    """Means of the first and of the last tenth of a run's steps, in canonical units.

    start: of the first steps only, if the level changed more within the first tenth than after it.
    highest, lowest: the highest and the lowest mean of an interval after the first tenth; highest_step,
    lowest_step: where these begin, rounded to the length of an interval.
    noise: the standard deviation of a mean of an interval, from differences of neighbours, on which slow
    changes have no influence.
    first_values: lowest and highest of the first parts of the first tenth, or of the first ones with values.
    """

    start: float
    end: float
    highest: float
    highest_step: int
    lowest: float
    lowest_step: int
    noise: float
    first_values: tuple[float, float]

    @property
    def moved(self) -> bool:
        """Whether the end is farther from the start than noise explains."""
        return abs(self.end - self.start) > BEYOND_NOISE * self.noise

    @property
    def steady(self) -> bool:
        """Whether it did not change, and the noise is too small to hide a change."""
        return not self.moved and BEYOND_NOISE * self.noise <= STEADY * max(abs(self.start), abs(self.end))

    @property
    def near_start(self) -> bool:
        """Whether the end is about as high as the start, whatever noise could explain."""
        return abs(self.end - self.start) <= NEAR * max(abs(self.start), abs(self.end))

    @property
    def fallen(self) -> bool:
        """Whether the end is below the highest mean by more than noise and a tenth of the gain."""
        gap, gained = self.highest - self.end, self.highest - self.start
        return gap > max(BEYOND_NOISE * self.noise, 0.1 * gained, 0.0)

    @property
    def returned(self) -> bool:
        """Whether the end is about the start, and the lowest mean farther below both than noise gets."""
        below = min(self.start, self.end) - self.lowest
        return not self.moved and below > 2 * BEYOND_NOISE * self.noise

    def began_at(self, level: float) -> bool:
        """Whether its first values are about a level.

        The level before an early onset may be an extreme, which it reached on the way from another start.
        """
        low, high = self.first_values
        nearest = min(max(level, low), high)
        return abs(level - nearest) <= NEAR * max(abs(level), abs(nearest))

    def words(self, now: float, text: Callable[[float], str], *, more_is_better: bool = False) -> str:
        """`up from 12.3 at the start`; `steady`; empty, or said of an outcome, if noise hides a change.

        now: the value that precedes this text; it is empty if `now` and the mean of the end, which may have
        outliers, are on different sides of the start. text: formats values. more_is_better: an outcome, of
        which a fall is reported, `below its best of 890 around step 410,000`, a way back from one, and that
        noise hides changes.
        """
        if more_is_better and self.fallen and self.highest > self.start + BEYOND_NOISE * self.noise:
            best = f"below its best of {text(self.highest)} around step {format_step(self.highest_step)}"
            return f"{best} ({text(self.start)} at the start)"
        if more_is_better and self.returned:
            worst = f"up from {text(self.lowest)} around step {format_step(self.lowest_step)}"
            return f"{worst} ({text(self.start)} at the start)"
        if not self.moved:
            if self.steady:
                return "steady"
            if not more_is_better:
                return ""
            return "no change beyond its noise" if self.near_start else "too noisy to tell a trend"
        if (now > self.start) != (self.end > self.start) or text(now) == text(self.start):
            return ""
        if abs(now - self.start) < SAME * max(abs(now), abs(self.start)):
            return "steady"
        return f"{'up' if now > self.start else 'down'} from {text(self.start)} at the start"


def change_since_start(
    run: RunValues, tag: str, now: float, text: Callable[[float], str], *, more_is_better: bool = False
) -> str:
    """The text of `SinceStart.words` for a tag; empty if it is no longer finite, or has too few points.

    Of an outcome that has too few points this is said.
    """
    if run.of(tag).broken is not None:
        return ""
    change = since_start(run, tag)
    if change is None:
        return TOO_FEW if more_is_better else ""
    told = _start_in_findings(run, tag, change)
    return (change if told is None else change._replace(start=told)).words(
        now, text, more_is_better=more_is_better
    )


def _start_in_findings(run: RunValues, tag: str, change: SinceStart) -> float | None:
    """The level at the start that a finding on a tag states: a reader must not see two.

    That is what its message says of the start, or the level before an onset within the first tenth of the run
    if it is farther from the end than the mean of that tenth, which has values after the onset among them,
    and if the first values say so.
    """
    first, last = run.view.run.series[tag].first_step, run.view.run.series[tag].last_step
    if run.at_step is not None or first is None or last is None:
        return None
    early = first + (last - first) * ENDS / PARTS
    gap = abs(change.start - change.end) + SAME * max(abs(change.start), abs(change.end))
    return next(
        (
            evidence.before
            for finding in run.view.evaluator.findings()
            for evidence in finding.evidence
            if evidence.name == tag
            and evidence.before is not None
            and (
                (
                    evidence.since_step <= early
                    and abs(evidence.before - change.end) > gap
                    and change.began_at(evidence.before)
                )
                or f"{format_short(evidence.before)} at the start" in finding.message
            )
        ),
        None,
    )


def since_start(run: RunValues, tag: str) -> SinceStart | None:
    """How a tag changed up to a step; None with too few points, or all of them at one step."""
    series = run.view.run.series[tag]
    first, last = series.first_step, run.as_of.last_step_of(series)
    if first is None or last is None:
        return None
    parts = min(PARTS, last - first + 1)
    if parts < MIN_PARTS:
        return None
    cut = series.columns_of_steps(first, last, parts)
    known = cut.count > 0
    if int(known.sum()) < MIN_PARTS:
        return None
    mean = run.in_canonical_unit(tag, cut.mean)
    means = mean[known]
    noise = _noise(means)
    best, worst = (int(known.nonzero()[0][ENDS + int(at(means[ENDS:]))]) for at in (np.argmax, np.argmin))
    width = (last + 1 - first) / parts
    digits = -max(int(math.log10(width)), 0)
    start, end = float(np.mean(means[:ENDS])), float(np.mean(means[-ENDS:]))
    early = run.in_canonical_unit(tag, series.columns(float(first), first + ENDS * width, parts).mean)
    early = early[np.isfinite(early)]
    opening = median(early[:OPENING])
    first_values = (early if len(early) else means)[:OPENING]  # the values may be NaN until then
    if abs(opening - start) > max(
        BEYOND_NOISE * noise, BEYOND_NOISE * _noise(early), STEADY * abs(start), abs(end - start)
    ):
        start = opening
    (highest, best_step), (lowest, worst_step) = (
        (float(mean[at]), round(int(cut.edges[at]), digits)) for at in (best, worst)
    )
    opened = float(first_values.min()), float(first_values.max())
    return SinceStart(start, end, highest, best_step, lowest, worst_step, noise, opened)


def _noise(means: Floats) -> float:
    """The standard deviation of (n,) means, from the differences of neighbours; 0 for a single one."""
    return median(np.abs(np.diff(means))) / (0.6745 * math.sqrt(2)) if len(means) > 1 else 0.0
