"""The moments at which rules are evaluated on a series, and properties of their positions.

Series of the same length have the same moments, so these are cached.
"""

from __future__ import annotations

import sys
from functools import cached_property, lru_cache

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.rules.evaluated_series.ticks import CAP

ALL, HALF = 32, 128  # ticks up to which rules are evaluated at every one, and at every second one
# Positions of ticks at which the whole run is evaluated, a quarter apart; at least three ticks per part.
COURSE_AT = np.rint(36 * 1.25 ** np.arange(13)).astype(np.int64) - 1
MIN_TICKS = 8  # ticks of a run whose means are compared
GROWTH = 1.01  # of a run until its means are compared again, so an onset is exact to 1 % of it


class Moments:
    """m moments; moment k sees the ticks up to position `at[k]`."""

    def __init__(self, at: Ints) -> None:
        self.at = at  # (m,) positions among the ticks held, from 0, ascending
        self.begin = int(at[0])
        self.end = int(at[-1]) + 1  # number of ticks at the last moment
        self.every = self.end - self.begin == len(at)  # whether the moments are at consecutive ticks
        self._have: dict[tuple[int, int], Ints] = {}
        self._first: dict[int, int] = {}

    def have(self, length: int, skip: int) -> Ints:
        """(m,) number of ticks among `length` before the last `skip`; ascending."""
        key = length, skip
        found = self._have.get(key)
        if found is None:
            found = self._have[key] = np.minimum(np.maximum(self.at + (1 - skip), 0), length)
        return found

    def first(self, ticks: int) -> int:
        """The first moment that sees so many ticks; m if none does."""
        found = self._first.get(ticks)
        if found is None:
            found = self._first[ticks] = int(self.at.searchsorted(ticks - 1))
        return found

    @cached_property
    def _before(self) -> Ints:
        """(m,) positions of the moment before each one, which may be in an earlier window."""
        found: Ints = self.at - np.where(self.at < ALL, 1, np.where(self.at < HALF, 2, 4))
        return found

    @cached_property
    def course(self) -> Ints:
        """(k,) those at which the whole run is evaluated: whenever it has grown by about a quarter.

        At fixed numbers of ticks, or the first moment after one, so that the division of points into
        deliveries does not matter.
        """
        seen = COURSE_AT.searchsorted(self.at, "right") != COURSE_AT.searchsorted(self._before, "right")
        return np.flatnonzero(seen & (self.at >= COURSE_AT[0]))

    @cached_property
    def next_course(self) -> int:
        """The number of ticks at which the whole run may be evaluated again."""
        position = int(COURSE_AT.searchsorted(self.end - 1, "right"))
        return int(COURSE_AT[position]) + 1 if position < len(COURSE_AT) else sys.maxsize

    @cached_property
    def compared(self) -> Ints:
        """(k,) those at which means over the run are compared: with enough ticks, and enough new ones."""
        grown = _growths(self.at + 1) > _growths(np.maximum(self._before + 1, 1))
        return np.flatnonzero(grown & (self.at + 1 >= MIN_TICKS))


def _growths(ticks: Ints) -> Floats:
    """How many times a run of so many ticks has grown by `GROWTH`."""
    found: Floats = np.floor(np.log(ticks) / np.log(GROWTH))
    return found


def moments_between(begin: int, end: int, offset: int) -> Moments | None:
    """The moments among the ticks from `begin` up to `end`; None if there are none.

    Rules are evaluated at each of the first 32 ticks, at every second one up to 128, and at every fourth
    after that. `offset`, 0 to 3: at which of them.
    """
    if end - begin != 1:
        return _of_many(begin, end, offset)
    every = 1 if begin < ALL else 2 if begin < HALF else 4
    return None if (begin + offset) % every else _of_one(begin)


@lru_cache(maxsize=CAP)
def _of_one(at: int) -> Moments:
    return Moments(np.array((at,), np.int64))


@lru_cache(maxsize=CAP)
def _of_many(begin: int, end: int, offset: int) -> Moments | None:
    at = np.arange(begin, end)
    at = at[(at < ALL) | ((at < HALF) & ((at + offset) % 2 == 0)) | ((at + offset) % 4 == 0)]
    return Moments(at) if len(at) else None
