"""Values of a metric at the recent steps of a run, the first step left out, and how they moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import Floats, Ints, median, quantile
from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_value
from rltui.panes.answers.answer import Fact
from rltui.panes.answers.answer_inputs import NO_INPUTS, AnswerInputs
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.rules.special_metrics import special_metrics

if TYPE_CHECKING:
    from rltui.metrics.metric_name import MetricName
    from rltui.session.run_view import RunView

LAST = 20  # steps that "now" means, at most
LEAST = 5  # the same in a short run, of which it is the last fifth: its level still moves from step to step
HISTORY = 48  # values that a share over time is told by
MOSTLY_GONE = -0.95  # a change from which on percent say less than times
UNSTEADY = 1.0  # times the level: noise that hides what the level does
STEADY = 0.03  # a smaller relative change of the median is none


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Finite values of one tag in canonical units, (n,) each, one for a step, in step order."""

    tag: str
    step: Ints
    value: Floats

    def at(self, steps: Ints) -> Floats:
        """The values at (m,) sorted steps; 0 where there is none."""
        if len(self.step) == len(steps) and bool((self.step == steps).all()):
            return self.value.copy()  # phases of a step are mostly logged together
        out = np.zeros(len(steps))
        if len(self.step) and len(steps):
            place = np.minimum(np.searchsorted(self.step, steps), len(self.step) - 1)
            there = self.step[place] == steps
            out[there] = self.value[place[there]]
        return out

    def held(self, steps: Ints) -> Floats:
        """The values at (m,) sorted steps; where there is none the one before, 0 before the first."""
        if not len(self.step):
            return np.zeros(len(steps))
        place = np.searchsorted(self.step, steps, "right") - 1
        return np.where(place >= 0, self.value[np.maximum(place, 0)], 0.0)

    def without_first(self, first: Ints) -> Values:
        """Without the first steps of the attempts of the run, unless nothing else is left."""
        kept = self.step > first[0]
        for one in first[1:].tolist():  # a few: np.isin takes ten times as long for them
            kept &= self.step != one
        return Values(self.tag, self.step[kept], self.value[kept]) if kept.any() else self

    @property
    def last(self) -> Floats:
        """The values that "now" means."""
        return self.value[-min(LAST, max(LEAST, len(self.value) // 5)) :]

    @property
    def now(self) -> float:
        """The median of the last points."""
        return median(self.last)

    @property
    def change(self) -> float | None:
        """Relative change from the first points to `now`; 0 within noise, None unknown.

        It counts where the medians of the first and the last 20 points (of a short run: of its halves)
        differ by more than the distance of the quartiles of either side, or the quartiles lie apart. Noise
        that is as large as the level itself hides whether there is a change.
        """
        if len(self.value) < 2 * LEAST:
            return None
        count = min(LAST, len(self.value) // 2)
        before, after = self.value[:count], self.value[-count:]
        was, now = median(before), median(after)
        if not was > 0:
            return None
        (early, late), (low, high) = (
            (quantile(part, 0.25), quantile(part, 0.75)) for part in (before, after)
        )
        spread, moved = max(late - early, high - low), abs(now - was)
        if moved >= STEADY * was and (moved >= spread or low > late or high < early):
            first = median(self.value[: len(self.last)])
            return self.now / first - 1 if first > 0 else now / was - 1
        return 0.0 if moved < STEADY * was or spread < UNSTEADY * max(was, now) else None


class RunValues(NamedTuple):
    """What an answer is made of: a run up to a step (None: all of it), and what files beside its logs say."""

    view: RunView
    at_step: int | None = None
    inputs: AnswerInputs = NO_INPUTS

    def name(self, tag: str) -> MetricName:
        """What a tag means."""
        return self.view.names.name(tag)

    def tags(self, canonical: str) -> Sequence[str]:
        """The tags of a metric."""
        return self.view.tag_index.canonical.get(canonical, ())

    def of(self, tag: str) -> Values:
        """The exact recent values of a tag."""
        name, points = self.name(tag), self.view.run.series[tag].recent()
        kept = np.isfinite(points.value)
        if self.at_step is not None:
            kept &= points.step <= self.at_step
        steps, value = points.step[kept], points.value[kept]
        if len(steps):
            newest = np.append(steps[1:] != steps[:-1], True)  # of several points at a step the newest
            steps, value = steps[newest], value[newest]
        if name.comparable:
            value = value * name.scale + name.offset
        return Values(tag, steps, value)

    def find(self, canonical: str, *, near: str = "") -> Values | None:
        """The values of a metric in training; None without any, or for an MFU that is always zero.

        Of several tags the one that begins like `near`, then the one with most points.
        """
        names = ((tag, self.name(tag)) for tag in self.tags(canonical))
        found = [self.of(tag) for tag, name in names if not name.held_out and not name.part]
        best = max(
            (one for one in found if len(one.value)),
            key=lambda one: (_alike(one.tag, near), len(one.value)),
            default=None,
        )
        if best is not None and canonical.startswith(special_metrics().zero_if_unknown):
            return best if best.value.any() else None
        return best

    def find_all(self, listed: str) -> Iterator[tuple[str, Values]]:
        """Canonical id and values of the metrics of a list of `answer_metrics` that it has in training."""
        for canonical in answer_metrics().metrics[listed]:
            if (values := self.find(canonical)) is not None:
                yield canonical, values

    def find_first(self, listed: str) -> Values | None:
        """The values of the first of these; None without any."""
        return next((values for _, values in self.find_all(listed)), None)

    @property
    def first_steps(self) -> Ints:
        """The first steps of its attempts, which compilation and warm-up make slow; at least one."""
        span = self.view.run.span
        later = [attempt.first_step for attempt in self.view.run.attempts[1:]]
        return np.array([span[0] if span is not None else 0, *later], np.int64)


def _alike(tag: str, other: str) -> int:
    """How many of their first parts two keys share."""
    pairs = zip(tag.split("/"), other.split("/"), strict=False)
    return next((at for at, (one, two) in enumerate(pairs) if one != two), 0)


def fact(title: str, values: Values, unit: str, *, formula: str = "") -> Fact:
    """The median of the last points with its change."""
    steps = int(values.step[-1] - values.step[0]) if len(values.step) else 0
    return Fact(title, values.now, format_value(values.now, unit), values.change, steps, formula)


def times_text(factor: float) -> str:
    """`2.5`, `12`, `2,160`: a factor in three digits."""
    return f"{factor:.3g}" if factor < 1000 else f"{float(f'{factor:.3g}'):,.0f}"


def trend_text(one: Fact, *, in_words: bool = False, steps: bool = True) -> str:
    """`+21 % over 60 steps`, in words `up 21 %`; `up 12-fold` where percent say less; `steady`; else empty.

    steps: whether it is said over how many.
    """
    change = one.change
    if not change:
        return "" if change is None else "steady"
    direction = "up" if change > 0 else "down"
    if change >= 2 or -1 < change <= MOSTLY_GONE:
        text = f"{direction} {times_text(change + 1 if change > 0 else 1 / (1 + change))}-fold"
    else:
        text = f"{direction} {100 * abs(change):.0f} %" if in_words else f"{100 * change:+.0f} %"
    return f"{text} over {one.change_steps:,} steps" if steps else text


def binned(values: Floats) -> tuple[float, ...]:
    """Means of equal numbers of neighbours, at most `HISTORY` of them; NaN where none is known."""
    if not len(values):
        return ()
    edges = np.linspace(0, len(values), min(len(values), HISTORY) + 1).astype(int)[:-1]
    known = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.add.reduceat(np.where(known, values, 0.0), edges) / np.add.reduceat(
            known.astype(float), edges
        )
    return tuple(means.tolist())
