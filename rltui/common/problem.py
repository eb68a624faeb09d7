"""What is wrong with a file or its data, and the severities of findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from rltui.common.data_class import dataclass

ProblemLevel = Literal["info", "warning", "error"]
Severity = Literal["info", "warning", "critical"]
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

    def as_json(self) -> dict[str, str]:
        """The documented fields of JSON output."""
        return {"level": self.level, "code": self.code, "path": self.path, "message": self.message}


class Problems(dict[tuple[str, str, int | None], Problem]):
    """The current problems by key, at most `MAX_COUNT`: the newest report of each."""

    MAX_COUNT = 1000  # any number of files can be faulty; nobody reads more

    def note(self, problems: Iterable[Problem]) -> None:
        """Add reports in their order; a healed one removes the problem."""
        for problem in problems:
            self.pop(problem.key, None)
            if not problem.healed and len(self) < self.MAX_COUNT:
                self[problem.key] = problem
