"""Values of a metric at the recent steps of a run, and how they changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import Floats, Ints, median, quantile
from rltui.common.regex import regex
from rltui.draw.numbers import format_step, format_value
from rltui.panes.answers.answer_inputs import NO_INPUTS, AnswerInputs
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.rules.metric_roles import metric_roles
from rltui.session.time_travel import RunAtStep

if TYPE_CHECKING:
    from rltui.metrics.metric_name import MetricName
    from rltui.panes.answers.answer import Fact
    from rltui.session.run_view import RunView
    from rltui.store.points import Points

STEP = "timing.step"  # the metric of the time of a whole step
LAST = 20  # steps that "now" means, at most
APART = 0.25  # relative difference that a reader sees as another number
MONOTONE = 5  # values that rise or fall one after the other: noise does so once in 60 times
# The same in a short run, of which "now" is the last fifth: its level still changes with each step. Of fewer
# than twice as many points it is the last third: all of them together say nothing about now.
MIN_LAST = 5
BREAK = 3.0  # times the spread on either side: a level that is farther from the one before is a new one
ALMOST_NONE = "almost 0"  # the text of what is negligible
MIN_BROKEN = 3  # values: a single NaN may be a batch in which the quantity is undefined
HISTORY = 48  # values of a share over time
UNSTEADY = 1.0  # times the level: noise that hides changes of the level
# Numbers that tell copies of one environment apart, which are stepped in parallel; agents and tasks are none.
_NUMBER = regex(r"(?<=env)[-_]?\d+|(?<=envs)[-_]?\d+|(?<=rank)[-_]?\d+|(?<=worker)[-_]?\d+")
STEADY = 0.03  # a relative change of the median below which it is steady


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Finite values of one tag in canonical units, (n,), in step order, one per step and copy of it.

    broken: where all values from a step on are NaN or infinite, that step and what they are; else None.
    """

    tag: str
    step: Ints
    value: Floats
    broken: tuple[int, str] | None = None

    def at(self, steps: Ints) -> Floats:
        """The values at (m,) sorted steps; 0 at steps without one."""
        if len(self.step) == len(steps) and bool((self.step == steps).all()):
            return self.value.copy()  # phases of a step are mostly logged together
        out = np.zeros(len(steps))
        if len(self.step) and len(steps):
            position = np.minimum(np.searchsorted(self.step, steps), len(self.step) - 1)
            known = self.step[position] == steps
            out[known] = self.value[position[known]]
        return out

    def held(self, steps: Ints) -> Floats:
        """The values at (m,) sorted steps; at steps without one the value before, 0 before the first."""
        if not len(self.step):
            return np.zeros(len(steps))
        position = np.searchsorted(self.step, steps, "right") - 1
        return np.where(position >= 0, self.value[np.maximum(position, 0)], 0.0)

    def without_first(self, first: Ints) -> Values:
        """Without the first steps of the run's attempts, unless no others are left."""
        kept = self.step > first[0]
        for step in first[1:].tolist():  # a few: np.isin takes ten times as long for them
            kept &= self.step != step
        return replace(self, step=self.step[kept], value=self.value[kept]) if kept.any() else self

    @property
    def last(self) -> Floats:
        """The values that "now" means: since the newest jump of the level, if there is one among them."""
        count = len(self.value)
        if count < 2 * MIN_LAST:
            return self.value[-max(count // 3, 1) :]
        newest = self.value[-min(LAST, max(MIN_LAST, count // 5)) :]
        return newest[_newest_break(newest) :]

    @property
    def now(self) -> float:
        """The median of the last points."""
        return median(self.last)

    @property
    def change(self) -> float | None:
        """Relative change from the first points to `now`; 0 within noise, None if unknown.

        There is a change if the medians of the first and the last 20 points (in a short run: of its halves)
        differ by more than the interquartile range of either side, or these ranges do not overlap. It is
        unknown if the noise is as large as the level itself, and of values that are no longer finite.
        """
        if self.broken is not None or len(self.value) < 2 * MIN_LAST:
            return None
        count = min(LAST, len(self.value) // 2)
        before, after = self.value[:count], self.value[-count:]
        was, now = median(before), median(after)
        if not was > 0 or now < 0:  # no share says how far below zero it fell
            return None
        (early, late), (low, high) = (
            (quantile(part, 0.25), quantile(part, 0.75)) for part in (before, after)
        )
        spread, moved = max(late - early, high - low), abs(now - was)
        if moved >= STEADY * was and (moved >= spread or low > late or high < early):
            first = median(self.value[: len(self.last)])
            return self.now / first - 1 if first > 0 else now / was - 1
        return 0.0 if moved < STEADY * was or spread < UNSTEADY * max(was, now) else None

    def fact(
        self, title: str, unit: str, *, text: str = "", formula: str = "", in_sentence: bool = False
    ) -> Fact:
        """The median of the last points with its change; by default its text is the value with its unit."""
        from rltui.panes.answers.answer import Fact  # lists of runs need none

        steps = int(self.step[-1] - self.step[0]) if len(self.step) else 0
        text = text or format_value(self.now, unit)
        return Fact(title, self.now, text, self.change, steps, formula, in_sentence=in_sentence)


class RunValues:
    """What an answer is made of: a run up to a step (None: all of it), and data of files beside it.

    Points of a tag up to that step are those of `as_of`, as in rows: a tag may count something else.
    """

    def __init__(self, view: RunView, at_step: int | None = None, inputs: AnswerInputs = NO_INPUTS) -> None:
        self.view, self.at_step, self.inputs = view, at_step, inputs
        self.as_of = RunAtStep(view.run, at_step)

    def name(self, tag: str) -> MetricName:
        """The metric name of a tag."""
        return self.view.names.name(tag)

    def in_canonical_unit(self, tag: str, values: Floats) -> Floats:
        """Values of a tag (n,) in the unit of its metric, as written if that is not known."""
        name = self.name(tag)
        return values * name.scale + name.offset if name.comparable else values

    def tags(self, canonical: str) -> Sequence[str]:
        """The tags of a metric."""
        return self.view.tag_index.canonical.get(canonical, ())

    def points(self, tag: str) -> Points:
        """The exact recent points of a tag, finite or not, as written."""
        return self.as_of.points_of(self.view.run.series[tag])

    def of(self, tag: str) -> Values:
        """The exact recent values of a tag."""
        points = self.points(tag)
        kept = np.isfinite(points.value)
        steps, value = points.step[kept], points.value[kept]
        broken = _broken_end(points.step, points.value)
        if len(steps):
            newest = np.append(steps[1:] != steps[:-1], True)  # the newest of several points at a step
            steps, value = steps[newest], value[newest]
        return Values(tag, steps, self.in_canonical_unit(tag, value), broken)

    def find(self, canonical: str, *, near: str = "", of_part: bool = False) -> Values | None:
        """The values of a metric in training; None without any, or for an MFU that is always zero.

        Of several tags that which shares most folders with `near`, then the one with most points. of_part:
        take those of a part, such as an environment, where there are no others; of its copies all points.
        """
        names = [(tag, name) for tag in self.tags(canonical) if not (name := self.name(tag)).held_out]
        whole = [tag for tag, name in names if not name.part]
        candidates = [self.of(tag) for tag in whole or ([tag for tag, _ in names] if of_part else ())]
        best = max(
            (values for values in candidates if len(values.value)),
            key=lambda values: (_shared_folders(values.tag, near), len(values.value)),
            default=None,
        )
        if best is not None and canonical.startswith(metric_roles().zero_if_unknown):
            return best if best.value.any() else None
        if best is None or whole:
            return best
        numbered = set(self.numbered_like(best.tag))
        return _joined(best.tag, [values for values in candidates if values.tag in numbered])

    def never_finite(self, canonical: str) -> str:
        """`NaN` or `infinite`: what all recent values of a metric in training are; else empty.

        Empty for a metric that writers fill with NaN where there is no such quantity.
        """
        tags = [tag for tag in self.tags(canonical) if not self.name(tag).held_out]
        if canonical.startswith(metric_roles().nan_if_undefined):
            return ""
        found = [self.of(tag) for tag in tags]
        broken = next((values.broken for values in found if values.broken is not None), None)
        return "" if broken is None or any(len(values.value) for values in found) else broken[1]

    def numbered_like(self, tag: str) -> list[str]:
        """The tags of a metric in copies of the same environment, itself among them: `rank_0/env-3`."""
        name = self.name(tag)
        kind = _NUMBER.sub("#", name.part)
        others = [(each, self.name(each)) for each in self.tags(name.canonical or "")]
        return [
            each
            for each, other in others
            if other.held_out == name.held_out and _NUMBER.sub("#", other.part) == kind
        ]

    def find_all(self, listed: str) -> Iterator[tuple[str, Values]]:
        """Canonical id and values of each metric of a list in `answer_metrics` that is logged in training."""
        for canonical in answer_metrics().metrics[listed]:
            if (values := self.find(canonical)) is not None:
                yield canonical, values

    def find_first(self, listed: str) -> Values | None:
        """The values of the first of them; None without any."""
        return next((values for _, values in self.find_all(listed)), None)

    @property
    def first_steps(self) -> Ints:
        """The first steps of the run's attempts, at least one; compilation and warm-up make them slow."""
        span = self.view.run.span
        later = [attempt.first_step for attempt in self.view.run.attempts[1:]]
        return np.array([span[0] if span is not None else 0, *later], np.int64)


def _broken_end(steps: Ints, values: Floats) -> tuple[int, str] | None:
    """Since which step all of (n,) values are NaN or infinite, and which; None for few of them."""
    if not len(values) or np.isfinite(values[-1]):
        return None
    finite = np.flatnonzero(np.isfinite(values))
    first = int(finite[-1]) + 1 if len(finite) else 0
    word = "NaN" if np.isnan(values[-1]) else "infinite"
    return (int(steps[first]), word) if len(values) - first >= MIN_BROKEN else None


def _newest_break(values: Floats) -> int:
    """The index since which all of (n,) values are on one side of those before, and far from them; else 0.

    There are at least `MIN_LAST` on either side: that so many are beyond all others happens by chance once in
    a hundred times, and hardly ever `BREAK` times as far as both sides spread.
    """
    if len(values) < 2 * MIN_LAST:
        return 0
    low, high = np.minimum.accumulate(values)[:-1], np.maximum.accumulate(values)[:-1]
    lows, highs = (one.accumulate(values[::-1])[::-1][1:] for one in (np.minimum, np.maximum))
    for at in (np.flatnonzero((lows > high) | (highs < low)) + 1)[::-1].tolist():
        if MIN_LAST <= at <= len(values) - MIN_LAST:
            sides = values[:at], values[at:]
            was, now = map(median, sides)
            spread = max(quantile(side, 0.75) - quantile(side, 0.25) for side in sides)
            if abs(now - was) > max(BREAK * spread, APART * abs(was), APART * abs(now)):
                return int(at)
    return 0


def _joined(tag: str, parts: Sequence[Values]) -> Values:
    """The values of several tags in the order of their steps."""
    step = np.concatenate([values.step for values in parts])
    order = np.argsort(step, kind="stable")
    return Values(tag, step[order], np.concatenate([values.value for values in parts])[order])


def _shared_folders(tag: str, other: str) -> int:
    """The number of leading folders that two keys share."""
    pairs = zip(tag.split("/"), other.split("/"), strict=False)
    return next((at for at, (one, two) in enumerate(pairs) if one != two), 0)


def level_text(level: float, values: Values, text: Callable[[float], str]) -> str:
    """A level of recent points; with `about` where the last value, which rows show, reads differently.

    Where the last `MONOTONE` values lead far beyond all others, there is no one level: both are given. Of a
    quantity that is no longer finite it is the level before: `NaN (0.56 before step 127)`.
    """
    written, last = text(level), float(values.value[-1])
    if values.broken is not None:
        step, word = values.broken
        return f"{word} ({written} before step {format_step(step)})"
    if written in (text(last), ALMOST_NONE) or not any(map(str.isdigit, written)):
        return written
    steps = np.diff(values.last[-MONOTONE:])
    one_way = len(steps) == MONOTONE - 1 and bool((steps > 0).all() or (steps < 0).all())
    far = abs(last - level) > APART * max(abs(level), abs(last))
    if far and one_way and last in (values.last.min(), values.last.max()):
        return f"{text(last)}, on average {written} over the last {len(values.last)} points"
    return f"about {written}"


def binned(values: Floats) -> tuple[float, ...]:
    """Means of equal numbers of neighbouring values, at most `HISTORY` of them; NaN where all are NaN."""
    if not len(values):
        return ()
    edges = np.linspace(0, len(values), min(len(values), HISTORY) + 1).astype(int)[:-1]
    known = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.add.reduceat(np.where(known, values, 0.0), edges) / np.add.reduceat(
            known.astype(float), edges
        )
    return tuple(means.tolist())
