"""Known failures, and the names and lines of consoles: `rltui/data/failures.toml`."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Severity
from rltui.schema.fields import ConvertedField, ListField, TextField
from rltui.schema.toml_files import read_table

EVERYTHING = "*"  # as `caused_by`: any other failure is the cause of this one
Causes = Annotated[frozenset[str], ConvertedField(ListField(TextField(), single=True), frozenset)]  # ids


class Failure(NamedTuple):
    """A failure that is recognised by a line of a console."""

    id: str
    title: str
    words: tuple[str, ...]  # literal; the line has one of them
    pattern: str
    severity: Severity
    message: str
    advice: str
    source: str
    examples: tuple[str, ...]
    quiet: tuple[str, ...]
    caused_by: Causes = frozenset()
    general: bool = False  # reported only at the end of a console, to which its advice points
    check_next: tuple[str, ...] = ()  # ids of metrics to look at

    def found(self, text: str) -> bool:
        """Whether a text matches its pattern, which is compiled on first use: few consoles need it."""
        return _compiled(self.pattern).search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


class ConsoleFacts(NamedTuple):
    """The failures in the order of the file, and how consoles are recognised and read."""

    failure: tuple[Failure, ...]
    consoles: re.Pattern[str]  # of a name in lower case
    no_consoles: re.Pattern[str]
    shared_folders: re.Pattern[str]  # names of folders that several experiments use
    prefix: re.Pattern[str]  # of lines, such as the name of a worker
    error: re.Pattern[str]
    warning: re.Pattern[str]
    exception: re.Pattern[str]
    installed_code: re.Pattern[str]  # paths of files that are not the program's own
    time: re.Pattern[str]
    step: re.Pattern[str]
    training: re.Pattern[str]
    finished: re.Pattern[str]  # the last line of a training that has ended
    other_bars: re.Pattern[str]  # the name of a progress bar that is not that of the training
    error_words: tuple[str, ...]  # literal; a line of an error has one of them
    warning_words: tuple[str, ...]


@cache
def console_facts() -> ConsoleFacts:
    """The shipped table."""
    return read_table("failures", ConsoleFacts)


@cache
def points_to_console(failure: str) -> bool:
    """Whether the advice of a failure is to read its console."""
    return any(each.general for each in console_facts().failure if each.id == failure)


def is_console(name: str) -> bool:
    """Whether a file of this name may be a console."""
    facts, name = console_facts(), name.lower()
    return facts.consoles.search(name) is not None and facts.no_consoles.search(name) is None
