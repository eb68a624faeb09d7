"""Definitions of terms and problems, and informal names of metrics: `definitions()`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Protocol

from rltui.common.display_text import cell_width
from rltui.common.named_tuple import NamedTuple
from rltui.metrics.glossary_entry import labelled, listed
from rltui.metrics.glossary_files import glossary
from rltui.schema.fields import TextField
from rltui.schema.toml_files import read_table

Id = Annotated[str, TextField(pattern=r"[a-z][a-z0-9-]*", permitted="lower-case words joined by '-'")]


def with_title(canonical: str) -> str:
    """The title of a metric, followed by its canonical id."""
    metric = glossary().metrics.get(canonical)
    return f"{metric.title} ({canonical})" if metric is not None else canonical


def _healthy(canonical: str) -> str:
    """The title of a metric and its healthy values; empty if the glossary has none."""
    metric = glossary().metrics.get(canonical)
    return f"{metric.title}: {metric.healthy}" if metric is not None and metric.healthy else ""


class Definition(Protocol):
    """The definition of a term, a problem, or a finding."""

    @property
    def title(self) -> str:
        """The heading."""

    def parts(self) -> Iterator[tuple[str, str]]:
        """The labelled texts below the title; a part without a label continues the one before."""

    def as_json(self) -> dict[str, object]:
        """The JSON object; `kind` distinguishes it from that of a metric."""


class Term(NamedTuple):
    """A term of reinforcement learning. see: ids of related terms. check_next: metrics that measure it."""

    id: Id
    title: str
    meaning: str
    sources: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    check_next: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """See Definition."""
        healthy = " ".join(filter(None, map(_healthy, self.check_next)))
        return {"kind": "term", **self._asdict(), "healthy": healthy}

    def parts(self) -> Iterator[tuple[str, str]]:
        """See Definition."""
        yield "meaning", self.meaning
        if self.aliases:
            yield "also called", ", ".join(self.aliases)
        yield from listed("healthy", filter(None, map(_healthy, self.check_next)))
        yield from listed("measured by", map(with_title, self.check_next))
        if self.see:
            yield "see also", ", ".join(self.see)
        yield "sources", "; ".join(self.sources)


class TrainingProblem(NamedTuple):
    """A problem of a training: its meaning, what to look at, and what to do.

    check_first, check_next: metrics to look at. findings: the rules and symptoms that report it.
    """

    id: Id
    title: str
    meaning: str
    look: str
    do: str
    sources: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    check_first: tuple[str, ...] = ()
    check_next: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """See Definition."""
        return {"kind": "problem", **self._asdict()}

    def parts(self) -> Iterator[tuple[str, str]]:
        """See Definition."""
        yield "means", self.meaning
        yield "look at", self.look
        yield from listed("first", map(with_title, self.check_first))
        yield from listed("then", map(with_title, self.check_next))
        yield "do", self.do
        yield "findings", ", ".join(self.findings)
        yield "sources", "; ".join(self.sources)


class Definitions(NamedTuple):
    """Terms and problems, in the order of the file, and informal names of metrics -> canonical ids."""

    term: tuple[Term, ...]
    problem: tuple[TrainingProblem, ...]
    words: Mapping[str, tuple[str, ...]] = {}

    def _entries(self) -> Sequence[Term | TrainingProblem]:
        return [*self.term, *self.problem]

    def find(self, words: str) -> Term | TrainingProblem | None:
        """The term or problem with this id, title or alias, ignoring case."""
        wanted = plain(words)
        return next((entry for entry in self._entries() if wanted in map(plain, _names(entry))), None)

    def metrics(self, words: str) -> tuple[str, ...]:
        """The canonical ids of metrics with this title or informal name, ignoring case."""
        wanted = plain(words)
        if ids := {plain(name): ids for name, ids in self.words.items()}.get(wanted):
            return ids
        return tuple(id_ for id_, metric in glossary().metrics.items() if plain(metric.title) == wanted)

    def phrases(self) -> Iterator[str]:
        """The ids, titles and names that `find` and `metrics` accept."""
        for entry in self._entries():
            yield from (name for name in _names(entry) if " " in name or entry.id == name)
        yield from self.words
        yield from (metric.title for metric in glossary().metrics.values())


def _names(entry: Term | TrainingProblem) -> tuple[str, ...]:
    return (entry.id, entry.title, entry.title.partition(" (")[0], *entry.aliases)


def plain(words: str) -> str:
    """Words in lower case, with dashes and underscores replaced by blanks."""
    return " ".join(words.strip().lower().replace("_", " ").replace("-", " ").split())


def as_lines(entry: Definition, width: int = 80) -> list[str]:
    """A definition as lines of at most `width` cells."""
    lines = [entry.title, "=" * cell_width(entry.title)]
    for label, text in entry.parts():
        lines += labelled(label, text, width)
    return lines


@cache
def definitions() -> Definitions:
    """The shipped definitions."""
    return read_table("definitions", Definitions)
