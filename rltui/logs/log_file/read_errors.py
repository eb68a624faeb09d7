"""What keeps one log from being read now: told once, tried again ever less often, withdrawn when over."""

from __future__ import annotations

import errno

from rltui.batch import Level, Problem
from rltui.text import quote

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
        """The system refused; what to tell, None when it was told already."""
        level, code = _CODES.get(error.errno or 0, ("warning", "io-error"))
        reason = quote(error.strerror or str(error))
        return self._tell(Problem(level, code, self.path, f"cannot be read: {reason}; trying again"))

    def broke(self, error: Exception) -> Problem | None:
        """An error that nobody foresaw; what to tell, None when it was told already."""
        said = f"reading failed in a way that rltui did not foresee ({quote(repr(error))}); please report it"
        return self._tell(Problem("error", "internal", self.path, said))

    def over(self) -> Problem | None:
        """It worked; what to withdraw."""
        self.count = 0
        problem, self.problem = self.problem, None
        if problem is None:
            return None
        return Problem(problem.level, problem.code, problem.path, "can be read again", healed=True)

    def wait(self) -> float:
        """Seconds until the next try: 1, 2, 4 ... 60."""
        return min(LONGEST, float(1 << min(self.count - 1, 6)))

    def _tell(self, problem: Problem) -> Problem | None:
        self.count += 1
        if self.problem is not None and self.problem.code == problem.code:
            return None
        self.problem = problem
        return problem
