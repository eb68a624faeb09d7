"""Errors while reading one log: reported once, retried at growing intervals, withdrawn when resolved."""

from __future__ import annotations

import errno
from dataclasses import replace

from rltui.common.display_text import quote
from rltui.common.problem import Problem, ProblemLevel

MAX_INTERVAL = 60.0  # seconds between two retries

_CODES: dict[int, tuple[ProblemLevel, str]] = {
    errno.EACCES: ("warning", "unreadable"),
    errno.EPERM: ("warning", "unreadable"),
    errno.ENOTSUP: ("info", "not-a-file"),
    errno.EISDIR: ("info", "not-a-file"),
    errno.ENXIO: ("info", "not-a-file"),
    errno.ESTALE: ("warning", "stale"),
}


class ReadErrors:
    """The errors of one log."""

    __slots__ = ("count", "path", "problem")

    def __init__(self, path: str) -> None:
        self.path = path
        self.count = 0  # consecutive errors
        self.problem: Problem | None = None  # that was reported and not withdrawn

    def failed(self, error: OSError) -> Problem | None:
        """Add a system error; returns the problem to report, None if it was reported already."""
        level, code = _CODES.get(error.errno or 0, ("warning", "io-error"))
        reason = quote(error.strerror or str(error))
        return self._report(Problem(level, code, self.path, f"cannot be read: {reason}; trying again"))

    def broke(self, error: Exception) -> Problem | None:
        """Add an unexpected error; returns the problem to report, None if it was reported already."""
        message = (
            f"reading failed in a way that rltui did not foresee ({quote(repr(error))}); please report it"
        )
        return self._report(Problem("error", "internal", self.path, message))

    def resolve(self) -> Problem | None:
        """Reset after a successful read; returns the problem to withdraw."""
        self.count = 0
        problem, self.problem = self.problem, None
        return problem and replace(problem, message="can be read again", healed=True)

    def wait(self) -> float:
        """Seconds until the next retry: 1, 2, 4 ... 60."""
        return min(MAX_INTERVAL, float(1 << min(self.count - 1, 6)))

    def _report(self, problem: Problem) -> Problem | None:
        self.count += 1
        if self.problem is not None and self.problem.code == problem.code:
            return None
        self.problem = problem
        return problem
