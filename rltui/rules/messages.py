"""Findings in words: numbers put into a rule's sentence, the header's one line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rltui.metrics.glossary import glossary
from rltui.rules.evaluate.firing import Firing, FiringState
from rltui.rules.evaluate.rule_state import Episode
from rltui.rules.evaluate.ticks import BadEpisode, Ticks
from rltui.rules.finding import RANK, Evidence, Finding, order
from rltui.rules.model import Rule, Symptom


def number(value: float | None) -> str:
    """A number for a sentence: three digits, no long tails."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+inf" if value > 0 else "-inf"
    if value == 0:
        return "0"
    size = abs(value)
    if 1e-3 <= size < 1e5:
        return f"{value:.3g}" if size < 1000 else f"{value:,.0f}"
    return f"{value:.2e}".replace("e-0", "e-").replace("e+0", "e")


def finding_of(state: FiringState, rule_id: str) -> Finding:
    """One finding for all series on which a rule fires: the earliest onset, the worst value."""
    firings = sorted(state.firing[rule_id], key=lambda firing: (firing.since_step, firing.track.tag))
    first, rule = firings[0], firings[0].rule
    severity = max(
        (firing.severity for firing in firings), key=lambda one: RANK.get(one, -1)
    )  # a sign is the least
    if severity != "info" and state.any(rule.info_when):
        severity = "info"
    return _finding(
        rule,
        severity,
        [firing.track for firing in firings],
        first.since_step,
        first.value,
        first.limit,
        first.before,
    )


def _finding(
    rule: Rule, severity: str, tracks: list[Ticks], since: int, value: float, limit: float, before: float
) -> Finding:
    canonical = tuple(dict.fromkeys(track.canonical or "" for track in tracks))
    tags = tuple(dict.fromkeys(tag for track in tracks for tag in track.tag.split(" / ")[:1]))
    words = _words(rule, tracks[0].tag, value, limit, before, since)
    return Finding(
        id=rule.id,
        severity=severity,  # type: ignore[arg-type]
        pane=rule.pane or pane_of(rule.metrics[0]),
        metrics=tags,
        canonical=canonical,
        since_step=since,
        message=_fill(rule.message, words),
        advice=rule.advice,
        check_next=rule.check_next,
        title=_fill(rule.title, words),
        value=None if math.isnan(value) and rule.kind != "non-finite" else value,
        limit=None if math.isnan(limit) else limit,
        evidence=(Evidence(tags[0], _or_none(before), _or_none(value), since, tracks[0].canonical),),
        source=rule.source,
    )


def _words(rule: Rule, tag: str, value: float, limit: float, before: float, since: int) -> dict[str, str]:
    return {
        "value": number(value),
        "limit": number(limit),
        "before": number(before),
        "since": f"{since:,}",
        "tag": tag,
        "percent": "-" if math.isnan(value) else f"{100 * value:.0f} %",
        "times": "-" if not before or math.isnan(before) or math.isnan(value) else f"{value / before:.1f}",
    }


def _fill(text: str, words: dict[str, str]) -> str:
    for key, value in words.items():
        text = text.replace("{" + key + "}", value)
    return text


def resolved(rule: Rule, track: Ticks, episode: Episode | BadEpisode) -> Finding:
    """An episode that is over, as a finding."""
    from dataclasses import replace

    if isinstance(episode, BadEpisode):
        found = _finding(rule, "warning", [track], episode.since_step, episode.value, math.nan, math.nan)
        return replace(found, state="resolved", resolved_step=episode.last_step)
    found = _finding(
        rule, rule.severity, [track], episode.since_step, episode.value, episode.limit, episode.before
    )
    return replace(found, state="resolved", resolved_step=episode.resolved_step)


def evidence_of(firing: Firing) -> Evidence:
    """What one series did: from the level before to the level now."""
    now = firing.value if firing.rule.kind in ("non-finite", "gap") else firing.track.level(5)
    before = firing.before
    if math.isnan(before) and firing.track.start:
        before = firing.track.start[0]
    return Evidence(
        firing.track.tag,
        _or_none(before),
        _or_none(now),
        firing.since_step,
        firing.track.canonical,
        firing.rule.title,
    )


def symptom_finding(symptom: Symptom, parts: Iterable[Firing], since: int, state: FiringState) -> Finding:
    """A symptom as a finding, with what its parts did as evidence."""
    evidence: dict[str, Evidence] = {}
    for part in parts:
        found = evidence_of(part)
        if found.tag not in evidence:
            evidence[found.tag] = found
    tags = tuple(dict.fromkeys(tag.split(" / ")[0] for tag in evidence))
    canonical = tuple(dict.fromkeys(item.canonical for item in evidence.values() if item.canonical))
    return Finding(
        id=symptom.id,
        severity=symptom.severity,
        pane=symptom.pane,
        metrics=tags,
        canonical=canonical,
        since_step=since,
        message=symptom.message.replace("{since}", f"{since:,}"),
        advice=symptom.advice,
        check_next=symptom.check_next,
        title=symptom.title,
        evidence=tuple(evidence.values()),
        symptom=True,
        source=symptom.source,
    )


def sentence_of(findings: Sequence[Finding], seen: int = 0) -> str:
    """The header's sentence: the worst thing first, and how much else there is.

    `seen`: how many warnings and worse a person has seen and put aside; they are not among `findings`.
    """
    serious = sorted(
        (finding for finding in findings if finding.rank > 0 and finding.explained_by is None), key=order
    )
    if not serious:
        notes = sum(finding.rank == 0 and finding.explained_by is None for finding in findings)
        if seen:
            return f"nothing new is wrong ({seen} acknowledged)"
        return "nothing is wrong" + (f" ({notes} remark{'s' * (notes > 1)})" if notes else "")
    first = serious[0]
    more = len(serious) - 1
    return f"{first.message.rstrip('.')} (since step {first.since_step:,})" + (
        f"; {more} more" if more else ""
    )


def pane_of(canonical: str) -> str:
    """The pane of a metric of the glossary by its id."""
    metric = glossary().metrics.get(canonical)
    return metric.pane if metric is not None else canonical.partition(".")[0]


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
