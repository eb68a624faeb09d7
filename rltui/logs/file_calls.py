"""File calls that may never return: tracks the present call, so that a supervisor can abandon it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class GivenUpError(Exception):
    """The call on `path` returned after its worker had been replaced by another one."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Calls:
    """The present file call of a worker and since when it runs.

    Written by the worker alone, read by its supervisor, who may set `given_up`.
    """

    __slots__ = ("_clock", "failed", "given_up", "opened", "path", "read", "since", "subject")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.path: str | None = None  # None between calls
        self.since = 0.0
        self.subject: object = None  # the log file that the call is for, or None for the search
        self.given_up = False
        self.failed: list[str] = []  # paths whose calls returned too late
        self.opened = 0
        self.read = 0

    def run(self, path: str, call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """The result of `call`. Raises its OSError, or GivenUpError if the worker was replaced meanwhile."""
        self.since = self._clock()
        self.path = path
        try:
            result = call(*arguments, **options)
        finally:
            self.path = None
            late = self.given_up
        if late:
            close = getattr(result, "close", None)
            if close is not None:
                close()
            raise GivenUpError(path)
        return result
