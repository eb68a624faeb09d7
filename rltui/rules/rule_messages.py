"""The wording of findings: numbers filled into the message of a rule, and the sentence of the header."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rltui.common.display_text import count_of
from rltui.common.problem import SEVERITIES, Severity
from rltui.common.regex import regex
from rltui.draw.numbers import FEW, format_share, format_short, format_step
from rltui.metrics.glossary_files import glossary
from rltui.rules.evaluated_series.ticks import NonFinitePeriod, Ticks
from rltui.rules.finding import RANK, Evidence, Finding, order
from rltui.rules.metric_roles import STEP_TIME
from rltui.rules.rule import HPARAM, NON_FINITE, Rule, Symptom
from rltui.rules.rule_states.joint_firings import Firing
from rltui.rules.rule_states.rule_state import ActivePeriod
from rltui.schema.units import units

SECONDS_PER_STEP = "seconds per step"  # in place of a tag where the wall times of points give it
PRESENT_TICKS = 5  # whose median is the present level of a series
WORST_FACTOR = 2.0  # the worst value is reported if it is so many times the present one
# Kinds whose value is on one side of the limit while they hold.
COMPARED = frozenset({"threshold", "spike", "drop", "gain-lost", "below-start"})
# The kind whose messages go from the limit, the level in the first part of the run, to the value.
COURSE = "course"
_SHARES = ("fraction", "ratio")


def finding_of(firings: Sequence[Firing], *, remark: bool) -> Finding:
    """One finding for all series on which a rule fires: the earliest onset, the worst severity.

    remark: whether another rule lowers its severity to info.
    """
    firings = sorted(firings, key=lambda firing: (firing.since_step, firing.ticks.tag))
    first = firings[0]
    worst = max(firings, key=lambda firing: -math.inf if math.isnan(firing.worst) else firing.worst)
    rank = 0 if remark else max(RANK[firing.severity] for firing in firings)
    back = is_back(first, first.value)
    found = _finding(
        first.rule,
        SEVERITIES[rank],
        [firing.ticks for firing in firings],
        first.since_step,
        (first.worst if back else first.value, first.limit, first.before),
    )
    more = ""
    if back:
        # The rule's value may be a mean over many ticks: "now" agrees with the end of the charts.
        now = _format(first.rule, first.ticks.level(PRESENT_TICKS, of_size=first.rule.of_size))
        more = f"at step {format_step(first.worst_step)}; now {now}"
    elif worst.upward and 0 < WORST_FACTOR * first.value < worst.worst:
        more = f"up to {_format(worst.rule, worst.worst)} at step {format_step(worst.worst_step)}"
    return found._replace(message=_with_remark(found.message, more)) if more else found


def _with_remark(message: str, remark: str) -> str:
    """A message with a remark in parentheses: in those that it ends with, if there are any."""
    message = message.rstrip(".")
    return f"{message[:-1]}; {remark})" if message.endswith(")") else f"{message} ({remark})"


def resolved_finding(rule: Rule, ticks: Ticks, period: ActivePeriod | NonFinitePeriod) -> Finding:
    """A past period, as a finding."""
    if isinstance(period, NonFinitePeriod):
        numbers = (period.value, math.nan, math.nan)
        found = _finding(rule, "warning", [ticks], period.since_step, numbers)
        return found._replace(state="resolved", resolved_step=period.last_step)
    back = _is_within(rule, period.value, period.worst, period.limit)
    numbers = (period.worst if back else period.value, period.limit, period.before)
    found = _finding(rule, SEVERITIES[RANK[rule.severity]], [ticks], period.since_step, numbers)
    return found._replace(state="resolved", resolved_step=period.resolved_step)


_SINGULAR = regex(r"(?<![\d.,])1 (token|step|point|value|response|update|time|sample|group)s\b")


def _finding(
    rule: Rule, severity: Severity, series: Sequence[Ticks], since: int, numbers: tuple[float, float, float]
) -> Finding:
    """A finding on some series. `numbers`: value, limit, and level before; NaN if unknown."""
    value, limit, before = numbers
    canonical = tuple(dict.fromkeys(ticks.canonical or "" for ticks in series))
    tags = tuple(dict.fromkeys(ticks.tag for ticks in series))
    words = {
        "value": _few(value, series[0].canonical) or format_short(value),
        "limit": _format(rule, limit),
        "before": _format(rule, before),
        "since": format_step(since),
        "tag": series[0].tag,
        "metric": title_of(series[0].canonical or rule.metrics[0]) if rule.metrics else series[0].tag,
        "percent": _percent(value),
        "times": "-" if not before or math.isnan(before) or math.isnan(value) else f"{value / before:.1f}",
    }
    return Finding(
        id=rule.id,
        severity=severity,
        pane=rule.pane or pane_of(series[0].canonical or rule.metrics[0]),
        metrics=tags,
        canonical=canonical,
        since_step=since,
        message=_fill(rule.message, words),
        advice=rule.advice,
        check_next=rule.check_next,
        title=_fill(rule.title, words),
        value=None if math.isnan(value) and rule.kind != NON_FINITE else value,
        limit=_or_none(limit),
        evidence=(
            Evidence(
                _tag(rule, tags[0]),
                _or_none(limit if rule.kind == COURSE else before),
                _or_none(value),
                since,
                series[0].canonical,
                per=series[0].per,
            ),
        ),
        source=rule.source,
    )


def _format(rule: Rule, value: float) -> str:
    """A value in the form used by the rule's message."""
    return _percent(value) if "{percent}" in rule.message else format_short(value)


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else format_share(share)


