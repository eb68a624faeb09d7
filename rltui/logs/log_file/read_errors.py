"""What keeps one log from being read now: reported once, tried again ever less often, withdrawn when over."""

from __future__ import annotations

import errno
from dataclasses import replace

from rltui.common.problem import Level, Problem
from rltui.common.text import quote

LONGEST = 60.0  # seconds between two tries

_CODES: dict[int, tuple[Level, str]] = {
    errno.EACCES: ("warning", "unreadable"),
    errno.EPERM: ("warning", "unreadable"),
    errno.ENOTSUP: ("info", "not-a-file"),
    errno.EISDIR: ("info", "not-a-file"),
    errno.ENXIO: ("info", "not-a-file"),
    errno.ESTALE: ("warning", "stale"),
}


class ReadErrors:
    """The failures of one log."""

    __slots__ = ("count", "path", "problem")

    def __init__(self, path: str) -> None:
        self.path = path
        self.count = 0  # failures in a row
        self.problem: Problem | None = None  # what stands now

    def failed(self, error: OSError) -> Problem | None:
        """The system refused; what to report, None when it was reported already."""
        level, code = _CODES.get(error.errno or 0, ("warning", "io-error"))
        reason = quote(error.strerror or str(error))
        return self._report(Problem(level, code, self.path, f"cannot be read: {reason}; trying again"))

    def broke(self, error: Exception) -> Problem | None:
        """An error that nobody foresaw; what to report, None when it was reported already."""
        message = (
            f"reading failed in a way that rltui did not foresee ({quote(repr(error))}); please report it"
        )
        return self._report(Problem("error", "internal", self.path, message))

    def over(self) -> Problem | None:
        """It worked; what to withdraw."""
        self.count = 0
        problem, self.problem = self.problem, None
        if problem is None:
            return None
        return replace(problem, message="can be read again", healed=True)

    def wait(self) -> float:
        """Seconds until the next try: 1, 2, 4 ... 60."""
        return min(LONGEST, float(1 << min(self.count - 1, 6)))

    def _report(self, problem: Problem) -> Problem | None:
        self.count += 1
        if self.problem is not None and self.problem.code == problem.code:
            return None
        self.problem = problem
        return problem
