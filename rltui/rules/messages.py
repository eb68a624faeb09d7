"""Findings in words: numbers put into a rule's sentence, the header's one line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rltui.common.problem import SEVERITIES, Severity
from rltui.common.regex import regex
from rltui.draw.numbers import format_short
from rltui.metrics.glossary_files import glossary
from rltui.rules.finding import RANK, Evidence, Finding, order
from rltui.rules.judged_series.ratio import numerator
from rltui.rules.judged_series.ticks import NonFiniteEpisode, Ticks
from rltui.rules.model import NON_FINITE, Rule, Symptom
from rltui.rules.rule_states.firing import Firing
from rltui.rules.rule_states.rule_state import Episode
from rltui.rules.special_metrics import STEP_TIME

SECONDS_PER_STEP = "seconds per step"  # what the times of points say, which no tag does
LATELY = 5  # ticks whose median is what a series is now
WORSE = 2.0  # times the present value that the worst one is told from
# Kinds whose value is on one side of their limit while they hold.
COMPARED = frozenset({"threshold", "spike", "drop", "gain-lost", "below-start"})


def finding_of(firings: Sequence[Firing], *, remark: bool) -> Finding:
    """One finding for all series on which a rule fires: the earliest onset, the worst severity.

    remark: whether it is one because of another rule.
    """
    firings = sorted(firings, key=lambda firing: (firing.since_step, firing.ticks.tag))
    first = firings[0]
    worst = max(firings, key=lambda firing: -math.inf if math.isnan(firing.worst) else firing.worst)
    rank = 0 if remark else max(RANK[firing.severity] for firing in firings)
    back = _is_back(first, first.value)
    found = _finding(
        first.rule,
        SEVERITIES[rank],
        [firing.ticks for firing in firings],
        first.since_step,
        (first.worst if back else first.value, first.limit, first.before),
    )
    more = ""
    if back:
        # The rule's value is a mean that may reach far back: "now" is what the charts show at their end.
        now = _written(first.rule, first.ticks.level(LATELY))
        more = f" (at step {first.worst_step:,}; now {now})"
    elif 0 < WORSE * first.value < worst.worst:  # what it is now says little of what it did
        more = f" (up to {_written(worst.rule, worst.worst)} at step {worst.worst_step:,})"
    if more:
        found = found._replace(message=f"{found.message.rstrip('.')}{more}")
    return found


def resolved_finding(rule: Rule, ticks: Ticks, episode: Episode | NonFiniteEpisode) -> Finding:
    """An episode that is over, as a finding."""
    if isinstance(episode, NonFiniteEpisode):
        numbers = (episode.value, math.nan, math.nan)
        found = _finding(rule, "warning", [ticks], episode.since_step, numbers)
        return found._replace(state="resolved", resolved_step=episode.last_step)
    numbers = (episode.value, episode.limit, episode.before)
    found = _finding(rule, SEVERITIES[RANK[rule.severity]], [ticks], episode.since_step, numbers)
    return found._replace(state="resolved", resolved_step=episode.resolved_step)


_ONE = regex(r"(?<![\d.,])1 (token|step|point|value|response|update|time|sample|group)s\b")


def _finding(
    rule: Rule, severity: Severity, series: Sequence[Ticks], since: int, numbers: tuple[float, float, float]
) -> Finding:
    """A finding on some series. `numbers`: value, limit, and value before; NaN where unknown."""
    value, limit, before = numbers
    canonical = tuple(dict.fromkeys(ticks.canonical or "" for ticks in series))
    tags = tuple(dict.fromkeys(numerator(ticks.tag) for ticks in series))
    words = {
        "value": format_short(value),
        "limit": format_short(limit),
        "before": format_short(before),
        "since": f"{since:,}",
        "tag": series[0].tag,
        "metric": title_of(series[0].canonical or rule.metrics[0]),
        "percent": _percent(value),
        "times": "-" if not before or math.isnan(before) or math.isnan(value) else f"{value / before:.1f}",
    }
    return Finding(
        id=rule.id,
        severity=severity,
        pane=rule.pane or pane_of(rule.metrics[0]),
        metrics=tags,
        canonical=canonical,
        since_step=since,
        message=_fill(rule.message, words),
        advice=rule.advice,
        check_next=rule.check_next,
        title=_fill(rule.title, words),
        value=None if math.isnan(value) and rule.kind != NON_FINITE else value,
        limit=_or_none(limit),
        evidence=(Evidence(tags[0], _or_none(before), _or_none(value), since, series[0].canonical),),
        source=rule.source,
    )


def _written(rule: Rule, value: float) -> str:
    """A value in the form in which the rule's sentence has it."""
    return _percent(value) if "{percent}" in rule.message else format_short(value)


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"


