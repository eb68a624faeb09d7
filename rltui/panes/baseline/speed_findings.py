"""What is worse of the speed of a run than of the baseline that the user chose, as findings with a date.

Both runs are compared in equal stretches of the steps that they have in common; the first step of either is
left out, which compilation makes slow. Which quantities, and from where on, is data.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np

from rltui.common.arrays import Bools, Floats, median, quantile
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_share, format_value
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.recent_values import RunValues
from rltui.rules.finding import Evidence, Finding
from rltui.schema.fields import ListField, NumberField, TableField, TextField, as_dict, table_of
from rltui.schema.toml_files import read_table
from rltui.session.run_view import RunView

STRETCHES = 24  # of the common steps
LEAST = 8  # stretches in which both have points
LAST = 6  # that must be worse at the end: a quarter of the common way
REACH = 1.5  # Tukey's fences


class SpeedRule(NamedTuple):
    """One entry of the table; `times` is worse by baseline or baseline by run, above one."""

    id: str
    metric: tuple[str, ...]  # canonical ids
    worse: Literal["above", "below"]
    times: float
    warning_times: float
    title: str
    message: str
    advice: str
    check_next: tuple[str, ...]
    source: str
    explained_by: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()  # ids of rules: told in place of this one
    fires: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()


def _speed_rules_field() -> TableField[dict[str, tuple[SpeedRule, ...]]]:
    times, worse = NumberField(minimum=1), TextField(choices=("above", "below"))
    rule = table_of(SpeedRule, times=times, warning_times=times, worse=worse)
    return TableField({"rule": ListField(rule)}, as_dict)


@cache
def speed_rules() -> tuple[SpeedRule, ...]:
    """The rules of the file, read at the first call."""
    return read_table("speed_rules", _speed_rules_field)["rule"]


def speed_findings(view: RunView, baseline: RunView) -> tuple[Finding, ...]:
    """What is worse than the baseline's, at most one finding of each rule."""
    found: dict[str, Finding] = {}
    for rule in speed_rules():
        if not any(other in found for other in rule.unless):
            one = next((one for each in rule.metric if (one := _finding(rule, each, view, baseline))), None)
            found.update({} if one is None else {rule.id: one})
    return tuple(found.values())


def _finding(rule: SpeedRule, canonical: str, view: RunView, baseline: RunView) -> Finding | None:
    mine, theirs = RunValues(view).find(canonical), RunValues(baseline).find(canonical)
    if mine is None or theirs is None:
        return None
    tags = mine.tag, theirs.tag
    edges = _common(view, baseline, tags)
    if edges is None:
        return None
    ours, base = (_levels(run, tag, edges) for run, tag in zip((view, baseline), tags, strict=True))
    known = np.isfinite(ours) & np.isfinite(base)
    if known.sum() < LEAST:
        return None
    ours, base, begins = ours[known], base[known], edges[:-1][known]
    work = _work(rule, view, baseline, edges, known)
    half = base[len(base) // 2 :]
    low, high = quantile(half, 0.25), quantile(half, 0.75)
    reach = REACH * (high - low)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = ours / (base * work) if rule.worse == "above" else base / ours
    beyond = ours > high + reach if rule.worse == "above" else ours < low - reach
    worse = (times >= rule.times) & beyond & (base > 0) & (ours > 0)
    lasting = len(worse) if worse.all() else int(np.argmin(worse[::-1]))
    if lasting < LAST:
        return None
    since = round(float(begins[-lasting]))
    now, usual = median(ours[-lasting:]), median(base[-lasting:])
    metric = glossary().metrics[canonical]
    words = {
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
        metrics=(mine.tag,),
        canonical=(canonical,),
        since_step=since,
        message=rule.message.format(**words),
        advice=rule.advice,
        check_next=rule.check_next,
        title=rule.title.format(**words),
        value=now,
        limit=usual * rule.times if rule.worse == "above" else usual / rule.times,
        evidence=(Evidence(mine.tag, usual, now, since, canonical),),
        source=rule.source,
    )


def _common(view: RunView, baseline: RunView, tags: tuple[str, str]) -> Floats | None:
    """The edges (n + 1,) of equal stretches of the steps that both series have; None without enough."""
    series = (view.run.series[tags[0]], baseline.run.series[tags[1]])
    reaches = [(one.first_step, one.last_step) for one in series]
    low = max(first + 1 for first, _ in reaches if first is not None)
    high = min(last for _, last in reaches if last is not None)
    return np.linspace(low, high + 1, STRETCHES + 1) if high - low >= LEAST else None


def _levels(view: RunView, tag: str, edges: Floats) -> Floats:
    """Its means (n,) in the stretches, in canonical units; NaN where it has none."""
    name = view.names.name(tag)
    means = view.run.series[tag].columns(float(edges[0]), float(edges[-1]), len(edges) - 1).mean
    return means * name.scale + name.offset if name.comparable else means


def _work(rule: SpeedRule, view: RunView, baseline: RunView, edges: Floats, known: Bools) -> Floats:
    """How much more the run does in a step than the baseline, (n,); 1 where the logs do not say."""
    for canonical in rule.explained_by:
        mine, theirs = RunValues(view).find(canonical), RunValues(baseline).find(canonical)
        if mine is None or theirs is None:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (_levels(view, mine.tag, edges) / _levels(baseline, theirs.tag, edges))[known]
        return np.where(np.isfinite(ratio) & (ratio > 1), ratio, 1.0)
    return np.ones(int(known.sum()))
