"""The user's thresholds as rules. They are evaluated at every point, since users mean points, not ticks."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from rltui.common.regex import regex
from rltui.config.user_config import Threshold
from rltui.draw.numbers import format_short
from rltui.metrics.metric_name import MetricName
from rltui.rules.rule import Applies, Rule

KIND = "own"
MIN_RECOVERY = 3  # points within the limits before it is resolved; more if `for` is larger

_WORD = regex(r"[^a-z0-9]+")


def user_rules(thresholds: Sequence[Threshold], name: MetricName) -> list[Rule]:
    """The user's thresholds that apply to a tag, with limits on the canonical scale.

    A threshold on a canonical id is on that scale already; one on a tag is on the scale of the log.
    """
    found = []
    for position, entry in enumerate(thresholds):
        low, high = entry.below, entry.above
        if name.canonical is None or not matches(entry.metric, name.canonical):
            if not matches(entry.metric, name.tag):
                continue
            low, high = (None if limit is None else name.to_canonical(limit) for limit in (low, high))
            if name.scale < 0:
                low, high = high, low
        found.append(_rule(entry, user_rule_id(thresholds, position), name, low, high))
    return found


def matches(pattern: str, text: str) -> bool:
    """Whether a name matches; only `*` is special, since tags may contain brackets."""
    if "*" not in pattern:
        return pattern == text
    return fnmatchcase(text, pattern.replace("[", "[[]").replace("?", "[?]"))


def user_rule_id(thresholds: Sequence[Threshold], position: int) -> str:
    """The id of an entry's rule; further entries on the same metric are numbered."""
    slugs = [
        _WORD.sub("-", entry.metric.lower()).strip("-") or "rule" for entry in thresholds[: position + 1]
    ]
    earlier = slugs[:-1].count(slugs[-1])
    return f"own-{slugs[-1]}" + (f"-{earlier + 1}" if earlier else "")


def condition(entry: Threshold) -> str:
    """`> 0.2`, `< 1 or > 5`, as the user wrote the limits."""
    return " or ".join(
        f"{word} {format_short(limit)}"
        for word, limit in (("<", entry.below), (">", entry.above))
        if limit is not None
    )


def _rule(entry: Threshold, rule_id: str, name: MetricName, low: float | None, high: float | None) -> Rule:
    limits_text = condition(entry)
    duration = f" for {entry.for_} points" if entry.for_ > 1 else ""
    limits = {"below": low, "above": high}
    return Rule(
        id=rule_id,
        metrics=(name.canonical or name.tag,),
        kind=KIND,
        severity=entry.severity,
        numbers={key: limit for key, limit in limits.items() if limit is not None},
        title=entry.title or f"own limit: {limits_text}",
        message=entry.message or f"{name.tag} is {{value}}, beyond your limit ({limits_text}{duration})",
        advice="A limit of your own configuration.",
        source=entry.where,
        pane=name.metric.pane if name.metric is not None else name.pane,
        for_ticks=max(entry.for_, 1),
        keep_firing_for=max(entry.for_, MIN_RECOVERY),
        applies=Applies(held_out=None),
    )
