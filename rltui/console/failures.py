"""Known failures and what consoles look like: `rltui/data/failures.toml`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from rltui.data.fields import AnyOfField, BoolField, Field, ListField, TableField, TextField, as_dict
from rltui.data.toml_files import read_table
from rltui.problem import SEVERITIES, Severity

EVERYTHING = "*"  # as `caused_by`: any other failure explains this one


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that is known by a line of a console."""

    id: str
    title: str
    words: tuple[str, ...]  # literal; one of them stands in the line
    pattern: re.Pattern[str]
    severity: Severity
    message: str
    advice: str
    source: str
    examples: tuple[str, ...]
    quiet: tuple[str, ...]
    caused_by: frozenset[str] = frozenset()
    general: bool = False  # told only at the end of a console

    def matches(self, line: str) -> bool:
        """Whether a line tells of this failure, by itself."""
        return any(word in line for word in self.words) and self.pattern.search(line) is not None


class ConsoleFacts(NamedTuple):
    """The failures in the order of the file, and how consoles are named and written."""

    failures: tuple[Failure, ...]
    consoles: re.Pattern[str]  # of a name in lower case
    no_consoles: re.Pattern[str]
    prefix: re.Pattern[str]  # what a writer puts before its lines
    error: re.Pattern[str]
    warning: re.Pattern[str]
    exception: re.Pattern[str]
    time: re.Pattern[str]
    step: re.Pattern[str]
    training: re.Pattern[str]
    error_words: tuple[str, ...]  # literal; a line that is an error has one of them
    warning_words: tuple[str, ...]


_TEXT = TextField()
_PATTERNS = ("consoles", "no_consoles", "prefix", "error", "warning", "exception", "time", "step", "training")
_WORDS = ("error_words", "warning_words")


def _failure(**row: Any) -> Failure:
    row["pattern"] = _compiled(row["pattern"])
    caused_by = row.pop("caused_by", ())
    return Failure(**row, caused_by=frozenset([caused_by] if isinstance(caused_by, str) else caused_by))


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"'{pattern}' is no regular expression: {error}") from None


def _fields() -> TableField[dict[str, Any]]:
    needed = (
        "id",
        "title",
        "words",
        "pattern",
        "severity",
        "message",
        "advice",
        "source",
        "examples",
        "quiet",
    )
    known: dict[str, Field[Any]] = dict.fromkeys(needed, _TEXT)
    # Clean text alone: examples hold the tabs of real lines, which are compared as they are shown.
    known |= dict.fromkeys(("words", "examples", "quiet"), ListField(_TEXT))
    known["severity"] = TextField(choices=SEVERITIES)
    either: AnyOfField[Any] = AnyOfField((TextField(choices=(EVERYTHING,)), ListField(_TEXT)), "'*' or ids")
    known |= {"caused_by": either, "general": BoolField()}
    failure = TableField(known, _failure, required=needed)
    fields: dict[str, Field[Any]] = {"failure": ListField(failure), **dict.fromkeys(_PATTERNS, _TEXT)}
    fields |= dict.fromkeys(_WORDS, ListField(_TEXT))
    return TableField(fields, as_dict, required=("failure", *_PATTERNS, *_WORDS))


@cache
def console_facts() -> ConsoleFacts:
    """The shipped table."""
    table = read_table("failures", _fields())
    named = {key: _compiled(table[key]) for key in _PATTERNS} | {key: table[key] for key in _WORDS}
    return ConsoleFacts(table["failure"], **named)


def is_console(name: str) -> bool:
    """Whether a file of this name may be a console."""
    facts, name = console_facts(), name.lower()
    return facts.consoles.search(name) is not None and facts.no_consoles.search(name) is None
