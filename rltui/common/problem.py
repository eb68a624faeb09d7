"""What is wrong with a file or its data, and the severities of findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

ProblemLevel = Literal["info", "warning", "error"]
Severity = Literal["info", "warning", "critical"]
MERGED_KEYS = 4  # that are named where several have the same problem
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "critical")  # of findings, in ascending order


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a file or its data, in one line: what, where, what to do. `healed` withdraws it."""

    level: ProblemLevel
    code: str  # kebab-case and stable: corrupt-record, torn-tail, not-json, restarted, ...
    path: str  # relative to LOGDIR, cleaned
    message: str  # one line for people, cleaned
    offset: int | None = None  # bytes from the start of the file
    count: int = 1  # affected records, lines or bytes; the message says which
    healed: bool = False

    @property
    def key(self) -> tuple[str, str, int | None]:
        """Identifies the problem: a newer report with the same key replaces the older one."""
        return (self.code, self.path, self.offset)

    @property
    def text(self) -> str:
        """The problem with its file, for people; a dot would not say which folder is meant."""
        return f"{'LOGDIR' if self.path == '.' else self.path}: {self.message}"

    def as_json(self) -> dict[str, str]:
        """The documented fields of JSON output."""
        return {"level": self.level, "code": self.code, "path": self.path, "message": self.message}


def merged(problems: Iterable[Problem]) -> list[Problem]:
    """Problems as people read them: those that say the same become one, also of several keys, `KEY: what`."""
    groups: dict[tuple[str, str, str], list[tuple[str, Problem]]] = {}
    for one in problems:
        key, _, what = one.message.partition(": ")
        if not what or " " in key:  # a sentence, not a key
            key, what = "", one.message
        groups.setdefault((one.code, one.path, what), []).append((key, one))
    out = []
    for (_, _, what), same in groups.items():
        first = same[0][1]
        if len(same) > 1:
            keys = list(dict.fromkeys(key for key, _ in same if key))
            more = f" and {len(keys) - MERGED_KEYS} more keys" if len(keys) > MERGED_KEYS + 1 else ""
            named = ", ".join(keys[:MERGED_KEYS] if more else keys)
            count = sum(one.count for _, one in same)
            message = f"{what}: {named}{more}" if named else f"{what} ({len(same)} times)"
            first = Problem(first.level, first.code, first.path, message, first.offset, count, first.healed)
        out.append(first)
    return out


class CountedProblem:
    """A warning about a growing number of records or lines, reported again whenever there are more.

    describe: the message for a count.
    """

    def __init__(self, code: str, path: str, describe: Callable[[int], str]) -> None:
        self._code, self._path, self._describe = code, path, describe
        self._offset: int | None = None  # of the first one
        self._reported = 0
        self.count = 0

    def add(self, offset: int | None = None) -> None:
        """Count one that starts at `offset` of the file."""
        if not self.count:
            self._offset = offset
        self.count += 1

    def problems(self) -> list[Problem]:
        """The problem with its current count, if that has changed since the last call."""
        if self.count == self._reported:
            return []
        self._reported = self.count
        message = self._describe(self.count)
        return [Problem("warning", self._code, self._path, message, self._offset, self.count)]


class Problems(dict[tuple[str, str, int | None], Problem]):
    """The current problems by key, at most `MAX_COUNT`: the newest report of each."""

    MAX_COUNT = 1000  # any number of files can be faulty; nobody reads more

    def note(self, problems: Iterable[Problem]) -> None:
        """Add reports in their order; a healed one removes the problem."""
        for problem in problems:
            self.pop(problem.key, None)
            if not problem.healed and len(self) < self.MAX_COUNT:
                self[problem.key] = problem