def _few(value: float, canonical: str | None) -> str:
    """`almost 0` for a mean of counts or a share that is nearly zero; else empty."""
    metric = glossary().metrics.get(canonical or "")
    if metric is None:
        return ""
    few = FEW if metric.unit in units().counts else 1e-3 if metric.unit in _SHARES else 0.0
    return "almost 0" if 0 < value < few else ""


def _fill(text: str, words: dict[str, str]) -> str:
    if "{" in text:
        for key, value in words.items():
            text = text.replace("{" + key + "}", value)
        text = _SINGULAR.sub(r"1 \1", text)
    return text


def evidence_of(firing: Firing, *, quoted: bool = False) -> Evidence:
    """The change of one series: its level before and its level now, or what a sentence has `quoted` of it.

    Of a rule on the size of values both are sizes.
    """
    of_size = firing.rule.of_size
    by_value = firing.rule.kind in (NON_FINITE, "gap", HPARAM, COURSE)
    by_value |= quoted and not math.isnan(firing.value)
    now = firing.value if by_value else firing.ticks.level(PRESENT_TICKS, of_size=of_size)
    before = math.nan if firing.rule.kind == "gap" else firing.before  # of a gap: the training level
    before = firing.limit if firing.rule.kind == COURSE else before
    if math.isnan(before) and firing.ticks.start:
        before = abs(firing.ticks.start[0]) if of_size else firing.ticks.start[0]
    return Evidence(
        _tag(firing.rule, firing.ticks.tag),
        _or_none(before),
        _or_none(now),
        firing.since_step,
        firing.ticks.canonical,
        firing.worst if is_back(firing, now) else None,
        firing.ticks.per,
    )


def _tag(rule: Rule, tag: str) -> str:
    """The key of the quantity that a rule judges; the times of the points of `tag` give seconds per step."""
    return SECONDS_PER_STEP if STEP_TIME in rule.metrics else tag


def is_back(firing: Firing, now: float) -> bool:
    """Whether the value is back within the limit while the rule still fires."""
    return _is_within(firing.rule, now, firing.worst, firing.limit)


def _is_within(rule: Rule, value: float, worst: float, limit: float) -> bool:
    """Whether a value is on the other side of the limit than the worst one."""
    return rule.kind in COMPARED and (worst - limit) * (value - limit) < 0


