"""What is wrong with a file or its data, and how grave a finding is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from rltui.common.data_class import dataclass

Level = Literal["info", "warning", "error"]
Severity = Literal["info", "warning", "critical"]
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "critical")  # of findings, mildest first


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a file or its data, in one line: what, where, what to do. `healed` withdraws it."""

    level: Level
    code: str  # kebab-case and stable: corrupt-record, torn-tail, not-json, restarted, ...
    path: str  # relative to LOGDIR, cleaned
    message: str  # one line for people, cleaned
    offset: int | None = None  # bytes from the start of the file
    count: int = 1  # records, lines or bytes concerned, as the message says
    healed: bool = False

    @property
    def key(self) -> tuple[str, str, int | None]:
        """Equal for two reports of the same problem; the newer one replaces the older."""
        return (self.code, self.path, self.offset)

    def as_json(self) -> dict[str, str]:
        """The fields that JSON output promises."""
        return {"level": self.level, "code": self.code, "path": self.path, "message": self.message}


class Problems(dict[tuple[str, str, int | None], Problem]):
    """The problems that stand, by key: of each the newest report, no more than `MOST` of them."""

    MOST = 1000  # files beyond number can be faulty; nobody reads more

    def note(self, problems: Iterable[Problem]) -> None:
        """Take in reports, in their order; healed ones withdraw what they heal."""
        for problem in problems:
            self.pop(problem.key, None)
            if not problem.healed and len(self) < self.MOST:
                self[problem.key] = problem
