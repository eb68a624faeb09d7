"""Distributions over steps: bands of logged extremes and quantiles, ridges of histograms and samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import Floats, Ints, in_both, quantiles
from rltui.logs.batch import QUANTILES
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer import Band, Ridge
from rltui.panes.answers.values.recent_values import RunValues

if TYPE_CHECKING:
    from rltui.run_context.samples.run_samples import RunSamples

COLUMNS = 60  # intervals of steps of a band
INTERVALS = 6  # of steps, of a ridge
BINS = 32
NARROWEST = 1e-290  # range of values that is divided into bins; floats cannot divide a narrower one
SAMPLED_STEPS = 24  # of a ridge of samples: more show no more, and cost time at each update
SAMPLES = 512  # of a step
MIN_VALUES = 4  # of a step, from which they are a distribution
# Ends and inner ends, the first pair that is logged; the names are statistics of the glossary.
ENDS = (("min", "max", "min–max"), ("p10", "p90", "p10–p90"))
INNER = ("p10", "p90", "p10–p90")
# Quantiles from which a ridge can be made, with the share of values below each.
SHAPE = (("min", 0.0), ("p10", 0.1), ("median", 0.5), ("p90", 0.9), ("max", 1.0))
SHARES = np.array(QUANTILES)


def band(run: RunValues, base: str) -> Band | None:
    """The band of a distribution (`lengths.response`); None if its ends are not logged."""
    tags = _statistics(run, base)
    if "mean" not in tags:
        return None
    first, last = _steps(run, list(tags.values()))
    if first is None or last is None or last <= first:
        return None

    def means(tag: str) -> tuple[float, ...]:
        count = min(COLUMNS, last - first + 1)
        values = run.view.run.series[tag].columns_of_steps(first, last, count).mean
        return tuple(run.in_canonical_unit(tag, values).tolist())

    middle = means(tags["mean"])
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    words = ""
    for lower, upper, word in ENDS:
        if lower in tags and upper in tags:
            low, high, words = means(tags[lower]), means(tags[upper]), f"{word} ░"
            break
    inner: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    if INNER[0] in tags and INNER[1] in tags and not words.startswith(INNER[2]):
        inner, words = (means(tags[INNER[0]]), means(tags[INNER[1]])), f"{words}  {INNER[2]} ▒"
    elif "std" in tags:
        spread, mean = np.array(means(tags["std"])), np.array(middle)
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
    """The tags of a distribution in training by statistic: the mean, and those logged together with it."""
    mean = run.find(f"{base}.mean")
    if mean is None:
        return {}
    tags = {"mean": mean.tag}
    for tag in run.view.tag_index.distribution_of(mean.tag):
        statistic = run.name(tag).statistic
        if statistic and run.view.run.series[tag].count:
            tags.setdefault(statistic, tag)
    for name in ("p10", "median", "p90"):
        values = run.find(f"{base}.{name}")
        if values is not None and values.tag.rpartition("/")[0] == mean.tag.rpartition("/")[0]:
            tags[name] = values.tag
    return tags


def _steps(run: RunValues, tags: Sequence[str]) -> tuple[int, int] | tuple[None, None]:
    """The first and the last step of some series, up to the step shown."""
    series = [one for tag in tags if (one := run.view.run.series[tag]).count]
    first = min((one.first_step for one in series if one.first_step is not None), default=None)
    last = max((step for one in series if (step := run.as_of.last_step_of(one)) is not None), default=None)
    return (None, None) if first is None or last is None else (first, last)


# ---- ridges


def quantile_ridge(run: RunValues, base: str) -> Ridge | None:
    """The ridge of a distribution whose extremes, median and deciles are logged."""
    tags = _statistics(run, base)
    if any(name not in tags for name, _ in SHAPE):
        return None
    series = [run.of(tags[name]) for name, _ in SHAPE]
    steps = series[0].step
    for one in series[1:]:
        steps = in_both(steps, one.step)
    if not len(steps):
        return None
    table = np.stack([one.at(steps) for one in series], axis=1)
    metric = glossary().metrics[f"{base}.mean"]
    shares = np.array([share for _, share in SHAPE])
    return _ridge(metric.title, tags["mean"], metric.unit, steps.tolist(), table, shares, "logged quantiles")


def logged_ridges(run: RunValues, wanted: Callable[[str], bool]) -> Iterator[Ridge]:
    """The ridges of logged histograms; wanted: a predicate of tags."""
    for tag, series in run.view.run.histograms.items():
        if not len(series) or not wanted(tag):
            continue
        steps = run.as_of.points_of(series).step
        table = series.quantiles[: len(steps)]
        if len(steps):
            name = run.name(tag)
            title = name.title if name.canonical is not None else tag
            ridge = _ridge(title, tag, "", steps.tolist(), table, SHARES, "logged histograms")
            if ridge is not None:
                yield ridge


def sample_ridge(
    samples: RunSamples | None, number: str, title: str, unit: str, at_step: int | None = None
) -> Ridge | None:
    """The ridge of a number of the samples (`reward`, `advantage`, `length`) in training."""
    if samples is None or not samples.by_step:
        return None
    cached = _RIDGES.get((number, title))
    if cached is None or cached[0] is not samples or cached[1] != at_step:
        ridge = _sample_ridge(samples, number, title, unit, at_step)
        cached = _RIDGES[number, title] = (samples, at_step, ridge)
    return cached[2]


# The last one of each kind, which takes 5 ms: panes are drawn more often than samples change.
_RIDGES: dict[tuple[str, str], tuple[RunSamples, int | None, Ridge | None]] = {}


def _sample_ridge(
    samples: RunSamples, number: str, title: str, unit: str, at_step: int | None
) -> Ridge | None:
    by_step: dict[int, list[float]] = {}
    steps = [step for step in samples.by_step if at_step is None or step <= at_step]
    for at in sorted({round(x) for x in np.linspace(0, len(steps) - 1, SAMPLED_STEPS)} if steps else ()):
        heads = samples.by_step[steps[at]][:SAMPLES]
        numbers = [getattr(head, number) for head in heads if head.split == "train"]
        values = [float(value) for value in numbers if value is not None and math.isfinite(value)]
        if len(values) >= MIN_VALUES:
            by_step[steps[at]] = values
    if not by_step:
        return None
    steps, all_steps = sorted(by_step), len(steps)
    table = np.array([quantiles(by_step[step], QUANTILES) for step in steps])

    def counts(part: Ints, edges: Floats) -> Floats:
        together = np.concatenate([np.array(by_step[steps[at]]) for at in part])
        return np.histogram(together, edges)[0].astype(np.float64)

    count = sum(len(values) for values in by_step.values())
    of = f" of {all_steps:,}" if all_steps > len(steps) else ""
    source = f"{count:,} samples of {len(steps):,}{of} steps"
    return _in_intervals(title, f"samples: {number}", unit, steps, table, counts, source)


def _ridge(
    title: str, tag: str, unit: str, steps: Sequence[int], table: Floats, shares: Floats, source: str
) -> Ridge | None:
    """A ridge of (n, q) quantiles at n steps, between which values are assumed to be evenly distributed."""
    known = np.isfinite(table).all(axis=1)
    table, order = table[known], np.array(steps)[known]
    if not len(order):
        return None

    def means(part: Ints, edges: Floats) -> Floats:
        sums: Floats = np.sum([_in_bins(table[at], shares, edges) for at in part], axis=0)
        return sums

    return _in_intervals(title, tag, unit, order.tolist(), table, means, source)


def _in_intervals(
    title: str, tag: str, unit: str, steps: Sequence[int], table: Floats,
    weights: Callable[[Ints, Floats], Floats], source: str,
) -> Ridge | None:  # fmt: skip
    """A ridge between the extremes of (n, q) quantiles at n steps; None if all values are the same.

    weights: a function of (m,) indices of steps and (b + 1,) edges that returns the weights of (b,) bins.
    """
    low, high = float(table[:, 0].min()), float(table[:, -1].max())
    if not high - low > NARROWEST:
        return None
    edges = np.linspace(low, high, BINS + 1)
    rows, spans = [], []
    for part in np.array_split(np.arange(len(steps)), min(INTERVALS, len(steps))):
        row = weights(part, edges)
        rows.append(tuple((row / row.sum()).tolist()))
        spans.append((steps[part[0]], steps[part[-1]]))
    return Ridge(title, tag, unit, low, high, tuple(spans), tuple(rows), source)


def _in_bins(quantiles: Floats, shares: Floats, edges: Floats) -> Floats:
    """The shares of values between (b + 1,) edges, from (q,) quantiles; equal quantiles are one value."""
    tiny = (edges[-1] - edges[0]) * 1e-9
    at = np.maximum.accumulate(quantiles) + tiny * np.arange(len(quantiles))
    inner = np.interp(edges[1:-1], at, shares, left=0.0, right=1.0)
    return np.diff(np.concatenate(([0.0], inner, [1.0])))
