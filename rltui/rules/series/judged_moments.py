"""The moments at which a series is judged, and what follows from their positions alone.

Runs that log alike are judged at the same moments: what is known of these is found once and kept.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from rltui.rules.series.run_means import judged_moments
from rltui.rules.series.ticks import Ints

ALL, HALF = 32, 128  # ticks up to which rules are evaluated at every one, and at every second one
# Positions of ticks at which the whole run is looked at, a quarter apart; three ticks to a part at least.
COURSE_AT = np.rint(36 * 1.25 ** np.arange(13)).astype(np.int64) - 1
KEPT = 1024  # sets of moments that are kept: 512 single ones of live runs, and those of runs read whole


class Moments:
    """m moments; moment k sees the ticks up to position `at[k]` and none after."""

    def __init__(self, at: Ints) -> None:
        self.at = at  # (m,) positions among the ticks held, from 0, rising
        self.begin = int(at[0])
        self.end = int(at[-1]) + 1  # ticks that the last moment sees
        self.every = self.end - self.begin == len(at)  # no tick is left out between two moments
        self._have: dict[tuple[int, int], Ints] = {}
        self._first: dict[int, int] = {}

    def have(self, length: int, skip: int) -> Ints:
        """(m,) ticks in the last `length` after leaving out `skip`; rises from moment to moment."""
        key = length, skip
        found = self._have.get(key)
        if found is None:
            found = self._have[key] = np.minimum(np.maximum(self.at + (1 - skip), 0), length)
        return found

    def first(self, ticks: int) -> int:
        """The first moment that sees so many ticks; m where none does."""
        found = self._first.get(ticks)
        if found is None:
            found = self._first[ticks] = int(self.at.searchsorted(ticks - 1))
        return found

    @cached_property
    def course(self) -> Ints:
        """(k,) those at which the whole run is looked at: every time that it has grown by about a quarter.

        At fixed numbers of ticks, or the first moment after one, so that it does not matter in which pieces
        points came.
        """
        before = self.at - np.where(self.at < ALL, 1, np.where(self.at < HALF, 2, 4))
        seen = COURSE_AT.searchsorted(self.at, "right") != COURSE_AT.searchsorted(before, "right")
        return np.flatnonzero(seen & (self.at >= COURSE_AT[0]))

    @cached_property
    def judged(self) -> Ints:
        """(k,) those at which means over the whole run are compared."""
        return judged_moments(self.at)


def moments_at(at: Ints) -> Moments:
    """The moments at positions of ticks."""
    return _kept(at.tobytes())


@lru_cache(maxsize=KEPT)
def _kept(at: bytes) -> Moments:
    return Moments(np.frombuffer(at, np.int64))
