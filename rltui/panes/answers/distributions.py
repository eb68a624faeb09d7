"""Distributions over steps: bands of logged extremes and quantiles, ridges of histograms and samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.logs.batch import QUANTILES
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer import Band, Ridge
from rltui.panes.answers.recent_values import RunValues

if TYPE_CHECKING:
    from rltui.logs.sample_layouts.sample import RunSamples, SampleHead

COLUMNS = 60  # stretches of steps that a band is told by
STRETCHES = 6  # that a ridge is told by
BINS = 32
NARROWEST = 1e-290  # range of values that is cut into bins; of a narrower one a float has no parts
SAMPLED_STEPS = 24  # of a ridge of samples: more say no more, and cost time at every update
SAMPLES = 512  # of a step
LEAST_VALUES = 4  # of a step, from which they are a distribution
# Ends and inner ends, the first pair that is logged; the names are statistics of the glossary.
ENDS = (("min", "max", "min–max"), ("p10", "p90", "p10–p90"))
INNER = ("p10", "p90", "p10–p90")
# Quantiles that are enough for the shape of a distribution, with the share of values below each.
SHAPE = (("min", 0.0), ("p10", 0.1), ("median", 0.5), ("p90", 0.9), ("max", 1.0))
SHARES = np.array(QUANTILES)


def band(run: RunValues, base: str) -> Band | None:
    """The band of a distribution (`lengths.response`); None where its ends are not logged."""
    tags = _statistics(run, base)
    if "mean" not in tags:
        return None
    first, last = _extent(run, list(tags.values()))
    if first is None or last is None or last <= first:
        return None

    def course(tag: str) -> tuple[float, ...]:
        name = run.name(tag)
        count = min(COLUMNS, last - first + 1)
        values = run.view.run.series[tag].columns(float(first), math.nextafter(last + 1.0, 0.0), count).mean
        return tuple((values * name.scale + name.offset if name.comparable else values).tolist())

    middle = course(tags["mean"])
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    words = ""
    for lower, upper, word in ENDS:
        if lower in tags and upper in tags:
            low, high, words = course(tags[lower]), course(tags[upper]), f"{word} ░"
            break
    inner: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    if INNER[0] in tags and INNER[1] in tags and not words.startswith(INNER[2]):
        inner, words = (course(tags[INNER[0]]), course(tags[INNER[1]])), f"{words}  {INNER[2]} ▒"
    elif "std" in tags:
        spread, mean = np.array(course(tags["std"])), np.array(middle)
        below, above = mean - spread, mean + spread
        if not words:
            low, high, words = tuple(below.tolist()), tuple(above.tolist()), "±std ░"
        else:
            below, above = np.fmax(below, np.array(low)), np.fmin(above, np.array(high))
            inner, words = (tuple(below.tolist()), tuple(above.tolist())), f"{words}  ±std ▒"
    ends = [value for value in (*low, *high) if math.isfinite(value)]
    if not words or not ends or max(ends) == min(ends):
        return None
    metric = glossary().metrics[f"{base}.mean"]
    return Band(
        metric.title, tags["mean"], f"{words}  mean █", metric.unit, (first, last), low, middle, high, *inner
    )  # fmt: skip


def _statistics(run: RunValues, base: str) -> dict[str, str]:
    """The tags of a distribution in training by statistic; those beside the mean are of the same writer."""
    mean = run.find(f"{base}.mean")
    if mean is None:
        return {}
    found = {"mean": mean.tag}
    for tag in run.view.tag_index.distribution_of(mean.tag):
        statistic = run.name(tag).statistic
        if statistic and run.view.run.series[tag].count:
            found.setdefault(statistic, tag)
    for name in ("p10", "median", "p90"):
        values = run.find(f"{base}.{name}")
        if values is not None and values.tag.rpartition("/")[0] == mean.tag.rpartition("/")[0]:
            found[name] = values.tag
    return found


def _extent(run: RunValues, tags: Sequence[str]) -> tuple[int, int] | tuple[None, None]:
    """The steps of some series, up to a step."""
    series = [run.view.run.series[tag] for tag in tags]
    first = min((one.first_step for one in series if one.first_step is not None), default=None)
    last = max((one.last_step for one in series if one.last_step is not None), default=None)
    if first is None or last is None:
        return None, None
    return first, last if run.at_step is None else min(last, run.at_step)


# ---- ridges


def quantile_ridge(run: RunValues, base: str) -> Ridge | None:
    """The ridge of a distribution whose extremes, median and tenths are logged at each step."""
    tags = _statistics(run, base)
    if any(name not in tags for name, _ in SHAPE):
        return None
    series = [run.of(tags[name]) for name, _ in SHAPE]
    steps = series[0].step
    for one in series[1:]:
        steps = np.intersect1d(steps, one.step)
    if not len(steps):
        return None
    table = np.stack([one.at(steps) for one in series], axis=1)
    metric = glossary().metrics[f"{base}.mean"]
    shares = np.array([share for _, share in SHAPE])
    return _ridge(metric.title, tags["mean"], metric.unit, steps.tolist(), table, shares, "logged quantiles")


def logged_ridges(run: RunValues, wanted: Callable[[str], bool]) -> Iterator[Ridge]:
    """The ridges of logged histograms whose tags are wanted."""
    for tag, series in run.view.run.histograms.items():
        if not len(series) or not wanted(tag):
            continue
        steps, table = series.step, series.quantiles
        if run.at_step is not None:
            table, steps = table[steps <= run.at_step], steps[steps <= run.at_step]
        if len(steps):
            name = run.name(tag)
            title = name.title if name.canonical is not None else tag
            made = _ridge(title, tag, "", steps.tolist(), table, SHARES, "logged histograms")
            if made is not None:
                yield made


def sample_ridge(
    samples: RunSamples | None, what: str, title: str, unit: str, at_step: int | None = None
) -> Ridge | None:
    """The ridge of a number of the samples (`reward`, `advantage`, `length`) in training."""
    if samples is None or not samples.by_step:
        return None
    known = _RIDGES.get((what, title))
    if known is None or known[0] is not samples or known[1] != at_step:
        known = _RIDGES[what, title] = (samples, at_step, _sample_ridge(samples, what, title, unit, at_step))
    return known[2]


# The last one of each kind: samples change at steps that are dumped, panes are drawn at every step.
_RIDGES: dict[tuple[str, str], tuple[RunSamples, int | None, Ridge | None]] = {}


def _sample_ridge(samples: RunSamples, what: str, title: str, unit: str, at_step: int | None) -> Ridge | None:
    by_step: dict[int, list[float]] = {}
    steps = [step for step in samples.by_step if at_step is None or step <= at_step]
    for step in [
        steps[at] for at in sorted({round(x) for x in np.linspace(0, len(steps) - 1, SAMPLED_STEPS)})
    ]:
        heads = samples.by_step[step][:SAMPLES]
        values = [
            value for head in heads if head.split == "train" and (value := _number(head, what)) is not None
        ]
        if len(values) >= LEAST_VALUES:
            by_step[step] = values
    if not by_step:
        return None
    steps, there = sorted(by_step), len(steps)
    table = np.array([np.quantile(np.array(by_step[step]), SHARES) for step in steps])

    def counts(part: Ints, edges: Floats) -> Floats:
        together = np.concatenate([np.array(by_step[steps[at]]) for at in part])
        return np.histogram(together, edges)[0].astype(np.float64)

    count = sum(len(values) for values in by_step.values())
    of = f" of {there:,}" if there > len(steps) else ""
    source = f"{count:,} samples of {len(steps):,}{of} steps"
    return _in_stretches(title, f"samples: {what}", unit, steps, table, counts, source)


def _number(head: SampleHead, what: str) -> float | None:
    value = {"reward": head.reward, "advantage": head.advantage, "length": head.length}[what]
    return float(value) if value is not None and math.isfinite(value) else None


def _ridge(
    title: str, tag: str, unit: str, steps: Sequence[int], table: Floats, shares: Floats, source: str
) -> Ridge | None:
    """A ridge of (n, q) quantiles at n steps: between two quantiles values are taken to lie evenly."""
    known = np.isfinite(table).all(axis=1)
    table, order = table[known], np.array(steps)[known]
    if not len(order):
        return None

    def means(part: Ints, edges: Floats) -> Floats:
        found: Floats = np.sum([_in_bins(table[at], shares, edges) for at in part], axis=0)
        return found

    return _in_stretches(title, tag, unit, order.tolist(), table, means, source)


def _in_stretches(
    title: str, tag: str, unit: str, steps: Sequence[int], table: Floats,
    weights: Callable[[Ints, Floats], Floats], source: str,
) -> Ridge | None:  # fmt: skip
    """A ridge between the extremes of (n, q) quantiles at n steps; None where nothing differs.

    weights: of (b) bins between (b + 1) edges, for a stretch of steps given by their (m,) places.
    """
    low, high = float(table[:, 0].min()), float(table[:, -1].max())
    if not high - low > NARROWEST:
        return None
    edges = np.linspace(low, high, BINS + 1)
    rows, spans = [], []
    for part in np.array_split(np.arange(len(steps)), min(STRETCHES, len(steps))):
        row = weights(part, edges)
        rows.append(tuple((row / row.sum()).tolist()))
        spans.append((steps[part[0]], steps[part[-1]]))
    return Ridge(title, tag, unit, low, high, tuple(spans), tuple(rows), source)


def _in_bins(quantiles: Floats, shares: Floats, edges: Floats) -> Floats:
    """The shares of values between (b + 1,) edges, given (q,) quantiles; equal quantiles are one value."""
    tiny = (edges[-1] - edges[0]) * 1e-9
    at = np.maximum.accumulate(quantiles) + tiny * np.arange(len(quantiles))
    inner = np.interp(edges[1:-1], at, shares, left=0.0, right=1.0)
    return np.diff(np.concatenate(([0.0], inner, [1.0])))
