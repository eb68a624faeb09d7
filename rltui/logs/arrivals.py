"""Logs that were found: to be opened, then to be shown, the most recently written run first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from rltui.logs.runname import file_order
from rltui.logs.tracked import Tracked

EAGER = 64  # logs opened before the first of them is shown although there are more


class Arrivals:
    """Two lists: what waits to be opened, and what is open and waits to be shown."""

    def __init__(self) -> None:
        self._met: list[Tracked] = []  # the last comes first
        self._ready: list[Tracked] = []  # the last comes first
        self._met_sorted = self._ready_sorted = True
        self._group: list[Tracked] = []  # being shown; the first comes first
        self._unopened: Counter[str] = Counter()  # by run

    def __bool__(self) -> bool:
        return bool(self._met or self._ready or self._group)

    @property
    def enough(self) -> bool:
        """Whether so many are open that the first of them should be shown now."""
        return len(self._ready) >= EAGER or not self._met

    def meet(self, track: Tracked) -> None:
        """The log was found, or begins anew."""
        self._met.append(track)
        self._met_sorted = False
        self._unopened[track.found.run] += 1

    def next_met(self) -> Tracked | None:
        """The log to open now, off the list; None when there is none."""
        if not self._met:
            return None
        if not self._met_sorted:
            self._met.sort(key=_recency)
            self._met_sorted = True
        track = self._met.pop()
        run = track.found.run
        self._unopened[run] -= 1
        if not self._unopened[run]:
            del self._unopened[run]
        return track

    def opened(self, track: Tracked) -> None:
        """It is open now."""
        self._ready.append(track)
        self._ready_sorted = False

    def group(self) -> tuple[list[Tracked], bool]:
        """The open logs of the run written last, in the order in which they were written.

        Whoever has shown one takes it off this list: should that never come back, another worker finds the
        others here. The second says whether no other log of that run waits to be opened.
        """
        if not self._group and self._ready:
            self._sort_ready()
            run = self._ready[-1].found.run
            while self._ready and self._ready[-1].found.run == run:
                self._group.append(self._ready.pop())
            self._group.sort(key=lambda track: (track.found.folder, file_order(track.found.name)))
        return self._group, not self._group or self._group[0].found.run not in self._unopened

    def coming(self) -> Iterator[Tracked]:
        """The open logs that will be shown next, unless others come before them."""
        return chain(self._group, reversed(self._ready))

    def _sort_ready(self) -> None:
        if self._ready_sorted:
            return
        newest: dict[str, float] = {}
        for track in self._ready:
            run = track.found.run
            newest[run] = max(track.modified, newest.get(run, track.modified))
        self._ready.sort(key=lambda track: (newest[track.found.run], track.found.run))
        self._ready_sorted = True


def _recency(track: Tracked) -> float:
    return track.modified
