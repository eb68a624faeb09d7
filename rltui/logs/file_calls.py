"""File calls that may never return: which one is under way, and giving up on it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class GivenUpError(Exception):
    """The call on `path` came back after its worker had been given up; another one goes on in its place."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Calls:
    """Which file call is under way and since when, so that a supervisor can give up on it.

    One object per worker. Written by the worker alone, read by its supervisor, who may set `given_up`.
    """

    __slots__ = ("_clock", "failed", "given_up", "opened", "path", "read", "since", "subject")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.path: str | None = None  # None between calls
        self.since = 0.0
        self.subject: object = None  # what the call is for: a log file, or None for the search
        self.given_up = False
        self.failed: list[str] = []  # paths whose calls came back too late
        self.opened = 0
        self.read = 0

    def run(self, path: str, call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """What `call` returns. Raises its OSError, or GivenUpError when nobody waits for it any more."""
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
