"""Filter expressions, sorting, groups and notable samples."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from rltui.common.arrays import median
from rltui.common.comparison_operators import COMPARISONS
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.logs.records.record_keys import ended_at_limit
from rltui.logs.sample_layouts.sample import Sample, SampleHead

SortKey = Literal["reward", "length", "advantage", "step"]
SORT_KEYS: tuple[SortKey, ...] = ("reward", "length", "advantage", "step")
_FIELDS = ("reward", "advantage", "length", "step", "stop", "group", "split", "dataset", "ok")

_TERM = regex(
    r"\s*(?P<not>-)?(?:/(?P<regex>(?:[^/\\]|\\.)+)/|\"(?P<quoted>[^\"]*)\""
    r"|(?P<key>\w[\w./@-]*?)\s*(?P<op><=|>=|!=|=|<|>|:)\s*(?P<value>\"[^\"]*\"|\S+)|(?P<word>\S+))"
)


class FilterError(ValueError):
    """A filter expression is invalid; the message says what is wrong, and where."""


class Filter(NamedTuple):
    """A filter expression: terms that must all match.

    `reward>0.5`, `length<=200`, `stop=length`, `group=7`, `"exact text"`, `/regex/`, words; `-` before a term
    negates it. Words and expressions are searched in prompt and response, which must be read for them.
    """

    heads: tuple[Callable[[SampleHead], bool], ...]
    texts: tuple[Callable[[str], bool], ...]

    def keeps_head(self, head: SampleHead) -> bool:
        """Whether the terms about fields match."""
        return all(term(head) for term in self.heads)

    def keeps_text(self, sample: Sample) -> bool:
        """Whether the terms about text match."""
        if not self.texts:
            return True
        text = f"{sample.prompt}\n{sample.response}"
        return all(term(text) for term in self.texts)


def parse_filter(expression: str) -> Filter:
    """Parse a filter expression. Raises FilterError."""
    heads: list[Callable[[SampleHead], bool]] = []
    texts: list[Callable[[str], bool]] = []
    at = 0
    while expression[at:].strip():
        found = _TERM.match(expression, at)
        if found is None:
            raise FilterError(f"cannot be understood from {expression[at:].strip()!r} on")
        at = found.end()
        negative = bool(found["not"])
        if found["key"] is not None:
            heads.append(_comparison(found["key"], found["op"], found["value"].strip('"'), negative))
        elif found["regex"] is not None:
            texts.append(_regex(found["regex"], negative))
        else:
            texts.append(_word(found["quoted"] if found["quoted"] is not None else found["word"], negative))
    return Filter(tuple(heads), tuple(texts))


def _comparison(key: str, op: str, value: str, negative: bool) -> Callable[[SampleHead], bool]:
    if key not in _FIELDS:
        raise FilterError(f"no field {key!r}; fields: {', '.join(_FIELDS)}")
    try:
        wanted: float | None = float(value)
    except ValueError:
        wanted = None
    if wanted is None and op not in ("=", ":", "!="):
        raise FilterError(f"{key}{op} needs a number, not {value!r}")

    def holds(head: SampleHead) -> bool:
        found: object = getattr(head, key)
        if found is None:
            return False
        if wanted is not None and isinstance(found, int | float) and not isinstance(found, bool):
            return COMPARISONS[op](float(found), wanted) != negative
        same = str(found).lower() == value.lower()
        return (same != (op == "!=")) != negative

    return holds


def _regex(pattern: str, negative: bool) -> Callable[[str], bool]:
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise FilterError(f"/{pattern}/ is not a regular expression: {error}") from None
    return lambda text: (compiled.search(text) is not None) != negative


def _word(word: str, negative: bool) -> Callable[[str], bool]:
    wanted = word.lower()
    return lambda text: (wanted in text.lower()) != negative


def sorted_heads(heads: Iterable[SampleHead], key: SortKey | None, *, reverse: bool) -> list[SampleHead]:
    """Heads by a field, the smallest first; those without a value last in either order. None: not sorted."""
    rows = list(heads)
    if key is None:
        return rows[::-1] if reverse else rows

    def value(head: SampleHead) -> float | None:
        found: float | int | None = getattr(head, key)
        return None if found is None or math.isnan(found) else float(found)

    known = [head for head in rows if value(head) is not None]
    unknown = [head for head in rows if value(head) is None]
    return sorted(known, key=lambda head: value(head) or 0.0, reverse=reverse) + unknown


def groups_of(heads: Iterable[SampleHead]) -> dict[object, list[SampleHead]]:
    """Samples of one step and split, grouped by their `group` or, without one, by equal prompts."""
    groups: dict[object, list[SampleHead]] = {}
    for head in heads:
        name: object = head.group if head.group is not None else head.prompt
        groups.setdefault((head.step, head.split, name), []).append(head)
    return groups


def widest_groups(heads: Iterable[SampleHead]) -> list[list[SampleHead]]:
    """Groups of at least two samples, the largest range of rewards first."""
    found = groups_of(heads)
    ranges = {
        key: max(rewards) - min(rewards)
        for key, group in found.items()
        if len(rewards := [head.reward for head in group if head.reward is not None]) > 1
    }
    return [found[key] for key in sorted(ranges, key=lambda key: -ranges[key])]


def notable(heads: Sequence[SampleHead]) -> Mapping[str, SampleHead]:
    """The best, worst, longest, a truncated and the most typical sample, as far as they exist.

    The most typical one has a reward and a length nearest to the medians, in units of the median absolute
    deviation.
    """
    chosen: dict[str, SampleHead] = {}
    rewarded = [head for head in heads if head.reward is not None and not math.isnan(head.reward)]
    sized = [head for head in heads if head.length is not None]
    if rewarded:
        chosen["best"] = max(rewarded, key=lambda head: head.reward or 0.0)
        chosen["worst"] = min(rewarded, key=lambda head: head.reward or 0.0)
    if sized:
        chosen["longest"] = max(sized, key=lambda head: head.length or 0)
    truncated = next((head for head in heads if ended_at_limit(head.stop)), None)
    if truncated is not None:
        chosen["truncated"] = truncated
    both = [head for head in rewarded if head.length is not None]
    if both:
        reward_distance = _distance_from_median([head.reward or 0.0 for head in rewarded])
        length_distance = _distance_from_median([float(head.length or 0) for head in sized])
        chosen["typical"] = min(
            both,
            key=lambda head: reward_distance(head.reward or 0.0) + length_distance(float(head.length or 0)),
        )
    return chosen


def _distance_from_median(values: Sequence[float]) -> Callable[[float], float]:
    center = median(values)
    deviation = median([abs(value - center) for value in values]) or 1.0
    return lambda value: abs(value - center) / deviation
