"""Symptoms: several rules with a common cause become one finding."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rltui.common.problem import SEVERITIES, Severity
from rltui.metrics.glossary_files import glossary
from rltui.rules.finding import RANK, Finding
from rltui.rules.rule import HPARAM, LOGGED, NON_FINITE, Symptom
from rltui.rules.rule_messages import symptom_finding
from rltui.rules.rule_states.firing import FiringState, Groups, held_since
from rltui.rules.rule_states.joint_firings import Firing
from rltui.rules.rulebook import rulebook


def gather(state: FiringState, single: list[Finding], *, run_over: bool = False) -> list[Finding]:
    """The findings, and the symptoms that explain them.

    A finding is explained (`explained_by`) by the most severe symptom that covers it, of equals by the first
    one in the data. A symptom is as severe as the worst finding that it explains. It begins with its earliest
    evidence, or with the last of its groups if it `begins_last`. Remarks are evidence only if they are part
    of its condition; rules without a meaningful onset date it only if there are no others. Alarms long before
    a symptom whose parts begin together are not explained by it. Symptoms without findings of their own,
    because more severe ones explain them, are left out. So are findings on non-finite values that make up
    the whole symptom: they would repeat it. Some symptoms hold only of a run that is over (`run_over`),
    and then only if no warning says the cause.
    """
    found = list(_held(state, run_over))
    severities = {symptom.id: _severity(symptom, held, state) for symptom, held in found}
    found.sort(key=lambda item: (item[0].run_over, -RANK[severities[item[0].id]]))
    owner: dict[str, str] = {}
    gathered: list[Finding] = []
    used: set[str] = set()
    repeated: set[str] = set()  # findings that are identical to their symptom
    shown = {finding.id for finding in single}
    for symptom, held in found:
        parts = [firing for part in held for firing in part]
        ids = {part.rule.id for part in parts if part.rule.shown and part.rule.id in shown}
        if (ids and ids <= used) or (symptom.run_over and _has_cause(symptom, [*gathered, *single])):
            continue
        used |= ids
        earliest = _earliest_effect(symptom, parts, state)
        for finding in single:
            if finding.rank and finding.since_step < earliest and not _is_nonfinite(finding.id, state):
                continue
            if finding.id not in owner and symptom.covers(finding.id):
                owner[finding.id] = symptom.id
                used.add(finding.id)
        covered = [
            firing
            for rule_id, firings in state.firing.items()
            if owner.get(rule_id) == symptom.id
            for firing in firings
        ]
        evidence, since = _evidence(symptom, held, covered)
        below = (finding.severity for finding in single if owner.get(finding.id) == symptom.id)
        severity = max((severities[symptom.id], *below), key=RANK.__getitem__)
        gathered.append(symptom_finding(symptom, evidence, since, severity))
        if all(part.rule.kind == NON_FINITE for part in parts):
            repeated |= {rule_id for rule_id in ids if owner.get(rule_id) == symptom.id}
    owner |= _same_facts([symptom for symptom, _ in found], gathered)
    return [
        finding._replace(explained_by=owner[finding.id]) if finding.id in owner else finding
        for finding in (*single, *gathered)
        if finding.id not in repeated
    ]


def _same_facts(symptoms: Sequence[Symptom], gathered: Sequence[Finding]) -> dict[str, str]:
    """Symptoms whose fact another one of at least their severity tells, with that one."""
    ranks = {finding.id: finding.rank for finding in gathered}
    return {
        symptom.id: other
        for symptom in symptoms
        for other in symptom.repeated_by
        if symptom.id in ranks and ranks.get(other, -1) >= ranks[symptom.id]
    }


def _held(state: FiringState, run_over: bool) -> Iterator[tuple[Symptom, list[list[Firing]]]]:
    """The symptoms that hold, each with the firings that make it up."""
    for symptom, alternatives in state.series.candidates(state.possible()):
        if symptom.run_over and not (run_over and state.series.is_whole()):
            continue
        for groups in alternatives:
            if held := _holds(symptom, groups, state):
                yield symptom, held
                break


def _evidence(
    symptom: Symptom, held: Sequence[Sequence[Firing]], covered: Sequence[Firing]
) -> tuple[list[Firing], int]:
    """The firings that make up a symptom and those that it explains, and the step since which it holds."""
    held = _with_value_told(symptom, [_of_series(part) for part in held])
    parts = [firing for part in held for firing in part]
    covered = [each for each in covered if each.rule.severity != SEVERITIES[0]]
    if symptom.together:
        begun = min(part.since_step for part in parts)
        covered = [each for each in covered if each.since_step >= begun or each.rule.kind == NON_FINITE]
    evidence = [*parts, *covered]
    dating = [part for part in held if any(firing.rule.dates for firing in part)]
    if symptom.begins_last:
        return evidence, max(map(_first_step, dating or held))
    return evidence, _first_step(evidence if dating else parts)


def _of_series(part: Sequence[Firing]) -> Sequence[Firing]:
    """A group without settings, if series say the same: the series has a step of its own and a curve."""
    return [firing for firing in part if firing.rule.kind != HPARAM] or part


def _with_value_told(symptom: Symptom, held: list[Sequence[Firing]]) -> list[Sequence[Firing]]:
    """The groups; the firing that the message quotes has the value that it had at the step of `value_at`."""
    first, *others = held[0]
    value = first.opening
    if symptom.value_at == "effect" and first.rule.kind != HPARAM:
        effects = [each.since_step for part in held[1:] for each in part if each.rule.kind != LOGGED]
        later = [since for since in effects if since >= first.since_step]
        value = first.ticks.value_of(min(later)) if later else value
    if symptom.value_at == "end" or math.isnan(value):
        return held
    return [(first._replace(value=value), *others), *held[1:]]


def _severity(symptom: Symptom, held: Sequence[Sequence[Firing]], state: FiringState) -> Severity:
    """The severity of a symptom without what it explains."""
    return symptom.severity if state.lets(symptom.info_when, held_since(held)) else SEVERITIES[0]


def _has_cause(symptom: Symptom, findings: Sequence[Finding]) -> bool:
    """Whether there is a warning about what is learnt that the symptom does not explain."""
    speed = {pane.id for pane in glossary().panes if pane.speed}
    return any(
        finding.rank and finding.pane not in speed and not symptom.covers(finding.id) for finding in findings
    )


def failures_explained(failures: Sequence[Finding], found: Sequence[Finding]) -> list[Finding]:
    """Failures in consoles, explained by the symptoms among `found` that led to them.

    A program often ends by an exception that only tells where broken weights were used.
    """
    firing = {finding.id: finding.since_step for finding in found if finding.symptom}
    causes = [one for one in rulebook().symptoms if one.failures and one.id in firing]
    owners = ((each, next((one.id for one in causes if each.id in one.failures), "")) for each in failures)
    return [
        each._replace(explained_by=owner) if owner and firing[owner] <= each.since_step else each
        for each, owner in owners
    ]


def _is_nonfinite(rule_id: str, state: FiringState) -> bool:
    """Whether a rule is about non-finite values, of which the first may come long before the others."""
    return any(firing.rule.kind == NON_FINITE for firing in state.of(rule_id))


def _earliest_effect(symptom: Symptom, parts: Sequence[Firing], state: FiringState) -> float:
    """The step before which alarms are not effects of a symptom whose parts begin together."""
    if not symptom.together:
        return -math.inf
    first, last = state.series.span()
    return min(part.since_step for part in parts) - symptom.together * max(last - first, 1)


def _first_step(firings: Sequence[Firing]) -> int:
    """The earliest onset, of rules whose onset is meaningful if there are any."""
    dated = [firing for firing in firings if firing.rule.dates] or firings
    return min(firing.since_step for firing in dated)


def _holds(symptom: Symptom, groups: Groups, state: FiringState) -> list[list[Firing]]:
    """The firings that make up the symptom, by group of rules; empty if it does not hold."""
    held = state.held_since(groups)
    if held is None:
        return []
    parts = []
    for group in groups:
        parts.append(state.applying(group, held))
        if not parts[-1]:
            return []
    if not state.lets(symptom.none, held):
        return []
    first, last = state.series.span() if symptom.together or symptom.leads else (0, 0)
    if symptom.together:  # firings that began long before the first group are not part of it
        cause = min(each.since_step for each in parts[0])
        limit = symptom.together * max(last - first, 1)
        parts = [[each for each in part if abs(each.since_step - cause) <= limit] for part in parts]
        if not all(parts):
            return []
    if symptom.leads:
        effects = [firing.since_step for part in parts[1:] for firing in part if firing.rule.dates]
        cause = min(firing.since_step for firing in parts[0])
        if effects and cause - min(effects) > symptom.leads * max(last - first, 1):
            return []
    return parts