def _fill(text: str, words: dict[str, str]) -> str:
    if "{" in text:
        for key, value in words.items():
            text = text.replace("{" + key + "}", value)
        text = _ONE.sub(r"1 \1", text)
    return text


def evidence_of(firing: Firing) -> Evidence:
    """What one series did: from the level before to the level now."""
    now = firing.value if firing.rule.kind in (NON_FINITE, "gap", "setting") else firing.ticks.level(LATELY)
    before = math.nan if firing.rule.kind == "gap" else firing.before  # of a gap it is the other one's
    if math.isnan(before) and firing.ticks.start:
        before = firing.ticks.start[0]
    return Evidence(
        SECONDS_PER_STEP if STEP_TIME in firing.rule.metrics else firing.ticks.tag,
        _or_none(before),
        _or_none(now),
        firing.since_step,
        firing.ticks.canonical,
        firing.worst if _is_back(firing, now) else None,
    )


def _is_back(firing: Firing, now: float) -> bool:
    """Whether a rule fires on although the value is back within its limit: the worst one tells why."""
    return firing.rule.kind in COMPARED and (firing.worst - firing.limit) * (now - firing.limit) < 0


def symptom_finding(symptom: Symptom, parts: Iterable[Firing], since: int, severity: Severity) -> Finding:
    """A symptom as a finding, with what its parts did as evidence, in order of step."""
    evidence: dict[str, Evidence] = {}
    parts = list(parts)
    words = {key: format_short(getattr(parts[0], key)) for key in ("value", "limit", "before")}
    words |= {"tag": parts[0].ticks.tag, "because": parts[0].rule.message}
    parts.sort(key=lambda part: (part.since_step, part.ticks.tag))
    for part in parts:
        found = evidence_of(part)
        if found.tag not in evidence:
            evidence[found.tag] = found
    tags = tuple(dict.fromkeys(numerator(part.ticks.tag) for part in parts))
    canonical = tuple(dict.fromkeys(item.canonical for item in evidence.values() if item.canonical))
    return Finding(
        id=symptom.id,
        severity=severity,
        pane=symptom.pane,
        metrics=tags,
        canonical=canonical,
        since_step=since,
        message=_fill(symptom.message, words | {"since": f"{since:,}"}),
        advice=symptom.advice,
        check_next=symptom.check_next,
        title=symptom.title,
        evidence=tuple(evidence.values()),
        symptom=True,
        source=symptom.source,
    )


def sentence_of(findings: Sequence[Finding], seen: int = 0, unknown: str = "") -> str:
    """The header's sentence: the worst thing first, and how much else there is.

    `seen`: how many warnings and worse a person has seen and put aside; they are not among `findings`.
    `unknown`: what could not be judged, so that nobody takes silence about it for health.
    """
    serious = _serious(findings)
    if not serious:
        notes = sum(finding.rank == 0 and finding.explained_by is None for finding in findings)
        if seen:
            return f"nothing new is wrong ({seen} acknowledged)"
        if unknown:
            return unknown
        return "nothing is wrong" + (f" ({notes} remark{'s' * (notes > 1)})" if notes else "")
    first = serious[0]
    more = len(serious) - 1
    # A failure that a console tells of has its line there; what holds since a step is about metrics.
    told = first.console is not None or f"step {first.since_step:,}" in first.message
    since = "" if told else f" (since step {first.since_step:,})"
    return f"{first.message.rstrip('.')}{since}" + (f"; {more} more" if more else "")


def headline_of(findings: Sequence[Finding]) -> str:
    """The title of the worst finding and since when it holds, where the sentence has no room; or nothing."""
    serious = _serious(findings)
    return f"{serious[0].title} (since step {serious[0].since_step:,})" if serious else ""


def _serious(findings: Sequence[Finding]) -> list[Finding]:
    """Warnings and worse that nothing else explains, the worst first."""
    return sorted((each for each in findings if each.rank > 0 and each.explained_by is None), key=order)


def title_of(canonical: str) -> str:
    """The title of a metric of the glossary by its id; the id of any other."""
    metric = glossary().metrics.get(canonical)
    return metric.title if metric is not None else canonical


def pane_of(canonical: str) -> str:
    """The pane of a metric of the glossary by its id."""
    metric = glossary().metrics.get(canonical)
    return metric.pane if metric is not None else canonical.partition(".")[0]


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
