"""The pattern language of metric names, and a matcher that is quick for ten thousand tags.

A pattern is a metric name in which

- `*` stands for one or more characters within one part (parts are what `/` separates),
- `**` stands for one or more whole parts, so `val-core/**/acc/mean@<n>` is read from the right,
- `<n>` stands for digits,
- `{a,b}` stands for either (one of them may be empty); the name it leads to may hold braces of the same
  length, taken in step.

A name without wildcards beats one with; among patterns a literal first part beats a wildcard, then more
literal characters beat fewer, then the narrower wildcard beats the wider. Two patterns that are alike in all
that and can match one name are ambiguous: `ambiguous` finds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product, repeat

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex

_BRACES = regex(r"\{([^{}]*)\}")
_TOKEN = regex(r"\*\*|\*|<n>")
_IN_A_ROW = regex(r"(\*|<n>)(\*\*|\*|<n>)")
_REGEX = {"**": "(.+)", "*": "([^/]+)", "<n>": "([0-9]+)"}
_ANY, _PART, _DIGIT = "**", "*", "<n>"


class PatternError(ValueError):
    """A pattern that says nothing clear; its text is the reason."""


def check(pattern: str) -> None:
    """Raise PatternError for a pattern that cannot be meant."""
    if not pattern or pattern != pattern.strip():
        raise PatternError("is empty or begins or ends with a blank")
    if "{" not in pattern and "}" not in pattern and not is_wild(pattern):
        return
    bare = _BRACES.sub("x", pattern)
    if "{" in bare or "}" in bare:
        raise PatternError("has braces that do not pair")
    if any(len(match.group(1).split(",")) < 2 for match in _BRACES.finditer(pattern)):
        raise PatternError("has braces with a single alternative")
    if _IN_A_ROW.search(bare.replace("**", "*")) or "***" in bare:
        raise PatternError("has two wildcards in a row, so that neither has an end")


def is_wild(pattern: str) -> bool:
    """Whether an expanded pattern holds wildcards."""
    return "*" in pattern or "<n>" in pattern


def expand(pattern: str, target: str = "") -> Iterator[tuple[str, str]]:
    """Pairs of (pattern without braces, target without braces). Raises PatternError."""
    check(pattern)
    if "{" not in pattern and "{" not in target:
        yield pattern, target
        return
    names, aims = _pieces(pattern), _pieces(target)
    if len(aims) == 1:  # all lead to one name
        yield from zip(map("".join, product(*names)), repeat(target), strict=False)
        return
    if [len(words) for words in aims] != [len(words) for words in names]:
        raise PatternError("has other alternatives than the name it leads to")
    yield from zip(map("".join, product(*names)), map("".join, product(*aims)), strict=True)


def _pieces(text: str) -> list[list[str]]:
    """A text and its alternatives in turn."""
    return [piece.split(",") if at % 2 else [piece] for at, piece in enumerate(_BRACES.split(text))]


def literal_head(pattern: str) -> str:
    """What an expanded pattern begins with, up to its first wildcard."""
    found = _TOKEN.search(pattern)
    return pattern[: found.start()] if found else pattern


def literal_tail(pattern: str) -> str:
    """What an expanded pattern ends with, behind its last wildcard."""
    return _TOKEN.split(pattern)[-1]


def specificity(pattern: str) -> tuple[bool, int, int, int, int]:
    """Sorts expanded patterns: the greater wins."""
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
        return False  # nearly all pairs; the search below costs a hundred times more
    first, second = _tokens(one), _tokens(other)
    seen, open_ = {(0, 0)}, [(0, 0)]
    while open_:
        i, j = open_.pop()
        if i == len(first) and j == len(second):
            return True
        if i == len(first) or j == len(second) or not _share(first[i], second[j]):
            continue
        for state in product(
            (i, i + 1) if len(first[i]) > 1 or first[i] == _PART else (i + 1,),
            (j, j + 1) if len(second[j]) > 1 or second[j] == _PART else (j + 1,),
        ):
            if state not in seen:
                seen.add(state)
                open_.append(state)
    return False


def _heads_agree(one: str, other: str) -> bool:
    """Whether two patterns, or two reversed ones, begin alike as far as both are literal."""
    for char, peer in zip(one, other, strict=False):
        if char in "*<>" or peer in "*<>":
            return True
        if char != peer:
            return False
    return True


def _tokens(pattern: str) -> list[str]:
    """Wildcards and single characters; a wildcard is one or more of its class."""
    tokens: list[str] = []
    at = 0
    for match in _TOKEN.finditer(pattern):
        tokens += pattern[at : match.start()]
        tokens.append(match.group())
        at = match.end()
    return [*tokens, *pattern[at:]]


def _share(one: str, other: str) -> bool:
    """Whether two tokens have a character in common."""
    if one not in _REGEX and other not in _REGEX:
        return one == other
    if one in _REGEX and other in _REGEX:
        return True  # a digit is of every class
    wild, char = (one, other) if one in _REGEX else (other, one)
    return wild == _ANY or (char != "/" if wild == _PART else char.isdigit())


def ambiguous(patterns: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of expanded patterns of equal rank that can match one name."""
    ranks: dict[tuple[bool, int, int, int, int], list[str]] = {}
    pairs = []
    for pattern in patterns:
        peers = ranks.setdefault(specificity(pattern), [])
        pairs += [(peer, pattern) for peer in peers if overlap(peer, pattern)]
        peers.append(pattern)
    return pairs


