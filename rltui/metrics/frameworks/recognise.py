"""Recognising the framework that wrote a run, from its tags alone.

The file of a framework lists signs: tags that hardly any other framework writes, with points. One point means
even odds, each further point halves the doubt. Between frameworks with the same signs, the share of the run's
tags that each of them knows decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_share
from rltui.logs.records.record_keys import COMPUTED
from rltui.metrics.frameworks.framework import Framework, Variant
from rltui.metrics.frameworks.framework_files import Frameworks, frameworks
from rltui.metrics.frameworks.patterns import to_regex

UNKNOWN = "unknown"
MIN_CONFIDENCE = 0.48  # to name a framework
SAMPLE = 200  # tags that are looked up in the frameworks
SHORTLIST = 4  # frameworks that they are looked up in


class FrameworkMatch(NamedTuple):
    """The framework of a run. label: framework and variant for display (`verl`, `trl-grpo`, `unknown`)."""

    framework: str = UNKNOWN
    variant: str | None = None
    label: str = UNKNOWN
    confidence: float = 0.0  # 0 to 1
    reason: str = "none of its metric names tells a framework"


def recognise(
    tags: Iterable[str], override: str | None = None, known: Frameworks | None = None
) -> FrameworkMatch:
    """The framework that wrote a run with these tags.

    override: the configured framework; ignored if unknown. known: by default the shipped
    frameworks.
    """
    known = known or frameworks()
    if override is not None and (configured := known.get(override)) is not None:
        return _match(configured, 1.0, "the configuration says so")
    written = [tag for tag in dict.fromkeys(tags) if not tag.startswith(COMPUTED)]
    signs = _signs_in(known, written)
    points = {id_: _points(known, id_, found) for id_, found in signs.items()}
    shortlist = sorted((id_ for id_ in points if points[id_] > 0), key=lambda id_: (-points[id_], id_))
    sample = written[:: max(1, len(written) // SAMPLE)]
    best: tuple[float, float, Framework] | None = None
    for id_ in shortlist[:SHORTLIST]:
        framework = known.framework(id_)
        share = sum(known.find(framework, tag) is not None for tag in sample) / len(sample)
        confidence = (1 - 0.5 ** points[id_]) * (0.5 + 0.5 * share)
        if best is None or confidence > best[0]:
            best = (confidence, share, framework)
    if best is None or best[0] < MIN_CONFIDENCE:
        return FrameworkMatch(confidence=best[0] if best else 0.0)
    confidence, share, framework = best
    title = framework.title
    if (variant := _variant(framework, written)) is not None:
        framework, title = (
            known.framework(framework.id, variant.id),
            f"{title}, {variant.table.title or variant.id}",
        )
    found = sorted(signs[framework.id].items(), key=lambda item: (-item[1], item[0]))
    examples = ", ".join(sign for sign, weight in found[:3] if weight)
    reason = f"{title}: it writes {examples}; {format_share(share)} of the run's names are known there"
    return _match(framework, round(confidence, 3), reason)


def _match(framework: Framework, confidence: float, reason: str) -> FrameworkMatch:
    variant = framework.variant.id if framework.variant else None
    return FrameworkMatch(framework.id, variant, framework.label, confidence, reason)


def _signs_in(known: Frameworks, tags: Sequence[str]) -> dict[str, dict[str, float]]:
    """By framework, the signs among the tags and their points."""
    found: dict[str, dict[str, float]] = {}
    for tag in tags:
        for key in dict.fromkeys((tag, known.with_slashes(tag))):
            names = [key] if key in known.signs else []
            for first in (key.split("/", 1)[0], ""):
                names += [
                    name
                    for head, tail, name in known.wild_signs.get(first, ())
                    if key.startswith(head) and key.endswith(tail) and _regex(name).fullmatch(key)
                ]
            for name in names:
                for framework, sign, weight in known.signs[name]:
                    found.setdefault(framework, {})[sign] = weight
    return found


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(to_regex(pattern))


def _points(known: Frameworks, id_: str, found: Mapping[str, float]) -> float:
    conditions = known.framework(id_).file.recognise
    if any(name in found for name in conditions.without):
        return 0.0
    if conditions.must and not any(all(name in found for name in group) for group in conditions.must):
        return 0.0
    return sum(found.values())


def _variant(framework: Framework, tags: Sequence[str]) -> Variant | None:
    bare = {framework.bare(tag) for tag in tags} if framework.variants else set()
    for variant in framework.variants:
        if not bare.isdisjoint(variant.table.any) and bare.isdisjoint(variant.table.without):
            return variant
    return None
