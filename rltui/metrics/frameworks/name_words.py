"""Finding the metric of a name by its words in any order: `Reward/episode`, `smoothed_ep_reward`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from rltui.common.regex import regex
from rltui.logs.records.record_keys import log_keys
from rltui.metrics.frameworks.framework import Resolved
from rltui.metrics.frameworks.framework_schema import WordTable
from rltui.schema.metric import NameTarget

_WORD = regex(r"[^\W\d_]+\d*|\d+|%")
_NUMBERED = regex(r"(\D+)(\d+)")
_UNSPACED = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")  # kana, Chinese characters, Hangul


class NameWords:
    """The metrics of names by their words. names: those of the table, expanded."""

    def __init__(self, table: WordTable, names: Mapping[str, NameTarget]) -> None:
        self._table = table
        self._words = {spelling: word for word, others in table.words.items() for spelling in (word, *others)}
        self._names = {frozenset(name.split()): entry for name, entry in names.items()}

    @cached_property
    def _unspaced(self) -> re.Pattern[str]:
        """The words of scripts without blanks between words, the longest first."""
        table = self._table
        known = {*self._words, *table.averages, *table.ignored, *table.evaluation}
        unspaced = sorted((word for word in known if _UNSPACED.fullmatch(word)), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, unspaced)) or r"(?!)")

    def find(self, name: str) -> Resolved | None:
        """The meaning of a name in snake case; None if a word is unknown or all mean nothing together."""
        words = self._split(name)
        table, learners = self._table, log_keys().learner_words
        mean = not table.averages.isdisjoint(words)
        meant: set[str] = set()
        learner, held_out, before = "", False, ""
        for word in words:
            if word.isdecimal():
                if before in learners:
                    learner = f"{before} {word}"
                elif not mean:  # a number of episodes
                    return None
            elif word in table.evaluation:
                held_out = True
            elif (known := self._words.get(word)) is not None:
                meant.add(known)
            elif word not in table.averages and word not in table.ignored and word not in learners:
                return None
            before = word
        only = next(iter(meant)) if len(meant) == 1 else ""
        if not table.apart.get(only, frozenset()).isdisjoint(words):
            return None
        entry = self._names.get(frozenset(meant))
        return Resolved(entry, name, learner, held_out) if entry is not None else None

    def without_container(self, name: str) -> str:
        """A name in snake case without the word for what holds its history: `eps` of `eps_history`."""
        begin, _, last = name.rpartition("_")
        held = begin and begin not in self._table.averages  # the values that a mean is of may be anything
        return begin if held and last in self._table.containers else name

    def without_sections(self, name: str) -> tuple[str, str]:
        """A name without its first sections that only say which part of a loop wrote it, and its name alone.

        The latter is another one for names that mean something else below these sections, and empty if nobody
        knows what they mean there.
        """
        sections: list[str] = []
        first, slash, rest = name.partition("/")
        while slash and (first in self._table.sections or first in self._table.algorithms):
            sections.append(first)
            name = rest
            first, slash, rest = name.partition("/")
        if not sections:
            return name, name
        bare = rest if slash and first in self._table.training else name
        known_as = self.below(sections, bare) if self._means_below(sections, bare) else ""
        return (name, name) if known_as == bare else (bare, known_as)

    def below(self, sections: Sequence[str], name: str) -> str:
        """What a name below sections is called alone if it means the same; empty if nobody knows."""
        for below in self._table.below:
            known = name in below.names or name in below.unknown
            if known and not (below.sections and below.sections.isdisjoint(sections)):
                return below.names.get(name, "")
        return name

    def _means_below(self, sections: Sequence[str], name: str) -> bool:
        """Whether a name of one word, or the mean of it, is not apart from these sections."""
        words = [word for word in self._split(name) if word not in self._table.averages]
        only = self._words.get(words[0], "") if len(words) == 1 else ""
        return self._table.apart.get(only, frozenset()).isdisjoint(sections)

    def below_role(self, label: str, rest: str) -> str:
        """`critic/loss` of the label `critic_1` and the rest `loss`; empty if the label names no role."""
        role, _, number = label.rpartition("_")
        return f"{role}/{rest}" if number.isdecimal() and role in self._table.roles else ""

    def _split(self, name: str) -> list[str]:
        """The words of a name; `ma100` and `agent0` are two, a number in a known word is part of it.

        Words that are written as one are told apart if all of them are known: the average reward in Chinese.
        """
        words: list[str] = []
        for word in _WORD.findall(name.lower()):
            if word not in self._words and (numbered := _NUMBERED.fullmatch(word)):
                words += numbered.groups()
            elif not word.isascii() and _UNSPACED.fullmatch(word) and not self._unspaced.sub("", word):
                words += self._unspaced.findall(word)
            else:
                words.append(word)
        return words
