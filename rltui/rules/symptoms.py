"""Rules that together mean one thing: one sentence instead of nine rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rltui.common.problem import SEVERITIES
from rltui.rules.finding import RANK, Finding
from rltui.rules.messages import symptom_finding
from rltui.rules.model import NON_FINITE, Symptom
from rltui.rules.rule_states.firing import Firing, FiringState, Groups


def gather(state: FiringState, single: list[Finding]) -> list[Finding]:
    """The findings with the symptoms that explain them added.

    A symptom takes the findings it covers below itself (`explained_by`); a finding belongs to the most
    severe symptom, of equals to the one that stands first in the data. A symptom begins with its earliest
    evidence, of which remarks are none unless they make the symptom; that a score rises, or has not, has
    no step at which it began, and dates it only where there is nothing else. One that `begins_last`
    begins with the last of its groups. It is as severe as the worst that it explains: one cause, whatever
    came of it. What was an alarm long before a symptom whose parts begin together is no effect of it. A
    symptom all of whose findings are already below a more severe one is left out. One fact is one finding:
    of values that are no numbers, a finding beside the symptom could add no level.
    """
    found: list[tuple[Symptom, list[list[Firing]]]] = []
    for symptom, alternatives in state.series.candidates(state.possible()):
        for groups in alternatives:
            if held := _holds(symptom, groups, state):
                found.append((symptom, held))
                break
    found.sort(key=lambda item: -RANK[item[0].severity])
    owner: dict[str, str] = {}
    gathered: list[Finding] = []
    used: set[str] = set()
    same: set[str] = set()  # findings that are the whole of their symptom
    shown = {finding.id for finding in single}
    for symptom, held in found:
        parts = [firing for part in held for firing in part]
        ids = {part.rule.id for part in parts if part.rule.shown and part.rule.id in shown}
        if ids and ids <= used:
            continue
        used |= ids
        earliest = _earliest_effect(symptom, parts, state)
        for finding in single:
            if finding.rank and finding.since_step < earliest and not _has_no_number(finding.id, state):
                continue
            if finding.id not in owner and symptom.covers(finding.id):
                owner[finding.id] = symptom.id
                used.add(finding.id)
        covered = [
            firing
            for rule_id, firings in state.firing.items()
            if owner.get(rule_id) == symptom.id and firings[0].rule.severity != SEVERITIES[0]
            for firing in firings
        ]
        if symptom.together:
            begun = min(part.since_step for part in parts)
            covered = [each for each in covered if each.since_step >= begun or each.rule.kind == NON_FINITE]
        evidence = [*parts, *covered]
        dating = [part for part in held if any(firing.rule.dates for firing in part)]
        if symptom.begins_last:
            since = max(map(_first_step, dating or held))
        else:
            since = _first_step(evidence if dating else parts)
        below = (finding.severity for finding in single if owner.get(finding.id) == symptom.id)
        severity = max((symptom.severity, *below), key=RANK.__getitem__)
        gathered.append(symptom_finding(symptom, evidence, since, severity))
        if all(part.rule.kind == NON_FINITE for part in parts):
            same |= {rule_id for rule_id in ids if owner.get(rule_id) == symptom.id}
    return [
        finding._replace(explained_by=owner[finding.id]) if finding.id in owner else finding
        for finding in single
        if finding.id not in same
    ] + gathered


def _has_no_number(rule_id: str, state: FiringState) -> bool:
    """Whether a rule is about values that are no numbers, of which the first may come long before others."""
    return any(firing.rule.kind == NON_FINITE for firing in state.of(rule_id))


def _earliest_effect(symptom: Symptom, parts: Sequence[Firing], state: FiringState) -> float:
    """The step before which no alarm is an effect of a symptom that begins at a moment."""
    if not symptom.together:
        return -math.inf
    first, last = state.series.span()
    return min(part.since_step for part in parts) - symptom.together * max(last - first, 1)


def _first_step(firings: Sequence[Firing]) -> int:
    """At which the first of them began; where none has a beginning, at which it first held."""
    dated = [firing for firing in firings if firing.rule.dates] or firings
    return min(firing.since_step for firing in dated)


def _holds(symptom: Symptom, groups: Groups, state: FiringState) -> list[list[Firing]]:
    """The firings that make the symptom, by group of rules; none when it does not hold."""
    parts = []
    for group in groups:
        parts.append(state.applying(group))
        if not parts[-1]:
            return []
    if state.whole(symptom.none):
        return []
    first, last = state.series.span() if symptom.together or symptom.leads else (0, 0)
    if symptom.together:  # what began long before the first group is no part of it, but may go on
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
