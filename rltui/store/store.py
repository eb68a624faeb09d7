"""All runs: deliveries in, runs out."""

from __future__ import annotations

from collections.abc import Collection

from rltui.logs.delivery import Delivery
from rltui.store.points import NewPoints
from rltui.store.run import Run

WINDOW = 1024  # exact recent points per series of a run that is looked at
SLOTS = 512  # buckets for everything older
WINDOW_ELSEWHERE = 128  # for the other runs: what the run list and the rules need
SLOTS_ELSEWHERE = 128


class Store:
    """The runs by name. Until `focus` is called, every run holds as much as one that is looked at."""

    def __init__(self, window: int = WINDOW, slots: int = SLOTS) -> None:
        self.runs: dict[str, Run] = {}
        self._full = (window, slots)
        self._less = (min(window, WINDOW_ELSEWHERE), min(slots, SLOTS_ELSEWHERE))
        self._focused: frozenset[str] | None = None

    def apply(self, delivery: Delivery) -> tuple[Run, list[NewPoints]]:
        """Take a delivery in: the run it belongs to, and its new shown points by tag, in order of arrival."""
        name = delivery.source.run
        run = self.runs.get(name)
        if run is None:
            run = self.runs[name] = Run(name, *self._sizes(name))
        return run, run.apply(delivery)

    def _sizes(self, name: str) -> tuple[int, int]:
        return self._full if self._focused is None or name in self._focused else self._less

    def focus(self, names: Collection[str]) -> None:
        """Only these runs hold full windows from now on; the others let old points go to fewer buckets.

        What was let go does not come back: `Series.exact_from` says from where points are exact.
        """
        self._focused = frozenset(names)
        for name, run in self.runs.items():
            run.table.hold(*self._sizes(name))

    @property
    def nbytes(self) -> int:
        """Bytes held in tables, all runs."""
        return sum(run.table.nbytes for run in self.runs.values())
