"""Terms of reinforcement learning and the table of problems: `definitions()`, from `definitions.toml`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from rltui.data.fields import Field, ListField, TableField, TextField
from rltui.data.metric import TEXTS
from rltui.data.toml_files import read_table
from rltui.metrics.glossary import glossary
from rltui.metrics.glossary_entry import labelled
from rltui.text import cell_width

_ID = TextField(pattern=r"[a-z][a-z0-9-]*", permitted="lower-case words joined by '-'")


def _with_title(canonical: str) -> str:
    metric = glossary().metrics.get(canonical)
    return f"{metric.title} ({canonical})" if metric is not None else canonical


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the field. `see` are ids of other terms, `metrics` canonical ids that show it."""

    id: str
    title: str
    meaning: str
    aliases: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """One object, told from a metric by `kind`."""
        return {
            "kind": "term",
            "id": self.id,
            "title": self.title,
            "meaning": self.meaning,
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
        for at, name in enumerate(self.metrics):
            yield ("" if at else "measured by"), _with_title(name)
        if self.see:
            yield "see also", ", ".join(self.see)
        yield "sources", "; ".join(self.sources)


@dataclass(frozen=True, slots=True)
class TrainingProblem:
    """A symptom that people see: what it means, what to look at first and next, what to do.

    `first` and `next` are canonical ids, `rules` the ids of rules and symptoms that tell it.
    """

    id: str
    title: str
    means: str
    look: str
    do: str
    first: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """One object, told from a metric by `kind`."""
        return {
            "kind": "problem",
            "id": self.id,
            "title": self.title,
            "meaning": self.means,
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
        for label, names in (("first", self.first), ("then", self.next)):
            for at, name in enumerate(names):
                yield ("" if at else label), _with_title(name)
        yield "do", self.do
        yield "findings", ", ".join(self.rules)
        yield "sources", "; ".join(self.sources)


@dataclass(frozen=True, slots=True)
class Definitions:
    """All terms and problems, in the order of the file."""

    term: tuple[Term, ...] = ()
    problem: tuple[TrainingProblem, ...] = ()

    def find(self, words: str) -> Term | TrainingProblem | None:
        """A term by its id, title or another name for it, or a problem by id or title, in any letters."""
        wanted = _plain(words)
        for term in self.term:
            if wanted in map(_plain, (term.id, term.title, term.title.partition(" (")[0], *term.aliases)):
                return term
        return next((each for each in self.problem if wanted in (_plain(each.id), _plain(each.title))), None)


def _plain(words: str) -> str:
    return " ".join(words.strip().lower().replace("_", " ").replace("-", " ").split())


def as_lines(entry: Term | TrainingProblem, width: int = 80) -> list[str]:
    """An entry as lines of at most `width` cells."""
    lines = [entry.title, "=" * cell_width(entry.title)]
    for label, text in entry.parts():
        lines += labelled(label, text, width)
    return lines


_TERM: dict[str, Field[Any]] = {
    "id": _ID,
    **dict.fromkeys(("title", "meaning"), TextField()),
    **dict.fromkeys(("aliases", "see", "metrics", "sources"), TEXTS),
}
_PROBLEM: dict[str, Field[Any]] = {
    "id": _ID,
    **dict.fromkeys(("title", "means", "look", "do"), TextField()),
    **dict.fromkeys(("first", "next", "rules", "sources"), TEXTS),
}


@cache
def definitions() -> Definitions:
    """The shipped table."""
    fields: dict[str, Field[Any]] = {
        "term": ListField(TableField(_TERM, Term, required=("id", "title", "meaning", "sources"))),
        "problem": ListField(
            TableField(_PROBLEM, TrainingProblem, required=("id", "title", "means", "look", "do", "sources"))
        ),
    }
    return read_table("definitions", TableField(fields, Definitions, required=("term", "problem")))