class PatternMatch(NamedTuple):
    """A name found: the pattern that matched, what its wildcards stood for, and where it leads."""

    pattern: str
    wild: tuple[str, ...]
    place: int  # of the pattern among those of the matcher


class Matcher:
    """Expanded patterns in order of rank. `find` is quick; regular expressions are made when first needed."""

    def __init__(self, names: Sequence[str]) -> None:
        """`names[index]` are expanded patterns, exact or wild; later duplicates lose."""
        self._exact: dict[str, int] = {}
        self._buckets: dict[str, list[tuple[str, int]]] = {}  # by first part; "" where that is wild
        self._longest = 0  # most slashes in a pattern
        self._lasts: set[str] = set()  # last parts of patterns that hold no wildcard
        self._compiled: dict[tuple[str, int, str], _Alternatives | None] = {}
        for index, name in enumerate(names):
            if is_wild(name):
                first = name.split("/", 1)[0]
                bucket = "" if is_wild(first) else first
                self._buckets.setdefault(bucket, []).append((name, index))
                self._longest = max(self._longest, name.count("/"))
                last = name.rpartition("/")[2]
                if not is_wild(last):
                    self._lasts.add(last)
            else:
                self._exact.setdefault(name, index)

    def exact(self, key: str) -> int | None:
        """Index of the name without wildcards that equals `key`."""
        return self._exact.get(key)

    def wild(self, key: str) -> PatternMatch | None:
        """The best pattern with wildcards that matches `key`."""
        for bucket in (key.split("/", 1)[0], ""):
            if bucket not in self._buckets:
                continue
            last = key.rpartition("/")[2]
            place = bucket, min(key.count("/"), self._longest + 1), last if last in self._lasts else ""
            alternatives = self._compiled[place] if place in self._compiled else self._compile(*place)
            match = alternatives.regex.fullmatch(key) if alternatives is not None else None
            if alternatives is not None and match is not None and match.lastindex is not None:
                pattern, index, end = alternatives.heads[match.lastindex]
                return PatternMatch(pattern, match.groups()[match.lastindex : end], index)
        return None

    def _compile(self, bucket: str, slashes: int, last: str) -> _Alternatives | None:
        """The patterns of a bucket that can match keys of so many slashes and that last part.

        Most can't, and the regular expression of all would try each. Only `**` stands for any number of
        parts; `last` is "" where no pattern names the last part of the key.
        """
        entries = []
        for pattern, index in self._buckets[bucket]:
            count, end = pattern.count("/"), pattern.rpartition("/")[2]
            if (count <= slashes if _ANY in pattern else count == slashes) and (end == last or is_wild(end)):
                entries.append((pattern, index))
        entries.sort(key=lambda entry: specificity(entry[0]), reverse=True)
        pieces, heads, group = [], {}, 1
        for pattern, index in entries:
            heads[group] = (pattern, index, group + len(_TOKEN.findall(pattern)))
            pieces.append(f"({to_regex(pattern)})")
            group += 1 + len(_TOKEN.findall(pattern))
        made = _Alternatives(re.compile("|".join(pieces), re.DOTALL), heads) if pieces else None
        self._compiled[bucket, slashes, last] = made
        return made


class _Alternatives(NamedTuple):
    """Patterns as one regular expression; by the group of each: itself, its place, the group of the next."""

    regex: re.Pattern[str]
    heads: dict[int, tuple[str, int, int]]


def to_regex(pattern: str) -> str:
    """An expanded pattern as a regular expression with one group for each wildcard."""
    return "".join(
        _REGEX.get(piece, re.escape(piece)) for piece in re.split(f"({_TOKEN.pattern})", pattern) if piece
    )


def filled(pattern: str, wild: Sequence[str]) -> str:
    """An expanded pattern with what its wildcards stand for."""
    texts = iter(wild)
    return _TOKEN.sub(lambda _: next(texts), pattern)


def wild_text(pattern: str, wild: Sequence[str]) -> str:
    """What the wildcards stood for, as people would say it: `openai/gsm8k @8`."""
    if len(wild) == 1 and "@" not in pattern:
        return wild[0]
    return " ".join([sign + text for sign, text in zip(_signs(pattern), wild, strict=True)])


@lru_cache(4_096)
def _signs(pattern: str) -> tuple[str, ...]:
    """For each wildcard the `@` before it, or nothing."""
    return tuple("@" if pattern[: match.start()].endswith("@") else "" for match in _TOKEN.finditer(pattern))
