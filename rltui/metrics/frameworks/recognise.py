"""Which framework wrote a run, told from its metric names alone.

Each framework names some keys that hardly anyone else writes, with a weight; what was seen is added up
to points. One point is even odds, each further point halves the doubt. How many of the run's names the
framework knows decides between frameworks that share their signs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property

from rltui.common.named_tuple import NamedTuple
from rltui.logs.records.record_keys import COMPUTED
from rltui.metrics.frameworks.load import Frameworks
from rltui.metrics.frameworks.model import Framework, Variant
from rltui.metrics.frameworks.patterns import is_wild, to_regex

UNKNOWN = "unknown"
SURE = 0.48  # confidence from which a framework is named
SAMPLE = 200  # tags looked at to see how many of them a framework knows
SHORTLIST = 4  # frameworks compared in that way


class FrameworkMatch(NamedTuple):
    """Who wrote a run. `label` is for people and programs: `verl`, `trl-grpo`, `unknown`."""

    framework: str = UNKNOWN
    variant: str | None = None
    label: str = UNKNOWN
    confidence: float = 0.0  # 0 to 1
    reason: str = "none of its metric names tells a framework"


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """A sign's pattern; a run meets the first parts of few."""
    return re.compile(to_regex(name))


class FrameworkRecogniser:
    """Takes in tags as they appear; cheap enough to be asked after each."""

    def __init__(self, known: Frameworks) -> None:
        self._known = known
        self._seen: dict[str, dict[str, float]] = {}  # framework -> sign -> weight
        self._tags: dict[str, None] = {}

    @cached_property
    def _wild(self) -> dict[str, list[str]]:
        """Signs with wildcards by their first part, '' where that is a wildcard itself."""
        found: dict[str, list[str]] = {}
        for name in self._known.signs:
            if is_wild(name):
                first = name.split("/", 1)[0]
                found.setdefault("" if is_wild(first) else first, []).append(name)
        return found

    def add(self, tags: Iterable[str]) -> None:
        """Take note of tags; ones seen before cost nothing."""
        for tag in tags:
            if tag in self._tags or tag.startswith(COMPUTED):  # no word of the framework
                continue
            self._tags[tag] = None
            for key in dict.fromkeys((tag, self._known.with_slashes(tag))):
                self._note(key)

    def _note(self, key: str) -> None:
        """Add what a key tells."""
        signs = self._known.signs
        names = [key] if key in signs else []
        for first in (key.split("/", 1)[0], ""):
            names += [name for name in self._wild.get(first, ()) if _pattern(name).fullmatch(key)]
        for name in names:
            for framework, sign, weight in signs[name]:
                self._seen.setdefault(framework, {})[sign] = weight

    def result(self) -> FrameworkMatch:
        """The best answer so far."""
        ranked = sorted(
            ((self._points(id_), id_) for id_ in self._seen), key=lambda pair: (-pair[0], pair[1])
        )
        best: tuple[float, float, Framework] | None = None
        sample = list(self._tags)[:: max(1, len(self._tags) // SAMPLE)]
        for points, id_ in ranked[:SHORTLIST]:
            framework = self._known.get(id_)
            if points <= 0 or framework is None:
                continue
            fit = sum(self._known.find(framework, tag) is not None for tag in sample) / len(sample)
            confidence = (1 - 0.5**points) * (0.5 + 0.5 * fit)
            if best is None or confidence > best[0]:
                best = (confidence, fit, framework)
        if best is None or best[0] < SURE:
            return FrameworkMatch(confidence=best[0] if best else 0.0)
        confidence, fit, framework = best
        variant = self._variant(framework)
        named = self._known.get(f"{framework.id}-{variant.id}") if variant else framework
        seen = sorted(self._seen[framework.id].items(), key=lambda pair: (-pair[1], pair[0]))
        signs = ", ".join(sign for sign, weight in seen[:3] if weight)
        title = f"{framework.title}, {variant.title}" if variant else framework.title
        return FrameworkMatch(
            framework=framework.id,
            variant=variant.id if variant else None,
            label=named.label if named else framework.label,
            confidence=round(confidence, 3),
            reason=f"{title}: it writes {signs}; {fit:.0%} of the run's names are known there",
        )

    def _points(self, id_: str) -> float:
        framework = self._known.get(id_)
        seen = self._seen[id_]
        if framework is None or any(name in seen for name in framework.file.recognise.without):
            return 0.0
        must = framework.file.recognise.must
        if must and not any(all(name in seen for name in group) for group in must):
            return 0.0
        return sum(seen.values())

    def _variant(self, framework: Framework) -> Variant | None:
        if not framework.variants:
            return None
        bare = {framework.bare(tag) for tag in self._tags}
        for variant in framework.variants:
            if any(name in bare for name in variant.any) and not any(
                name in bare for name in variant.without
            ):
                return variant
        return None


def configured_framework(known: Frameworks, name: str) -> FrameworkMatch | None:
    """What the user's configuration says, or None where it names no framework."""
    framework = known.get(name)
    if framework is None:
        return None
    variant = framework.variant.id if framework.variant else None
    return FrameworkMatch(framework.id, variant, framework.label, 1.0, "the configuration says so")
