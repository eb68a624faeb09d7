"""The conditions of `rltui wait`: a step, a value of a metric, a finding, the end of the runs, or a stall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rltui.common.comparison_operators import COMPARISONS, Comparison
from rltui.common.display_text import clean
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import SEVERITIES
from rltui.common.regex import regex
from rltui.draw.numbers import format_short, format_step
from rltui.panes.runs.run_facts import SUGGESTIONS, nearest_tags, tags_of
from rltui.rules.finding import RANK, Finding
from rltui.rules.run_status.liveness_finding import liveness_finding
from rltui.session.run_view import RunView

Kind = Literal["step", "finding", "end", "stalled", "metric"]

_COMPARISON = regex(r"(metric\s+)?(.+?)\s*(>=|<=|>|<)\s*([^<>=]+)")


class ConditionError(ValueError):
    """An invalid condition."""


class Condition(NamedTuple):
    """A condition. limit: a step, a value, or the rank of a severity."""

    text: str  # as given by the user
    kind: Kind
    metric: str = ""  # a tag as written or a canonical id
    compare: Comparison = COMPARISONS[">="]
    limit: float = 0.0


class Match(NamedTuple):
    """A condition that holds, and for which run."""

    condition: Condition
    run: str | None  # None: all runs together
    message: str
    value: float | None = None
    step: int | None = None
    finding: Finding | None = None


def parse_condition(text: str) -> Condition:
    """Parse a condition. Raises ConditionError."""
    words = text.strip()
    if words == "end":
        return Condition(words, "end")
    if words == "stalled":
        return Condition(words, "stalled")
    match = _COMPARISON.fullmatch(words)
    if match is None:
        raise ConditionError(
            f"{clean(text)!r} is not a condition; one is step>=500, finding>=critical, end, stalled, "
            f"or metric NAME>0.6"
        )
    metric, name, sign, limit = match[1], match[2], match[3], match[4].strip()
    if metric is None and name == "finding":
        if sign != ">=" or limit not in RANK:
            severities = ", ".join(SEVERITIES)
            raise ConditionError(f"{clean(text)!r}: write finding>= and one of {severities}")
        return Condition(words, "finding", limit=RANK[limit])
    try:
        value = float(limit)
    except ValueError:
        raise ConditionError(f"{clean(text)!r}: {clean(limit)!r} is not a number") from None
    if metric is not None:
        return Condition(words, "metric", name, COMPARISONS[sign], value)
    if name == "step":
        return Condition(words, "step", compare=COMPARISONS[sign], limit=value)
    raise ConditionError(f"{clean(text)!r}: for a metric write 'metric {clean(name)}{sign}{clean(limit)}'")


def first_match(
    conditions: Sequence[Condition], views: Sequence[RunView], now: float, *, at_rest: bool
) -> Match | None:
    """The first condition that holds for a run whose existing points have been read.

    `end` holds when all runs have ended and all existing logs have been read (`at_rest`). now: seconds since
    1970.
    """
    read = [view for view in views if not view.loading]
    for condition in conditions:
        if condition.kind == "end":
            if at_rest and read and len(read) == len(views):
                states = [view.liveness(now).state for view in read]
                if all(state == "ended" for state in states):
                    whose = (
                        f"run {read[0].shown_name} has" if len(read) == 1 else f"all {len(read)} runs have"
                    )
                    return _ended(condition, read, now, f"{whose} ended")
            continue
        for view in read:
            match = _match(condition, view, now)
            if match is not None:
                return match
    return None


def _ended(condition: Condition, views: Sequence[RunView], now: float, message: str) -> Match:
    """The match for ended runs; for a run that ended early, with the reason."""
    only = views[0] if len(views) == 1 else None
    early = [view for view in views if view.liveness(now).cut_short]
    if not early:
        return Match(condition, None if only is None else only.name, message)
    first = early[0]
    found = liveness_finding(first.liveness(now), first.run.last_step, first.last_line)
    if only is None:
        message = f"{message}, {len(early)} of them early; {first.shown_name}"
    said = "" if found is None else f": {found.message[0].lower()}{found.message[1:]}"
    return Match(condition, first.name, f"{message}{said}", step=first.run.last_step, finding=found)


def unknown_metric(conditions: Sequence[Condition], views: Sequence[RunView]) -> str:
    """A message about the first metric that no run has, with similar names; empty if there is none."""
    for condition in conditions:
        if condition.kind == "metric" and not any(tags_of(view, condition.metric) for view in views):
            near = dict.fromkeys(tag for view in views for tag in nearest_tags(view, condition.metric))
            hint = f"; nearest: {', '.join(clean(tag) for tag in list(near)[:SUGGESTIONS])}" if near else ""
            return f"no run has a metric {clean(condition.metric)!r}{hint}"
    return ""


def nothing_follows(conditions: Sequence[Condition], views: Sequence[RunView], now: float) -> str:
    """A message that all runs are known to have ended as planned, and write no more; else empty."""
    states = [view.liveness(now) for view in views]
    if not states or not all(state.ended_as_planned for state in states):
        return ""
    what = " or ".join(condition.text for condition in conditions)
    if len(views) > 1:
        return f"all {len(views)} runs have ended as planned: {clean(what)} can hold for a new one only"
    last, total = views[0].run.last_step, states[0].total
    where = "" if last is None else f" at step {format_step(last)}"
    where += f" of {format_step(total)}" if where and total else ""
    return f"{views[0].shown_name} has ended as planned{where}: {clean(what)} can hold for a new run only"


def _match(condition: Condition, view: RunView, now: float) -> Match | None:
    last = view.run.last_step
    if condition.kind == "step":
        if last is None or not condition.compare(last, condition.limit):
            return None
        return Match(condition, view.name, f"{view.shown_name} is at step {format_step(last)}", last, last)
    if condition.kind == "finding":
        found = [finding for finding in view.evaluator.findings() if finding.rank >= condition.limit]
        if not found:
            return None
        message = f"{view.shown_name}: {found[0].dated_message}"
        return Match(condition, view.name, message, found[0].value, found[0].since_step, found[0])
    if condition.kind == "stalled":
        live = view.liveness(now)
        if live.state != "stalled" and not live.failed:
            return None
        quiet = f"; {live.quiet}" if live.quiet else ""
        what = "ended by a failure" if live.failed else "stalled"
        return Match(condition, view.name, f"{view.shown_name} has {what}{quiet}", step=last)
    return _metric_match(condition, view)


def _metric_match(condition: Condition, view: RunView) -> Match | None:
    """The match of the newest value of a metric; NaN never matches."""
    series = view.run.series
    for tag in tags_of(view, condition.metric):
        value = float(series[tag].last_value)
        if condition.compare(value, condition.limit):
            step = series[tag].last_step
            where = "" if step is None else f" at step {format_step(step)}"
            message = f"{view.shown_name}: {tag} is {format_short(value)}{where}"
            return Match(condition, view.name, message, value, step)
    return None