def symptom_finding(symptom: Symptom, parts: Iterable[Firing], since: int, severity: Severity) -> Finding:
    """A symptom as a finding, with the changes of its parts as evidence, in order of step."""
    message = (severity == SEVERITIES[0] and symptom.info_message) or symptom.message
    evidence: dict[str, Evidence] = {}
    parts = list(parts)
    words = {key: format_short(getattr(parts[0], key)) for key in ("value", "limit", "before")}
    words |= {"tag": parts[0].ticks.tag}
    words |= {"because": _fill(parts[0].rule.message, words)}
    # The part that the sentence takes its numbers from.
    quoted = parts[0] if any(f"{{{key}}}" in message for key in ("value", "because")) else None
    parts.sort(key=lambda part: (part.since_step, part.ticks.tag))
    # Of two parts on a series, such as a crash and no gain since the first step, the one that began with it.
    for part in sorted(parts, key=lambda part: part.since_step < since):
        found = evidence_of(part, quoted=part is quoted)
        evidence.setdefault(found.name, found)
        if part is quoted:  # another part on this series may hold for longer, but the numbers are of this one
            evidence[found.name] = found
    tags = tuple(dict.fromkeys(part.ticks.tag for part in parts))
    canonical = tuple(dict.fromkeys(item.canonical for item in evidence.values() if item.canonical))
    return Finding(
        id=symptom.id,
        severity=severity,
        pane=symptom.pane,
        metrics=tags,
        canonical=canonical,
        since_step=since,
        message=_fill(message, words | {"since": format_step(since)}),
        advice=symptom.advice,
        check_next=symptom.check_next,
        title=symptom.title,
        evidence=tuple(sorted(evidence.values(), key=lambda item: item.since_step)),
        symptom=True,
        source=symptom.source,
    )


def sentence_of(findings: Sequence[Finding], seen: int = 0, unknown: str = "") -> str:
    """The header's sentence: the message of the worst finding, and the number of others.

    `seen`: number of acknowledged warnings and worse, which are not among `findings`, beside others that are.
    `unknown`: what could not be judged, shown in place of "nothing is wrong".
    """
    serious = _serious(findings)
    if not serious:
        notes = sum(finding.rank == 0 and finding.explained_by is None for finding in findings)
        if unknown:
            return unknown
        return "nothing is wrong" + (f" ({count_of(notes, 'remark')})" if notes else "")
    first = serious[0]
    more = len(serious) - 1
    # A failure in a console has a line there in place of a step.
    has_place = first.console is not None or f"step {format_step(first.since_step)}" in first.message
    since = "" if has_place else f" (since step {format_step(first.since_step)})"
    others = [f"; {count} {word}" for count, word in ((more, "more"), (seen, "acknowledged")) if count]
    return f"{first.message.rstrip('.')}{since}{''.join(others)}"


def headline_of(findings: Sequence[Finding]) -> str:
    """The title of the worst finding and its onset, for when the sentence is too long; or empty."""
    serious = _serious(findings)
    if not serious:
        return ""
    first = serious[0]
    early = first.console is not None and not first.since_step
    return f"{first.title} ({first.since if early else f'since step {format_step(first.since_step)}'})"


def _serious(findings: Sequence[Finding]) -> list[Finding]:
    """Warnings and worse that no symptom explains, the worst first."""
    return sorted((each for each in findings if each.rank > 0 and each.explained_by is None), key=order)


def title_of(canonical: str) -> str:
    """The title of a metric of the glossary, or else its id."""
    metric = glossary().metrics.get(canonical)
    return metric.title if metric is not None else canonical


def pane_of(canonical: str) -> str:
    """The pane of a metric: that of the glossary, or else the first part of its id."""
    metric = glossary().metrics.get(canonical)
    return metric.pane if metric is not None else canonical.partition(".")[0]


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
