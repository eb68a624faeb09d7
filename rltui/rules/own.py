"""The user's own thresholds as rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from rltui.rules.model import Applies, Rule
from rltui.rules.verbal import number, pane_of

_WORD = re.compile(r"[^a-z0-9]+")


def own_rules(thresholds: Sequence[Any], name: Any) -> list[Rule]:
    """The user's thresholds that concern a tag, with limits on the canonical scale.

    A threshold on a canonical id is on that scale already; one on a tag is as the log writes it.
    """
    found = []
    for entry in thresholds:
        if name.canonical is not None and fnmatchcase(name.canonical, entry.metric):
            found.append(_rule(entry, name, entry.below, entry.above))
        elif fnmatchcase(name.tag, entry.metric):
            low, high = (
                None if limit is None else limit * name.scale + name.offset
                for limit in (entry.below, entry.above)
            )
            if name.scale < 0:
                low, high = high, low
            found.append(_rule(entry, name, low, high))
    return found


def _rule(entry: Any, name: Any, low: float | None, high: float | None) -> Rule:
    limits = {"below": low, "above": high}
    said = " or ".join(
        f"{word} {number(limit)}"
        for word, limit in (("<", entry.below), (">", entry.above))
        if limit is not None
    )
    return Rule(
        id="own-" + (_WORD.sub("-", entry.metric.lower()).strip("-") or "rule"),
        metrics=(name.canonical or name.tag,),
        kind="threshold",
        severity=entry.severity,
        numbers={key: limit for key, limit in limits.items() if limit is not None}
        | {"window": float(max(entry.hold, 1)), "share": 1.0, "release": 0.0},
        words={},
        title=entry.title or f"own limit: {said}",
        message=entry.message or f"{name.tag} is {{value}}, beyond your limit ({said})",
        advice="A limit of your own configuration.",
        source=entry.where,
        pane=pane_of(name.canonical) if name.canonical else "all",
        keep=2,
        applies=Applies(held_out=None),
    )
