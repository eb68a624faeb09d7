"""Terms of the field, problems, and words for metrics: `definitions()`, from `definitions.toml`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from typing import Protocol

from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.common.text import cell_width
from rltui.metrics.glossary_entry import labelled, listed
from rltui.metrics.glossary_files import glossary
from rltui.schema.fields import ListField, TableField, TextField, table_of
from rltui.schema.toml_files import read_table

_ID = TextField(pattern=r"[a-z][a-z0-9-]*", permitted="lower-case words joined by '-'")


def with_title(canonical: str) -> str:
    """A canonical id behind the title of its metric."""
    metric = glossary().metrics.get(canonical)
    return f"{metric.title} ({canonical})" if metric is not None else canonical


def _healthy(canonical: str) -> str:
    """What is normal of a metric, behind its title; empty where the glossary does not say."""
    metric = glossary().metrics.get(canonical)
    return f"{metric.title}: {metric.healthy}" if metric is not None and metric.healthy else ""


class Definition(Protocol):
    """What is explained beside metrics: a term, a problem, what a finding says."""

    @property
    def title(self) -> str:
        """Its first line."""

    def parts(self) -> Iterator[tuple[str, str]]:
        """What stands below the title: a label, empty where it goes on, and a text."""

    def as_json(self) -> dict[str, object]:
        """One object, told from a metric by `kind`."""


class Term(NamedTuple):
    """A word of the field. `see` are ids of other terms, `metrics` canonical ids that show it."""

    id: str
    title: str
    meaning: str
    sources: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """One object, told from a metric by `kind`."""
        return {
            "kind": "term",
            "id": self.id,
            "title": self.title,
            "meaning": self.meaning,
            "healthy": " ".join(filter(None, map(_healthy, self.metrics))),
            "aliases": list(self.aliases),
            "see": list(self.see),
            "check_next": list(self.metrics),
            "sources": list(self.sources),
        }

    def parts(self) -> Iterator[tuple[str, str]]:
        """What stands below the title: a label, empty where it goes on, and a text."""
        yield "meaning", self.meaning
        if self.aliases:
            yield "also called", ", ".join(self.aliases)
        yield from listed("healthy", filter(None, map(_healthy, self.metrics)))
        yield from listed("measured by", map(with_title, self.metrics))
        if self.see:
            yield "see also", ", ".join(self.see)
        yield "sources", "; ".join(self.sources)


class TrainingProblem(NamedTuple):
    """A symptom that people see: what it means, what to look at first and next, what to do.

    `first` and `next` are canonical ids, `rules` the ids of rules and symptoms that tell it.
    """

    id: str
    title: str
    means: str
    look: str
    do: str
    sources: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """One object, told from a metric by `kind`."""
        return {
            "kind": "problem",
            "id": self.id,
            "title": self.title,
            "meaning": self.means,
            "aliases": list(self.aliases),
            "look": self.look,
            "check_first": list(self.first),
            "check_next": list(self.next),
            "do": self.do,
            "findings": list(self.rules),
            "sources": list(self.sources),
        }

    def parts(self) -> Iterator[tuple[str, str]]:
        """What stands below the title: a label, empty where it goes on, and a text."""
        yield "means", self.means
        yield "look at", self.look
        yield from listed("first", map(with_title, self.first))
        yield from listed("then", map(with_title, self.next))
        yield "do", self.do
        yield "findings", ", ".join(self.rules)
        yield "sources", "; ".join(self.sources)


@dataclass(frozen=True, slots=True)
class Definitions:
    """All terms and problems, in the order of the file, and words for metrics: phrase -> canonical ids."""

    term: tuple[Term, ...]
    problem: tuple[TrainingProblem, ...]
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def find(self, words: str) -> Term | TrainingProblem | None:
        """A term by its id, title or another name for it, or a problem by id or title, in any letters."""
        wanted = plain(words)
        return next((each for each in self._all() if wanted in map(plain, _names(each))), None)

    def _all(self) -> Iterator[Term | TrainingProblem]:
        yield from self.term
        yield from self.problem

    def metrics(self, words: str) -> tuple[str, ...]:
        """Canonical ids that people mean by some words: titles of the glossary, and the table `words`."""
        wanted = plain(words)
        if named := {plain(phrase): ids for phrase, ids in self.words.items()}.get(wanted):
            return named
        return tuple(id_ for id_, metric in glossary().metrics.items() if plain(metric.title) == wanted)

    def phrases(self) -> Iterator[str]:
        """All that `find` and `metrics` know, as people write it."""
        for each in self._all():
            yield from (name for name in _names(each) if " " in name or each.id == name)
        yield from self.words
        yield from (metric.title for metric in glossary().metrics.values())


def _names(entry: Term | TrainingProblem) -> tuple[str, ...]:
    return (entry.id, entry.title, entry.title.partition(" (")[0], *entry.aliases)


def plain(words: str) -> str:
    """Words without regard to capitals, dashes and underscores."""
    return " ".join(words.strip().lower().replace("_", " ").replace("-", " ").split())


def as_lines(entry: Definition, width: int = 80) -> list[str]:
    """An entry as lines of at most `width` cells."""
    lines = [entry.title, "=" * cell_width(entry.title)]
    for label, text in entry.parts():
        lines += labelled(label, text, width)
    return lines


def _definitions_field() -> TableField[Definitions]:
    term, problem = table_of(Term, id=_ID), table_of(TrainingProblem, id=_ID)
    return table_of(Definitions, term=ListField(term), problem=ListField(problem))


@cache
def definitions() -> Definitions:
    """The shipped table."""
    return read_table("definitions", _definitions_field)
