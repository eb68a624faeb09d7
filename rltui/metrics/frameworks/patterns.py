"""Patterns for metric names, and a fast matcher.

A pattern is a metric name in which

- `*` matches one or more characters within one part (parts are separated by `/`),
- `**` matches one or more whole parts, as in `val-core/**/acc/mean@<n>`,
- `<n>` matches digits,
- `{a,b}` is replaced by each alternative, which may be empty. The target may have braces with the same number
  of alternatives, which are replaced in parallel.

A name without wildcards takes precedence over patterns. Among patterns, a literal first part takes
precedence, then more literal characters, then narrower wildcards. Two patterns of equal precedence that can
match one name are ambiguous (`ambiguous`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product, repeat
from typing import Generic, TypeVar

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex

T = TypeVar("T")

_BRACES = regex(r"\{([^{}]*)\}")
_TOKEN = regex(r"\*\*|\*|<n>")
_ADJACENT_WILDCARDS = regex(r"(\*|<n>)(\*\*|\*|<n>)")
_REGEX = {"**": "(.+)", "*": "([^/]+)", "<n>": "([0-9]+)"}
_ANY, _PART, _DIGIT = "**", "*", "<n>"


class PatternError(ValueError):
    """An invalid pattern."""


def check(pattern: str) -> None:
    """Raise PatternError for an invalid pattern."""
    if not pattern or pattern != pattern.strip():
        raise PatternError("is empty or begins or ends with a blank")
    if "{" not in pattern and "}" not in pattern and not is_wild(pattern):
        return
    bare = _BRACES.sub("x", pattern)
    if "{" in bare or "}" in bare:
        raise PatternError("has braces that do not pair")
    if any(len(match.group(1).split(",")) < 2 for match in _BRACES.finditer(pattern)):
        raise PatternError("has braces with a single alternative")
    if _ADJACENT_WILDCARDS.search(bare.replace("**", "*")) or "***" in bare:
        raise PatternError("has two wildcards in a row, so that neither has an end")


def is_wild(pattern: str) -> bool:
    """Whether an expanded pattern has wildcards."""
    return "*" in pattern or "<n>" in pattern


def expand(pattern: str, target: str = "") -> Iterator[tuple[str, str]]:
    """Pairs of pattern and target with braces expanded. Raises PatternError."""
    check(pattern)
    if "{" not in pattern and "{" not in target:
        yield pattern, target
        return
    names, targets = _alternatives(pattern), _alternatives(target)
    if len(targets) == 1:
        yield from zip(map("".join, product(*names)), repeat(target), strict=False)
        return
    if [len(words) for words in targets] != [len(words) for words in names]:
        raise PatternError("has other alternatives than the name it leads to")
    yield from zip(map("".join, product(*names)), map("".join, product(*targets)), strict=True)


def _alternatives(text: str) -> list[list[str]]:
    """The parts of a text outside and within braces, as lists of alternatives."""
    return [piece.split(",") if at % 2 else [piece] for at, piece in enumerate(_BRACES.split(text))]


def literal_head(pattern: str) -> str:
    """The text of an expanded pattern before its first wildcard."""
    match = _TOKEN.search(pattern)
    return pattern[: match.start()] if match else pattern


def literal_tail(pattern: str) -> str:
    """The text of an expanded pattern after its last wildcard."""
    return _TOKEN.split(pattern)[-1]


def specificity(pattern: str) -> tuple[bool, int, int, int, int]:
    """The sort key of expanded patterns; the greatest takes precedence."""
    wild = _TOKEN.findall(pattern)
    return (
        not is_wild(pattern.split("/", 1)[0]),
        len(_TOKEN.sub("", pattern)),
        -wild.count(_ANY),
        -wild.count(_PART),
        -wild.count(_DIGIT),
    )


def overlap(one: str, other: str) -> bool:
    """Whether some name matches both expanded patterns."""
    if not _heads_agree(one, other) or not _heads_agree(one[::-1], other[::-1]):
        return False  # nearly all pairs; the search below takes a hundred times longer
    first, second = _tokens(one), _tokens(other)
    seen, pending = {(0, 0)}, [(0, 0)]
    while pending:
        i, j = pending.pop()
        if i == len(first) and j == len(second):
            return True
        if i == len(first) or j == len(second) or not _intersect(first[i], second[j]):
            continue
        for state in product(
            (i, i + 1) if len(first[i]) > 1 or first[i] == _PART else (i + 1,),
            (j, j + 1) if len(second[j]) > 1 or second[j] == _PART else (j + 1,),
        ):
            if state not in seen:
                seen.add(state)
                pending.append(state)
    return False


def _heads_agree(one: str, other: str) -> bool:
    """Whether two patterns, or two reversed ones, are equal up to the first wildcard in either."""
    for char, peer in zip(one, other, strict=False):
        if char in "*<>" or peer in "*<>":
            return True
        if char != peer:
            return False
    return True


def _tokens(pattern: str) -> list[str]:
    """Wildcards and single characters; a wildcard matches one or more characters of its class."""
    tokens: list[str] = []
    at = 0
    for match in _TOKEN.finditer(pattern):
        tokens += pattern[at : match.start()]
        tokens.append(match.group())
        at = match.end()
    return [*tokens, *pattern[at:]]


def _intersect(one: str, other: str) -> bool:
    """Whether some character matches both tokens."""
    if one not in _REGEX and other not in _REGEX:
        return one == other
    if one in _REGEX and other in _REGEX:
        return True  # a digit is in every class
    wild, char = (one, other) if one in _REGEX else (other, one)
    return wild == _ANY or (char != "/" if wild == _PART else char.isdigit())


def ambiguous(patterns: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of expanded patterns with equal precedence that can match one name."""
    by_specificity: dict[tuple[bool, int, int, int, int], list[str]] = {}
    pairs = []
    for pattern in patterns:
        peers = by_specificity.setdefault(specificity(pattern), [])
        pairs += [(peer, pattern) for peer in peers if overlap(peer, pattern)]
        peers.append(pattern)
    return pairs


