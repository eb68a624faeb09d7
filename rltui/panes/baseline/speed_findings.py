"""Findings on the speed of a run compared with the baseline that the user chose, with their onset.

Both runs are compared in equal intervals of their common steps, without the first step of either, which
compilation makes slow. Metrics and thresholds are data (`rltui/data/speed_rules.toml`).
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

import numpy as np

from rltui.common.arrays import Floats, median, quantile
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_share, format_value
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.values.recent_values import RunValues
from rltui.rules.finding import Evidence, Finding
from rltui.schema.fields import NumberField
from rltui.schema.metric import MetricReference
from rltui.schema.toml_files import read_table
from rltui.session.run_view import RunView
from rltui.store.series import Series

INTERVALS = 24  # of the common steps
MIN_INTERVALS = 8  # in which both have points
LAST_INTERVALS = 6  # that must be worse at the end: a quarter of the common steps
REACH = 1.5  # Tukey's fences


Factor = Annotated[float, NumberField(minimum=1)]


class SpeedRule(NamedTuple):
    """One entry of the table; `times` is the ratio of the values of both runs, above 1 if it is worse."""

    id: str
    metric: tuple[MetricReference, ...]
    worse: Literal["above", "below"]
    times: Factor
    warning_times: Factor
    title: str
    message: str
    advice: str
    check_next: tuple[MetricReference, ...]
    source: str
    explained_by: tuple[MetricReference, ...] = ()
    unless: tuple[str, ...] = ()  # ids of rules that take precedence
    fires: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()


@cache
def speed_rules() -> tuple[SpeedRule, ...]:
    """The rules of the file, read at the first call."""
    return read_table("speed_rules", dict[str, tuple[SpeedRule, ...]])["rule"]


def speed_findings(view: RunView, baseline: RunView) -> tuple[Finding, ...]:
    """The findings of speed rules, at most one for each."""
    findings: dict[str, Finding] = {}
    for rule in speed_rules():
        if not any(other in findings for other in rule.unless):
            of_metrics = (_finding(rule, metric, view, baseline) for metric in rule.metric)
            if (finding := next(filter(None, of_metrics), None)) is not None:
                findings[rule.id] = finding
    return tuple(findings.values())


def _finding(rule: SpeedRule, canonical: str, view: RunView, baseline: RunView) -> Finding | None:
    runs = RunValues(view), RunValues(baseline)
    own, theirs = (run.find(canonical) for run in runs)
    if own is None or theirs is None:
        return None
    edges = _common_steps(view.run.series[own.tag], baseline.run.series[theirs.tag])
    if edges is None:
        return None
    ours, base = _means(runs[0], own.tag, edges), _means(runs[1], theirs.tag, edges)
    known = np.isfinite(ours) & np.isfinite(base)
    if known.sum() < MIN_INTERVALS:
        return None
    ours, base, begins = ours[known], base[known], edges[:-1][known]
    work = _relative_work(rule, runs, edges)[known]
    half = base[len(base) // 2 :]
    low, high = quantile(half, 0.25), quantile(half, 0.75)
    reach = REACH * (high - low)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = ours / (base * work) if rule.worse == "above" else base / ours
    beyond = ours > high + reach if rule.worse == "above" else ours < low - reach
    worse = (times >= rule.times) & beyond & (base > 0) & (ours > 0)
    lasting = len(worse) if worse.all() else int(np.argmin(worse[::-1]))
    if lasting < LAST_INTERVALS:
        return None
    since = round(float(begins[-lasting]))
    now, usual = median(ours[-lasting:]), median(base[-lasting:])
    metric = glossary().metrics[canonical]
    texts = {
        "metric": metric.title,
        "value": format_value(now, metric.unit),
        "percent": format_share(abs(now / usual - 1)),
        "baseline": format_value(usual, metric.unit),
    }
    factor = median(times[-lasting:])
    return Finding(
        id=rule.id,
        severity="warning" if factor >= rule.warning_times else "info",
        pane=metric.pane,
        metrics=(own.tag,),
        canonical=(canonical,),
        since_step=since,
        message=rule.message.format(**texts),
        advice=rule.advice,
        check_next=rule.check_next,
        title=rule.title.format(**texts),
        value=now,
        limit=usual * rule.times if rule.worse == "above" else usual / rule.times,
        evidence=(Evidence(own.tag, usual, now, since, canonical),),
        source=rule.source,
    )


def _common_steps(*series: Series) -> Floats | None:
    """The edges (n + 1,) of equal intervals of the steps that all series have; None with too few steps."""
    low = max(one.first_step + 1 for one in series if one.first_step is not None)
    high = min(one.last_step for one in series if one.last_step is not None)
    return np.linspace(low, high + 1, INTERVALS + 1) if high - low >= MIN_INTERVALS else None


def _means(run: RunValues, tag: str, edges: Floats) -> Floats:
    """Means of a tag in (n,) intervals, in canonical units; NaN without points."""
    columns = run.view.run.series[tag].columns(float(edges[0]), float(edges[-1]), len(edges) - 1)
    return run.in_canonical_unit(tag, columns.mean)


def _relative_work(rule: SpeedRule, runs: tuple[RunValues, RunValues], edges: Floats) -> Floats:
    """The work of the run in a step relative to the baseline's, (n,), at least 1; 1 if it is unknown."""
    for canonical in rule.explained_by:
        own, theirs = (run.find(canonical) for run in runs)
        if own is None or theirs is None:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = _means(runs[0], own.tag, edges) / _means(runs[1], theirs.tag, edges)
        return np.where(np.isfinite(ratio) & (ratio > 1), ratio, 1.0)
    return np.ones(len(edges) - 1)