class PatternMatch(NamedTuple, Generic[T]):
    """A pattern that matched, its target, and the text that each of its wildcards matched."""

    pattern: str
    target: T
    wild: tuple[str, ...]

    @property
    def part(self) -> str:
        """The texts matched by wildcards, for display: `openai/gsm8k @8`."""
        if len(self.wild) == 1 and "@" not in self.pattern:
            return self.wild[0]
        return " ".join([sign + text for sign, text in zip(_signs(self.pattern), self.wild, strict=True)])


class Matcher(Generic[T]):
    """Finds the pattern with the highest precedence for a key. Regular expressions are compiled on demand."""

    def __init__(self, targets: Mapping[str, T]) -> None:
        """targets: by expanded pattern with or without wildcards."""
        self._exact: dict[str, T] = {}
        self._buckets: dict[str, list[tuple[str, T]]] = {}  # by first part; "" if that has a wildcard
        self._longest = 0  # maximum number of slashes in a pattern
        self._lasts: set[str] = set()  # last parts of patterns, if without wildcards
        self._compiled: dict[tuple[str, int, str], _Alternatives[T] | None] = {}
        for name, target in targets.items():
            if is_wild(name):
                first = name.split("/", 1)[0]
                bucket = "" if is_wild(first) else first
                self._buckets.setdefault(bucket, []).append((name, target))
                self._longest = max(self._longest, name.count("/"))
                last = name.rpartition("/")[2]
                if not is_wild(last):
                    self._lasts.add(last)
            else:
                self._exact[name] = target

    def exact(self, key: str) -> T | None:
        """The target of the name without wildcards that equals `key`."""
        return self._exact.get(key)

    def wild(self, key: str) -> PatternMatch[T] | None:
        """The match of the pattern with wildcards that takes precedence for `key`."""
        for bucket in (key.split("/", 1)[0], ""):
            if bucket not in self._buckets:
                continue
            last = key.rpartition("/")[2]
            kind = bucket, min(key.count("/"), self._longest + 1), last if last in self._lasts else ""
            alternatives = self._compiled[kind] if kind in self._compiled else self._compile(*kind)
            match = alternatives.regex.fullmatch(key) if alternatives is not None else None
            if alternatives is not None and match is not None and match.lastindex is not None:
                pattern, target, end = alternatives.by_group[match.lastindex]
                return PatternMatch(pattern, target, match.groups()[match.lastindex : end])
        return None

    def _compile(self, bucket: str, slashes: int, last: str) -> _Alternatives[T] | None:
        """The patterns of a bucket that can match keys with this number of slashes and this last part.

        This excludes most patterns, which a single regular expression would have to try. `last` is "" if no
        pattern has the last part of the key.
        """
        entries = []
        for pattern, target in self._buckets[bucket]:
            count, end = pattern.count("/"), pattern.rpartition("/")[2]
            if (count <= slashes if _ANY in pattern else count == slashes) and (end == last or is_wild(end)):
                entries.append((pattern, target))
        entries.sort(key=lambda entry: specificity(entry[0]), reverse=True)
        pieces, by_group, group = [], {}, 1
        for pattern, target in entries:
            by_group[group] = (pattern, target, group + len(_TOKEN.findall(pattern)))
            pieces.append(f"({to_regex(pattern)})")
            group += 1 + len(_TOKEN.findall(pattern))
        compiled = _Alternatives(re.compile("|".join(pieces), re.DOTALL), by_group) if pieces else None
        self._compiled[bucket, slashes, last] = compiled
        return compiled


class _Alternatives(NamedTuple, Generic[T]):
    """Patterns as one regular expression. by_group: pattern, target, group of its last wildcard."""

    regex: re.Pattern[str]
    by_group: dict[int, tuple[str, T, int]]


def to_regex(pattern: str) -> str:
    """The regular expression of an expanded pattern, with one group for each wildcard."""
    return "".join(
        _REGEX.get(piece, re.escape(piece)) for piece in re.split(f"({_TOKEN.pattern})", pattern) if piece
    )


def filled(pattern: str, wild: Sequence[str]) -> str:
    """An expanded pattern with its wildcards replaced by the given texts."""
    texts = iter(wild)
    return _TOKEN.sub(lambda _: next(texts), pattern)


@lru_cache(4_096)
def _signs(pattern: str) -> tuple[str, ...]:
    """For each wildcard the `@` before it, or an empty string."""
    return tuple("@" if pattern[: match.start()].endswith("@") else "" for match in _TOKEN.finditer(pattern))
